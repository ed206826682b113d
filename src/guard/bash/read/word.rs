//! Words: quoting, and where a word ends.

use super::super::syntax::{Part, Word};
use super::cursor::{Read, Reader, Unread, is_meta};

/// What reading one piece of a word costs.
const PIECE: usize = 100;

impl Reader<'_, '_> {
    /// Reads a word; an empty one where none begins here.
    pub(super) fn word(&mut self) -> Read<Word> {
        let start = self.pos;
        let mut parts = Vec::new();
        while !self.word_ends() {
            self.piece(&mut parts)?;
        }
        Ok(Word {
            parts,
            span: self.span(start),
        })
    }

    /// Whether the word is over at this place.
    pub(super) fn word_ends(&self) -> bool {
        let byte = self.peek();
        if matches!(byte, b'<' | b'>') && self.peek_at(1) == b'(' {
            return false;
        }
        self.at_end() || is_meta(byte)
    }

    /// Reads one piece of a word outside of quotes.
    pub(super) fn piece(&mut self, parts: &mut Vec<Part>) -> Read<()> {
        self.charge(PIECE)?;
        match self.peek() {
            b'\\' => {
                self.pos += 1;
                if !self.eat("\n") {
                    let escaped = self.bump().map_or_else(|| "\\".to_owned(), String::from);
                    push_quoted(parts, &escaped);
                }
            }
            b'\'' => {
                self.pos += 1;
                let text = self.until_quote()?;
                push_quoted(parts, text);
            }
            b'"' => {
                self.pos += 1;
                self.double_quoted(parts)?;
            }
            b'$' => self.dollar(parts, false)?,
            b'`' => self.backquote(parts, false)?,
            b'<' | b'>' if self.peek_at(1) == b'(' => self.process(parts)?,
            b'?' | b'*' | b'+' | b'@' | b'!' if self.peek_at(1) == b'(' => {
                self.deeper(|reader| reader.pattern_group(parts))?;
            }
            _ => self.bare(parts),
        }
        Ok(())
    }

    /// Takes characters that mean nothing to the reader.
    fn bare(&mut self, parts: &mut Vec<Part>) {
        let start = self.pos;
        self.bump();
        while !self.at_end() {
            let byte = self.peek();
            let special = matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`' | b'}' | b']' | b':' | b'/');
            let group = matches!(byte, b'?' | b'*' | b'+' | b'@' | b'!') && self.peek_at(1) == b'(';
            if special || group || is_meta(byte) {
                break;
            }
            self.pos += 1;
        }
        push_bare(parts, self.since(start));
    }

    /// `?( … )` and its like: a pattern, whatever is in it.
    fn pattern_group(&mut self, parts: &mut Vec<Part>) -> Read<()> {
        let start = self.pos;
        self.pos += 2;
        push_bare(parts, self.since(start));
        loop {
            match self.peek() {
                _ if self.at_end() => return Err(Unread::Unclosed("a pattern group")),
                b')' => {
                    self.pos += 1;
                    push_bare(parts, ")");
                    return Ok(());
                }
                byte if is_meta(byte) && !(matches!(byte, b'<' | b'>') && self.peek_at(1) == b'(') => {
                    self.bare(parts);
                }
                _ => self.piece(parts)?,
            }
        }
    }

    fn until_quote(&mut self) -> Read<&str> {
        let rest = self.rest();
        let Some(end) = rest.find('\'') else {
            self.pos = self.bytes.len();
            return Err(Unread::Unclosed("a single quote"));
        };
        self.pos += end + 1;
        self.charge(end / 16)?;
        Ok(rest.get(..end).unwrap_or(""))
    }

    /// Reads to the closing double quote; the opening one is behind.
    pub(super) fn double_quoted(&mut self, parts: &mut Vec<Part>) -> Read<()> {
        push_quoted(parts, "");
        self.deeper(|reader| {
            loop {
                if reader.at_end() {
                    return Err(Unread::Unclosed("a double quote"));
                }
                if reader.eat("\"") {
                    return Ok(());
                }
                reader.quoted_piece(parts, b"$`\\\"")?;
            }
        })
    }

    /// Reads one piece of quoted text, in which only the bytes of `special` mean something.
    pub(super) fn quoted_piece(&mut self, parts: &mut Vec<Part>, special: &[u8]) -> Read<()> {
        self.charge(PIECE)?;
        match self.peek() {
            b'\\' => {
                let next = self.peek_at(1);
                self.pos += 1;
                if next == b'\n' {
                    self.pos += 1;
                } else if next != 0 && special.contains(&next) {
                    self.pos += 1;
                    push_quoted(parts, self.since(self.pos - 1));
                } else {
                    push_quoted(parts, "\\");
                }
            }
            b'$' => self.dollar(parts, true)?,
            b'`' => self.backquote(parts, true)?,
            _ => {
                let start = self.pos;
                let rest = self.bytes.get(start..).unwrap_or(&[]);
                let length = rest.iter().position(|b| special.contains(b)).unwrap_or(rest.len());
                self.pos += length.max(1);
                self.charge(length / 16)?;
                push_quoted(parts, self.since(start));
            }
        }
        Ok(())
    }
}

/// Adds bare text, joined to bare text before it.
pub(super) fn push_bare(parts: &mut Vec<Part>, text: &str) {
    if let Some(Part::Bare(last)) = parts.last_mut() {
        last.push_str(text);
    } else {
        parts.push(Part::Bare(text.to_owned()));
    }
}

/// Adds quoted text, joined to quoted text before it. Empty text counts: it makes a word of nothing.
pub(super) fn push_quoted(parts: &mut Vec<Part>, text: &str) {
    if let Some(Part::Quoted(last)) = parts.last_mut() {
        last.push_str(text);
    } else {
        parts.push(Part::Quoted(text.to_owned()));
    }
}
