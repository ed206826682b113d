//! Expansion of words to fields.

use super::super::marks::{ANY, HOME, glob};
use super::super::read::Unread;
use super::super::syntax::{Part, Script, Word};
use super::brace;
use super::param::Expanded;
use super::state::{Walk, append};
use super::variable::Value;

/// The fields of a word while they grow.
#[derive(Default)]
struct Fields {
    done: Vec<String>,
    now: String,
    open: bool,
}

impl Fields {
    fn push(&mut self, text: &str) {
        append(&mut self.now, text);
        self.open = true;
    }

    fn end(&mut self) {
        if self.open {
            self.done.push(std::mem::take(&mut self.now));
            self.open = false;
        }
    }

    /// Adds a value that is split at blanks and whose globs count.
    fn split(&mut self, value: &str, separators: &[char]) {
        for (index, piece) in value.split(separators).enumerate() {
            if index > 0 {
                self.end();
            }
            if !piece.is_empty() {
                self.push(&glob(piece));
            }
        }
    }
}

impl Walk<'_> {
    /// The fields that a list of words expands to.
    pub(crate) fn fields_of(&mut self, words: &[Word]) -> Vec<String> {
        let mut fields = Vec::new();
        for word in words {
            if !self.afford(24) {
                break;
            }
            self.fields(word, &mut fields);
        }
        fields
    }

    fn fields(&mut self, word: &Word, into: &mut Vec<String>) {
        match brace::expand(word) {
            None => self.unbraced(word, into),
            Some(Ok(words)) => {
                for word in &words {
                    self.unbraced(word, into);
                }
            }
            Some(Err(())) => {
                let span = self.place_of(word.span);
                self.give_up(Unread::Spent, span);
                into.push(ANY.to_string());
            }
        }
    }

    /// The characters that separate fields (`IFS`).
    fn separators(&self) -> Vec<char> {
        match self.vars.get("IFS") {
            Some(Value::Text(texts)) => texts.first().map(|text| text.chars().collect()).unwrap_or_default(),
            Some(Value::List(_) | Value::Unset) | None => vec![' ', '\t', '\n'],
        }
    }

    fn unbraced(&mut self, word: &Word, into: &mut Vec<String>) {
        let separators = self.separators();
        let mut fields = Fields::default();
        for (index, part) in word.parts.iter().enumerate() {
            match part {
                Part::Bare(text) if index == 0 => {
                    let text = self.tilde(text, word.parts.len() == 1);
                    fields.push(&glob(&text));
                }
                Part::Bare(text) => fields.push(&glob(text)),
                Part::Quoted(text) => fields.push(text),
                Part::Param(param) => match (self.param(param), param.quoted) {
                    (Expanded::One(value), true) => fields.push(&value),
                    (Expanded::One(value), false) => fields.split(&value, &separators),
                    (Expanded::Many(values), quoted) => {
                        for (index, value) in values.iter().enumerate() {
                            if index > 0 {
                                fields.end();
                            }
                            if quoted {
                                fields.push(value);
                            } else {
                                fields.split(value, &separators);
                            }
                        }
                    }
                },
                Part::Command { script, quoted } => {
                    let value = self.substitute(script);
                    if *quoted {
                        fields.push(&value);
                    } else {
                        fields.split(&value, &separators);
                    }
                }
                Part::Process { script, reads } => {
                    let path = self.process_file(script, *reads);
                    fields.push(&path);
                }
                Part::Arith(parts) => {
                    self.effects(parts);
                    fields.push("1");
                }
            }
        }
        fields.end();
        into.append(&mut fields.done);
    }

    /// A word as one text, without splitting: an assignment's value, a file's name, a here-document.
    pub(crate) fn text(&mut self, word: &Word) -> String {
        let mut text = String::new();
        for (index, part) in word.parts.iter().enumerate() {
            match part {
                Part::Bare(bare) if index == 0 => append(&mut text, &self.tilde(bare, word.parts.len() == 1)),
                Part::Bare(part) | Part::Quoted(part) => append(&mut text, part),
                Part::Param(param) => match self.param(param) {
                    Expanded::One(value) => append(&mut text, &value),
                    Expanded::Many(values) => append(&mut text, &values.join(" ")),
                },
                Part::Command { script, .. } => {
                    let value = self.substitute(script);
                    append(&mut text, &value);
                }
                Part::Process { script, reads } => {
                    let path = self.process_file(script, *reads);
                    append(&mut text, &path);
                }
                Part::Arith(parts) => {
                    self.effects(parts);
                    append(&mut text, "1");
                }
            }
        }
        text
    }

    /// Follows what is expanded inside of arithmetic, for what it does.
    pub(crate) fn effects(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Command { script, .. } => {
                    self.substitute(script);
                }
                Part::Param(param) => {
                    self.param(param);
                }
                Part::Process { script, reads } => {
                    self.process_file(script, *reads);
                }
                Part::Arith(inner) => self.effects(inner),
                Part::Bare(_) | Part::Quoted(_) => {}
            }
        }
    }

    /// A leading `~` as the home's mark; also after `name=`, as bash has it.
    fn tilde(&self, text: &str, alone: bool) -> String {
        let (before, at) = match text.split_once("=~") {
            Some((name, rest)) if !name.contains(['/', '=', '-']) => (format!("{name}="), rest),
            _ => match text.strip_prefix('~') {
                Some(rest) => (String::new(), rest),
                None => return text.to_owned(),
            },
        };
        let (user, rest) = at.find('/').map_or((at, ""), |slash| at.split_at(slash));
        match user {
            "" => format!("{before}{HOME}{rest}"),
            "+" => format!("{before}{}{rest}", self.dirs.now),
            "-" => format!("{before}{}{rest}", self.dirs.before.as_deref().unwrap_or("")),
            "root" => format!("{before}/root{rest}"),
            // A user's name needs the whole word: `~$x` is no home.
            _ if alone || !rest.is_empty() => format!("{before}/home/{user}{rest}"),
            _ => text.to_owned(),
        }
    }

    /// What a command substitution comes to.
    pub(crate) fn substitute(&mut self, script: &Script) -> String {
        let output = self.deeper(super::super::syntax::Span::default(), |walk| {
            walk.subshell(|walk| walk.script(script, &None))
        });
        output.trim_end_matches('\n').to_owned()
    }

    /// A file that stands for a process: reading it gives what the process prints.
    fn process_file(&mut self, script: &Script, reads: bool) -> String {
        let output = self.deeper(super::super::syntax::Span::default(), |walk| {
            walk.subshell(|walk| walk.script(script, &None))
        });
        let path = format!("/dev/fd/{}", 63 + self.files.len());
        if reads {
            self.files.insert(path.clone(), output.into());
        }
        path
    }
}
