//! Splits a command line into options with their values, by commander's rules.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use super::options::{Arity, arity};

/// One thing on a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// An option and its value. A variadic option gives one of these for each value.
    Option {
        /// Its spelling as given, with the dashes and without `=value`.
        name: String,
        /// The value, where the option takes one and has one.
        value: Option<OsString>,
    },
    /// An option that no measured version has. The word after it is taken for its value unless it looks like an option.
    Unknown {
        /// Its spelling as given, without `=value`: a value may be a secret.
        name: String,
    },
    /// A word that belongs to no option: the prompt.
    Positional,
}

/// The arguments of a client, out of `/proc/PID/cmdline`: without the program, and where that is a JavaScript runtime,
/// without the runtime's own options and the script.
///
/// All measured versions are native binaries, also through npm's bin link; older packages ran on node.
#[must_use]
pub fn arguments(command_line: &[OsString]) -> &[OsString] {
    let Some((program, rest)) = command_line.split_first() else {
        return &[];
    };
    let name = program
        .as_bytes()
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or_default();
    if name != b"node" && name != b"bun" {
        return rest;
    }
    let script = rest.iter().position(|word| !looks_like_option(word));
    script.and_then(|at| rest.get(at + 1..)).unwrap_or_default()
}

/// Splits `arguments` (without the program) into options and positionals.
#[must_use]
pub fn split(arguments: &[OsString]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = arguments.iter().peekable();
    // What is left of a group of short options (`-pc`), to be read as the next word.
    let mut regrouped: Option<OsString> = None;
    let mut open_variadic: Option<String> = None;
    while let Some(word) = regrouped.take().or_else(|| rest.next().cloned()) {
        if word == "--" {
            words.extend(rest.map(|_| Word::Positional));
            return words;
        }
        if !looks_like_option(&word) {
            words.push(open_variadic.as_ref().map_or(Word::Positional, |name| Word::Option {
                name: name.clone(),
                value: Some(word),
            }));
            continue;
        }
        open_variadic = None;
        let (name, joined) = name_and_joined(&word);
        let value = match (known(&word), joined) {
            (Some(Arity::None), _) => None,
            (Some(Arity::One | Arity::Variadic), _) => rest.next().cloned(),
            (Some(Arity::Optional), _) => rest.next_if(|next| !looks_like_option(next)).cloned(),
            (None, Joined::Value(value)) => Some(value),
            (None, Joined::Group(more)) => {
                regrouped = Some(more);
                None
            }
            (None, Joined::Nothing) => {
                // Whether it takes a value is not known. A word that cannot be an option would be the prompt or its
                // value, and neither matters here.
                rest.next_if(|next| !looks_like_option(next));
                words.push(Word::Unknown { name });
                continue;
            }
        };
        if known(&word) == Some(Arity::Variadic) {
            open_variadic = Some(name.clone());
        }
        words.push(if arity(&name).is_some() {
            Word::Option { name, value }
        } else {
            Word::Unknown { name }
        });
    }
    words
}

/// What is joined to an option within its own word.
enum Joined {
    Nothing,
    Value(OsString),
    Group(OsString),
}

fn known(word: &OsStr) -> Option<Arity> {
    word.to_str().and_then(arity)
}

/// The option's own spelling, and what follows it in the same word: `--name=value`, `-nvalue`, `-pc`.
fn name_and_joined(word: &OsStr) -> (String, Joined) {
    let bytes = word.as_bytes();
    let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
    let own = |part: &[u8]| OsString::from_vec(part.to_vec());
    if known(word).is_some() {
        return (text(bytes), Joined::Nothing);
    }
    if bytes.starts_with(b"--") {
        let Some(at) = bytes.iter().position(|byte| *byte == b'=') else {
            return (text(bytes), Joined::Nothing);
        };
        let (name, value) = bytes.split_at(at);
        return (text(name), Joined::Value(own(value.get(1..).unwrap_or_default())));
    }
    let (short, more) = bytes.split_at_checked(2).unwrap_or((bytes, &[]));
    let short = text(short);
    match arity(&short) {
        Some(Arity::One | Arity::Optional | Arity::Variadic) => (short, Joined::Value(own(more))),
        Some(Arity::None) => (short, Joined::Group(own(&[b"-", more].concat()))),
        None => (text(bytes), Joined::Nothing),
    }
}

