//! The client's session files (`projects/<folder>/<session id>.jsonl`): one line, and reading them in bounded memory,
//! forwards and from the end.

pub mod entries;
pub mod from_end;
pub mod from_start;
pub mod line;
pub mod locate;
pub mod message;
pub mod raw;

pub use entries::{Entries, Entry, Skipped};
pub use from_end::LinesFromEnd;
pub use from_start::LinesFromStart;
pub use line::{Line, LineKind};
pub use locate::{locate, subagent_transcript};
pub use message::{Block, Message};
pub use raw::{Body, LINE_CAP, Position, RawLine};
