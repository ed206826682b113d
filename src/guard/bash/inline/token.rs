//! Tokens of inline programs: names, texts and signs. One tokenizer serves all languages; what differs is a handful of
//! characters. Total: whatever does not close ends with the program.

use super::super::marks::{ANY, HOME};
use super::language::Language;

/// A token of an inline program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Name(String),
    /// A text in quotes; what is filled in at run time is marked.
    Text(String),
    /// A text that the language itself gives to a shell (backquotes, `qx`, `%x`).
    Shell(String),
    Sign(char),
}

impl Token {
    pub(super) fn is(&self, sign: char) -> bool {
        *self == Self::Sign(sign)
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Text(_) | Self::Shell(_) | Self::Sign(_) => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Name(_) | Self::Shell(_) | Self::Sign(_) => None,
        }
    }
}

struct Scanner<'p> {
    rest: &'p str,
    language: Language,
    tokens: Vec<Token>,
}

/// The tokens of a program.
pub(super) fn tokens(program: &str, language: Language) -> Vec<Token> {
    let mut scanner = Scanner {
        rest: program,
        language,
        tokens: Vec::new(),
    };
    while let Some(c) = scanner.rest.chars().next() {
        scanner.step(c);
    }
    scanner.tokens
}

impl<'p> Scanner<'p> {
    fn take(&mut self, bytes: usize) -> &'p str {
        let (head, tail) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = tail;
        head
    }

    fn step(&mut self, c: char) {
        if self.comment() {
            return;
        }
        if c.is_alphabetic() || c == '_' || (c == '$' && self.language != Language::Awk) || c == '@' {
            self.word();
        } else if matches!(c, '"' | '\'') {
            self.quoted(c, false);
        } else if c == '`' {
            self.backquoted();
        } else {
            self.take(c.len_utf8());
            if !c.is_whitespace() || c == '\n' {
                self.tokens.push(Token::Sign(c));
            }
        }
    }

    fn comment(&mut self) -> bool {
        let line = match self.language {
            Language::Python | Language::Ruby | Language::Perl | Language::Awk | Language::R | Language::Julia => {
                self.rest.starts_with('#')
            }
            Language::Node => self.rest.starts_with("//"),
            Language::Php => self.rest.starts_with("//") || self.rest.starts_with('#'),
            Language::Lua | Language::AppleScript => self.rest.starts_with("--"),
            Language::Sed | Language::Expect => false,
        };
        if line {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(end);
            return true;
        }
        if self.rest.starts_with("/*") && matches!(self.language, Language::Node | Language::Php) {
            let end = self.rest.find("*/").map_or(self.rest.len(), |at| at + 2);
            self.take(end);
            return true;
        }
        false
    }

    fn word(&mut self) {
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = self
            .rest
            .char_indices()
            .skip(1)
            .find(|(_, c)| !in_word(*c))
            .map_or(self.rest.len(), |(at, _)| at);
        let word = self.take(end);
        let next = self.rest.chars().next();
        let prefix = word.len() <= 2 && word.chars().all(|c| "rRbBfFuU".contains(c));
        if self.language == Language::Python && prefix && matches!(next, Some('"' | '\'')) {
            let formatted = word.contains(['f', 'F']);
            self.quoted(next.unwrap_or('"'), formatted);
            return;
        }
        let percent = self.tokens.last().is_some_and(|token| token.is('%'));
        let operator = match (self.language, word) {
            (Language::Perl, "qx") => Some(true),
            (Language::Perl, "q" | "qq" | "qw") => Some(false),
            (Language::Ruby, "x") if percent => Some(true),
            (Language::Ruby, "q" | "Q" | "w") if percent => Some(false),
            _ => None,
        };
        if let (Some(shell), Some(open)) = (operator, next.filter(|c| "{([</|!~".contains(*c))) {
            self.delimited(open, shell);
            return;
        }
        self.tokens.push(Token::Name(word.to_owned()));
    }

    fn delimited(&mut self, open: char, shell: bool) {
        let close = match open {
            '{' => '}',
            '(' => ')',
            '[' => ']',
            '<' => '>',
            same => same,
        };
        self.take(open.len_utf8());
        let end = self.rest.find(close).unwrap_or(self.rest.len());
        let text = self.take(end).to_owned();
        self.take(close.len_utf8());
        self.tokens
            .push(if shell { Token::Shell(text) } else { Token::Text(text) });
    }

    fn backquoted(&mut self) {
        self.take(1);
        let end = self.rest.find('`').unwrap_or(self.rest.len());
        let text = self.take(end);
        self.take(1);
        let filled = fill(text, self.language, true);
        self.tokens.push(if self.language == Language::Node {
            Token::Text(filled)
        } else {
            Token::Shell(filled)
        });
    }

    fn quoted(&mut self, quote: char, formatted: bool) {
        let triple = if quote == '"' { "\"\"\"" } else { "'''" };
        let close = if self.language == Language::Python && self.rest.starts_with(triple) {
            triple
        } else {
            triple.get(..1).unwrap_or("")
        };
        self.take(close.len());
        let mut text = String::new();
        loop {
            if self.rest.is_empty() {
                break;
            }
            if self.rest.starts_with(close) {
                self.take(close.len());
                break;
            }
            let c = self.rest.chars().next().unwrap_or('\0');
            self.take(c.len_utf8());
            if c == '\\' {
                let escaped = self.rest.chars().next().unwrap_or('\0');
                self.take(escaped.len_utf8());
                self.escape(escaped, &mut text);
            } else {
                text.push(c);
            }
        }
        let fills = formatted || quote == '"' && self.language != Language::Python && self.language != Language::Node;
        let text = if fills {
            fill(&text, self.language, formatted)
        } else {
            text
        };
        self.tokens.push(Token::Text(text));
    }

    fn escape(&mut self, escaped: char, text: &mut String) {
        match escaped {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            '\n' | '\0' => {}
            'x' | 'u' => {
                let digits = if escaped == 'x' { 2 } else { 4 };
                let code = self
                    .rest
                    .get(..digits)
                    .and_then(|code| u32::from_str_radix(code, 16).ok());
                if let Some(c) = code.and_then(char::from_u32) {
                    self.take(digits);
                    text.push(c);
                }
            }
            other => text.push(other),
        }
    }
}

/// Marks what a language fills into a text.
fn fill(text: &str, language: Language, formatted: bool) -> String {
    let opening = match language {
        Language::Python if formatted => "{",
        Language::Ruby => "#{",
        Language::Node => "${",
        Language::Perl | Language::Php => "$",
        Language::Julia => "$(",
        Language::Python
        | Language::Lua
        | Language::Awk
        | Language::Sed
        | Language::Expect
        | Language::R
        | Language::AppleScript => return text.to_owned(),
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(opening) {
        out.push_str(rest.get(..at).unwrap_or(""));
        let inside = rest.get(at + opening.len()..).unwrap_or("");
        let end = if opening == "$" {
            let braced = inside
                .find('}')
                .filter(|_| inside.starts_with("ENV{") || inside.starts_with('{'));
            braced.map_or_else(
                || {
                    inside
                        .find(|c: char| !c.is_alphanumeric() && c != '_')
                        .unwrap_or(inside.len())
                },
                |at| at + 1,
            )
        } else {
            inside.find('}').map_or(inside.len(), |at| at + 1)
        };
        let filled = inside.get(..end).unwrap_or("");
        out.push(
            if ["HOME", "home", "expanduser"].iter().any(|name| filled.contains(name)) {
                HOME
            } else {
                ANY
            },
        );
        rest = inside.get(end..).unwrap_or("");
    }
    out.push_str(rest);
    out
}