/// Commander's rule: longer than one character and starting with a dash.
fn looks_like_option(word: &OsStr) -> bool {
    word.len() > 1 && word.as_bytes().starts_with(b"-")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words as `name=value`, `name`, `?name` for an unknown option and `.` for a positional.
    fn shown(line: &[&str]) -> String {
        let arguments: Vec<OsString> = line.iter().map(OsString::from).collect();
        let show = |word: Word| match word {
            Word::Option { name, value: None } => name,
            Word::Option { name, value: Some(v) } => format!("{name}={}", v.to_string_lossy()),
            Word::Unknown { name } => format!("?{name}"),
            Word::Positional => ".".to_owned(),
        };
        split(&arguments).into_iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_rules_measured_on_the_client() {
        for (line, expected) in [
            // A required value takes the next word, whatever it looks like.
            (
                &["--append-system-prompt", "-x", "P"][..],
                "--append-system-prompt=-x .",
            ),
            (&["--model", "--", "P"], "--model=-- ."),
            (&["--model"], "--model"),
            // An optional value is not taken from a word that looks like an option; a lone dash does not.
            (&["-d", "hooks", "P"], "-d=hooks ."),
            (&["--debug", "--model", "haiku"], "--debug --model=haiku"),
            (&["--debug", "-"], "--debug=-"),
            // A variadic takes its first word unconditionally, then up to the next option.
            (
                &["--allowedTools", "-x", "--model", "haiku", "P"],
                "--allowedTools=-x --model=haiku .",
            ),
            (&["--add-dir", "A", "P"], "--add-dir=A --add-dir=P"),
            (&["--add-dir", "A", "--", "P"], "--add-dir=A ."),
            (&["--add-dir", "A", "-", "-1", "P"], "--add-dir=A --add-dir=- ?-1"),
            // With = a variadic takes only that value.
            (&["--add-dir=A", "P"], "--add-dir=A ."),
            (
                &["--allowed-tools=Bash(touch:*)", "Bash(rm:*)"],
                "--allowed-tools=Bash(touch:*) .",
            ),
            (&["--settings={\"a\":\"b=c\"}"], "--settings={\"a\":\"b=c\"}"),
            (&["--tools", "", "-p"], "--tools= -p"),
            (&["--tools="], "--tools="),
            // Short options join and combine.
            (&["-nfoo"], "-n=foo"),
            (&["-n=foo"], "-n==foo"),
            (&["-pc", "P"], "-p -c ."),
            (&["-pnfoo"], "-p -n=foo"),
            (&["-pd", "hooks"], "-p -d=hooks"),
            // After -- everything is a positional.
            (&["--", "--output-format", "json"], ". ."),
            // No abbreviations; both kinds of unknown options are reported without their values.
            (
                &["--mod", "haiku", "--new=1", "--newer", "--model=x"],
                "?--mod ?--new ?--newer --model=x",
            ),
        ] {
            assert_eq!(shown(line), expected, "{line:?}");
        }
    }

    #[test]
    fn the_program_and_a_runtime_are_left_out() {
        let line = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(arguments(&line(&["/usr/bin/claude", "-p"])), &line(&["-p"])[..]);
        assert_eq!(
            arguments(&line(&["/usr/bin/node", "--no-warnings", "/x/cli.js", "-p"])),
            &line(&["-p"])[..]
        );
        assert!(arguments(&[]).is_empty());
        assert!(arguments(&line(&["node"])).is_empty());
    }

    #[test]
    fn a_word_that_is_no_utf_8_is_kept_as_a_value() {
        let odd = OsString::from_vec(b"/tmp/\xff".to_vec());
        let words = split(&[OsString::from("--add-dir"), odd.clone()]);
        assert_eq!(
            words,
            [Word::Option {
                name: "--add-dir".into(),
                value: Some(odd)
            }]
        );
    }
}
