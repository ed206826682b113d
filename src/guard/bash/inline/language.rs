//! Interpreters: which programs they are, and where their program text stands.

use super::super::facts::Run;
use super::super::marks::{ANY, NETWORK};
use super::super::syntax::Span;
use super::super::walk::{Input, Walk};

/// A language whose inline programs are looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    Node,
    Ruby,
    Perl,
    Php,
    Lua,
    Awk,
    Sed,
    Expect,
    R,
    Julia,
    AppleScript,
}

impl Language {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::Ruby => "ruby",
            Self::Perl => "perl",
            Self::Php => "php",
            Self::Lua => "lua",
            Self::Awk => "awk",
            Self::Sed => "sed",
            Self::Expect => "expect",
            Self::R => "R",
            Self::Julia => "julia",
            Self::AppleScript => "osascript",
        }
    }

    /// Options that carry program text.
    fn code_options(self) -> &'static [&'static str] {
        match self {
            Self::Python | Self::Expect => &["-c"],
            Self::Node => &["-e", "--eval", "-p", "--print", "-pe"],
            Self::Ruby | Self::Lua | Self::R | Self::Julia | Self::AppleScript => &["-e"],
            Self::Perl => &["-e", "-E"],
            Self::Php => &["-r", "--run", "-B", "-R", "-E"],
            Self::Awk | Self::Sed => &[],
        }
    }
}

/// The language that a program interprets.
pub(crate) fn language(verb: &str) -> Option<Language> {
    let name = verb.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match name {
        "python" | "pypy" | "ipython" | "python-config" => Language::Python,
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" => Language::Node,
        "ruby" | "jruby" | "irb" => Language::Ruby,
        "perl" => Language::Perl,
        "php" => Language::Php,
        "lua" | "luajit" => Language::Lua,
        "awk" | "gawk" | "mawk" | "nawk" => Language::Awk,
        "sed" | "gsed" => Language::Sed,
        "expect" | "tclsh" | "wish" => Language::Expect,
        "R" | "Rscript" => Language::R,
        "julia" => Language::Julia,
        "osascript" => Language::AppleScript,
        _ => return None,
    })
}

impl Walk<'_> {
    /// Follows an interpreter: its inline program, or a program on its input or in a file written before.
    pub(crate) fn interpreter(&mut self, run: &Run, language: Language, input: &Input) -> String {
        match language {
            Language::Awk => self.awk(run),
            Language::Sed => self.sed(run),
            Language::Python
            | Language::Node
            | Language::Ruby
            | Language::Perl
            | Language::Php
            | Language::Lua
            | Language::Expect
            | Language::R
            | Language::Julia
            | Language::AppleScript => self.interpreted(run, language, input),
        }
        self.output(run, input)
    }

    fn interpreted(&mut self, run: &Run, language: Language, input: &Input) {
        let args = run.args.as_slice();
        let mut at = 0;
        let mut found = false;
        while let Some(arg) = args.get(at) {
            at += 1;
            if let Some(code) = inline_code(arg, args.get(at), language) {
                let code = with_modules(code, args, language);
                self.program_text(&code, language, run.span);
                found = true;
                if language == Language::Python {
                    return;
                }
            }
            // `python -m x` runs a module by name: it is judged as the program of that name.
            if arg == "-m" && language == Language::Python {
                let fields: Vec<String> = args.get(at..).unwrap_or(&[]).to_vec();
                if fields.first().is_some_and(|name| name != "http.server") {
                    self.nested_module(fields, run, input);
                }
                return;
            }
            // `deno run FILE`, `bun run FILE`.
            if arg == "run" && language == Language::Node && at == 1 {
                continue;
            }
            if !arg.starts_with('-') && !found && !previous_takes_value(args, at) {
                self.program_file(arg, language, run, input);
                return;
            }
        }
        if !found && let Some(text) = input.as_deref() {
            self.program_text(text, language, run.span);
        }
    }

    fn nested_module(&mut self, fields: Vec<String>, run: &Run, input: &Input) {
        let through = format!("{} -m", run.verb);
        self.nested(fields, &through, input, run.span);
    }

    fn program_file(&mut self, file: &str, language: Language, run: &Run, input: &Input) {
        let text = match file {
            "-" | "/dev/stdin" => input.as_deref().unwrap_or("").to_owned(),
            _ if file.contains("claude-code") || file.contains("gemini-cli") => {
                self.nested(agent_script(file, run), &run.verb, input, run.span);
                return;
            }
            _ if file.starts_with("https://") || file.starts_with("http://") => NETWORK.to_string(),
            _ => self.content(file),
        };
        self.program_text(&text, language, run.span);
    }

    /// Follows the text of a program in another language.
    pub(crate) fn program_text(&mut self, text: &str, language: Language, span: Span) {
        self.foreign(text, language.name(), span);
        if text.is_empty() || text == ANY.to_string() || !self.afford(text.len()) {
            return;
        }
        if language == Language::Expect {
            self.expect_script(text, span);
            return;
        }
        self.deeper(span, |walk| walk.calls_in(text, language, span));
    }

    fn expect_script(&mut self, text: &str, span: Span) {
        for line in text.split([';', '\n']) {
            let line = line.trim();
            if let Some(code) = line.strip_prefix("spawn ").or_else(|| line.strip_prefix("exec ")) {
                self.nested_code(code, "expect", span);
            }
        }
    }
}

