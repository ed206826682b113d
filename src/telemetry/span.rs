//! A span as it is meant, before any exporter: plain data that can be compared, printed and sent.

use crate::base::{SpanId, TraceId, UnixNanos};

/// What an attribute holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// Yes or no.
    Flag(bool),
    /// Several texts.
    Texts(Vec<String>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Value {
    /// OTLP has no unsigned 64-bit attribute; what does not fit is the largest that does.
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

/// How a span stands to its parent (OTLP `SpanKind`); the kinds that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An operation inside the application: what the GenAI conventions give an agent of the same machine.
    Internal,
}

/// How the operation ended. The conventions keep `Ok` for people who override; a success leaves it unset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing went wrong.
    Unset,
    /// It failed, with a description.
    Error(String),
}

/// Something that happened while a span ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub name: String,
    /// When.
    pub at: UnixNanos,
}

/// A pointer to a span of another trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The other trace.
    pub trace_id: TraceId,
    /// The span in it.
    pub span_id: SpanId,
    /// Whether that trace is sampled.
    pub sampled: bool,
}

/// One span.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Its trace.
    pub trace_id: TraceId,
    /// Its own id.
    pub span_id: SpanId,
    /// The span above; `None` for a root.
    pub parent: Option<SpanId>,
    /// Whether the span above was made by another process.
    pub parent_is_remote: bool,
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// When the operation began.
    pub start: UnixNanos,
    /// When it ended; never before it began.
    pub end: UnixNanos,
    /// Its attributes, each name once.
    pub attributes: Vec<(&'static str, Value)>,
    /// What happened while it ran; only live spans have any.
    pub events: Vec<Event>,
    /// Spans of other traces that belong to it.
    pub links: Vec<Link>,
    /// How it ended.
    pub status: Status,
}

impl Span {
    /// The value of an attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        self.attributes
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// The bytes of its texts, which are nearly all of what a large span is.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let value = |(_, value): &(&'static str, Value)| match value {
            Value::Text(text) => text.len(),
            Value::Texts(texts) => texts.iter().map(String::len).sum(),
            Value::Integer(_) | Value::Float(_) | Value::Flag(_) => 0,
        };
        let status = match &self.status {
            Status::Unset => 0,
            Status::Error(description) => description.len(),
        };
        self.attributes.iter().map(value).sum::<usize>() + status
    }
}
