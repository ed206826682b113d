//! The tree in a terminal, a pager or a pipe: as text ([`Plain`]) or as lines of JSON ([`JsonLines`]).

mod amounts;
mod json;
mod paint;
mod plain;

pub use json::JsonLines;
pub use paint::Paint;
pub use plain::Plain;

pub(super) use amounts::{cost, tokens};
