//! What is done with the output of an Agent call whose cell is on record: pure.
//!
//! The client replaces a tool's output only by one of the same shape: the response that came, with another `content` and
//! without its `harness…` counters, is taken; a text, a list of blocks or another object is refused, and the old output
//! stays (2.1.156 to 2.1.332).

use std::path::Path;

use serde_json::{Map, Value, json};

use super::result_text;
use crate::base::chain::Chain;
use crate::base::digest::sha256_hex;
use crate::ledger::record::{DeliveryMode, DeliveryOutcome};
use crate::ledger::{End, Ending, Record, State, Stored};
use crate::protocol::{PostReply, ToolUse};

/// A call that has ended, and what is known of its cell.
#[derive(Debug)]
pub struct Sealing<'a> {
    /// The call, its response included.
    pub tool: &'a ToolUse,
    /// The cell's record.
    pub record: &'a Record,
    /// The record's file.
    pub record_path: &'a Path,
    /// The result's file.
    pub result_path: &'a Path,
    /// What it holds; `None` where no result was recorded.
    pub stored: Option<&'a Stored>,
}

/// The answer, and what the record learns; `None` where it learns nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Sealed {
    /// The hook's answer.
    pub reply: PostReply,
    /// What became of the delivery.
    pub outcome: Option<DeliveryOutcome>,
}

/// Decides what the parent gets in place of the output that came.
#[must_use]
pub fn seal(sealing: &Sealing<'_>) -> Sealed {
    let delivery = &sealing.record.delivery;
    let shown = sealing.tool.input.get("prompt").and_then(Value::as_str);
    match delivery.mode {
        DeliveryMode::None => return nothing_was_handed_back(sealing.record),
        DeliveryMode::Deny => return untouched(None, None),
        DeliveryMode::Echo | DeliveryMode::Receipt => {}
    }
    let is_ours =
        shown.is_some_and(|prompt| delivery.rewrite_sha256.as_ref() == Some(&sha256_hex(prompt.as_bytes())));
    if !is_ours {
        return untouched(Some(DeliveryOutcome::RewriteLost), Some(LOST));
    }
    let response = match Response::read(sealing.tool.response.as_ref()) {
        Response::Completed(response) => response,
        Response::Launched => return untouched(Some(DeliveryOutcome::AsyncLaunched), Some(LAUNCHED)),
        Response::Unknown => return untouched(Some(DeliveryOutcome::UnknownShape), Some(UNKNOWN)),
    };
    let Some(end) = sealing.record.end() else {
        return untouched(None, Some("the record of this call still says that its cell runs"));
    };
    match answer_of(sealing, end) {
        Ok(answer) => put_in(sealing, response, (end, answer)),
        Err((outcome, why)) => untouched(Some(outcome), Some(&why)),
    }
}

const LOST: &str = "the call ran with another input than the one that hands the cell's result back: another PreToolUse hook \
                    rewrites Agent calls too. The cell's result is in its record (subcell show)";
const LAUNCHED: &str = "the client ran the call in the background although it was told to wait; the result comes as the \
                        small subagent hands it back, unsealed. CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1 in the client's \
                        start environment makes it wait";
const UNKNOWN: &str = "the output of the call has a shape that this version does not know, so it was left as it is. The \
                       cell's result is in its record (subcell show)";

fn untouched(outcome: Option<DeliveryOutcome>, why: Option<&str>) -> Sealed {
    let reply = why.map_or(PostReply::Silent, |why| PostReply::Note {
        message: format!("subcell seal: {why}"),
    });
    Sealed { reply, outcome }
}

/// A call that no rewrite belongs to. Who let it pass on purpose has said so; a hook that was ended has not.
fn nothing_was_handed_back(record: &Record) -> Sealed {
    const ENDED: &str = "the hook that ran this call's cell was ended before it could hand a result back: what came is the \
                         built-in subagent's, in the parent's process";
    let hook_was_ended = match &record.state {
        State::Running => true,
        State::Ended(end) => matches!(end.ending, Ending::Interrupted { .. } | Ending::Lost),
        State::PassedThrough { .. } | State::Refused { .. } => false,
    };
    if hook_was_ended {
        untouched(Some(DeliveryOutcome::RewriteLost), Some(ENDED))
    } else {
        untouched(None, None)
    }
}

