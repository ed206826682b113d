//! Tells what a file is by its content.

use std::path::Path;

use serde_json::Value;

use crate::base::bounded_file::{Links, open_regular, read_bounded};
use crate::ledger::Record;
use crate::protocol::transcript::{Body, LinesFromEnd, LinesFromStart};

/// At most this many lines of a file are looked at.
const LINES: usize = 50;
/// A line of more bytes says nothing here.
const LINE_BYTES: usize = 1024 * 1024;
/// Small JSON files are read up to this size: a result holds the child's whole answer.
const JSON_BYTES: u64 = 16 * 1024 * 1024;

/// What a `.jsonl` file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// A session file.
    Transcript,
    /// `--output-format stream-json`: the same messages once more, and the client's result at its end.
    Stream,
    /// Something else, or nothing.
    Other,
}

/// What stands beside a subagent's transcript (`agent-<id>.meta.json`, 2.1.226 to 2.1.332).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentMeta {
    /// The call that started it.
    pub tool_use_id: Option<String>,
    /// The subagent that made the call, if one did.
    pub parent_agent_id: Option<String>,
    /// Its type.
    pub agent_type: Option<String>,
    /// The call's short description.
    pub description: Option<String>,
}

/// What a small JSON file is.
#[derive(Debug)]
pub(super) enum Json {
    /// One of our records.
    Record(Box<Record>),
    /// The client's result, as it came.
    Result(Value),
    /// `.spawned-cost.json`.
    Costs(Value),
    /// Something else.
    Other,
}

/// Looks at the first lines of a `.jsonl` file.
pub(super) fn lines(path: &Path) -> Result<Lines, String> {
    let file = open_regular(path, Links::Follow).map_err(|error| error.to_string())?;
    for line in LinesFromStart::with_cap(file, LINE_BYTES).take(LINES) {
        let Body::Bytes(bytes) = line.map_err(|error| error.to_string())?.body else {
            continue;
        };
        let Ok(Value::Object(fields)) = serde_json::from_slice(&bytes) else {
            continue;
        };
        let has = |name: &str| fields.get(name).is_some_and(Value::is_string);
        if has("type") && (has("sessionId") || has("leafUuid")) {
            return Ok(Lines::Transcript);
        }
        if has("type") && has("session_id") {
            return Ok(Lines::Stream);
        }
    }
    Ok(Lines::Other)
}

/// The result at the end of a stream.
pub(super) fn result_of_stream(path: &Path) -> Option<Value> {
    let file = open_regular(path, Links::Follow).ok()?;
    LinesFromEnd::new(file).ok()?.take(LINES).flatten().find_map(|line| {
        let Body::Bytes(bytes) = line.body else { return None };
        serde_json::from_slice(&bytes).ok().filter(is_result)
    })
}

/// Reads a small JSON file.
pub(super) fn json(path: &Path) -> Json {
    let Ok(bytes) = read_bounded(path, JSON_BYTES, Links::Follow) else {
        return Json::Other;
    };
    let Ok(value) = serde_json::from_slice::<Value>(&bytes) else {
        return Json::Other;
    };
    let has = |name: &str| value.get(name).is_some();
    if has("cell") && has("tool_use_id") && has("state") {
        return serde_json::from_value(value).map_or(Json::Other, |record| Json::Record(Box::new(record)));
    }
    if has("total_cost_usd") && has("start_time_unix_nano") {
        return Json::Costs(value);
    }
    if is_result(&value) {
        return Json::Result(value);
    }
    // With verbose on, the client prints all messages and the result last (2.1.332).
    match value {
        Value::Array(messages) => messages
            .into_iter()
            .rev()
            .find(is_result)
            .map_or(Json::Other, Json::Result),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => Json::Other,
    }
}

/// The description beside a subagent's transcript.
pub(super) fn meta(transcript: &Path) -> AgentMeta {
    let path = transcript.with_extension("meta.json");
    read_bounded(&path, LINE_BYTES as u64, Links::Refuse)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

fn is_result(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str) == Some("result") && value.get("session_id").is_some()
}
