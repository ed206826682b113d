//! The script: rules, each with conditions and an answer; the first that matches answers.
//!
//! ```json
//! {"rules": [
//!    {"when": {"role": "main", "prompt_contains": "PARENT", "has_tool_result": false},
//!     "answer": {"blocks": [{"tool_use": {"name": "Agent", "input": {"description": "d", "prompt": "JUDGE"}}}]}},
//!    {"when": {"prompt_contains": "JUDGE"}, "delay_ms": 200, "answer": {"blocks": [{"text": "4/5 from {{model}}"}]}},
//!    {"when": {"nth": 1}, "answer": {"error": {"status": 529, "type": "overloaded_error", "message": "busy"}}},
//!    {"when": {"prompt_contains": "FOREVER"}, "answer": "hang"}],
//!  "default": {"blocks": [{"text": "got {{tool_result}}"}]}}
//! ```
//! Blocks are `text` (with [variables](super::template::Template)), `repeat` (`text` and `bytes`: the text again and
//! again, exactly so long), `file` (a UTF-8 file, relative to the script), `echo` and `tool_use`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::answer::{Answer, ApiError, Block, ToolUse};
use super::echo::Echo;
use super::facts::Facts;
use super::rule::{Conditions, Numbers};
use super::template::Template;

/// A script that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("read the script {}", .path.display())]
    Read {
        /// The script.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is not a script; the source names line and column.
    #[error("the script {} is wrong", .path.display())]
    Wrong {
        /// The script.
        path: PathBuf,
        /// What and where.
        #[source]
        source: serde_json::Error,
    },
    /// A file that it names cannot be read.
    #[error("{rule} of the script {} names {}, which cannot be read", .path.display(), .file.display())]
    File {
        /// The script.
        path: PathBuf,
        /// `rule 3`, or `the default answer`.
        rule: String,
        /// The file, as resolved.
        file: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// A script, ready to answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    rules: Vec<Rule>,
    default: Rule,
}

/// One rule, ready to answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    when: Conditions,
    /// What the request log calls it.
    pub(super) label: String,
    /// How long the answer is held back.
    pub(super) delay: Duration,
    pub(super) answer: Answer,
}

