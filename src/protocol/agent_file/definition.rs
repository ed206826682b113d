//! An agent definition.

use serde_json::{Map, Value};

use super::front_matter::{self, FrontMatterError};
use crate::protocol::settings::split_list;

/// A file that defines no agent. The client ignores such files without a word.
#[derive(Debug, thiserror::Error)]
pub enum AgentFileError {
    /// It does not begin with front matter.
    #[error("the agent file has no front matter")]
    NoFrontMatter,
    /// The front matter cannot be read.
    #[error("the agent file's front matter cannot be read")]
    FrontMatter(#[from] FrontMatterError),
    /// `name` or `description` is missing or is no text.
    #[error("the agent file's front matter has no usable {field:?}")]
    Missing {
        /// The field.
        field: &'static str,
    },
}

/// What defines an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentDefinition {
    /// `name`: what a call's `subagent_type` and `--agent` name, whatever the file is called.
    pub name: String,
    /// `description`.
    pub description: String,
    /// The body: the agent's prompt.
    pub prompt: String,
    /// `model`; nothing where it is absent or `inherit`, which mean the same (2.1.156 to 2.1.332).
    pub model: Option<String>,
    /// `tools`, as rules; nothing where absent or holding `*`, which mean all tools.
    pub tools: Option<Vec<String>>,
    /// `disallowedTools`, as rules.
    pub disallowed_tools: Vec<String>,
    /// `maxTurns`, where it is a positive number.
    pub max_turns: Option<u64>,
    /// `omitClaudeMd` (2.1.295, 2.1.332).
    pub omit_claude_md: bool,
    /// `background`.
    pub background: bool,
    /// `isolation`.
    pub isolation: Option<String>,
    /// `permissionMode`.
    pub permission_mode: Option<String>,
    /// `effort`: a word or a number.
    pub effort: Option<String>,
}

impl AgentDefinition {
    /// Reads a Markdown file. Bytes that are not UTF-8 are replaced, as the client does (2.1.332).
    ///
    /// # Errors
    /// [`AgentFileError`] where the client would ignore it.
    pub fn from_markdown(bytes: &[u8]) -> Result<Self, AgentFileError> {
        let text = String::from_utf8_lossy(bytes);
        let (yaml, body) = front_matter::split(&text).ok_or(AgentFileError::NoFrontMatter)?;
        let fields = front_matter::parse(yaml)?;
        let name = text_of(&fields, "name").ok_or(AgentFileError::Missing { field: "name" })?;
        Self::from_fields(name, &fields, body.trim().to_owned())
    }

    /// Reads the fields that front matter and `--agents` have in common.
    pub(super) fn from_fields(
        name: String,
        fields: &Map<String, Value>,
        prompt: String,
    ) -> Result<Self, AgentFileError> {
        let description = text_of(fields, "description").ok_or(AgentFileError::Missing { field: "description" })?;
        let model = text_of(fields, "model").map(|model| model.trim().to_owned());
        Ok(Self {
            name,
            description,
            prompt,
            model: model.filter(|model| !model.is_empty() && !model.eq_ignore_ascii_case("inherit")),
            tools: fields.get("tools").and_then(tools),
            disallowed_tools: fields.get("disallowedTools").map(list).unwrap_or_default(),
            max_turns: fields.get("maxTurns").and_then(positive),
            omit_claude_md: fields.get("omitClaudeMd").is_some_and(is_true),
            background: fields.get("background").is_some_and(is_true),
            isolation: text_of(fields, "isolation"),
            permission_mode: text_of(fields, "permissionMode"),
            effort: fields.get("effort").and_then(word),
        })
    }
}

/// A field that is a text with more than white space in it.
pub(super) fn text_of(fields: &Map<String, Value>, field: &str) -> Option<String> {
    let text = fields.get(field)?.as_str()?;
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// `tools`: nothing where all are meant.
fn tools(value: &Value) -> Option<Vec<String>> {
    let names = list(value);
    (!names.iter().any(|name| name == "*")).then_some(names)
}

/// A list of tools: YAML or JSON list, or text; all the same to the client (2.1.156, 2.1.332).
fn list(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => split_list(text),
        Value::Array(items) => {
            // Joined first: YAML cuts the unquoted `[Agent(a, b), Read]` within the parentheses.
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            split_list(&texts.join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

fn positive(value: &Value) -> Option<u64> {
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    number.filter(|turns| *turns > 0)
}

fn is_true(value: &Value) -> bool {
    value == &Value::Bool(true) || value.as_str() == Some("true")
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(front: &str) -> AgentDefinition {
        AgentDefinition::from_markdown(format!("---\nname: n\ndescription: d\n{front}\n---\n\nBody.\n").as_bytes())
            .unwrap()
    }

    #[test]
    fn reads_every_field() {
        let expected = AgentDefinition {
            name: "n".into(),
            description: "d".into(),
            prompt: "Body.".into(),
            model: Some("haiku".into()),
            tools: Some(vec![]),
            disallowed_tools: vec!["Bash(rm:*)".into(), "Agent".into()],
            max_turns: Some(1),
            omit_claude_md: true,
            background: true,
            isolation: Some("worktree".into()),
            permission_mode: Some("plan".into()),
            effort: Some("low".into()),
        };
        let front = "model: haiku\ntools: []\ndisallowedTools: Bash(rm:*), Agent\nmaxTurns: 1\nomitClaudeMd: true\n\
            background: \"true\"\nisolation: worktree\npermissionMode: plan\neffort: low\ncolor: blue";
        assert_eq!(read(front), expected);
    }

    #[test]
    fn tools_are_the_same_in_every_spelling() {
        let expected = Some(vec!["Agent(ex,other)".to_owned(), "Read".to_owned()]);
        for front in [
            "tools: [\"Agent(ex,other)\", Read]",
            "tools:\n  - Agent(ex,other)\n  - Read",
            "tools: Agent(ex,other), Read",
            "tools: [Agent(ex,other), Read]",
        ] {
            assert_eq!(read(front).tools, expected, "{front}");
        }
        assert_eq!(read("tools: \"*\"").tools, None);
        assert_eq!(read("tools: *").tools, None);
        assert_eq!(read("color: red").tools, None);
        assert_eq!(read("tools:").tools, Some(vec![]));
    }

    #[test]
    fn inherit_and_absence_name_no_model() {
        for front in ["model: inherit", "model: Inherit", "model: \"\"", "model:", "x: y"] {
            assert_eq!(read(front).model, None, "{front}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let read = AgentDefinition::from_markdown(b"---\nname: n\ndescription: d\n---\nbo\xffdy\0").unwrap();
        assert_eq!((read.name.as_str(), read.prompt.as_str()), ("n", "bo\u{fffd}dy\0"));
    }

    #[test]
    fn what_the_client_ignores_is_an_error() {
        let missing = |text: &str| AgentDefinition::from_markdown(text.as_bytes()).unwrap_err().to_string();
        assert!(missing("# no front matter").contains("no front matter"));
        assert!(missing("---\nname: n\n---\n").contains("description"));
        assert!(missing("---\nname: 7\ndescription: d\n---\n").contains("name"));
        assert!(missing("---\nname: \"open\n---\n").contains("cannot be read"));
    }
}
