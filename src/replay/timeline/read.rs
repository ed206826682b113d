//! A line as events. Each line is at least one: nothing of a transcript is passed over in silence.

use serde_json::{Map, Value};

use super::event::{Diff, Event, Fault, Hunk, Image, Part, Role};
use crate::protocol::transcript::{Block, Line, LineKind, Message};

/// Fields that every entry carries and that say nothing of its own: they are not shown again for each.
const COMMON: [&str; 8] = [
    "userType",
    "entrypoint",
    "cwd",
    "gitBranch",
    "slug",
    "rendered",
    "renderedRole",
    "toolUseID",
];

/// The events of a line.
pub(super) fn events(line: Line, number: u64) -> Vec<Event> {
    let (at, mut events) = (line.timestamp.clone(), Vec::new());
    match line.kind {
        LineKind::User => user(line, number, &mut events),
        LineKind::Assistant => assistant(line, number, &mut events),
        LineKind::System => events.push(system(line.rest, number)),
        LineKind::Attachment => events.push(attachment(line, number)),
        LineKind::Other(ref kind) => {
            let kind = kind.clone();
            events.push(other(line, &kind, number));
        }
    }
    for event in &mut events {
        event.at.clone_from(&at);
    }
    events
}

fn user(line: Line, number: u64, events: &mut Vec<Event>) {
    let label = label_of_prompt(&line.rest);
    let mut outcome = line.tool_use_result.as_ref();
    for block in line.message.map(|message| message.content).unwrap_or_default() {
        events.push(match block {
            Block::ToolResult {
                tool_use_id,
                content,
                is_error,
            } => tool_result(tool_use_id, content, is_error, outcome.take(), number),
            Block::Text(text) => Event::new(Role::User, number, label.clone()).text(text),
            Block::Thinking(_) | Block::ToolUse { .. } | Block::Other(_) => block_event(block, number),
        });
    }
    if events.is_empty() {
        events.push(Event::new(Role::User, number, label).data(own_fields(line.rest)));
    }
}

/// What a prompt is besides one of a person: the client's own words, or the note that a task in the background ended.
fn label_of_prompt(rest: &Map<String, Value>) -> String {
    let flag = |name: &str| rest.get(name) == Some(&Value::Bool(true));
    let origin = rest.get("origin").and_then(|origin| origin.get("kind")?.as_str());
    match origin {
        Some(origin) => origin.to_owned(),
        None if flag("isCompactSummary") => "summary".to_owned(),
        None if flag("isMeta") => "meta".to_owned(),
        None => String::new(),
    }
}

fn assistant(line: Line, number: u64, events: &mut Vec<Event>) {
    let failed = line.rest.get("isApiErrorMessage") == Some(&Value::Bool(true));
    let fault = failed.then_some(Fault::Error);
    let Message { content, .. } = line.message.unwrap_or_default();
    events.extend(content.into_iter().map(|block| block_event(block, number).fault(fault)));
    if events.is_empty() {
        events.push(
            Event::new(Role::Assistant, number, "")
                .data(own_fields(line.rest))
                .fault(fault),
        );
    }
}

fn block_event(block: Block, number: u64) -> Event {
    match block {
        Block::Text(text) => Event::new(Role::Assistant, number, "").text(text),
        Block::Thinking(text) => Event::new(Role::Thinking, number, "").text(text),
        Block::ToolUse { id, name, input } => call(id, name, input, number),
        Block::ToolResult {
            tool_use_id,
            content,
            is_error,
        } => tool_result(tool_use_id, content, is_error, None, number),
        Block::Other(value) => {
            let kind = value.get("type").and_then(Value::as_str).unwrap_or("block").to_owned();
            let mut event = Event::new(Role::Other, number, kind);
            event.parts.push(part(value));
            event
        }
    }
}

fn call(id: String, name: String, input: Value, number: u64) -> Event {
    let mut event = Event::new(Role::Call, number, name).of_call(id);
    event.parts = match edits(&input) {
        Some(diff) => vec![Part::Diff(diff)],
        None => vec![Part::Data(input)],
    };
    event
}

/// The change that the input of `Edit`, `MultiEdit` or `Write` asks for.
fn edits(input: &Value) -> Option<Diff> {
    let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let path = text(input, "file_path")?;
    let hunk = |value: &Value| {
        let (old, new) = (text(value, "old_string")?, text(value, "new_string")?);
        Some(signed(&old, &new))
    };
    let hunks = if let Some(list) = input.get("edits").and_then(Value::as_array) {
        list.iter().filter_map(hunk).collect()
    } else if let Some(content) = text(input, "content") {
        vec![signed("", &content)]
    } else {
        vec![hunk(input)?]
    };
    Some(Diff { path, hunks })
}

fn signed(old: &str, new: &str) -> Hunk {
    let lines =
        |sign: char, text: &str| -> Vec<String> { text.lines().map(|line| format!("{sign}{line}")).collect() };
    let mut all = lines('-', old);
    all.extend(lines('+', new));
    Hunk {
        lines: all,
        ..Hunk::default()
    }
}

