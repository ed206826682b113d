//! Redaction of a text that comes in pieces.
//!
//! The text is decided in blocks that lie at fixed places of it, each seen with what stands shortly before and behind
//! it, so the result does not depend on how the text was cut into pieces. A secret longer than that is recognised by
//! its beginning, and its rest is taken by a [`Tail`], which needs no memory.

use super::judge::{LOOK_AHEAD, Secret};
use super::redactor::{Redactor, Report};
use super::rules::{LONGEST_HEAD, Rule};
use super::tail::Tail;

/// Bytes that are decided together.
pub(super) const BLOCK: usize = 64 << 10;
/// Bytes behind a block that are seen with it.
const AHEAD: usize = 2 * LOOK_AHEAD;
/// Bytes before a block that are seen with it: the beginning of an assignment whose value starts in the block.
const BEHIND: usize = 2 * LONGEST_HEAD;

/// Takes a text in pieces and gives it back without its secrets. It holds at most some 145 KiB of it.
#[derive(Debug)]
pub struct RedactStream<'a> {
    redactor: &'a Redactor,
    report: Report,
    /// What was not decided yet, and up to [`BEHIND`] bytes before.
    buffer: Vec<u8>,
    /// Where in the buffer the undecided text starts.
    decided: usize,
    /// Where in the buffer the present block ends.
    block_end: usize,
    tail: Option<Tail>,
}

impl<'a> RedactStream<'a> {
    pub(super) fn new(redactor: &'a Redactor) -> Self {
        Self {
            redactor,
            report: Report::default(),
            buffer: Vec::new(),
            decided: 0,
            block_end: BLOCK,
            tail: None,
        }
    }

    /// Takes the next piece; what is decided by it is added to `out`.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        for part in piece.chunks(BLOCK) {
            self.buffer.extend_from_slice(part);
            self.advance(false, out);
        }
    }

    /// Ends the text; the rest is added to `out`.
    #[must_use = "the report says what was taken"]
    pub fn finish(mut self, out: &mut Vec<u8>) -> Report {
        self.advance(true, out);
        self.report
    }

    /// Bytes of the text that are held now.
    #[cfg(test)]
    pub(super) const fn held(&self) -> usize {
        self.buffer.len()
    }

    fn advance(&mut self, last: bool, out: &mut Vec<u8>) {
        while self.take_tail(last, out)
            && self.decided < self.buffer.len()
            && (last || self.buffer.len() >= self.block_end + AHEAD)
        {
            self.decide_block(last, out);
            self.drop_decided_blocks();
        }
    }

    /// Goes on with a secret that has not ended; whether none is left open.
    fn take_tail(&mut self, last: bool, out: &mut Vec<u8>) -> bool {
        let Some(mut tail) = self.tail.take() else { return true };
        let eaten = tail.eat(self.buffer.get(self.decided..).unwrap_or_default(), last);
        self.decided += eaten.bytes;
        out.extend(std::iter::repeat_n(b'\\', eaten.backslashes));
        self.drop_decided_blocks();
        if !eaten.done && !last {
            self.tail = Some(tail);
        }
        self.tail.is_none()
    }

    /// Decides the present block, up to its end or to a secret whose end is not in sight.
    fn decide_block(&mut self, last: bool, out: &mut Vec<u8>) {
        let seen_end = self.buffer.len().min(self.block_end + AHEAD);
        let all_seen = last && seen_end == self.buffer.len();
        let text = self.buffer.get(..seen_end).unwrap_or_default();
        let block_end = self.block_end.min(text.len());
        let mut search = Search::new(self.redactor, text, block_end);
        let mut next_start = self.decided;
        while self.decided < block_end {
            let found = search.next(next_start.max(self.decided));
            let plain_end = found.as_ref().map_or(block_end, |(_, secret)| secret.start);
            out.extend_from_slice(text.get(self.decided..plain_end).unwrap_or_default());
            self.decided = plain_end;
            let Some((kind, secret)) = found else { return };
            out.extend_from_slice(format!("[redacted:{kind}]").as_bytes());
            self.report.count(kind);
            // A secret is found once, however short it turns out to be.
            next_start = secret.start + 1;
            self.decided = secret.known;
            let Some(mut tail) = secret.tail else { continue };
            let eaten = tail.eat(text.get(secret.known..).unwrap_or_default(), all_seen);
            self.decided += eaten.bytes;
            out.extend(std::iter::repeat_n(b'\\', eaten.backslashes));
            if !eaten.done {
                self.tail = Some(tail);
                return;
            }
        }
    }

    /// Lets go of every block that is decided, but for what has to be seen with the next one.
    fn drop_decided_blocks(&mut self) {
        while self.decided >= self.block_end {
            let keep_from = self.block_end.saturating_sub(BEHIND);
            self.buffer.drain(..keep_from);
            self.decided -= keep_from;
            self.block_end = self.block_end - keep_from + BLOCK;
        }
    }
}

/// The secrets of one block, in the order of the text.
struct Search<'a> {
    text: &'a [u8],
    block_end: usize,
    candidates: Vec<(&'a Rule, Candidate)>,
}

/// The next secret of one rule.
#[derive(Clone, Copy, Debug)]
enum Candidate {
    Unknown,
    /// The secret, and where the rule goes on behind it.
    At(Secret, usize),
    /// None is left in this block.
    Spent,
}

impl<'a> Search<'a> {
    fn new(redactor: &'a Redactor, text: &'a [u8], block_end: usize) -> Self {
        let candidates = redactor.rules().filter(|rule| rule.may_be_in(text));
        Self {
            text,
            block_end,
            candidates: candidates.map(|rule| (rule, Candidate::Unknown)).collect(),
        }
    }

    /// The first secret that starts at or behind `from`; of two at one place that of the earlier rule.
    fn next(&mut self, from: usize) -> Option<(&'static str, Secret)> {
        let mut first: Option<(&'static str, Secret)> = None;
        for (rule, candidate) in &mut self.candidates {
            let go_on = match *candidate {
                Candidate::Unknown => Some(0),
                Candidate::At(secret, behind) => (secret.start < from).then_some(behind),
                Candidate::Spent => None,
            };
            if let Some(at) = go_on {
                *candidate = match rule.find(self.text, at, from) {
                    Some((secret, behind)) if secret.start < self.block_end => Candidate::At(secret, behind),
                    Some(_) | None => Candidate::Spent,
                };
            }
            if let Candidate::At(secret, _) = *candidate
                && first.as_ref().is_none_or(|(_, other)| secret.start < other.start)
            {
                first = Some((rule.kind, secret));
            }
        }
        first
    }
}