/// A client's program file, as the program that its package installs.
fn agent_script(file: &str, run: &Run) -> Vec<String> {
    let name = if file.contains("claude-code") {
        "claude"
    } else {
        "gemini"
    };
    let after = run
        .args
        .iter()
        .position(|arg| arg == file)
        .map_or(run.args.len(), |at| at + 1);
    std::iter::once(name.to_owned())
        .chain(run.args.get(after..).unwrap_or(&[]).iter().cloned())
        .collect()
}

/// Adds the modules that options name to a program, as a comment: the table of calls looks for them.
fn with_modules(code: String, args: &[String], language: Language) -> String {
    if !matches!(language, Language::Perl | Language::Ruby) {
        return code;
    }
    let modules: Vec<&str> = args
        .iter()
        .filter_map(|arg| arg.strip_prefix("-M").or_else(|| arg.strip_prefix("-r")))
        .collect();
    if modules.is_empty() {
        code
    } else {
        format!("# {}\n{code}", modules.join(" ").replace('\n', " "))
    }
}

/// The program text that an option carries, in the same argument or in the next.
fn inline_code(arg: &str, next: Option<&String>, language: Language) -> Option<String> {
    if arg == "eval" && language == Language::Node {
        return next.cloned();
    }
    if !arg.starts_with('-') || arg == "-" {
        return None;
    }
    for option in language.code_options() {
        if arg == *option {
            return next.cloned();
        }
        if let Some(code) = arg
            .strip_prefix(option)
            .filter(|_| option.starts_with("--"))
            .and_then(|rest| rest.strip_prefix('='))
        {
            return Some(code.to_owned());
        }
    }
    if arg.starts_with("--") {
        return None;
    }
    // A cluster such as `-pe` or `-Bc`, with the text after it or attached.
    let letters = arg.get(1..).unwrap_or("");
    let wanted = |c: char| {
        language
            .code_options()
            .iter()
            .any(|option| option.len() == 2 && option.ends_with(c))
    };
    let at = letters.find(wanted)?;
    let before = letters.get(..at).unwrap_or("");
    if before.contains(['I', 'M', 'm', 'r', 'W', 'X', 'F'])
        && language != Language::Python
        && !before.chars().all(|c| "pnlaiw0".contains(c))
    {
        return None;
    }
    let attached = letters.get(at + 1..).unwrap_or("");
    if attached.is_empty() {
        next.cloned()
    } else {
        Some(attached.to_owned())
    }
}

/// Whether the argument before this one takes it as its value.
fn previous_takes_value(args: &[String], at: usize) -> bool {
    let before = at.checked_sub(2).and_then(|at| args.get(at)).map_or("", String::as_str);
    matches!(
        before,
        "-W" | "-X" | "-I" | "-r" | "--require" | "--import" | "-d" | "-f" | "-F" | "--loader"
    )
}
