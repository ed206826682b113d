//! Lists, and-or lists and pipelines.

use super::super::syntax::{Connector, Item, Pipeline, Script};
use super::cursor::{Read, Reader, Unread, is_meta};

/// Words that end a list where a command could begin.
const LIST_ENDS: [&str; 8] = ["then", "do", "done", "fi", "elif", "else", "esac", "}"];

impl Reader<'_, '_> {
    /// Reads the whole text into `script`, keeping what was read before a failure.
    pub(super) fn whole(&mut self, script: &mut Script) -> Read<()> {
        self.list_into(script)?;
        if !self.at_end() {
            return self.unexpected();
        }
        self.finish_documents()
    }

    /// Reads a list up to a word or sign that belongs to what surrounds it.
    pub(super) fn list(&mut self) -> Read<Script> {
        let mut script = Script::default();
        self.list_into(&mut script)?;
        Ok(script)
    }

    fn list_into(&mut self, script: &mut Script) -> Read<()> {
        self.deeper(|reader| {
            loop {
                reader.skip_lines()?;
                if reader.list_ends() {
                    return Ok(());
                }
                if !reader.item_into(script)? {
                    return Ok(());
                }
            }
        })
    }

    /// Reads one item; `false` when nothing may follow it in this list.
    fn item_into(&mut self, script: &mut Script) -> Read<bool> {
        let start = self.pos;
        let first = self.pipeline()?;
        let mut item = Item {
            first,
            rest: Vec::new(),
            background: false,
            span: self.span(start),
        };
        let outcome = self.and_or(&mut item);
        item.span = self.span(start);
        if outcome.is_err() {
            script.items.push(item);
            return outcome.map(|()| false);
        }
        self.skip_blanks()?;
        let more = match self.peek() {
            b'&' if self.peek_at(1) != b'&' => {
                item.background = true;
                self.pos += 1;
                item.span = self.span(start);
                true
            }
            b';' if !matches!(self.peek_at(1), b';' | b'&') => {
                self.pos += 1;
                true
            }
            b'\n' => true,
            _ => false,
        };
        script.items.push(item);
        Ok(more)
    }

    fn and_or(&mut self, item: &mut Item) -> Read<()> {
        loop {
            self.skip_blanks()?;
            let connector = if self.eat("&&") {
                Connector::And
            } else if self.eat("||") {
                Connector::Or
            } else {
                return Ok(());
            };
            self.skip_lines()?;
            let next = self.pipeline()?;
            item.rest.push((connector, next));
        }
    }

    fn pipeline(&mut self) -> Read<Pipeline> {
        let start = self.pos;
        let mut commands = Vec::new();
        self.skip_prefixes()?;
        loop {
            if let Some(command) = self.command()? {
                commands.push(command);
            } else if start == self.pos || !commands.is_empty() {
                return self.unexpected();
            }
            self.skip_blanks()?;
            let piped = self.peek() == b'|' && self.peek_at(1) != b'|';
            if !piped {
                break;
            }
            self.pos += 1;
            let _ = self.eat("&");
            self.skip_lines()?;
            self.skip_prefixes()?;
        }
        Ok(Pipeline { commands })
    }

    /// Steps over `!` and `time`, which change nothing about what runs.
    fn skip_prefixes(&mut self) -> Read<()> {
        loop {
            self.skip_blanks()?;
            match self.bare_word() {
                "!" => self.pos += 1,
                "time" => {
                    self.pos += 4;
                    self.skip_blanks()?;
                    if matches!(self.bare_word(), "-p" | "--") {
                        self.pos += 2;
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// The next word if it is made of plain characters only, else empty. Reads nothing.
    pub(super) fn bare_word(&self) -> &str {
        let rest = self.bytes.get(self.pos..).unwrap_or(&[]);
        // No reserved word is longer than `function`; a name that is asked for here may be.
        let length = rest
            .iter()
            .take(64)
            .position(|b| is_meta(*b))
            .unwrap_or(rest.len().min(64));
        let word = rest.get(..length).unwrap_or(&[]);
        if word.iter().any(|b| matches!(b, b'\'' | b'"' | b'\\' | b'$' | b'`')) {
            return "";
        }
        self.source.get(self.pos..self.pos + length).unwrap_or("")
    }

    fn list_ends(&self) -> bool {
        match self.peek() {
            b')' => true,
            b';' => matches!(self.peek_at(1), b';' | b'&'),
            0 if self.at_end() => true,
            _ => LIST_ENDS.contains(&self.bare_word()),
        }
    }

    /// Steps over the reserved word that must come next.
    pub(super) fn expect_word(&mut self, word: &str) -> Read<()> {
        self.skip_lines()?;
        if self.bare_word() == word {
            self.pos += word.len();
            return Ok(());
        }
        if self.at_end() {
            Err(Unread::Unclosed("a compound command"))
        } else {
            self.unexpected()
        }
    }

    /// Steps over blanks, continued lines and a comment, up to the end of the line.
    pub(super) fn skip_blanks(&mut self) -> Read<()> {
        let start = self.pos;
        loop {
            match self.peek() {
                b' ' | b'\t' => self.pos += 1,
                b'\\' if self.peek_at(1) == b'\n' => self.pos += 2,
                b'#' if self.comment_may_start() => {
                    let rest = self.bytes.get(self.pos..).unwrap_or(&[]);
                    self.pos += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                }
                _ => break,
            }
        }
        self.charge((self.pos - start) / 16)
    }

    fn comment_may_start(&self) -> bool {
        self.pos == 0 || self.bytes.get(self.pos - 1).is_some_and(|before| is_meta(*before))
    }

    /// Steps over blanks, comments and line ends, reading the here-documents that were waited for.
    pub(super) fn skip_lines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks()?;
            if self.peek() != b'\n' {
                return Ok(());
            }
            self.pos += 1;
            self.charge(1)?;
            self.documents()?;
        }
    }
}
