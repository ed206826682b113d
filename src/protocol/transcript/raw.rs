//! A line as it stands in the file. Only `\n` ends a line: the client writes U+2028 and `\r` inside of lines.

use std::fmt;

/// The longest line that is kept unless the caller says otherwise: 16 MiB. The client writes results of 10 MB on one
/// line (2.1.332).
pub const LINE_CAP: usize = 16 * 1024 * 1024;

/// Where a line stands, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Position {
    /// From the first line of the file.
    FromStart(u64),
    /// From its last line.
    FromEnd(u64),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FromStart(number) => write!(f, "line {number}"),
            Self::FromEnd(number) => write!(f, "line {number} from the end"),
        }
    }
}

/// What a line holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Its bytes, without the `\n`.
    Bytes(Vec<u8>),
    /// It is longer than the cap; its bytes were passed over.
    TooLong {
        /// Its length in bytes, without the `\n`.
        bytes: u64,
    },
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawLine {
    /// Where it stands.
    pub position: Position,
    /// Whether a `\n` ends it: the last line of a file that is being written may lack it.
    pub terminated: bool,
    /// What it holds.
    pub body: Body,
}
