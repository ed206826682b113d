//! Lines turned into entries, with an account of what could not be read.

use std::io;

use super::line::Line;
use super::raw::{Body, Position, RawLine};

/// At most this many positions of broken lines are remembered; the count goes on.
const REMEMBERED: usize = 100;

/// One line of a session file, or what became of it.
#[derive(Debug)]
pub enum Entry {
    /// A line.
    Line {
        /// Where it stands.
        position: Position,
        /// What it says.
        line: Box<Line>,
    },
    /// A line that is no JSON object.
    Broken {
        /// Where it stands.
        position: Position,
        /// Whether a `\n` ends it: an unended last line may still be being written.
        terminated: bool,
        /// What the parser says.
        error: serde_json::Error,
    },
    /// A line over the cap.
    TooLong {
        /// Where it stands.
        position: Position,
        /// Its length in bytes.
        bytes: u64,
    },
}

/// What was passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How many lines were broken.
    pub broken: u64,
    /// Where the first of them stand, in the order read; at most 100.
    pub broken_at: Vec<Position>,
    /// How many lines were over the cap.
    pub too_long: u64,
}

/// The entries of a session file, over either reader. Blank lines are left out.
#[derive(Debug)]
pub struct Entries<I> {
    lines: I,
    skipped: Skipped,
}

impl<I: Iterator<Item = io::Result<RawLine>>> Entries<I> {
    /// Reads entries from `lines`.
    pub fn new(lines: I) -> Self {
        Self {
            lines,
            skipped: Skipped::default(),
        }
    }

    /// What was passed over so far.
    #[must_use]
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn entry(&mut self, raw: RawLine) -> Option<Entry> {
        let position = raw.position;
        let bytes = match raw.body {
            Body::Bytes(bytes) if bytes.trim_ascii().is_empty() => return None,
            Body::Bytes(bytes) => bytes,
            Body::TooLong { bytes } => {
                self.skipped.too_long += 1;
                return Some(Entry::TooLong { position, bytes });
            }
        };
        Some(match Line::parse(&bytes) {
            Ok(line) => Entry::Line {
                position,
                line: Box::new(line),
            },
            Err(error) => {
                self.skipped.broken += 1;
                if self.skipped.broken_at.len() < REMEMBERED {
                    self.skipped.broken_at.push(position);
                }
                Entry::Broken {
                    position,
                    terminated: raw.terminated,
                    error,
                }
            }
        })
    }
}

impl<I: Iterator<Item = io::Result<RawLine>>> Iterator for Entries<I> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.lines.next()? {
                Ok(raw) => {
                    if let Some(entry) = self.entry(raw) {
                        return Some(Ok(entry));
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::from_end::LinesFromEnd;
    use super::super::from_start::LinesFromStart;
    use super::*;

    const TEXT: &[u8] =
        b"{\"type\":\"user\"}\n\nnot json\n{\"type\":\"assistant\",\"x\":\"0123456789\"}\n{\"type\":\"us";

    #[test]
    fn broken_lines_are_counted_and_named_by_number() {
        let mut entries = Entries::new(LinesFromStart::new(TEXT));
        let read = entries
            .by_ref()
            .filter(|entry| matches!(entry, Ok(Entry::Line { .. })))
            .count();
        assert_eq!(read, 2);
        let expected = Skipped {
            broken: 2,
            broken_at: vec![Position::FromStart(3), Position::FromStart(5)],
            too_long: 0,
        };
        assert_eq!(entries.skipped(), &expected);
    }

    #[test]
    fn from_the_end_an_unfinished_line_is_told_from_a_broken_one() {
        let lines = LinesFromEnd::with_cap(io::Cursor::new(TEXT), 30).unwrap();
        let mut entries = Entries::new(lines);
        let unfinished = entries.next().unwrap().unwrap();
        assert!(matches!(
            unfinished,
            Entry::Broken {
                terminated: false,
                position: Position::FromEnd(1),
                ..
            }
        ));
        let long = entries.next().unwrap().unwrap();
        assert!(matches!(long, Entry::TooLong { bytes: 37, .. }), "{long:?}");
        let broken = entries.next().unwrap().unwrap();
        assert!(matches!(broken, Entry::Broken { terminated: true, .. }));
        assert!(matches!(entries.next(), Some(Ok(Entry::Line { .. }))));
        assert!(entries.next().is_none());
        assert_eq!((entries.skipped().broken, entries.skipped().too_long), (2, 1));
    }
}
