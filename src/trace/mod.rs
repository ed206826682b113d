//! Records as spans: which trace a cell's span stands in, what it says, and how it is sent.
//!
//! It joins two siblings below, the ledger's records and telemetry's spans, for the use cases above that send or show
//! them.

pub mod attributes;
pub mod content;
pub mod emit;
pub mod folders;
pub mod gather;
pub mod place;
pub mod plan;

pub use content::Content;
pub use emit::{Order, Tally, emit};
pub use folders::{Folder, Home};
pub use place::{Place, phase_span_id};
pub use plan::{PHASES, SPAN_NAME, spans};
