//! Values of expressions in inline programs, as far as they are joined from texts.

use super::super::marks::{ANY, DECODED, HOME, ITEM, NETWORK, push_mark};
use super::super::walk::Walk;
use super::token::Token;
use std::collections::BTreeMap;

/// What the names of a program stand for.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub values: BTreeMap<String, String>,
    pub aliases: BTreeMap<String, String>,
}

/// Names that stand for the home directory.
const HOMES: [&str; 5] = ["home", "homedir", "HOME", "expanduser", "USERPROFILE"];
/// Names that make, or stand for, a directory for temporary files.
const TEMPORARY: [&str; 8] = [
    "mkdtemp",
    "mkdtempSync",
    "mktmpdir",
    "tempdir",
    "mkstemp",
    "NamedTemporaryFile",
    "TemporaryDirectory",
    "tmpname",
];
/// Names that fetch over the network.
const FETCHERS: [&str; 14] = [
    "urlopen",
    "urlretrieve",
    "requests",
    "httpx",
    "aiohttp",
    "fetch",
    "axios",
    "LWP",
    "HTTP",
    "http",
    "https",
    "curl_exec",
    "WebClient",
    "URI",
];
/// Names that list what is in a directory.
const LISTERS: [&str; 6] = ["iterdir", "listdir", "scandir", "readdirSync", "children", "entries"];
/// Names that decode a text.
const DECODERS: [&str; 7] = [
    "b64decode",
    "atob",
    "decode64",
    "decode_base64",
    "base64_decode",
    "unhexlify",
    "fromhex",
];
/// Names that hand their argument on, as far as values go.
const TRANSPARENT: &[&str] = &[
    "os",
    "path",
    "Path",
    "pathlib",
    "PurePath",
    "PosixPath",
    "join",
    "resolve",
    "abspath",
    "realpath",
    "normpath",
    "expand_path",
    "File",
    "Pathname",
    "str",
    "String",
    "bytes",
    "encode",
    "decode",
    "read",
    "text",
    "strip",
    "trim",
    "fs",
    "Buffer",
    "from",
    "toString",
    "require",
    "child_process",
    "split",
    "shlex",
    "__import__",
    "Dir",
    "sorted",
    "list",
    "new",
    "glob",
    "process",
];

/// The value of an expression.
pub(super) fn value(tokens: &[Token], names: &Names) -> String {
    let mut out = String::new();
    let mut tokens = tokens.iter().peekable();
    let mut environment = false;
    let mut last_name = "";
    while let Some(token) = tokens.next() {
        match token {
            Token::Text(text) if environment => {
                environment = false;
                out.push(if text == "HOME" { HOME } else { ANY });
            }
            Token::Text(_) if matches!(last_name, "require" | "__import__" | "import_module") => last_name = "",
            Token::Text(text) => match text
                .strip_prefix('~')
                .filter(|_| out.is_empty() || out == HOME.to_string())
            {
                Some(rest) => out = format!("{HOME}{rest}"),
                None => out.push_str(text),
            },
            Token::Shell(_) => push_mark(&mut out, ANY),
            Token::Sign(sign) => {
                let joins =
                    *sign == '/' || *sign == ',' && matches!(last_name, "join" | "resolve" | "Path" | "pathlib");
                if joins && !out.is_empty() && !out.ends_with('/') {
                    out.push('/');
                }
            }
            Token::Name(name) => {
                last_name = name;
                environment = matches!(name.as_str(), "environ" | "env" | "ENV" | "getenv" | "$ENV" | "get")
                    && (environment || name != "get");
                let attribute = tokens.peek().is_some_and(|next| next.is('.'));
                name_value(name, names, attribute, &mut out);
            }
        }
    }
    out
}

fn name_value(name: &str, names: &Names, attribute: bool, out: &mut String) {
    let known = names.values.get(name);
    if let Some(known) = known {
        out.push_str(known);
    } else if HOMES.contains(&name) {
        if !out.contains(HOME) {
            out.push(HOME);
        }
    } else if TEMPORARY.contains(&name) {
        out.push_str("/tmp/made");
    } else if matches!(name, "gettempdir" | "tmpdir") {
        out.push_str("/tmp");
    } else if matches!(name, "getcwd" | "cwd" | "pwd" | "__dirname") {
        out.push('.');
    } else if LISTERS.contains(&name) {
        out.push('/');
        out.push(ITEM);
    } else if FETCHERS.contains(&name) {
        push_mark(out, NETWORK);
    } else if DECODERS.contains(&name) {
        push_mark(out, DECODED);
    } else if !TRANSPARENT.contains(&name)
        && !attribute
        && !matches!(name, "environ" | "env" | "ENV" | "getenv" | "$ENV")
    {
        push_mark(out, ANY);
    }
}

