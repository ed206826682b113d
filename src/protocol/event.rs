//! What arrives on a hook's stdin: one JSON object (hooks reference, "input"; seen on 2.1.156 to 2.1.332).
//!
//! Unknown fields and unknown events are not errors: newer clients add both.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::base::SessionId;

/// A payload that cannot be read as a hook event.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// It is not JSON, or not an object.
    #[error("the hook's input is not a JSON object")]
    NotAnObject(#[source] serde_json::Error),
    /// A field that every event has is missing or has another type.
    #[error("the hook's input has no usable {field:?}")]
    Missing {
        /// The field's name in the payload.
        field: &'static str,
    },
}

/// The permission mode of the calling session (`permission_mode` of the payload), in the client's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionMode {
    /// `default`: asks for what no rule allows.
    Default,
    /// `acceptEdits`.
    AcceptEdits,
    /// `plan`: nothing is changed.
    Plan,
    /// `auto`: a classifier decides.
    Auto,
    /// `dontAsk`: what no rule allows is denied.
    DontAsk,
    /// `bypassPermissions`.
    BypassPermissions,
    /// A word that this version of subcell does not know.
    Other(String),
}

impl PermissionMode {
    /// The mode that the client's word stands for.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        match word {
            "default" => Self::Default,
            "acceptEdits" => Self::AcceptEdits,
            "plan" => Self::Plan,
            "auto" => Self::Auto,
            "dontAsk" => Self::DontAsk,
            "bypassPermissions" => Self::BypassPermissions,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The client's word for it, as `--permission-mode` takes it.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::Auto => "auto",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
            Self::Other(word) => word,
        }
    }
}

/// The tool call that an event is about.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    /// `tool_name`: `Agent` (older clients: `Task`), `Bash`, …
    pub name: String,
    /// `tool_input`; empty where the payload has none.
    pub input: Map<String, Value>,
    /// `tool_use_id` as given, unchecked: see [`crate::base::ToolUseId`].
    pub id: Option<String>,
    /// `tool_response` (`PostToolUse` only).
    pub response: Option<Value>,
}

/// One hook event.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEvent {
    /// `hook_event_name`: `PreToolUse`, `PostToolUse`, `SubagentStop`, …
    pub name: String,
    /// `session_id`: the session of the process that runs the hook.
    pub session_id: SessionId,
    /// `transcript_path`: the session's transcript.
    pub transcript_path: Option<PathBuf>,
    /// `cwd`: it follows the session's `cd` (2.1.156, 2.1.332).
    pub cwd: Option<PathBuf>,
    /// `permission_mode`, where the payload has one.
    pub permission_mode: Option<PermissionMode>,
    /// `agent_id`: set when a subagent inside the client's process makes the call.
    pub agent_id: Option<String>,
    /// `agent_type`: the subagent's type, or the session's own with `--agent`.
    pub agent_type: Option<String>,
    /// The tool call, for the tool events.
    pub tool: Option<ToolUse>,
    /// Every other field of the payload, as it came.
    pub rest: Map<String, Value>,
}

impl HookEvent {
    /// Reads a payload.
    ///
    /// # Errors
    /// [`EventError`] where it is not a JSON object, or has no event name or session id.
    pub fn parse(bytes: &[u8]) -> Result<Self, EventError> {
        let mut fields: Map<String, Value> = serde_json::from_slice(bytes).map_err(EventError::NotAnObject)?;
        let name = take_text(&mut fields, "hook_event_name").ok_or(EventError::Missing {
            field: "hook_event_name",
        })?;
        let session_id = take_text(&mut fields, "session_id")
            .and_then(|text| text.parse().ok())
            .ok_or(EventError::Missing { field: "session_id" })?;
        let tool = take_text(&mut fields, "tool_name").map(|name| ToolUse {
            name,
            input: match fields.remove("tool_input") {
                Some(Value::Object(input)) => input,
                Some(_) | None => Map::new(),
            },
            id: take_text(&mut fields, "tool_use_id"),
            response: fields.remove("tool_response"),
        });
        Ok(Self {
            name,
            session_id,
            transcript_path: take_text(&mut fields, "transcript_path").map(PathBuf::from),
            cwd: take_text(&mut fields, "cwd").map(PathBuf::from),
            permission_mode: take_text(&mut fields, "permission_mode").map(|word| PermissionMode::from_word(&word)),
            agent_id: take_text(&mut fields, "agent_id"),
            agent_type: take_text(&mut fields, "agent_type"),
            tool,
            rest: fields,
        })
    }
}

/// Takes a field out of an object if it is a text.
fn take_text(fields: &mut Map<String, Value>, field: &str) -> Option<String> {
    match fields.get_mut(field)?.take() {
        Value::String(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_recorded_payload() {
        let payload = include_bytes!("../../tests/fixtures/payloads/pre-tool-use-agent.json");
        let event = HookEvent::parse(payload).unwrap();
        assert_eq!(event.name, "PreToolUse");
        assert_eq!(event.permission_mode, Some(PermissionMode::BypassPermissions));
        let tool = event.tool.unwrap();
        assert_eq!(
            (tool.name.as_str(), tool.id.as_deref()),
            ("Agent", Some("toolu_0000_0"))
        );
        assert_eq!(tool.input.get("run_in_background"), Some(&Value::Bool(false)));
        assert!(event.rest.contains_key("prompt_id"));
    }

    #[test]
    fn what_is_no_event_is_an_error_that_names_the_field() {
        for (bytes, says) in [
            (&b""[..], "not a JSON object"),
            (b"[]", "not a JSON object"),
            (b"{\"session_id\":\"s\"}", "hook_event_name"),
            (b"{\"hook_event_name\":\"PreToolUse\"}", "session_id"),
            (
                b"{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"../x\"}",
                "session_id",
            ),
            (b"{\"hook_event_name\":7,\"session_id\":\"s\"}", "hook_event_name"),
        ] {
            let error = HookEvent::parse(bytes).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn permission_words_round_trip() {
        for word in [
            "default",
            "acceptEdits",
            "plan",
            "auto",
            "dontAsk",
            "bypassPermissions",
            "later",
        ] {
            assert_eq!(PermissionMode::from_word(word).word(), word);
        }
    }
}
