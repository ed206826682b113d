//! Spans as plain data, and their way to a collector. The only place that names opentelemetry.
//!
//! Nothing here knows what a cell is: [`crate::trace`] makes spans of records.

pub mod span;

pub use span::{Kind, Link, Span, Status, Value};
