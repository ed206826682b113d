//! What is shown, one after another.

use serde_json::Value;

use super::usage::Usage;

/// Whose an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// What the session was asked.
    User,
    /// What the model said.
    Assistant,
    /// What it thought.
    Thinking,
    /// A tool call.
    Call,
    /// A tool's result.
    Result,
    /// What a hook did.
    Hook,
    /// What the client notes.
    System,
    /// Any other entry, by its type.
    Other,
    /// A line that cannot be read.
    Broken,
}

impl Role {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Thinking => "thinking",
            Self::Call => "call",
            Self::Result => "result",
            Self::Hook => "hook",
            Self::System => "system",
            Self::Other => "other",
            Self::Broken => "broken",
        }
    }
}

/// What is wrong with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It failed.
    Error,
    /// A guard, a hook or a rule refused it.
    Refused,
}

/// A piece of an event's content.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text(String),
    /// Structured data.
    Data(Value),
    /// A change to a file.
    Diff(Diff),
    /// A picture.
    Image(Image),
}

/// A change to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Diff {
    /// The file.
    pub path: String,
    /// Its parts.
    pub hunks: Vec<Hunk>,
}

/// A part of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Hunk {
    /// The first line in the old file, where it is known.
    pub old_start: Option<u64>,
    /// The first line in the new file, where it is known.
    pub new_start: Option<u64>,
    /// The lines, each after its sign: ` `, `-` or `+`.
    pub lines: Vec<String>,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Image {
    /// Its media type, as the transcript names it.
    pub media_type: String,
    /// How many bytes of base64 it is.
    pub base64_bytes: usize,
    /// The bytes themselves, for a page.
    #[serde(skip)]
    pub base64: String,
}

/// What the turn used that an event begins.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TurnView {
    /// The message's id.
    pub message: String,
    /// The model.
    pub model: Option<String>,
    /// Its tokens.
    pub tokens: Usage,
    /// Its cost in US dollars, where the model's price is known.
    pub cost_usd: Option<f64>,
    /// Whether the answer's end is missing, so that the counts are partial.
    pub at_least: bool,
}

/// One event: an entry of a transcript, or one of its content blocks.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Event {
    /// Whose it is.
    pub role: Role,
    /// The line of the file, from 1.
    pub line: u64,
    /// Its time, as written.
    pub at: Option<String>,
    /// The tool, the hook, or the entry's type.
    pub label: String,
    /// The tool call that it is of.
    pub tool_use_id: Option<String>,
    /// What is wrong with it.
    pub fault: Option<Fault>,
    /// Whether the line was copied from another session, where it counts.
    pub copied: bool,
    /// What the turn used that it begins.
    pub turn: Option<TurnView>,
    /// Its content.
    pub parts: Vec<Part>,
}

impl Event {
    /// An event of a line.
    pub(super) fn new(role: Role, line: u64, label: impl Into<String>) -> Self {
        Self {
            role,
            line,
            at: None,
            label: label.into(),
            tool_use_id: None,
            fault: None,
            copied: false,
            turn: None,
            parts: Vec::new(),
        }
    }

    pub(super) fn text(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.parts.push(Part::Text(text));
        }
        self
    }

    pub(super) fn data(mut self, data: Value) -> Self {
        self.parts.push(Part::Data(data));
        self
    }

    pub(super) fn of_call(mut self, id: impl Into<String>) -> Self {
        self.tool_use_id = Some(id.into());
        self
    }

    pub(super) fn fault(mut self, fault: Option<Fault>) -> Self {
        self.fault = fault;
        self
    }
}
