//! Everything that begins with `$`, backquotes, and process substitution.

use super::super::syntax::{Param, ParamOp, Part, Script};
use super::cursor::{Read, Reader, Unread, in_name, read, starts_name};
use super::word::{push_bare, push_quoted};

impl Reader<'_, '_> {
    /// Reads an expansion that begins at `$`.
    pub(super) fn dollar(&mut self, parts: &mut Vec<Part>, quoted: bool) -> Read<()> {
        self.pos += 1;
        match self.peek() {
            b'\'' if !quoted => {
                self.pos += 1;
                let text = self.ansi_quoted()?;
                push_quoted(parts, &text);
                Ok(())
            }
            b'"' if !quoted => {
                self.pos += 1;
                self.double_quoted(parts)
            }
            b'(' if self.peek_at(1) == b'(' && self.closes_as_arithmetic(2)? => {
                self.pos += 2;
                let inner = self.deeper(|reader| reader.arithmetic_parts("))"))?;
                parts.push(Part::Arith(inner));
                Ok(())
            }
            b'(' => {
                self.pos += 1;
                let script = self.substitution(")")?;
                parts.push(Part::Command { script, quoted });
                Ok(())
            }
            b'[' => {
                self.pos += 1;
                let inner = self.deeper(|reader| reader.arithmetic_parts("]"))?;
                parts.push(Part::Arith(inner));
                Ok(())
            }
            b'{' => {
                self.pos += 1;
                self.deeper(|reader| reader.braced(parts, quoted))
            }
            byte => {
                self.plain_param(byte, parts, quoted);
                Ok(())
            }
        }
    }

