//! Which hook entries of a settings document run this program, and how.

use std::path::Path;

use serde_json::{Map, Value};

use crate::protocol::settings::{HookEntry, Takes};

/// The name of our executable, whatever folder it lies in.
const PROGRAM: &str = "subcell";

/// A hook of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// `subcell intercept`.
    Intercept,
    /// `subcell seal`.
    Seal,
    /// `subcell guard background`.
    Background,
    /// `subcell guard bash`.
    Bash,
    /// `subcell guard liveness`.
    Liveness,
    /// `subcell --hook subagent-stop-liveness`: the same guard, installed alone by `subcell init`.
    LivenessAlone,
}

impl Work {
    /// Reads the words after the program: which hook they call, and how many words name it.
    fn of(words: &[String]) -> Option<(Self, usize)> {
        let word = |at: usize| words.get(at).map(String::as_str);
        Some(match (word(0)?, word(1)) {
            ("intercept", _) => (Self::Intercept, 1),
            ("seal", _) => (Self::Seal, 1),
            ("guard", Some("background")) => (Self::Background, 2),
            ("guard", Some("bash")) => (Self::Bash, 2),
            ("guard", Some("liveness")) => (Self::Liveness, 2),
            ("--hook", Some(super::GUARD)) => (Self::LivenessAlone, 2),
            (joined, _) if joined.strip_prefix("--hook=") == Some(super::GUARD) => (Self::LivenessAlone, 1),
            _ => return None,
        })
    }

    /// The words of the command line that call it.
    #[must_use]
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Intercept => &["intercept"],
            Self::Seal => &["seal"],
            Self::Background => &["guard", "background"],
            Self::Bash => &["guard", "bash"],
            Self::Liveness => &["guard", "liveness"],
            Self::LivenessAlone => &["--hook", super::GUARD],
        }
    }
}

/// How an entry reaches the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `command` is the program and `args` are its arguments: no shell.
    Exec,
    /// `command` is a text for a shell, and the program is its first word.
    Shell,
    /// Another program, or a longer shell command, starts it: the entry is not ours alone.
    Wrapped,
}

/// One hook entry that runs this program.
#[derive(Clone, Debug, PartialEq)]
pub struct OurEntry {
    /// The event that it stands under.
    pub event: String,
    /// The place of its group in the event's list, from 0.
    pub group: usize,
    /// Its place in that group's `hooks`, from 0.
    pub hook: usize,
    /// `matcher` of the group.
    pub matcher: Option<String>,
    /// The program as written: a path, or a bare name.
    pub program: String,
    /// How the program is reached.
    pub form: Form,
    /// Which hook it is.
    pub work: Work,
    /// The arguments after the words that name the hook.
    pub flags: Vec<String>,
    /// `timeout` in seconds; none is the client's default of 600.
    pub timeout_s: Option<f64>,
    /// Whether `onFailure` is `"block"` (2.1.295 and newer obey it).
    pub blocks: bool,
}

impl OurEntry {
    /// Every entry of ours in a settings document, in its order.
    #[must_use]
    pub fn all(document: &Map<String, Value>) -> Vec<Self> {
        let events = document.get("hooks").and_then(Value::as_object).into_iter().flatten();
        events
            .flat_map(|(event, groups)| Self::of_event(event, groups))
            .collect()
    }

    fn of_event(event: &str, groups: &Value) -> Vec<Self> {
        let groups = groups.as_array().into_iter().flatten().enumerate();
        let in_group = |(at, group): (usize, &Value)| {
            let matcher = group.get("matcher").and_then(Value::as_str).map(str::to_owned);
            let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
            let ours = hooks.enumerate().filter_map(move |(place, hook)| {
                Some(Self {
                    event: event.to_owned(),
                    group: at,
                    hook: place,
                    matcher: matcher.clone(),
                    ..Self::read(hook)?
                })
            });
            ours.collect::<Vec<_>>()
        };
        groups.flat_map(in_group).collect()
    }

    /// Reads one hook; its place is the caller's to fill in.
    fn read(hook: &Value) -> Option<Self> {
        let command = hook.get("command").and_then(Value::as_str)?;
        let (words, exec) = match hook.get("args").and_then(Value::as_array) {
            Some(args) => {
                let args = args.iter().filter_map(Value::as_str);
                (std::iter::once(command).chain(args).map(str::to_owned).collect(), true)
            }
            None => (shell_words(command), false),
        };
        let found = Reached::find(&words)?;
        let form = match (found.at, exec) {
            (0, true) => Form::Exec,
            (0, false) if !is_compound(command) => Form::Shell,
            (_, _) => Form::Wrapped,
        };
        Some(Self {
            event: String::new(),
            group: 0,
            hook: 0,
            matcher: None,
            program: found.program.to_owned(),
            form,
            work: found.work,
            flags: found.flags.to_vec(),
            timeout_s: hook.get("timeout").and_then(Value::as_f64),
            blocks: hook.get("onFailure").and_then(Value::as_str) == Some("block"),
        })
    }

    /// Whether the entry's hook runs for `tool`.
    #[must_use]
    pub fn takes(&self, tool: &str) -> Takes {
        let entry = HookEntry {
            matcher: self.matcher.clone(),
            command: self.program.clone(),
            args: None,
        };
        entry.takes(tool)
    }

    /// Whether the flag `name` is given.
    #[must_use]
    pub fn has_flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag == name)
    }

    /// The value of the option `name`, in either of its forms.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        let joined = |flag: &'_ String| flag.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        let at = self.flags.iter().position(|flag| flag == name || joined(flag))?;
        let flag = self.flags.get(at)?;
        match flag.split_once('=') {
            Some((_, value)) if flag != name => Some(value),
            _ => self.flags.get(at + 1).map(String::as_str),
        }
    }

    /// Whether the client runs the two once where they stand in two scopes: it does for one and the same command and
    /// arguments, and runs entries that differ in them twice (2.1.332).
    #[must_use]
    pub fn runs_once_beside(&self, other: &Self) -> bool {
        self.form == other.form
            && self.program == other.program
            && self.work == other.work
            && self.flags == other.flags
    }
}

/// Where in a command line this program is called.
struct Reached<'a> {
    at: usize,
    program: &'a str,
    work: Work,
    flags: &'a [String],
}

impl<'a> Reached<'a> {
    fn find(words: &'a [String]) -> Option<Self> {
        words.iter().enumerate().find_map(|(at, program)| {
            let rest = words.get(at + 1..)?;
            let (work, named_by) = Work::of(rest).filter(|_| is_program(program))?;
            Some(Self {
                at,
                program,
                work,
                flags: rest.get(named_by..)?,
            })
        })
    }
}

fn is_program(word: &str) -> bool {
    Path::new(word).file_name().is_some_and(|name| name == PROGRAM)
}

/// The words of a shell command, its quotes undone; expansions stay as they are written.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (_, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Whether a shell would run more than one command for this text.
fn is_compound(command: &str) -> bool {
    command.contains([';', '|', '&', '\n', '`', '(']) && !only_merges_outputs(command)
}

/// `2>&1` and `>&2` have the sign of a list and are none.
fn only_merges_outputs(command: &str) -> bool {
    let plain = command.replace(">&", "");
    !plain.contains([';', '|', '&', '\n', '`', '('])
}

#[cfg(test)]
#[path = "entries_tests.rs"]
mod tests;
