//! The `message` of a line: what the API was sent or answered.

use serde_json::{Map, Value};

/// The model name that the client gives to messages it made up itself (2.1.332).
const SYNTHETIC: &str = "<synthetic>";

/// A message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// `id`: the same in every line of one answer, since each of its content blocks gets a line.
    pub id: Option<String>,
    /// `role`: `user` or `assistant`.
    pub role: Option<String>,
    /// `model` as the API named it; nothing where the client made the message up itself.
    pub model: Option<String>,
    /// `content`; a bare text is one text block.
    pub content: Vec<Block>,
    /// `usage`, as it came.
    pub usage: Option<Value>,
    /// `stop_reason`.
    pub stop_reason: Option<String>,
}

/// One content block.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// `text`.
    Text(String),
    /// `thinking`.
    Thinking(String),
    /// `tool_use`.
    ToolUse {
        /// `id`.
        id: String,
        /// `name`.
        name: String,
        /// `input`.
        input: Value,
    },
    /// `tool_result`.
    ToolResult {
        /// `tool_use_id`.
        tool_use_id: String,
        /// `content`: a text or a list of blocks.
        content: Value,
        /// `is_error`; absent is false.
        is_error: bool,
    },
    /// Any other, as it came.
    Other(Value),
}

impl Message {
    /// Reads a message; nothing where it is no object.
    #[must_use]
    pub fn from_value(value: Value) -> Option<Self> {
        let Value::Object(mut fields) = value else {
            return None;
        };
        let content = match fields.remove("content") {
            Some(Value::String(text)) => vec![Block::Text(text)],
            Some(Value::Array(blocks)) => blocks.into_iter().map(Block::from_value).collect(),
            Some(other @ (Value::Bool(_) | Value::Number(_) | Value::Object(_))) => vec![Block::Other(other)],
            Some(Value::Null) | None => Vec::new(),
        };
        Some(Self {
            id: take_text(&mut fields, "id"),
            role: take_text(&mut fields, "role"),
            model: take_text(&mut fields, "model").filter(|model| model != SYNTHETIC),
            content,
            usage: fields.remove("usage").filter(|usage| !usage.is_null()),
            stop_reason: take_text(&mut fields, "stop_reason"),
        })
    }

    /// Whether it makes the tool call `id`.
    #[must_use]
    pub fn calls(&self, id: &str) -> bool {
        self.content
            .iter()
            .any(|block| matches!(block, Block::ToolUse { id: own, .. } if own == id))
    }
}

impl Block {
    fn from_value(value: Value) -> Self {
        Self::read(&value).unwrap_or(Self::Other(value))
    }

    fn read(value: &Value) -> Option<Self> {
        let text = |field: &str| value.get(field)?.as_str().map(str::to_owned);
        match value.get("type")?.as_str()? {
            "text" => Some(Self::Text(text("text")?)),
            "thinking" => Some(Self::Thinking(text("thinking")?)),
            "tool_use" => Some(Self::ToolUse {
                id: text("id")?,
                name: text("name")?,
                input: value.get("input").cloned().unwrap_or_default(),
            }),
            "tool_result" => Some(Self::ToolResult {
                tool_use_id: text("tool_use_id")?,
                content: value.get("content").cloned().unwrap_or_default(),
                is_error: value.get("is_error").and_then(Value::as_bool).unwrap_or(false),
            }),
            _ => None,
        }
    }
}

/// Takes a field out of an object if it is a text.
pub(super) fn take_text(fields: &mut Map<String, Value>, field: &str) -> Option<String> {
    match fields.remove(field)? {
        Value::String(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_block_is_read_and_others_are_kept() {
        let message = Message::from_value(json!({
            "id": "m", "role": "assistant", "model": "claude-x", "stop_reason": null, "usage": {"output_tokens": 3},
            "content": [
                {"type": "text", "text": "t"},
                {"type": "thinking", "thinking": "h", "signature": "s"},
                {"type": "tool_use", "id": "toolu_1", "name": "Agent", "input": {"prompt": "p"}},
                {"type": "tool_result", "tool_use_id": "toolu_0", "content": "c", "is_error": true},
                {"type": "image", "source": 1},
                {"type": "text"},
                7
            ]
        }))
        .unwrap();
        let expected = vec![
            Block::Text("t".into()),
            Block::Thinking("h".into()),
            Block::ToolUse {
                id: "toolu_1".into(),
                name: "Agent".into(),
                input: json!({"prompt": "p"}),
            },
            Block::ToolResult {
                tool_use_id: "toolu_0".into(),
                content: json!("c"),
                is_error: true,
            },
            Block::Other(json!({"type": "image", "source": 1})),
            Block::Other(json!({"type": "text"})),
            Block::Other(json!(7)),
        ];
        assert_eq!(message.content, expected);
        assert_eq!(message.model.as_deref(), Some("claude-x"));
        assert!(message.calls("toolu_1") && !message.calls("toolu_0"));
    }

    #[test]
    fn a_made_up_message_names_no_model() {
        let message = Message::from_value(json!({"model": "<synthetic>", "content": "plain"})).unwrap();
        assert_eq!(message.model, None);
        assert_eq!(message.content, [Block::Text("plain".into())]);
        assert_eq!(Message::from_value(json!("x")), None);
    }
}
