//! What is answered: from a rule's answer and a request's facts to a reply in the API's terms.

use serde_json::Value;

use super::echo::Echo;
use super::facts::Facts;
use super::rule::Numbers;
use super::template::{Template, ValueTemplate};
use crate::base::digest::sha256_hex;

/// An answer of a script, with the files it names read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// A message of these blocks.
    Blocks(Vec<Block>),
    /// An error of the API.
    Error(ApiError),
    /// No answer until the client goes away.
    Hang,
}

/// One block of an answered message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    /// A text with variables.
    Text(Template),
    /// A text as it stands.
    Fixed(String),
    /// A part of the last user message.
    Echo(Echo),
    /// A tool call.
    ToolUse(ToolUse),
}

/// A tool call of a script.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolUse {
    /// The call's id; left out, one is made of session, request and position.
    id: Option<Template>,
    name: String,
    input: ValueTemplate,
}

/// An error as the API answers it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApiError {
    /// The HTTP status, 400 to 599.
    #[serde(deserialize_with = "error_status")]
    pub(super) status: u16,
    /// `error.type`, as `overloaded_error`.
    pub(super) r#type: String,
    /// `error.message`.
    pub(super) message: String,
    /// The `x-should-retry` header: without it the client decides by the status, and tries a 401 or a 529 again for
    /// longer than 25 s. 2.1.332 heeds it, 2.1.156 does not.
    #[serde(default)]
    pub(super) retry: Option<bool>,
}

fn error_status<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let status = <u16 as serde::Deserialize>::deserialize(deserializer)?;
    if (400..600).contains(&status) {
        Ok(status)
    } else {
        Err(serde::de::Error::custom(format_args!(
            "an error's status is 400 to 599, not {status}"
        )))
    }
}

/// A message of the assistant's.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    /// `msg_…`, unique among all requests.
    pub(super) id: String,
    /// The model that was asked for.
    pub(super) model: String,
    /// Its content.
    pub(super) parts: Vec<Part>,
    /// Its tokens.
    pub(super) usage: Usage,
}

/// One content block of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// Text.
    Text(String),
    /// A tool call.
    ToolUse {
        /// `toolu_…`, or what the script gave.
        id: String,
        /// The tool's name.
        name: String,
        /// Its input.
        input: Value,
    },
}

/// Tokens by arithmetic, so that a test can work out a cost: a token for each four bytes, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    /// Of the request's body.
    pub(super) input: u64,
    /// Of the answer: the bytes of its texts, and of its tool inputs as compact JSON.
    pub(super) output: u64,
}

/// What the server does with a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    /// Answers with a message.
    Message(Message),
    /// Answers with an error.
    Error(ApiError),
    /// Keeps the client waiting.
    Hang,
}

impl Answer {
    /// The reply to one request.
    pub(super) fn reply(&self, facts: &Facts, numbers: Numbers) -> Reply {
        match self {
            Self::Blocks(blocks) => Reply::Message(message(blocks, facts, numbers)),
            Self::Error(error) => Reply::Error(error.clone()),
            Self::Hang => Reply::Hang,
        }
    }
}

fn message(blocks: &[Block], facts: &Facts, numbers: Numbers) -> Message {
    let parts: Vec<Part> = blocks
        .iter()
        .enumerate()
        .map(|(at, block)| block.part(at, facts, numbers))
        .collect();
    Message {
        id: unique_id("msg", facts, numbers, 0),
        model: facts.model.clone(),
        usage: Usage {
            input: tokens(facts.bytes),
            output: tokens(parts.iter().map(Part::bytes).sum()),
        },
        parts,
    }
}

/// Four bytes a token: what the API's documentation gives as the rough size of a token of English.
pub(super) const fn tokens(bytes: u64) -> u64 {
    if bytes < 4 { 1 } else { bytes / 4 }
}

/// An id that no other request of this or another session has, and that the same run gets again.
fn unique_id(prefix: &str, facts: &Facts, numbers: Numbers, at: usize) -> String {
    let Facts { caller, .. } = facts;
    let seed = format!("{}\0{:?}\0{}\0{at}", caller.session, caller.agent, numbers.n);
    let hex = sha256_hex(seed.as_bytes());
    format!("{prefix}_{}", hex.get(..24).unwrap_or(&hex))
}

impl Block {
    fn part(&self, at: usize, facts: &Facts, numbers: Numbers) -> Part {
        match self {
            Self::Text(template) => Part::Text(template.fill(facts, numbers)),
            Self::Fixed(text) => Part::Text(text.clone()),
            Self::Echo(echo) => Part::Text(echo.of(&facts.last)),
            Self::ToolUse(call) => Part::ToolUse {
                id: call
                    .id
                    .as_ref()
                    .map_or_else(|| unique_id("toolu", facts, numbers, at), |id| id.fill(facts, numbers)),
                name: call.name.clone(),
                input: call.input.fill(facts, numbers),
            },
        }
    }
}

impl Part {
    fn bytes(&self) -> u64 {
        let length = match self {
            Self::Text(text) => text.len(),
            Self::ToolUse { input, .. } => input.to_string().len(),
        };
        u64::try_from(length).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::facts::Caller;
    use super::*;

    fn call(script: Value) -> Block {
        Block::ToolUse(serde_json::from_value(script).unwrap())
    }

    fn reply(blocks: Vec<Block>, session: &str, n: u64) -> Message {
        let caller = Caller {
            session: session.to_owned(),
            agent: None,
        };
        let facts = Facts {
            caller,
            bytes: 4000,
            model: "m".into(),
            ..Facts::default()
        };
        match Answer::Blocks(blocks).reply(&facts, Numbers { n, nth: n }) {
            Reply::Message(message) => message,
            other @ (Reply::Error(_) | Reply::Hang) => panic!("{other:?}"),
        }
    }

    #[test]
    fn usage_is_a_token_for_four_bytes() {
        let blocks = vec![
            Block::Fixed("x".repeat(100)),
            call(json!({"name": "Bash", "input": {"command": "ls"}})),
        ];
        // 100 bytes of text and the 16 of {"command":"ls"}.
        assert_eq!(
            reply(blocks, "s", 1).usage,
            Usage {
                input: 1000,
                output: 29
            }
        );
        assert_eq!(reply(vec![], "s", 1).usage, Usage { input: 1000, output: 1 });
    }

    #[test]
    fn made_ids_differ_by_session_request_and_position() {
        let two = || {
            vec![
                call(json!({"name": "A", "input": {}})),
                call(json!({"name": "A", "input": {}})),
            ]
        };
        let mut ids = std::collections::BTreeSet::new();
        for (session, n) in [("s1", 1), ("s1", 2), ("s2", 1)] {
            let message = reply(two(), session, n);
            ids.insert(message.id);
            for part in message.parts {
                let Part::ToolUse { id, .. } = part else {
                    panic!("a text")
                };
                assert!(id.starts_with("toolu_") && id.len() == 30, "{id}");
                ids.insert(id);
            }
        }
        assert_eq!(ids.len(), 9);
        assert_eq!(reply(two(), "s1", 1), reply(two(), "s1", 1));
    }

    #[test]
    fn an_id_of_the_script_is_used() {
        let message = reply(
            vec![call(json!({"id": "toolu_{{n}}", "name": "A", "input": {"n": "{{n}}"}}))],
            "s",
            7,
        );
        let want = Part::ToolUse {
            id: "toolu_7".into(),
            name: "A".into(),
            input: json!({"n": "7"}),
        };
        assert_eq!(message.parts, [want]);
    }
}
