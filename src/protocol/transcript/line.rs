//! One line of a session file, typed (2.1.156 to 2.1.332). Unknown types and fields are kept.

use serde_json::{Map, Value};

use super::message::{Message, take_text};

/// What a line is about (`type`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// `user`: a prompt or a tool result.
    User,
    /// `assistant`.
    Assistant,
    /// `system`.
    System,
    /// `attachment`.
    Attachment,
    /// Any other: `queue-operation`, `last-prompt`, `summary`, `cost-state`, …
    Other(String),
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// `type`.
    pub kind: LineKind,
    /// `uuid`.
    pub uuid: Option<String>,
    /// `parentUuid`.
    pub parent_uuid: Option<String>,
    /// `sessionId`.
    pub session_id: Option<String>,
    /// `agentId`: set in the lines of a subagent.
    pub agent_id: Option<String>,
    /// `isSidechain`: a subagent's line.
    pub is_sidechain: bool,
    /// `timestamp`, as written.
    pub timestamp: Option<String>,
    /// `version` of the client that wrote it: in every user, assistant and attachment line, and in no other kind.
    pub version: Option<String>,
    /// `message`.
    pub message: Option<Message>,
    /// `toolUseResult`, as it came.
    pub tool_use_result: Option<Value>,
    /// `attachment`, as it came.
    pub attachment: Option<Value>,
    /// Every other field.
    pub rest: Map<String, Value>,
}

impl Line {
    /// Reads the bytes of a line.
    ///
    /// # Errors
    /// The parser's, where they are not a JSON object.
    pub fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let mut fields: Map<String, Value> = serde_json::from_slice(bytes)?;
        // What is no message stays where it is, so that it is shown.
        let is_message = |value: &Value| value.is_object() || value.is_null();
        let message = if fields.get("message").is_some_and(is_message) {
            fields.remove("message").and_then(Message::from_value)
        } else {
            None
        };
        Ok(Self {
            kind: kind(take_text(&mut fields, "type")),
            uuid: take_text(&mut fields, "uuid"),
            parent_uuid: take_text(&mut fields, "parentUuid"),
            session_id: take_text(&mut fields, "sessionId"),
            agent_id: take_text(&mut fields, "agentId"),
            is_sidechain: fields.remove("isSidechain") == Some(Value::Bool(true)),
            timestamp: take_text(&mut fields, "timestamp"),
            version: take_text(&mut fields, "version"),
            message,
            tool_use_result: fields.remove("toolUseResult"),
            attachment: fields.remove("attachment"),
            rest: fields,
        })
    }
}

fn kind(word: Option<String>) -> LineKind {
    match word.as_deref() {
        Some("user") => LineKind::User,
        Some("assistant") => LineKind::Assistant,
        Some("system") => LineKind::System,
        Some("attachment") => LineKind::Attachment,
        Some(_) | None => LineKind::Other(word.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_session_reads_without_a_broken_line() {
        let recorded = include_str!("../../../tests/fixtures/transcripts/parent.jsonl");
        let lines: Vec<Line> = recorded
            .lines()
            .map(|line| Line::parse(line.as_bytes()).unwrap())
            .collect();
        let count = |kind: &LineKind| lines.iter().filter(|line| line.kind == *kind).count();
        // Counted in the recorded file with another reader of JSON.
        assert_eq!(count(&LineKind::User), 2);
        assert_eq!(count(&LineKind::Assistant), 2);
        let call = lines
            .iter()
            .find_map(|line| line.message.as_ref().filter(|m| m.calls("toolu_0000_0")));
        assert_eq!(call.unwrap().model.as_deref(), Some("claude-sonnet-4-5"));
        let versions = lines.iter().filter(|line| line.version.as_deref() == Some("2.1.332"));
        assert_eq!(versions.count(), 17);
        assert!(
            lines
                .iter()
                .any(|line| line.kind == LineKind::Other("queue-operation".into()))
        );
    }

    #[test]
    fn unknown_types_and_fields_are_kept() {
        let line =
            Line::parse(br#"{"type":"from-tomorrow","isSidechain":true,"agentId":"a1","x":[1],"uuid":7}"#).unwrap();
        assert_eq!(line.kind, LineKind::Other("from-tomorrow".into()));
        assert_eq!((line.is_sidechain, line.agent_id.as_deref()), (true, Some("a1")));
        assert_eq!(line.rest.get("x"), Some(&serde_json::json!([1])));
        assert_eq!(line.uuid, None);
        assert!(Line::parse(b"[]").is_err());
    }
}