impl Script {
    /// Reads a script and the files that it names.
    ///
    /// # Errors
    /// [`ScriptError`] names the file, and the line and column or the rule.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = fs::read(path).map_err(|source| ScriptError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path)
    }

    fn parse(text: &[u8], path: &Path) -> Result<Self, ScriptError> {
        let raw: RawScript = serde_json::from_slice(text).map_err(|source| ScriptError::Wrong {
            path: path.to_owned(),
            source,
        })?;
        let rules = raw.rules.into_iter().zip(1_u64..);
        Ok(Self {
            rules: rules
                .map(|(rule, number)| rule.resolve(format!("rule {number}"), path))
                .collect::<Result<_, _>>()?,
            default: RawRule {
                answer: raw.default,
                ..RawRule::default()
            }
            .resolve("default".to_owned(), path)?,
        })
    }

    /// The first rule whose conditions hold, or the default.
    pub(super) fn rule(&self, facts: &Facts, numbers: Numbers) -> &Rule {
        let holds = |rule: &&Rule| rule.when.hold(facts, numbers);
        self.rules.iter().find(holds).unwrap_or(&self.default)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    #[serde(default)]
    rules: Vec<RawRule>,
    #[serde(default)]
    default: RawAnswer,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    #[serde(default)]
    when: Conditions,
    #[serde(default)]
    delay_ms: u64,
    answer: RawAnswer,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum RawAnswer {
    Blocks(Vec<RawBlock>),
    Error(ApiError),
    Hang,
}

impl Default for RawAnswer {
    fn default() -> Self {
        Self::Blocks(vec![RawBlock::Fixed(
            "no rule of the script matches this request".to_owned(),
        )])
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum RawBlock {
    Text(Template),
    #[serde(skip)]
    Fixed(String),
    Repeat(Repeat),
    File(PathBuf),
    Echo(Echo),
    ToolUse(ToolUse),
}

/// The longest text that a `repeat` may make.
const LONGEST_REPEAT: usize = 64 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, try_from = "RawRepeat")]
struct Repeat(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRepeat {
    text: String,
    bytes: usize,
}

/// A repetition that cannot be made exactly so long.
#[derive(Debug, thiserror::Error)]
enum RepeatError {
    #[error("the repeated text is empty or not ASCII")]
    Text,
    #[error("a repeated text has at most {LONGEST_REPEAT} bytes")]
    TooLong,
}

impl TryFrom<RawRepeat> for Repeat {
    type Error = RepeatError;

    fn try_from(raw: RawRepeat) -> Result<Self, RepeatError> {
        // ASCII alone can be cut at any byte.
        if raw.text.is_empty() || !raw.text.is_ascii() {
            return Err(RepeatError::Text);
        }
        if raw.bytes > LONGEST_REPEAT {
            return Err(RepeatError::TooLong);
        }
        Ok(Self(raw.text.chars().cycle().take(raw.bytes).collect()))
    }
}

impl RawRule {
    fn resolve(self, label: String, script: &Path) -> Result<Rule, ScriptError> {
        let answer = match self.answer {
            RawAnswer::Blocks(blocks) => {
                let resolved = blocks.into_iter().map(|block| block.resolve(&label, script));
                Answer::Blocks(resolved.collect::<Result<_, _>>()?)
            }
            RawAnswer::Error(error) => Answer::Error(error),
            RawAnswer::Hang => Answer::Hang,
        };
        Ok(Rule {
            when: self.when,
            label,
            delay: Duration::from_millis(self.delay_ms),
            answer,
        })
    }
}

impl RawBlock {
    fn resolve(self, rule: &str, script: &Path) -> Result<Block, ScriptError> {
        Ok(match self {
            Self::Text(template) => Block::Text(template),
            Self::Fixed(text) | Self::Repeat(Repeat(text)) => Block::Fixed(text),
            Self::Echo(echo) => Block::Echo(echo),
            Self::ToolUse(call) => Block::ToolUse(call),
            Self::File(file) => {
                let file = script.parent().unwrap_or(Path::new("")).join(file);
                let text = fs::read_to_string(&file).map_err(|source| ScriptError::File {
                    path: script.to_owned(),
                    rule: rule.to_owned(),
                    file,
                    source,
                })?;
                Block::Fixed(text)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::{Part, Reply};
    use super::*;
    use crate::base::chain::Chain;

    fn parse(text: &str) -> Result<Script, ScriptError> {
        Script::parse(text.as_bytes(), Path::new("dir/s.json"))
    }

    fn text_for(script: &Script, prompt: &str) -> String {
        let facts = Facts {
            prompt: prompt.into(),
            ..Facts::default()
        };
        let numbers = Numbers { n: 1, nth: 1 };
        match script.rule(&facts, numbers).answer.reply(&facts, numbers) {
            Reply::Message(message) => match message.parts.as_slice() {
                [Part::Text(text)] => text.clone(),
                other => panic!("{other:?}"),
            },
            other @ (Reply::Error(_) | Reply::Hang) => format!("{other:?}"),
        }
    }

    #[test]
    fn the_first_rule_that_matches_answers() {
        let script = parse(
            r#"{"rules": [
                {"when": {"prompt_contains": "a"}, "answer": {"blocks": [{"text": "first {{n}}"}]}},
                {"when": {"prompt_contains": "ab"}, "answer": {"blocks": [{"text": "never"}]}},
                {"when": {"prompt_contains": "b"}, "answer": {"blocks": [{"repeat": {"text": "xyz", "bytes": 5}}]}},
                {"when": {"prompt_contains": "c"}, "answer": "hang"}],
              "default": {"blocks": [{"text": "else"}]}}"#,
        )
        .unwrap();
        for (prompt, want) in [("ab", "first 1"), ("b", "xyzxy"), ("c", "Hang"), ("d", "else")] {
            assert_eq!(text_for(&script, prompt), want, "{prompt}");
        }
        assert_eq!(
            text_for(&parse("{}").unwrap(), ""),
            "no rule of the script matches this request"
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, want) in [
            (
                "{\n \"rulez\": []}",
                "unknown field `rulez`, expected `rules` or `default` at line 2 column 8",
            ),
            (
                "{\"rules\": [\n{\"when\": {\"role\": \"boss\"},\n\"answer\": \"hang\"}]}",
                "at line 2",
            ),
            ("{\"rules\": [\n\n{\"when\": {}}]}", "missing field `answer` at line 3"),
            (
                "{\"default\": {\"blocks\": [\n{\"text\": \"{{nope}}\"}]}}",
                "unknown variable {{nope}}",
            ),
            ("{\"default\": {\"blocks\": [\n{\"text\": \"{{nope}}\"}]}}", "at line 2"),
            (
                "{\"default\": {\"error\":\n{\"status\": 200, \"type\": \"t\", \"message\": \"m\"}}}",
                "400 to 599, not 200 at line 2",
            ),
            (
                "{\"default\": {\"blocks\":\n[{\"echo\": {\"between\": \"x\"}}]}}",
                "needs a group",
            ),
            (
                "{\"default\": {\"blocks\":\n[{\"repeat\": {\"text\": \"\", \"bytes\": 1}}]}}",
                "is empty or not ASCII at line 2",
            ),
            ("{", "EOF while parsing an object at line 1 column 1"),
        ] {
            let message = Chain(&parse(text).unwrap_err()).to_string();
            assert!(message.starts_with("the script dir/s.json is wrong: "), "{message}");
            assert!(message.contains(want), "{message}\nwants {want}");
        }
    }

    #[test]
    fn files_are_found_beside_the_script_and_missing_ones_named() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("s.json");
        fs::write(dir.path().join("big.txt"), "{{n}} as it stands\n").unwrap();
        fs::write(&script, r#"{"default": {"blocks": [{"file": "big.txt"}]}}"#).unwrap();
        assert_eq!(text_for(&Script::load(&script).unwrap(), ""), "{{n}} as it stands\n");

        fs::write(
            &script,
            r#"{"rules": [{"answer": "hang"}, {"answer": {"blocks": [{"file": "gone"}]}}]}"#,
        )
        .unwrap();
        let message = Script::load(&script).unwrap_err().to_string();
        assert!(
            message.starts_with("rule 2 of the script ") && message.contains("gone"),
            "{message}"
        );
        let gone = Script::load(Path::new("/nonexistent/s.json")).unwrap_err();
        assert_eq!(gone.to_string(), "read the script /nonexistent/s.json");
    }
}
