//! The hook entries of one event in a settings document, and which tools they are for.

use std::path::Path;

use regex::Regex;
use serde_json::{Map, Value};

/// One hook of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEntry {
    /// `matcher` of the group that it stands in.
    pub matcher: Option<String>,
    /// `command`; of a hook of another type, that type.
    pub command: String,
    /// `args`, where it is run without a shell.
    pub args: Option<Vec<String>>,
}

/// Whether a matcher takes a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// Its pattern is one that only the client's own engine can judge.
    Unknown,
}

impl HookEntry {
    /// The entries of `event` in a settings document.
    #[must_use]
    pub fn of_event(document: &Map<String, Value>, event: &str) -> Vec<Self> {
        let groups = document.get("hooks").and_then(|hooks| hooks.get(event));
        let groups = groups.and_then(Value::as_array).into_iter().flatten();
        groups.flat_map(Self::of_group).collect()
    }

    fn of_group(group: &Value) -> Vec<Self> {
        let text = |value: &Value, field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
        let matcher = text(group, "matcher");
        let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
        let entry = |hook: &Value| {
            let args = hook.get("args").and_then(Value::as_array);
            Some(Self {
                matcher: matcher.clone(),
                command: text(hook, "command").or_else(|| text(hook, "type"))?,
                args: args.map(|args| args.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            })
        };
        hooks.filter_map(entry).collect()
    }

    /// Whether the entry's hook runs for `tool`: nothing and `*` take every tool, names joined by `|` or `,` are exact,
    /// and a text with any other character is a JavaScript pattern that may match anywhere (hooks documentation).
    #[must_use]
    pub fn takes(&self, tool: &str) -> Takes {
        let matcher = self.matcher.as_deref().unwrap_or_default().trim();
        let yes_or_no = |yes| if yes { Takes::Yes } else { Takes::No };
        if matcher.is_empty() || matcher == "*" {
            return Takes::Yes;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '|' | ',' | ' ');
        if matcher.chars().all(plain) {
            return yes_or_no(matcher.split(['|', ',']).any(|name| name.trim() == tool));
        }
        Regex::new(matcher).map_or(Takes::Unknown, |pattern| yes_or_no(pattern.is_match(tool)))
    }

    /// The subcommand, where the entry runs `subcell` itself: in the form with arguments, or as the first words of a
    /// shell command. A command that reaches it in another way (a wrapper, a variable) is not recognised.
    #[must_use]
    pub fn subcell_command(&self) -> Option<String> {
        let mut words = self.words().into_iter();
        let program = words.next()?;
        (Path::new(&program).file_name()? == "subcell")
            .then(|| words.next())
            .flatten()
    }

    /// A short name for a record: the file names of program and script. Other words may hold secrets.
    #[must_use]
    pub fn label(&self) -> String {
        let words = self.words();
        let named = words.iter().enumerate().filter_map(|(at, word)| {
            // An argument with blanks in it is a command or a text, and only its first word a path.
            let path = if at == 0 { word } else { word.split_whitespace().next()? };
            (at == 0 || path.starts_with(['/', '.', '~'])).then(|| Path::new(path).file_name())?
        });
        let label: Vec<_> = named.take(2).map(|name| name.to_string_lossy()).collect();
        label.join(" ").chars().filter(|c| !c.is_control()).take(80).collect()
    }

    /// Program and arguments.
    fn words(&self) -> Vec<String> {
        match &self.args {
            Some(args) => std::iter::once(&self.command).chain(args).cloned().collect(),
            None => shell_words(&self.command),
        }
    }
}

/// The words of a shell command from its program on: variables that are set before it, whose values may be secrets, and
/// an `exec` are left out. Quotes and backslashes hold a word together; nothing is expanded.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        let mut push = |character| words.last_mut().map(|word| word.push(character));
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some('\''), _) => drop(push(character)),
            (None | Some(_), '\\') => drop(characters.next().and_then(push)),
            (None, '\'' | '"') => quote = Some(character),
            (None, _) if character.is_whitespace() => words.push(String::new()),
            (None | Some(_), _) => drop(push(character)),
        }
    }
    let before = |word: &String| word.is_empty() || word == "exec" || is_assignment(word);
    words
        .into_iter()
        .skip_while(before)
        .filter(|word| !word.is_empty())
        .collect()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(matcher: Option<&str>, command: &str, args: Option<&[&str]>) -> HookEntry {
        HookEntry {
            matcher: matcher.map(str::to_owned),
            command: command.into(),
            args: args.map(|args| args.iter().map(|arg| (*arg).to_owned()).collect()),
        }
    }

    #[test]
    fn entries_are_read_and_odd_ones_left_out() {
        let document = json!({"hooks": {"PostToolUse": [
            {"matcher": "Agent", "hooks": [
                {"type": "command", "command": "a b"},
                {"type": "command", "command": "c", "args": ["d", 1]},
                {"type": "http", "url": "http://h"},
                7]},
            {"hooks": [{"command": "e"}]},
            {"hooks": {}}, 8],
            "Stop": [{"hooks": [{"command": "f"}]}]}});
        let document = document.as_object().unwrap();
        let expected = [
            entry(Some("Agent"), "a b", None),
            entry(Some("Agent"), "c", Some(&["d"])),
            entry(Some("Agent"), "http", None),
            entry(None, "e", None),
        ];
        assert_eq!(HookEntry::of_event(document, "PostToolUse"), expected);
        assert_eq!(HookEntry::of_event(document, "PreToolUse"), []);
        assert_eq!(HookEntry::of_event(&Map::new(), "Stop"), []);
    }

    #[test]
    fn matchers_are_judged_as_the_client_does() {
        for (matcher, takes) in [
            (None, Takes::Yes),
            (Some(""), Takes::Yes),
            (Some("*"), Takes::Yes),
            (Some("Agent"), Takes::Yes),
            (Some("Bash|Agent"), Takes::Yes),
            (Some("Bash, Agent"), Takes::Yes),
            (Some("Age"), Takes::No),
            (Some("agent"), Takes::No),
            (Some("Bash|WebFetch|Read"), Takes::No),
            (Some("Age.*"), Takes::Yes),
            (Some("^(Agent|Task)$"), Takes::Yes),
            (Some(".gent"), Takes::Yes),
            (Some("^Bash$"), Takes::No),
            (Some("(?!Bash).*"), Takes::Unknown),
        ] {
            assert_eq!(entry(matcher, "c", None).takes("Agent"), takes, "{matcher:?}");
        }
    }

    #[test]
    fn our_own_entries_are_known_in_both_forms() {
        for (command, args, expected) in [
            ("subcell", Some(&["seal"][..]), Some("seal")),
            ("/opt/bin/subcell", Some(&["intercept", "--x"]), Some("intercept")),
            ("subcell seal", None, Some("seal")),
            ("\"/opt/bin/subcell\" seal 2>/dev/null", None, Some("seal")),
            ("'/opt/my bin/subcell' seal", None, Some("seal")),
            ("/opt/my\\ bin/subcell  seal", None, Some("seal")),
            ("TOKEN='a b' exec subcell seal", None, Some("seal")),
            ("/opt/my bin/subcell", Some(&["seal"]), Some("seal")),
            ("subcell", Some(&[]), None),
            ("subcell", None, None),
            ("subcell-seal seal", None, None),
            ("python3 seal.py", None, None),
        ] {
            let found = entry(None, command, args).subcell_command();
            assert_eq!(found.as_deref(), expected, "{command}");
        }
    }

    #[test]
    fn a_label_names_files_and_no_secrets() {
        for (command, args, label) in [
            ("python3 /hooks/redact.py --key s3cret", None, "python3 redact.py"),
            ("/bin/sh", Some(&["-c", "echo s3cret", "/x/log.sh"][..]), "sh log.sh"),
            ("curl -H s3cret http://h", None, "curl"),
            ("TOKEN=s3cret /hooks/redact.py", None, "redact.py"),
            ("TOKEN=\"s3cret s3cret\" exec '/my hooks/redact.py'", None, "redact.py"),
            ("sh", Some(&["-c", "/x/log.sh --key=/s3cret"]), "sh log.sh"),
            ("sh -c '/x/log.sh --key=/s3cret'", None, "sh log.sh"),
        ] {
            assert_eq!(entry(None, command, args).label(), label);
        }
    }
}
