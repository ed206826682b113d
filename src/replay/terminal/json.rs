//! The tree as lines of JSON, for programs.

use std::io::{self, Write};

use serde::Serialize;

use super::super::inert::{Escape, write_json};
use super::super::timeline::{Event, SessionView, Sink, Summary};

/// The format of the lines; it changes where a field is renamed or goes.
const FORMAT: u32 = 1;

/// One line.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Row<'a> {
    /// The first.
    Start { format: u32 },
    /// A session, cell, echo or subagent begins.
    Session { session: &'a SessionView },
    /// An event of the session with that number.
    Event { session: usize, event: &'a Event },
    /// The session with that number ends.
    End { session: usize },
    /// The last.
    Summary { summary: &'a Summary },
}

/// Writes a line of JSON for each thing that is played.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: W,
}

impl<W: Write> JsonLines<W> {
    /// Begins the output.
    ///
    /// # Errors
    /// The system's, where it cannot be written.
    pub fn start(out: W) -> io::Result<Self> {
        let mut lines = Self { out };
        lines.row(&Row::Start { format: FORMAT })?;
        Ok(lines)
    }

    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        write_json(&mut self.out, row, Escape::Terminal)?;
        self.out.write_all(b"\n")
    }
}

impl<W: Write> Sink for JsonLines<W> {
    fn open(&mut self, session: &SessionView) -> io::Result<()> {
        self.row(&Row::Session { session })
    }

    fn event(&mut self, event: &Event, session: &SessionView) -> io::Result<()> {
        self.row(&Row::Event {
            session: session.index,
            event,
        })
    }

    fn close(&mut self, session: &SessionView) -> io::Result<()> {
        self.row(&Row::End { session: session.index })
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        self.row(&Row::Summary { summary })?;
        self.out.flush()
    }
}
