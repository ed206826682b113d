//! Writes the page as it is played, some rows at a time.

use std::io::{self, Write};

use serde::Serialize;

use super::super::inert::{Escape, write_json};
use super::super::timeline::{Event, SessionView, Sink, Summary};
use super::policy::policy;
use super::rows::{EventRow, Row, shown};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Rows of a block: the page reads a block's content when one of its rows is opened.
const ROWS: usize = 100;
/// A block with more bytes than this is ended.
const BYTES: usize = 512 * 1024;

/// Writes a page. Memory: one block of rows.
#[derive(Debug)]
pub struct Page<W> {
    out: W,
    /// What follows the data.
    rest: &'static str,
    heads: Vec<u8>,
    bodies: Vec<u8>,
    rows: usize,
}

impl<W: Write> Page<W> {
    /// Begins the page; `sessions` are all parts of the tree, by their numbers.
    ///
    /// # Errors
    /// The system's, where it cannot be written.
    pub fn start(mut out: W, sessions: &[SessionView]) -> io::Result<Self> {
        let rest = write_until(&mut out, PAGE, "{{policy}}")?;
        out.write_all(policy(SCRIPT, STYLE).as_bytes())?;
        let rest = write_until(&mut out, rest, "{{style}}")?;
        out.write_all(STYLE.as_bytes())?;
        let rest = write_until(&mut out, rest, "{{data}}")?;
        let mut page = Self {
            out,
            rest,
            heads: Vec::new(),
            bodies: Vec::new(),
            rows: 0,
        };
        page.data("sessions", &sessions)?;
        Ok(page)
    }

    fn data<T: Serialize>(&mut self, class: &str, value: &T) -> io::Result<()> {
        let mut json = Vec::new();
        write_json(&mut json, value, Escape::Html)?;
        self.element(class, &json)
    }

    fn element(&mut self, class: &str, json: &[u8]) -> io::Result<()> {
        write!(self.out, "<script type=\"application/json\" class=\"{class}\">")?;
        self.out.write_all(json)?;
        self.out.write_all(b"</script>\n")
    }

    fn row<B: Serialize>(&mut self, row: &Row<'_>, body: &B) -> io::Result<()> {
        let before = if self.rows == 0 { b'[' } else { b',' };
        self.heads.push(before);
        write_json(&mut self.heads, row, Escape::Html)?;
        self.bodies.push(before);
        write_json(&mut self.bodies, body, Escape::Html)?;
        self.rows += 1;
        if self.rows >= ROWS || self.bodies.len() >= BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.heads.push(b']');
        self.bodies.push(b']');
        let (mut heads, mut bodies) = (std::mem::take(&mut self.heads), std::mem::take(&mut self.bodies));
        self.element("heads", &heads)?;
        self.element("bodies", &bodies)?;
        heads.clear();
        bodies.clear();
        // A picture of 20 MB must not be room that is kept to the end.
        bodies.shrink_to(BYTES * 2);
        (self.heads, self.bodies) = (heads, bodies);
        self.rows = 0;
        Ok(())
    }
}

impl<W: Write> Sink for Page<W> {
    fn open(&mut self, session: &SessionView) -> io::Result<()> {
        self.row(&Row::Open { session: session.index }, &())
    }

    fn event(&mut self, event: &Event, session: &SessionView) -> io::Result<()> {
        let row = Row::Event(Box::new(EventRow::of(event, session.index)));
        self.row(&row, &shown(&event.parts))
    }

    fn close(&mut self, session: &SessionView) -> io::Result<()> {
        self.row(&Row::Close { session: session.index }, &())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        self.flush()?;
        self.data("summary", summary)?;
        let rest = write_until(&mut self.out, self.rest, "{{script}}")?;
        self.out.write_all(SCRIPT.as_bytes())?;
        self.out.write_all(rest.as_bytes())?;
        self.out.flush()
    }
}

/// Writes what stands before a mark and gives back what stands after it.
fn write_until<'a>(out: &mut impl Write, text: &'a str, mark: &str) -> io::Result<&'a str> {
    let (before, after) = text.split_once(mark).unwrap_or((text, ""));
    out.write_all(before.as_bytes())?;
    Ok(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_page_fit_together() {
        for mark in ["{{policy}}", "{{style}}", "{{data}}", "{{script}}"] {
            assert_eq!(PAGE.matches(mark).count(), 1, "{mark}");
        }
        // Either would end its element early.
        assert!(!SCRIPT.to_ascii_lowercase().contains("</script"));
        assert!(!STYLE.to_ascii_lowercase().contains("</style"));
        for request in ["http:", "https:", "url(", "@import", "fetch(", "innerHTML", "eval("] {
            assert!(!SCRIPT.contains(request) && !STYLE.contains(request), "{request}");
        }
    }
}
