//! The call that a payload is about, as far as it decides.

use serde_json::{Map, Value};

use crate::guard::raw_object::{RawObject, text_of};

/// What `isolation` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// `"remote"`: a background call, whatever the flag says.
    Remote,
    /// Anything else.
    Here,
}

/// A call of the `Agent` tool (older clients: `Task`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    /// Whether `run_in_background` is the boolean `false`, and no other value that could be taken for it.
    pub(super) foreground: bool,
    pub(super) place: Place,
    /// `tool_input` as it was written.
    input: &'a str,
}

impl<'a> Call<'a> {
    /// Reads a payload; none where it is about another tool.
    pub(super) fn read(payload: &'a str) -> Result<Option<Self>, serde_json::Error> {
        let payload = RawObject::parse(payload)?;
        let tool = payload.text("tool_name");
        if !matches!(tool.as_deref(), Some("Agent" | "Task")) {
            return Ok(None);
        }
        let input = payload.get("tool_input").map_or("", |raw| raw.get());
        // An input that is no object has no flag and no isolation.
        let fields = RawObject::parse(input).unwrap_or_default();
        let remote = fields.get("isolation").and_then(text_of).as_deref() == Some("remote");
        Ok(Some(Self {
            foreground: fields.is_boolean("run_in_background", false),
            place: if remote { Place::Remote } else { Place::Here },
            input,
        }))
    }

    /// The whole input with the flag set to `false`; none where it cannot be handed back as it is.
    pub(super) fn in_foreground(&self) -> Option<Map<String, Value>> {
        let mut input: Map<String, Value> = serde_json::from_str(self.input).ok()?;
        input.insert("run_in_background".to_owned(), Value::Bool(false));
        Some(input)
    }
}
