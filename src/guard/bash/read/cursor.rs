//! The reader's position in the text, and what can stop it.

use super::super::budget::{Budget, MAX_DEPTH, MAX_SOURCE};
use super::super::syntax::{Script, Span, Word};
use std::cell::OnceCell;
use std::rc::Rc;

/// Why a text could not be read to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// Nested deeper than the guard follows.
    #[error("it is nested more than 64 levels deep")]
    Deep,
    /// Longer than the guard reads.
    #[error("it is longer than 2 MiB")]
    Large,
    /// More work than one decision may take.
    #[error("it takes more work to read than one decision may")]
    Spent,
    /// Something was opened and not closed.
    #[error("{0} is not closed")]
    Unclosed(&'static str),
    /// A word or sign that bash takes nowhere in this place.
    #[error("`{0}` is not expected there")]
    Unexpected(String),
}

/// Why reading stopped, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong.
    pub what: Unread,
    /// Byte at which it was noticed.
    pub at: usize,
}

/// The tree of a text: whole, or what was read before the failure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    pub script: Script,
    pub failure: Option<Failure>,
}

/// Reads `source`. bash runs the lines before a syntax error, so they are part of the tree.
pub(crate) fn read(source: &str, budget: &mut Budget, depth: usize, pin: Option<Span>) -> Reading {
    let mut script = Script::default();
    let failure = if source.len() > MAX_SOURCE {
        Some(Failure {
            what: Unread::Large,
            at: 0,
        })
    } else {
        let mut reader = Reader::new(source, budget, depth, pin);
        let outcome = reader.whole(&mut script);
        outcome.err().map(|what| Failure { what, at: reader.pos })
    };
    Reading { script, failure }
}

/// A here-document whose body has not come yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub delimiter: String,
    pub strip_tabs: bool,
    pub expand: bool,
    pub body: Rc<OnceCell<Word>>,
}

/// The reader's state.
pub(super) struct Reader<'s, 'b> {
    pub source: &'s str,
    pub bytes: &'s [u8],
    pub pos: usize,
    pub depth: usize,
    pub budget: &'b mut Budget,
    pub pending: Vec<Pending>,
    /// Set when a search for `))` met the end of the text: no later one can succeed either.
    pub dead_end: bool,
    /// The place to report for text that does not stand in the command as it is (a program in quotes).
    pub pin: Option<Span>,
}

/// What reading one construct comes to.
pub(super) type Read<T> = Result<T, Unread>;

impl<'s, 'b> Reader<'s, 'b> {
    pub(super) fn new(source: &'s str, budget: &'b mut Budget, depth: usize, pin: Option<Span>) -> Self {
        let bytes = source.as_bytes();
        Self {
            source,
            bytes,
            pos: 0,
            depth,
            budget,
            pending: Vec::new(),
            dead_end: false,
            pin,
        }
    }

    /// The byte `ahead` places on; zero past the end (a zero byte cannot be in a command).
    pub(super) fn peek_at(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    pub(super) fn peek(&self) -> u8 {
        self.peek_at(0)
    }

    pub(super) fn at_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    /// What is left of the text.
    pub(super) fn rest(&self) -> &'s str {
        self.source.get(self.pos..).unwrap_or("")
    }

    pub(super) fn looking_at(&self, text: &str) -> bool {
        self.bytes
            .get(self.pos..)
            .is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    /// Steps over `text` if it is next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.pos += text.len();
        }
        found
    }

    /// Takes the next whole character.
    pub(super) fn bump(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.pos += next.len_utf8();
        Some(next)
    }

    /// The text from `start` to here.
    pub(super) fn since(&self, start: usize) -> &'s str {
        self.source.get(start..self.pos).unwrap_or("")
    }

    pub(super) fn span(&self, start: usize) -> Span {
        self.pin.unwrap_or_else(|| Span::new(start, self.pos))
    }

    pub(super) fn charge(&mut self, cost: usize) -> Read<()> {
        if self.budget.take(cost) {
            Ok(())
        } else {
            Err(Unread::Spent)
        }
    }

    /// Runs `inner` one level deeper, or fails where that is too deep.
    pub(super) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Unread::Deep);
        }
        self.depth += 1;
        let outcome = inner(self);
        self.depth -= 1;
        outcome
    }

    /// The failure for whatever is next.
    pub(super) fn unexpected<T>(&self) -> Read<T> {
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace()).unwrap_or(rest.len());
        let shown: String = rest.get(..end).unwrap_or("").chars().take(24).collect();
        Err(Unread::Unexpected(if shown.is_empty() {
            "end of text".to_owned()
        } else {
            shown
        }))
    }
}

/// Whether a byte ends a word.
pub(super) fn is_meta(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>'
    )
}

/// Whether a byte may begin a name.
pub(super) fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Whether a byte may be inside a name.
pub(super) fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
