//! Compound commands.

use super::super::syntax::{Compound, Script, Word};
use super::cursor::{Read, Reader, Unread, is_meta};

impl Reader<'_, '_> {
    /// Reads a compound command if one begins here.
    pub(super) fn compound(&mut self) -> Read<Option<Compound>> {
        if self.peek() == b'(' {
            return self.deeper(Self::bracketed).map(Some);
        }
        let word = self.bare_word();
        let read: fn(&mut Self) -> Read<Compound> = match word {
            "{" => Self::group,
            "if" => Self::branches,
            "while" | "until" => Self::repeated,
            "for" | "select" => Self::for_each,
            "case" => Self::cases,
            "[[" => Self::test,
            _ => return Ok(None),
        };
        self.deeper(read).map(Some)
    }

    fn bracketed(&mut self) -> Read<Compound> {
        if self.peek_at(1) == b'(' && self.closes_as_arithmetic(2)? {
            self.pos += 2;
            return Ok(Compound::Arith(self.arithmetic_word("))")?));
        }
        self.pos += 1;
        let script = self.list()?;
        self.close(")", script.items.is_empty())?;
        Ok(Compound::Subshell(script))
    }

    fn arithmetic_word(&mut self, close: &str) -> Read<Word> {
        let start = self.pos;
        let parts = self.arithmetic_parts(close)?;
        Ok(Word {
            parts,
            span: self.span(start),
        })
    }

    fn close(&mut self, sign: &str, empty: bool) -> Read<()> {
        if self.at_end() {
            return Err(Unread::Unclosed("a compound command"));
        }
        if empty || !self.eat(sign) {
            return self.unexpected();
        }
        Ok(())
    }

    fn group(&mut self) -> Read<Compound> {
        self.pos += 1;
        let script = self.list()?;
        self.expect_word("}")?;
        Ok(Compound::Group(script))
    }

    fn branches(&mut self) -> Read<Compound> {
        let mut arms = Vec::new();
        let mut word = "if";
        loop {
            self.pos += word.len();
            let condition = self.list()?;
            self.expect_word("then")?;
            let body = self.list()?;
            arms.push((condition, body));
            if self.bare_word() != "elif" {
                break;
            }
            word = "elif";
        }
        let otherwise = if self.bare_word() == "else" {
            self.pos += "else".len();
            Some(self.list()?)
        } else {
            None
        };
        self.expect_word("fi")?;
        Ok(Compound::If { arms, otherwise })
    }

    fn repeated(&mut self) -> Read<Compound> {
        let until = self.bare_word() == "until";
        self.pos += "while".len();
        let condition = self.list()?;
        let body = self.do_done()?;
        Ok(Compound::Loop { until, condition, body })
    }

    fn do_done(&mut self) -> Read<Script> {
        self.skip_lines()?;
        if self.bare_word() == "{" {
            self.pos += 1;
            let body = self.list()?;
            self.expect_word("}")?;
            return Ok(body);
        }
        self.expect_word("do")?;
        let body = self.list()?;
        self.expect_word("done")?;
        Ok(body)
    }

    fn for_each(&mut self) -> Read<Compound> {
        self.pos += self.bare_word().len();
        self.skip_blanks()?;
        if self.looking_at("((") {
            self.pos += 2;
            let header = self.arithmetic_word("))")?;
            self.skip_separator()?;
            return Ok(Compound::ForArith {
                header,
                body: self.do_done()?,
            });
        }
        let start = self.pos;
        while !self.at_end() && !is_meta(self.peek()) {
            self.pos += 1;
        }
        let name = self.since(start).to_owned();
        self.skip_lines()?;
        let words = if self.bare_word() == "in" {
            self.pos += 2;
            Some(self.words_of_line()?)
        } else {
            None
        };
        self.skip_separator()?;
        Ok(Compound::For {
            name,
            words,
            body: self.do_done()?,
        })
    }

    fn skip_separator(&mut self) -> Read<()> {
        self.skip_blanks()?;
        if self.peek() == b';' {
            self.pos += 1;
        }
        self.skip_lines()
    }

    fn words_of_line(&mut self) -> Read<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks()?;
            if self.word_ends() {
                return Ok(words);
            }
            words.push(self.word()?);
        }
    }

    fn cases(&mut self) -> Read<Compound> {
        self.pos += "case".len();
        self.skip_blanks()?;
        let subject = self.word()?;
        self.expect_word("in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_lines()?;
            if self.at_end() {
                return Err(Unread::Unclosed("a compound command"));
            }
            if self.bare_word() == "esac" {
                self.pos += "esac".len();
                return Ok(Compound::Case { subject, arms });
            }
            let patterns = self.case_patterns()?;
            let body = self.list()?;
            arms.push((patterns, body));
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&")) && self.bare_word() != "esac" {
                return if self.at_end() {
                    Err(Unread::Unclosed("a compound command"))
                } else {
                    self.unexpected()
                };
            }
        }
    }

    fn case_patterns(&mut self) -> Read<Vec<Word>> {
        let _ = self.eat("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks()?;
            if self.word_ends() {
                return self.unexpected();
            }
            patterns.push(self.word()?);
            self.skip_blanks()?;
            if self.eat(")") {
                return Ok(patterns);
            }
            if !self.eat("|") {
                return if self.at_end() {
                    Err(Unread::Unclosed("a compound command"))
                } else {
                    self.unexpected()
                };
            }
        }
    }

    /// `[[ … ]]`: operators are stepped over, operands kept.
    fn test(&mut self) -> Read<Compound> {
        self.pos += 2;
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.at_end() {
                return Err(Unread::Unclosed("`[[`"));
            }
            if self.looking_at("]]") && (is_meta(self.peek_at(2)) || self.peek_at(2) == 0) {
                self.pos += 2;
                return Ok(Compound::Test(words));
            }
            if !self.word_ends() {
                words.push(self.word()?);
            } else if self.peek() == b';' {
                return self.unexpected();
            } else {
                self.charge(4)?;
                self.pos += 1;
            }
        }
    }
}
