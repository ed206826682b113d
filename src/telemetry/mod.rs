//! Spans as plain data, and their way to a collector. The only place that names opentelemetry.
//!
//! Nothing here knows what a cell is: [`crate::trace`] makes spans of records. Sending is built in with the feature
//! `telemetry`; what it would take is not linked, loaded or set up on the way of any other command.

pub mod export;
pub mod layers;
pub mod live;
pub mod settings;
mod settings_text;
pub mod span;

pub use export::{Exporter, Failure, Proxy, Sent};
pub use layers::{Raw, from_environment, from_room};
pub use settings::{Compression, Protocol, Settings, Target};
pub use span::{Event, Kind, Link, Span, Status, Value};
