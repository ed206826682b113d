//! The ground floor: ids, time, deadlines, trace context, error chains, redaction. Nothing here knows what a cell is.

pub mod bounded_file;
pub mod chain;
pub mod clock;
pub mod deadline;
pub mod digest;
pub mod ids;
mod process_identity;
pub mod redact;
pub mod trace_context;
pub mod usd;
pub mod visible;

pub use bounded_file::{BoundedReadError, Links, open_regular, read_bounded};
pub use clock::UnixNanos;
pub use deadline::Deadline;
pub use ids::{AgentType, CellId, IdError, SessionId, ToolUseId};
pub use process_identity::ProcessIdentity;
pub use trace_context::{SpanId, TraceContext, TraceId};
pub use usd::Usd;
pub use visible::visible;