/// Splits the tokens of an argument list (its brackets left out) at the commas between arguments.
pub(super) fn arguments(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0_usize;
    let mut from = 0;
    let mut arguments = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Sign(',') if depth == 0 => {
                arguments.push(tokens.get(from..at).unwrap_or(&[]));
                from = at + 1;
            }
            Token::Name(_) | Token::Text(_) | Token::Shell(_) | Token::Sign(_) => {}
        }
    }
    let last = tokens.get(from..).unwrap_or(&[]);
    if !last.is_empty() {
        arguments.push(last);
    }
    arguments
}

/// The tokens between an opening bracket at `open` and the one that closes it.
pub(super) fn bracketed(tokens: &[Token], open: usize) -> &[Token] {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return tokens.get(open + 1..at).unwrap_or(&[]);
                }
            }
            Token::Name(_) | Token::Text(_) | Token::Shell(_) | Token::Sign(_) => {}
        }
    }
    tokens.get(open + 1..).unwrap_or(&[])
}

/// The expression that ends right before `dot`: names, calls and texts joined by dots.
pub(super) fn receiver(tokens: &[Token], dot: usize) -> &[Token] {
    let mut start = dot;
    let mut depth = 0_usize;
    while let Some(token) = start.checked_sub(1).and_then(|at| tokens.get(at)) {
        match token {
            Token::Sign(')' | ']') => depth += 1,
            Token::Sign('(' | '[') if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            Token::Sign('.' | '/') | Token::Name(_) | Token::Text(_) => {}
            Token::Sign(_) | Token::Shell(_) => break,
        }
        start -= 1;
    }
    tokens.get(start..dot).unwrap_or(&[])
}

/// The names that loops give to elements: `for x in EXPR`, `EXPR.each { |x| … }`, `EXPR.forEach(x => …)`.
pub(super) fn loop_names(tokens: &[Token], names: &mut Names) {
    for (at, token) in tokens.iter().enumerate() {
        let Some(word) = token.name() else { continue };
        let next = |ahead: usize| tokens.get(at + ahead);
        if word == "for" && next(2).and_then(Token::name) == Some("in") {
            let rest = tokens.get(at + 3..).unwrap_or(&[]);
            let end = rest
                .iter()
                .position(|token| matches!(token, Token::Sign(':' | '\n' | ']')))
                .unwrap_or(rest.len());
            if let Some(name) = next(1).and_then(Token::name) {
                names
                    .values
                    .insert(name.to_owned(), value(rest.get(..end).unwrap_or(&[]), names));
            }
        } else if matches!(word, "each" | "map" | "forEach" | "select") && at > 0 {
            let name = (1..=4).filter_map(next).find_map(Token::name);
            if let Some(name) = name {
                let whole = value(receiver(tokens, at - 1), names);
                names
                    .values
                    .insert(name.to_owned(), super::super::marks::glob(&whole).into_owned());
            }
        }
    }
}

impl Walk<'_> {
    /// Takes the assignments of a program into its names; `at` is a name followed by `=`.
    pub(crate) fn learn(&mut self, tokens: &[Token], at: usize, names: &mut Names) {
        let Some(name) = tokens.get(at).and_then(Token::name) else {
            return;
        };
        let rest = tokens.get(at + 2..).unwrap_or(&[]);
        let mut depth = 0_usize;
        let mut end = rest.len();
        for (index, token) in rest.iter().enumerate() {
            match token {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') if depth > 0 => depth -= 1,
                Token::Sign(';' | '\n' | ')' | ',') if depth == 0 => {
                    end = index;
                    break;
                }
                Token::Name(_) | Token::Text(_) | Token::Shell(_) | Token::Sign(_) => {}
            }
        }
        if self.afford(end) {
            let value = value(rest.get(..end).unwrap_or(&[]), names);
            names.values.insert(name.to_owned(), value);
        }
    }
}