    fn plain_param(&mut self, byte: u8, parts: &mut Vec<Part>, quoted: bool) {
        let start = self.pos;
        if starts_name(byte) {
            while in_name(self.peek()) {
                self.pos += 1;
            }
        } else if byte.is_ascii_digit() || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') {
            self.pos += 1;
        }
        let name = self.since(start).to_owned();
        match (name.is_empty(), quoted) {
            (true, true) => push_quoted(parts, "$"),
            (true, false) => push_bare(parts, "$"),
            (false, _) => {
                parts.push(Part::Param(Box::new(Param {
                    name,
                    index: None,
                    op: ParamOp::Plain,
                    quoted,
                })));
            }
        }
    }

    /// Reads a script up to `close`, with here-documents of its own.
    pub(super) fn substitution(&mut self, close: &str) -> Read<Script> {
        let outer = std::mem::take(&mut self.pending);
        let script = self.list()?;
        if !self.eat(close) {
            return if self.at_end() {
                Err(Unread::Unclosed("a substitution"))
            } else {
                self.unexpected()
            };
        }
        if !self.pending.is_empty() {
            return Err(Unread::Unclosed("a here-document in a substitution"));
        }
        self.pending = outer;
        Ok(script)
    }

    /// `<( … )` or `>( … )`.
    pub(super) fn process(&mut self, parts: &mut Vec<Part>) -> Read<()> {
        let reads = self.peek() == b'<';
        self.pos += 2;
        let script = self.substitution(")")?;
        parts.push(Part::Process { script, reads });
        Ok(())
    }

    /// Backquotes: the text between them is unescaped once and read as a script of its own.
    pub(super) fn backquote(&mut self, parts: &mut Vec<Part>, quoted: bool) -> Read<()> {
        let start = self.pos;
        self.pos += 1;
        let mut inner = String::new();
        loop {
            let Some(next) = self.bump() else {
                return Err(Unread::Unclosed("a backquote"));
            };
            match next {
                '`' => break,
                '\\' => match self.bump() {
                    Some(escaped @ ('$' | '`' | '\\')) => inner.push(escaped),
                    Some('"') if quoted => inner.push('"'),
                    Some('\n') => {}
                    Some(other) => inner.extend(['\\', other]),
                    None => return Err(Unread::Unclosed("a backquote")),
                },
                other => inner.push(other),
            }
        }
        self.charge(1 + (self.pos - start) / 4)?;
        let span = self.span(start);
        let depth = self.depth;
        if depth >= super::super::budget::MAX_DEPTH {
            return Err(Unread::Deep);
        }
        let reading = read(&inner, self.budget, depth + 1, Some(span));
        if let Some(failure) = reading.failure {
            return Err(failure.what);
        }
        parts.push(Part::Command {
            script: reading.script,
            quoted,
        });
        Ok(())
    }

    /// Whether the brackets opened `ahead` bytes on close as `))`: bash then takes them for arithmetic.
    pub(super) fn closes_as_arithmetic(&mut self, ahead: usize) -> Read<bool> {
        if self.dead_end {
            return Ok(false);
        }
        let rest = self.bytes.get(self.pos + ahead..).unwrap_or(&[]);
        let mut open = 0_usize;
        let mut bytes = rest.iter().copied().enumerate();
        let mut answer = None;
        let mut seen = rest.len();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'\\' => {
                    bytes.next();
                }
                b'\'' | b'"' => while bytes.next().is_some_and(|(_, inner)| inner != byte) {},
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' => {
                    answer = Some(rest.get(at + 1) == Some(&b')'));
                    seen = at;
                    break;
                }
                _ => {}
            }
        }
        self.charge(seen / 4)?;
        self.dead_end = answer.is_none();
        Ok(answer.unwrap_or(false))
    }

    /// Reads arithmetic up to `close`, keeping what is expanded in it.
    pub(super) fn arithmetic_parts(&mut self, close: &str) -> Read<Vec<Part>> {
        let mut parts = Vec::new();
        let mut open = 0_usize;
        loop {
            if self.at_end() {
                return Err(Unread::Unclosed("arithmetic"));
            }
            if open == 0 && self.eat(close) {
                return Ok(parts);
            }
            match self.peek() {
                b'(' | b'[' => {
                    open += 1;
                    self.pos += 1;
                }
                b')' | b']' => {
                    open = open.saturating_sub(1);
                    self.pos += 1;
                }
                b'"' | b'\n' => self.pos += 1,
                _ => self.quoted_piece(&mut parts, b"$`\\\"()[]\n")?,
            }
        }
    }

    /// `$'…'`; the opening quote is behind.
    fn ansi_quoted(&mut self) -> Read<String> {
        let mut text = String::new();
        loop {
            let Some(next) = self.bump() else {
                return Err(Unread::Unclosed("a single quote"));
            };
            match next {
                '\'' => return Ok(text),
                '\\' => self.ansi_escape(&mut text)?,
                other => text.push(other),
            }
        }
    }

    fn ansi_escape(&mut self, text: &mut String) -> Read<()> {
        self.charge(1)?;
        let Some(next) = self.bump() else {
            return Err(Unread::Unclosed("a single quote"));
        };
        match next {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'a' => text.push('\u{7}'),
            'b' => text.push('\u{8}'),
            'e' | 'E' => text.push('\u{1b}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            '\\' | '\'' | '"' | '?' => text.push(next),
            'x' => self.coded(16, 2, text),
            'u' => self.coded(16, 4, text),
            'U' => self.coded(16, 8, text),
            'c' => {
                let control = self.bump().map_or(0, |c| u32::from(c) & 0x1f);
                text.extend(char::from_u32(control));
            }
            '0'..='7' => {
                self.pos -= 1;
                self.coded(8, 3, text);
            }
            other => text.extend(['\\', other]),
        }
        Ok(())
    }

    /// Reads up to `most` digits and adds the character they name.
    fn coded(&mut self, radix: u32, most: usize, text: &mut String) {
        let mut value = 0_u32;
        let mut digits = 0;
        while digits < most {
            let Some(digit) = char::from(self.peek()).to_digit(radix) else {
                break;
            };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.pos += 1;
            digits += 1;
        }
        text.extend(char::from_u32(value).filter(|c| *c != '\0'));
    }
}
