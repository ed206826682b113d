//! What the page knows of each event without looking at its content.

use serde::Serialize;
use serde_json::Value;

use super::super::inert::visible;
use super::super::terminal::{cost, tokens};
use super::super::timeline::{Event, Fault, Part};

/// One row of the page.
#[derive(Serialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub(super) enum Row<'a> {
    /// The session with that number begins.
    Open { session: usize },
    /// It ends.
    Close { session: usize },
    /// An event of it.
    Event(Box<EventRow<'a>>),
}

/// An event's head.
#[derive(Serialize)]
pub(super) struct EventRow<'a> {
    session: usize,
    role: &'static str,
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<&'a str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Fault>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    copied: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    summary: String,
}

impl<'a> EventRow<'a> {
    pub(super) fn of(event: &'a Event, session: usize) -> Self {
        Self {
            session,
            role: event.role.word(),
            line: event.line,
            at: event.at.as_deref(),
            label: visible(&event.label).into_owned(),
            id: event.tool_use_id.as_deref(),
            fault: event.fault,
            copied: event.copied,
            turn: event.turn.as_ref().map(|turn| {
                let model = turn.model.as_deref().unwrap_or("no model");
                let used = tokens(&turn.tokens);
                visible(&format!("{model} · {used} · {}", cost(turn.cost_usd, turn.at_least))).into_owned()
            }),
            summary: visible(&event.summary()).into_owned(),
        }
    }
}

/// The content as the page shows it: texts with what could act in them made visible, and pictures of kinds that are
/// pictures and nothing else.
pub(super) fn shown(parts: &[Part]) -> Value {
    Value::Array(parts.iter().map(shown_part).collect())
}

fn shown_part(part: &Part) -> Value {
    match part {
        Part::Text(text) => serde_json::json!({ "text": visible(text) }),
        Part::Data(Value::Object(fields)) => {
            let fields: Vec<Value> = fields.iter().map(|(name, value)| shown_field(name, value)).collect();
            serde_json::json!({ "fields": fields })
        }
        Part::Data(value) => serde_json::json!({ "text": visible(&value.to_string()) }),
        Part::Diff(diff) => {
            let lines: Vec<_> = diff
                .hunks
                .iter()
                .flat_map(|hunk| &hunk.lines)
                .map(|line| visible(line))
                .collect();
            serde_json::json!({ "diff": lines, "path": visible(&diff.path) })
        }
        Part::Image(image) if is_picture(&image.media_type, &image.base64) => {
            serde_json::json!({ "picture": format!("data:{};base64,{}", image.media_type, image.base64) })
        }
        Part::Image(image) => {
            let text = format!("picture, {}, {} bytes of base64", image.media_type, image.base64_bytes);
            serde_json::json!({ "text": visible(&text) })
        }
    }
}

fn shown_field(name: &str, value: &Value) -> Value {
    let text = match value {
        Value::String(text) => visible(text).into_owned(),
        Value::Array(_) | Value::Object(_) => visible(&format!("{value:#}")).into_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    serde_json::json!([visible(name), text])
}

/// An SVG may hold a script, so it is none.
fn is_picture(media_type: &str, base64: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
        && base64
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}