/// `tool_response` of the Agent tool.
enum Response<'a> {
    /// The subagent has ended; its `content` is a list.
    Completed(&'a Map<String, Value>),
    /// It runs in the background.
    Launched,
    /// Neither.
    Unknown,
}

impl<'a> Response<'a> {
    fn read(response: Option<&'a Value>) -> Self {
        let Some(fields) = response.and_then(Value::as_object) else {
            return Self::Unknown;
        };
        match fields.get("status").and_then(Value::as_str) {
            Some("completed") if fields.get("content").is_some_and(Value::is_array) => Self::Completed(fields),
            Some("async_launched") => Self::Launched,
            Some(_) | None => Self::Unknown,
        }
    }
}

/// The answer that the parent should have, where it is known for certain; `None` for a failed cell.
fn answer_of<'a>(sealing: &Sealing<'a>, end: &End) -> Result<Option<&'a [u8]>, (DeliveryOutcome, String)> {
    if !end.ending.is_success() {
        return Ok(None);
    }
    let place = sealing.result_path.display();
    match sealing.stored {
        Some(Stored::Intact(bytes)) => Ok(Some(bytes)),
        Some(Stored::Changed(_)) => {
            let why = format!("{place} is not what was recorded (redacted, as a rule), so nothing was put in");
            Err((DeliveryOutcome::Redacted, why))
        }
        Some(Stored::Missing(error)) => {
            let why = format!("the result in {place} cannot be read: {}", Chain(error));
            Err((DeliveryOutcome::ResultMissing, why))
        }
        None => {
            let why = "the result could not be stored when the cell ended".to_owned();
            Err((DeliveryOutcome::ResultMissing, why))
        }
    }
}

fn put_in(sealing: &Sealing<'_>, response: &Map<String, Value>, (end, answer): (&End, Option<&[u8]>)) -> Sealed {
    let delivery = &sealing.record.delivery;
    let record = Some(sealing.record_path);
    let put = |outcome| replaced(response, result_text::for_parent(end, answer, record), outcome);
    if delivery.mode == DeliveryMode::Receipt {
        return put(DeliveryOutcome::Sealed);
    }
    let repeated = result_text::shortened(end, answer, record, Some(sealing.result_path));
    let is_faithful = text_of(response) == repeated.text;
    match (is_faithful, delivery.cut, delivery.rivals.as_slice()) {
        (true, false, _) | (true, true, [_, ..]) => untouched(Some(DeliveryOutcome::Faithful), None),
        (_, true, []) => put(DeliveryOutcome::Sealed),
        (false, false, []) => put(DeliveryOutcome::Repaired),
        (false, _, rivals) => {
            let why = format!(
                "the small subagent changed the result that it should repeat. It was not repaired, because another hook may \
                 rewrite it too ({}); the exact text is in {}",
                rivals.join(", "),
                sealing.result_path.display()
            );
            untouched(Some(DeliveryOutcome::Unfaithful), Some(&why))
        }
    }
}

/// The response's texts, one after the other as the client shows them.
fn text_of(response: &Map<String, Value>) -> String {
    let blocks = response.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = blocks
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .collect();
    texts.join("\n")
}

/// The response that came, with `text` for its content.
fn replaced(response: &Map<String, Value>, text: String, outcome: DeliveryOutcome) -> Sealed {
    let counts = |name: &str| name.starts_with("harness");
    let kept = response.iter().filter(|(name, _)| !counts(name) && *name != "content");
    let mut output: Map<String, Value> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut block = json!({"type": "text"});
    if let Some(block) = block.as_object_mut() {
        // Moved, not copied: it may be megabytes.
        block.insert("text".to_owned(), Value::String(text));
    }
    output.insert("content".to_owned(), Value::Array(vec![block]));
    let reply = PostReply::Replace { output, message: None };
    Sealed {
        reply,
        outcome: Some(outcome),
    }
}

#[cfg(test)]
#[path = "seal_tests.rs"]
mod tests;
