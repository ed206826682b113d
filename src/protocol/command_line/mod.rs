//! The parent's command line, read as its own parser reads it, and the part of it that a cell gets.
//!
//! The client's parser is commander; the rules here were measured on 2.1.156 and 2.1.332 and are the same on both.

pub mod flags;
pub mod inherit;
pub mod options;
pub mod words;

pub use flags::ParentFlags;
pub use inherit::{InheritError, Inherited, inherit};
