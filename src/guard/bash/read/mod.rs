//! The reader: bash text to [`super::syntax`]. Total (any text ends in a tree or in a named failure), depth-limited, and
//! bounded in steps; it never looks at anything but the text.

mod braces;
mod command;
mod compound;
mod cursor;
mod document;
mod dollar;
mod list;
mod word;

pub(crate) use cursor::read;
pub use cursor::{Failure, Unread};
