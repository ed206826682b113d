//! Here-documents: their bodies come after the line that names them.

use super::super::syntax::{Part, Target, Word};
use super::cursor::{Pending, Read, Reader};
use std::cell::OnceCell;
use std::rc::Rc;

impl Reader<'_, '_> {
    /// Reads the delimiter after `<<` and notes that a body is to come.
    pub(super) fn document_start(&mut self, strip_tabs: bool) -> Read<Target> {
        self.skip_blanks()?;
        let start = self.pos;
        let word = self.word()?;
        let raw = self.since(start);
        let mut delimiter = String::new();
        for part in &word.parts {
            match part {
                Part::Bare(text) | Part::Quoted(text) => delimiter.push_str(text),
                // bash takes the text of an expansion in a delimiter as it stands.
                Part::Param(_) | Part::Command { .. } | Part::Process { .. } | Part::Arith(_) => {
                    delimiter = raw.replace(['"', '\'', '\\'], "");
                    break;
                }
            }
        }
        let body = Rc::new(OnceCell::new());
        let expand = !raw.contains(['"', '\'', '\\']);
        self.pending.push(Pending {
            delimiter,
            strip_tabs,
            expand,
            body: Rc::clone(&body),
        });
        Ok(Target::Document(body))
    }

    /// Reads the bodies that are due; the position is at the start of a line.
    pub(super) fn documents(&mut self) -> Read<()> {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.document_lines(&pending)?;
            let body = self.document_body(&pending, &text)?;
            // The cell was made for this body alone.
            let _ = pending.body.set(body);
        }
        Ok(())
    }

    /// At the end of the text bash takes a here-document without its delimiter as ended.
    pub(super) fn finish_documents(&mut self) -> Read<()> {
        self.documents()
    }

    fn document_lines(&mut self, pending: &Pending) -> Read<String> {
        let mut text = String::new();
        let mut joined = false;
        while !self.at_end() {
            let rest = self.rest();
            let end = rest.find('\n').unwrap_or(rest.len());
            let mut line = rest.get(..end).unwrap_or("");
            self.pos = (self.pos + end + 1).min(self.bytes.len());
            self.charge(1 + end / 16)?;
            if pending.strip_tabs && !joined {
                line = line.trim_start_matches('\t');
            }
            if line == pending.delimiter && !joined {
                return Ok(text);
            }
            joined = pending.expand && ends_in_continuation(line);
            if joined {
                text.push_str(line.get(..line.len() - 1).unwrap_or(""));
            } else {
                text.push_str(line);
                text.push('\n');
            }
        }
        Ok(text)
    }

    fn document_body(&mut self, pending: &Pending, text: &str) -> Read<Word> {
        let span = self.span(self.pos);
        if !pending.expand || !text.contains(['$', '`', '\\']) {
            return Ok(Word {
                parts: vec![Part::Quoted(text.to_owned())],
                span,
            });
        }
        let depth = self.depth + 1;
        let mut inner = Reader::new(text, self.budget, depth, Some(span));
        inner.deeper(Reader::document_parts).map(|parts| Word { parts, span })
    }

    fn document_parts(&mut self) -> Read<Vec<Part>> {
        let mut parts = Vec::new();
        while !self.at_end() {
            self.quoted_piece(&mut parts, b"$`\\")?;
        }
        Ok(parts)
    }
}

/// Whether a line ends in an odd number of backslashes.
fn ends_in_continuation(line: &str) -> bool {
    line.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1
}
