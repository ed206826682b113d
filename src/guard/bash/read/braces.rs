//! `${ … }`.

use super::super::syntax::{Param, ParamOp, Part, Word};
use super::cursor::{Read, Reader, Unread, in_name, starts_name};
use super::word::push_quoted;

impl Reader<'_, '_> {
    /// Reads a braced expansion; `${` is behind.
    pub(super) fn braced(&mut self, parts: &mut Vec<Part>, quoted: bool) -> Read<()> {
        // bash 5.3 runs `${ commands; }` and `${| commands; }`.
        if matches!(self.peek(), b' ' | b'\t' | b'\n' | b'|') {
            self.pos += 1;
            let script = self.substitution("}")?;
            parts.push(Part::Command { script, quoted });
            return Ok(());
        }
        let param = self.braced_param(quoted)?;
        parts.push(Part::Param(Box::new(param)));
        Ok(())
    }

    fn braced_param(&mut self, quoted: bool) -> Read<Param> {
        let mut op = ParamOp::Plain;
        let names_something =
            |byte: u8| in_name(byte) || matches!(byte, b'@' | b'*' | b'!' | b'#' | b'?' | b'-' | b'$');
        if self.peek() == b'#' && self.peek_at(1) != b'}' && names_something(self.peek_at(1)) {
            self.pos += 1;
            op = ParamOp::Length;
        } else if self.peek() == b'!' && names_something(self.peek_at(1)) {
            self.pos += 1;
            op = ParamOp::Indirect;
        }
        let name = self.param_name();
        let index = if self.peek() == b'[' && !name.is_empty() {
            self.pos += 1;
            let index = self.brace_word(b"]", false)?;
            self.pos += 1;
            Some(index)
        } else {
            None
        };
        if self.eat("}") {
            return Ok(Param {
                name,
                index,
                op,
                quoted,
            });
        }
        let next = self.param_op(quoted)?;
        if !self.eat("}") {
            return if self.at_end() {
                Err(Unread::Unclosed("`${`"))
            } else {
                self.unexpected()
            };
        }
        let op = if matches!(op, ParamOp::Plain) { next } else { op };
        Ok(Param {
            name,
            index,
            op,
            quoted,
        })
    }

    fn param_name(&mut self) -> String {
        let start = self.pos;
        let byte = self.peek();
        if starts_name(byte) {
            while in_name(self.peek()) {
                self.pos += 1;
            }
        } else if byte.is_ascii_digit() {
            while self.peek().is_ascii_digit() {
                self.pos += 1;
            }
        } else if matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') {
            self.pos += 1;
        }
        self.since(start).to_owned()
    }

    fn param_op(&mut self, quoted: bool) -> Read<ParamOp> {
        let colon = self.peek() == b':' && matches!(self.peek_at(1), b'-' | b'=' | b'+' | b'?');
        if colon {
            self.pos += 1;
        }
        let sign = self.peek();
        self.pos += 1;
        let op = match sign {
            b'-' => ParamOp::Default(self.brace_word(b"}", quoted)?),
            b'=' => ParamOp::Assign(self.brace_word(b"}", quoted)?),
            b'+' => ParamOp::Alternate(self.brace_word(b"}", quoted)?),
            b'?' => ParamOp::Demand(self.brace_word(b"}", quoted)?),
            b'#' | b'%' => {
                let longest = self.peek() == sign;
                if longest {
                    self.pos += 1;
                }
                let pattern = self.brace_word(b"}", false)?;
                ParamOp::Trim {
                    suffix: sign == b'%',
                    longest,
                    pattern,
                }
            }
            b'/' => self.replacement()?,
            b':' => {
                let offset = self.brace_word(b":}", quoted)?;
                let length = if self.eat(":") {
                    Some(self.brace_word(b"}", quoted)?)
                } else {
                    None
                };
                ParamOp::Slice { offset, length }
            }
            b'^' | b',' => {
                let all = self.peek() == sign;
                let _ = self.brace_word(b"}", false)?;
                ParamOp::Case {
                    upper: sign == b'^',
                    all,
                }
            }
            b'@' | b'*' => {
                let _ = self.brace_word(b"}", false)?;
                ParamOp::Transform
            }
            _ => {
                self.pos -= 1;
                return if self.at_end() {
                    Err(Unread::Unclosed("`${`"))
                } else {
                    self.unexpected()
                };
            }
        };
        Ok(op)
    }

    fn replacement(&mut self) -> Read<ParamOp> {
        let all = self.eat("/");
        if !all && matches!(self.peek(), b'#' | b'%') {
            self.pos += 1;
        }
        let pattern = self.brace_word(b"/}", false)?;
        let with = if self.eat("/") {
            self.brace_word(b"}", false)?
        } else {
            Word::default()
        };
        Ok(ParamOp::Replace { all, pattern, with })
    }

    /// Reads a word inside of braces, in which blanks and operators are plain, up to one of `stops` (left in place).
    fn brace_word(&mut self, stops: &[u8], quoted: bool) -> Read<Word> {
        let start = self.pos;
        let mut parts = Vec::new();
        loop {
            if self.at_end() {
                return Err(Unread::Unclosed("`${`"));
            }
            let byte = self.peek();
            if stops.contains(&byte) {
                return Ok(Word {
                    parts,
                    span: self.span(start),
                });
            }
            let plain = matches!(
                byte,
                b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>'
            );
            let substitution = matches!(byte, b'<' | b'>') && self.peek_at(1) == b'(' && !quoted;
            if (plain && !substitution) || (quoted && byte == b'\'') {
                self.charge(4)?;
                self.pos += 1;
                push_quoted(&mut parts, self.since(self.pos - 1));
            } else if byte == b'"' && quoted {
                self.pos += 1;
                self.double_quoted(&mut parts)?;
            } else {
                self.piece(&mut parts)?;
            }
        }
    }
}
