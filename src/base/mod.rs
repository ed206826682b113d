//! The ground floor: ids, time, deadlines, trace context, error chains, redaction. Nothing here knows what a cell is.

pub mod chain;
pub mod clock;
pub mod deadline;
pub mod digest;
pub mod ids;
pub mod redact;
pub mod trace_context;

pub use clock::UnixNanos;
pub use deadline::Deadline;
pub use ids::{AgentType, CellId, IdError, SessionId, ToolUseId};
pub use trace_context::{SpanId, TraceContext, TraceId};
