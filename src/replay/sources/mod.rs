//! Finds what belongs to a run: transcripts with their subagents, our records, and the client's results.

mod classify;
mod collect;
mod gather;
mod name;
mod walk;

pub use classify::AgentMeta;
pub use gather::{CellRow, ClientFigure, Places, Sources, Transcript, gather};
pub use name::TranscriptName;
pub use walk::{PathError, SkippedFile};
