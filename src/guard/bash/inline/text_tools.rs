//! awk and sed: what their programs start and write.

use super::super::facts::{Action, Run};
use super::super::marks::{ANY, push_mark};
use super::super::walk::{Options, Valued, Walk};
use super::language::Language;
use super::token::{Token, tokens};

impl Walk<'_> {
    /// `system()`, pipes to commands and files written by an awk program.
    pub(crate) fn awk(&mut self, run: &Run) {
        let options = Options::parse(
            &run.args,
            Valued {
                short: "Fvfi",
                long: &["--field-separator", "--assign", "--file"],
            },
            true,
        );
        let from_file = options.value(&["-f", "--file"]).map(|file| self.content(file));
        let Some(program) = from_file.or_else(|| options.words.first().map(|word| (*word).to_owned())) else {
            return;
        };
        self.foreign(&program, "awk", run.span);
        let tokens = tokens(&program, Language::Awk);
        if !self.afford(tokens.len() * 8) {
            return;
        }
        let mut printing = false;
        for (at, token) in tokens.iter().enumerate() {
            let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
            let next = tokens.get(at + 1);
            match token {
                Token::Name(name) if matches!(name.as_str(), "print" | "printf") => printing = true,
                Token::Sign(';' | '}' | '\n') => printing = false,
                Token::Text(text) => {
                    let called = before(1).is_some_and(|token| token.is('('))
                        && before(2).and_then(Token::name) == Some("system");
                    let piped = before(1).is_some_and(|token| token.is('|'))
                        && !before(2).is_some_and(|token| token.is('|'))
                        && printing;
                    let read = next.is_some_and(|token| token.is('|'))
                        && tokens.get(at + 2).and_then(Token::name) == Some("getline");
                    if called {
                        self.nested_code(&joined(tokens.get(at..).unwrap_or(&[])), "awk", run.span);
                    } else if piped || read {
                        self.nested_code(text, "awk", run.span);
                    } else if printing && before(1).is_some_and(|token| token.is('>')) {
                        self.touch(Action::Write, text, run.span, "awk");
                    }
                }
                Token::Name(_) | Token::Shell(_) | Token::Sign(_) => {}
            }
        }
    }

    /// The `e` and `w` commands and flags of sed programs.
    pub(crate) fn sed(&mut self, run: &Run) {
        let options = Options::parse(
            &run.args,
            Valued {
                short: "efl",
                long: &["--expression", "--file"],
            },
            false,
        );
        let given: Vec<&str> = options.values(&["-e", "--expression"]).collect();
        let programs = if given.is_empty() {
            options.words.first().copied().into_iter().collect()
        } else {
            given
        };
        for program in programs {
            for line in program.lines() {
                if self.afford(line.len()) {
                    self.sed_line(line, run);
                }
            }
        }
    }

    fn sed_line(&mut self, line: &str, run: &Run) {
        let mut rest = line;
        for _ in 0..64 {
            rest = skip_address(rest.trim_start_matches([' ', '\t', ';', '{', '}']));
            let Some(command) = rest.chars().next() else { return };
            let after = rest.get(command.len_utf8()..).unwrap_or("");
            match command {
                'e' => {
                    self.nested_code(after.trim(), "sed", run.span);
                    return;
                }
                'w' | 'W' => {
                    self.touch(Action::Write, after.trim(), run.span, "sed");
                    return;
                }
                's' | 'y' => {
                    let Some((replacement, flags_on)) = substitution(after) else {
                        return;
                    };
                    let end = flags_on.find([';', '}']).unwrap_or(flags_on.len());
                    let flags = flags_on.get(..end).unwrap_or("");
                    if let Some((_, file)) = flags.split_once('w') {
                        self.touch(Action::Write, file.trim(), run.span, "sed");
                        return;
                    }
                    if command == 's' && flags.contains('e') {
                        self.nested_code(replacement, "sed", run.span);
                    }
                    rest = flags_on.get(end..).unwrap_or("");
                }
                'a' | 'i' | 'c' | '#' | 'r' | 'R' => return,
                _ => rest = after,
            }
        }
    }
}

/// Steps over the address in front of a sed command.
fn skip_address(text: &str) -> &str {
    let mut rest = text;
    loop {
        let trimmed =
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '!' | ' ' | '~' | '+'));
        let pattern = trimmed.strip_prefix('/').or_else(|| trimmed.strip_prefix("\\|"));
        rest = match pattern {
            Some(pattern) => {
                let close = if trimmed.starts_with('/') { '/' } else { '|' };
                let end = end_of_part(pattern, close);
                pattern.get(end..).unwrap_or("").trim_start_matches(['I', 'M'])
            }
            None => return trimmed,
        };
    }
}

/// One past the unescaped `close` in `text`, or its length.
fn end_of_part(text: &str, close: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == close {
            return at + c.len_utf8();
        }
    }
    text.len()
}

/// The replacement of an `s` command, and the text from its flags on.
fn substitution(text: &str) -> Option<(&str, &str)> {
    let close = text.chars().next()?;
    let body = text.get(close.len_utf8()..)?;
    let first = end_of_part(body, close);
    let second = body.get(first..)?;
    let end = end_of_part(second, close);
    let replacement = second.get(..end)?.trim_end_matches(close);
    Some((replacement, second.get(end..)?))
}

/// The text that stands up to a closing bracket: awk joins what stands side by side.
fn joined(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        match token {
            Token::Text(part) => text.push_str(part),
            Token::Name(_) => push_mark(&mut text, ANY),
            Token::Sign(')') => break,
            Token::Shell(_) | Token::Sign(_) => {}
        }
    }
    text
}