fn tool_result(id: String, content: Value, is_error: bool, outcome: Option<&Value>, number: u64) -> Event {
    let mut event = Event::new(Role::Result, number, "").of_call(id);
    event.parts = match content {
        Value::String(text) => vec![Part::Text(text)],
        Value::Array(blocks) => blocks.into_iter().map(part).collect(),
        Value::Null => Vec::new(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => vec![part(content)],
    };
    event.fault = is_error.then(|| fault_of(&event.parts));
    event.parts.extend(outcome.and_then(patch).map(Part::Diff));
    event
}

/// A call that a hook or a rule refused comes back as an error with the client's own words before the reason
/// (2.1.156 to 2.1.332).
fn fault_of(parts: &[Part]) -> Fault {
    let refused = parts.iter().any(|part| match part {
        Part::Text(text) => {
            (text.starts_with("PreToolUse:") && text.contains(" hook error: "))
                || (text.starts_with("Permission to use ") && text.contains(" denied"))
        }
        Part::Data(_) | Part::Diff(_) | Part::Image(_) => false,
    });
    if refused { Fault::Refused } else { Fault::Error }
}

/// `structuredPatch` of a file tool's outcome: what really changed, with the lines around it.
fn patch(outcome: &Value) -> Option<Diff> {
    let hunks = outcome.get("structuredPatch")?.as_array()?;
    let hunk = |value: &Value| Hunk {
        old_start: value.get("oldStart").and_then(Value::as_u64),
        new_start: value.get("newStart").and_then(Value::as_u64),
        lines: value
            .get("lines")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|line| line.as_str().map(str::to_owned))
            .collect(),
    };
    let path = outcome.get("filePath").and_then(Value::as_str).unwrap_or_default();
    (!hunks.is_empty()).then(|| Diff {
        path: path.to_owned(),
        hunks: hunks.iter().map(hunk).collect(),
    })
}

fn part(mut value: Value) -> Part {
    let found = match value.get("type").and_then(Value::as_str) {
        Some("text") => take_text(&mut value, "text").map(Part::Text),
        Some("image") => image(&mut value).map(Part::Image),
        Some(_) | None => None,
    };
    found.unwrap_or(Part::Data(value))
}

fn image(value: &mut Value) -> Option<Image> {
    let source = value.get_mut("source")?;
    let media_type = source.get("media_type")?.as_str()?.to_owned();
    let base64 = take_text(source, "data")?;
    Some(Image {
        media_type,
        base64_bytes: base64.len(),
        base64,
    })
}

/// Takes a field out where it is a text; else it stays.
fn take_text(value: &mut Value, name: &str) -> Option<String> {
    match value.get_mut(name)? {
        Value::String(text) => Some(std::mem::take(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn system(rest: Map<String, Value>, number: u64) -> Event {
    let text = |name: &str| rest.get(name).and_then(Value::as_str).map(str::to_owned);
    let subtype = text("subtype").unwrap_or_default();
    let listed = |name: &str| {
        rest.get(name)
            .and_then(Value::as_array)
            .is_some_and(|list| !list.is_empty())
    };
    let stopped = rest.get("preventedContinuation") == Some(&Value::Bool(true));
    let fault = if stopped {
        Some(Fault::Refused)
    } else if listed("hookErrors") || text("level").as_deref() == Some("error") || subtype == "api_error" {
        Some(Fault::Error)
    } else {
        None
    };
    let role = if subtype.contains("hook") {
        Role::Hook
    } else {
        Role::System
    };
    let event = Event::new(role, number, subtype).fault(fault);
    match text("content") {
        Some(content) => event.text(content),
        None => event.data(own_fields(rest)),
    }
}

fn attachment(line: Line, number: u64) -> Event {
    let attached = line.attachment.unwrap_or(Value::Object(line.rest));
    let text = |name: &str| attached.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = text("type").unwrap_or_else(|| "attachment".to_owned());
    let call = text("toolUseID");
    let hook = kind.starts_with("hook_");
    let fault = match kind.as_str() {
        "hook_blocking_error" | "hook_stopped_continuation" => Some(Fault::Refused),
        _ if hook && (kind.contains("error") || kind.contains("cancelled")) => Some(Fault::Error),
        _ => None,
    };
    let label = match text("hookName") {
        Some(name) if hook => format!("{name} {kind}"),
        Some(_) | None => kind,
    };
    let mut event = Event::new(if hook { Role::Hook } else { Role::Other }, number, label).fault(fault);
    event.tool_use_id = call;
    match attached {
        Value::Object(mut fields) => {
            for known in ["type", "hookName", "toolUseID"] {
                fields.shift_remove(known);
            }
            if fields.is_empty() {
                event
            } else {
                event.data(Value::Object(fields))
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => event.data(attached),
    }
}

fn other(line: Line, kind: &str, number: u64) -> Event {
    let mut rest = line.rest;
    if let Some(attachment) = line.attachment {
        rest.insert("attachment".to_owned(), attachment);
    }
    if let Some(outcome) = line.tool_use_result {
        rest.insert("toolUseResult".to_owned(), outcome);
    }
    let failed = kind == "result" && rest.get("is_error") == Some(&Value::Bool(true));
    let label = if kind.is_empty() { "entry without a type" } else { kind };
    let role = if matches!(kind, "result" | "summary") {
        Role::System
    } else {
        Role::Other
    };
    let event = Event::new(role, number, label).fault(failed.then_some(Fault::Error));
    let blocks = line.message.map(|message| message.content).unwrap_or_default();
    let parts: Vec<Part> = blocks
        .into_iter()
        .flat_map(|block| block_event(block, number).parts)
        .collect();
    let fields = own_fields(rest);
    let is_bare = fields.as_object().is_some_and(Map::is_empty);
    let mut event = if is_bare { event } else { event.data(fields) };
    event.parts.extend(parts);
    event
}

fn own_fields(mut rest: Map<String, Value>) -> Value {
    for common in COMMON {
        rest.shift_remove(common);
    }
    Value::Object(rest)
}
