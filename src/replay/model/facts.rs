//! What a rule may ask of a request, read once from its headers and body.

use serde_json::Value;

/// Who asks, from the client's own headers (2.1.156 to 2.1.332).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Caller {
    /// `x-claude-code-session-id`; empty where a request has none.
    pub(super) session: String,
    /// `x-claude-code-agent-id`: present on requests made for an in-process subagent, absent on a session's own.
    pub(super) agent: Option<String>,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    /// A session itself: a parent, or the session of a cell.
    Main,
    /// A subagent inside a session's process.
    Subagent,
}

impl Caller {
    /// The role that the headers tell.
    #[must_use]
    pub(super) const fn role(&self) -> Role {
        if self.agent.is_some() {
            Role::Subagent
        } else {
            Role::Main
        }
    }
}

/// A request of `POST /v1/messages`, as far as rules and answers look at it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    /// Who asks.
    pub(super) caller: Caller,
    /// `model`.
    pub(super) model: String,
    /// `stream`.
    pub(super) stream: bool,
    /// Size of the request's body in bytes.
    pub(super) bytes: u64,
    /// The first user message, without the reminders that the client puts before it.
    pub(super) prompt: String,
    /// The last user message whole: texts, reminders, tool results.
    pub(super) last: String,
    /// The text of the tool results in the last message that has any.
    pub(super) tool_result: Option<String>,
    /// The names of the tools that the request offers.
    pub(super) tools: Vec<String>,
}

/// What the client opens a text of its own with, in a message of the user's (2.1.156 to 2.1.332).
const REMINDER: &str = "<system-reminder>";

impl Facts {
    /// Reads a request. What is absent or of another type reads as empty: judging a request is the real API's work.
    #[must_use]
    pub(super) fn read(caller: Caller, body: &Value, bytes: u64) -> Self {
        let messages = body.get("messages").and_then(Value::as_array);
        let of_user = |message: &&Value| message.get("role").and_then(Value::as_str) == Some("user");
        let users: Vec<&Value> = messages.into_iter().flatten().filter(of_user).collect();
        let results = users.iter().rev().map(|message| tool_results(message));
        Self {
            caller,
            model: text_at(body, "model").to_owned(),
            stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
            bytes,
            prompt: users.first().map(|message| prompt_of(message)).unwrap_or_default(),
            last: users.last().map(|message| whole(message)).unwrap_or_default(),
            tool_result: results
                .into_iter()
                .find(|found| !found.is_empty())
                .map(|found| found.join("\n")),
            tools: blocks(body.get("tools"))
                .map(|tool| text_at(tool, "name").to_owned())
                .collect(),
        }
    }
}

fn text_at<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn blocks(content: Option<&Value>) -> impl Iterator<Item = &Value> {
    content.and_then(Value::as_array).into_iter().flatten()
}

fn is_kind(block: &Value, kind: &str) -> bool {
    text_at(block, "type") == kind
}

/// A content that is a text, or the texts of its blocks.
fn texts(content: Option<&Value>) -> Vec<&str> {
    if let Some(text) = content.and_then(Value::as_str) {
        return vec![text];
    }
    blocks(content)
        .filter(|block| is_kind(block, "text"))
        .map(|block| text_at(block, "text"))
        .collect()
}

fn prompt_of(message: &Value) -> String {
    let own = texts(message.get("content"))
        .into_iter()
        .filter(|text| !text.starts_with(REMINDER));
    own.collect::<Vec<_>>().join("\n")
}

fn tool_results(message: &Value) -> Vec<String> {
    blocks(message.get("content"))
        .filter(|block| is_kind(block, "tool_result"))
        .map(|block| texts(block.get("content")).join("\n"))
        .collect()
}

fn whole(message: &Value) -> String {
    let own = texts(message.get("content")).into_iter().map(str::to_owned);
    own.chain(tool_results(message)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts(messages: &Value) -> Facts {
        Facts::read(Caller::default(), &json!({"model": "m", "messages": messages}), 7)
    }

    #[test]
    fn a_prompt_is_the_users_own_text() {
        let read = facts(&json!([{"role": "user", "content": [
            {"type": "text", "text": "<system-reminder>\nskills\n</system-reminder>"},
            {"type": "text", "text": "do it"},
        ]}]));
        assert_eq!(read.prompt, "do it");
        assert!(read.last.contains("skills"));
        assert_eq!(read.tool_result, None);
    }

    #[test]
    fn tool_results_of_the_last_message_that_has_any_are_found() {
        let read = facts(&json!([
            {"role": "user", "content": "go"},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t0", "content": "old"}]},
            {"role": "assistant", "content": []},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a"}]},
                {"type": "tool_result", "tool_use_id": "t2", "content": "b"},
            ]},
            {"role": "user", "content": "<task-notification>done</task-notification>"},
        ]));
        assert_eq!(read.tool_result.as_deref(), Some("a\nb"));
        assert_eq!(read.prompt, "go");
        assert_eq!(read.last, "<task-notification>done</task-notification>");
    }

    #[test]
    fn a_body_of_another_shape_reads_as_empty() {
        for body in [
            json!(null),
            json!([]),
            json!({"messages": 1}),
            json!({"messages": [1, {"role": "user"}]}),
        ] {
            let read = Facts::read(Caller::default(), &body, 0);
            assert_eq!(
                (read.prompt.as_str(), read.last.as_str(), read.tool_result),
                ("", "", None),
                "{body}"
            );
        }
    }

    #[test]
    fn the_agent_header_makes_a_subagent() {
        let agent = Caller {
            session: "s".into(),
            agent: Some("a1".into()),
        };
        assert_eq!((agent.role(), Caller::default().role()), (Role::Subagent, Role::Main));
    }
}
