//! Reads lines from the last to the first: what concerns a call that is being made stands at the end of a file of any
//! size.

use std::io::{self, Read, Seek, SeekFrom};

use super::raw::{Body, LINE_CAP, Position, RawLine};

const BLOCK: u64 = 64 * 1024;

/// The lines of a file, last to first. Memory: one line of at most the cap, and a block of 64 KiB.
///
/// The file is read as long as it was at the start; what is appended later is not seen.
#[derive(Debug)]
pub struct LinesFromEnd<R> {
    file: R,
    cap: usize,
    /// How many bytes before `block` are still to be read.
    before: u64,
    /// What was read and not yet given out.
    block: Vec<u8>,
    /// Whether there is another line.
    more: bool,
    number: u64,
}

impl<R: Read + Seek> LinesFromEnd<R> {
    /// Reads `file` with the usual cap, [`LINE_CAP`].
    ///
    /// # Errors
    /// The system's, where the file's length cannot be found.
    pub fn new(file: R) -> io::Result<Self> {
        Self::with_cap(file, LINE_CAP)
    }

    /// Reads `file`; a line of more than `cap` bytes is passed over.
    ///
    /// # Errors
    /// The system's, where the file's length cannot be found.
    pub fn with_cap(mut file: R, cap: usize) -> io::Result<Self> {
        let before = file.seek(SeekFrom::End(0))?;
        Ok(Self {
            file,
            cap,
            before,
            block: Vec::new(),
            more: before > 0,
            number: 0,
        })
    }

    /// How many bytes of the file are still unread.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.before
    }

    fn read_line(&mut self) -> io::Result<RawLine> {
        let mut terminated = true;
        if self.number == 0 {
            self.read_block()?;
            terminated = self.block.pop_if(|byte| *byte == b'\n').is_some();
        }
        self.number += 1;
        let mut line = Collected::default();
        loop {
            if let Some(at) = self.block.iter().rposition(|byte| *byte == b'\n') {
                line.put_before(self.block.split_off(at + 1), self.cap);
                self.block.pop();
                break;
            }
            line.put_before(std::mem::take(&mut self.block), self.cap);
            if self.before == 0 {
                self.more = false;
                break;
            }
            self.read_block()?;
        }
        Ok(RawLine {
            position: Position::FromEnd(self.number),
            terminated,
            body: line.into_body(),
        })
    }

    fn read_block(&mut self) -> io::Result<()> {
        let size = self.before.min(BLOCK);
        self.before -= size;
        self.file.seek(SeekFrom::Start(self.before))?;
        self.block.clear();
        self.file.by_ref().take(size).read_to_end(&mut self.block)?;
        if u64::try_from(self.block.len()).ok() == Some(size) {
            Ok(())
        } else {
            Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"))
        }
    }
}

impl<R: Read + Seek> Iterator for LinesFromEnd<R> {
    type Item = io::Result<RawLine>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.more {
            return None;
        }
        let line = self.read_line();
        // After an error the place in the file is not known any more.
        self.more &= line.is_ok();
        Some(line)
    }
}

/// The pieces of a line, the last first.
#[derive(Default)]
struct Collected {
    pieces: Vec<Vec<u8>>,
    kept: usize,
    bytes: u64,
    over: bool,
}

impl Collected {
    fn put_before(&mut self, piece: Vec<u8>, cap: usize) {
        self.bytes += u64::try_from(piece.len()).unwrap_or(u64::MAX);
        self.kept = self.kept.saturating_add(piece.len());
        self.over |= self.kept > cap;
        if self.over {
            self.pieces.clear();
        } else {
            self.pieces.push(piece);
        }
    }

    fn into_body(self) -> Body {
        if self.over {
            return Body::TooLong { bytes: self.bytes };
        }
        Body::Bytes(self.pieces.into_iter().rev().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::super::from_start::LinesFromStart;
    use super::*;

    fn backwards(text: &[u8], cap: usize) -> Vec<RawLine> {
        let lines = LinesFromEnd::with_cap(Cursor::new(text), cap).unwrap();
        lines.map(Result::unwrap).collect()
    }

    #[test]
    fn an_empty_file_has_no_line_and_a_line_feed_is_one() {
        assert!(backwards(b"", 9).is_empty());
        assert_eq!(backwards(b"\n", 9).len(), 1);
        let two = backwards(b"a\nb", 9);
        assert_eq!((two[0].terminated, two[1].terminated), (false, true));
        assert_eq!(two[0].position, Position::FromEnd(1));
        assert_eq!(two[1].body, Body::Bytes(b"a".into()));
    }

    #[test]
    fn lines_longer_than_a_block_are_whole_and_over_the_cap_passed_over() {
        let long = vec![b'x'; 150_000];
        let text = [b"first\n", &long[..], b"\nlast\n"].concat();
        let whole: Vec<Body> = backwards(&text, 150_000).into_iter().map(|line| line.body).collect();
        assert_eq!(
            whole,
            [
                Body::Bytes(b"last".into()),
                Body::Bytes(long),
                Body::Bytes(b"first".into())
            ]
        );
        let capped: Vec<Body> = backwards(&text, 149_999).into_iter().map(|line| line.body).collect();
        assert_eq!(capped[1], Body::TooLong { bytes: 150_000 });
        assert_eq!(capped[2], Body::Bytes(b"first".into()));
    }

    proptest! {
        /// Backwards is forwards, reversed, wherever the blocks are cut.
        #[test]
        fn both_directions_agree(lengths in prop::collection::vec(0usize..70_000, 0..5), ended: bool) {
            let mut text: Vec<u8> = Vec::new();
            for (at, length) in lengths.iter().enumerate() {
                if at > 0 { text.push(b'\n'); }
                text.extend(std::iter::repeat_n(b'a', *length));
            }
            if ended { text.push(b'\n'); }
            let forwards = LinesFromStart::with_cap(&text[..], 50_000).map(Result::unwrap);
            let mut forwards: Vec<_> = forwards.map(|line| (line.body, line.terminated)).collect();
            forwards.reverse();
            let back: Vec<_> = backwards(&text, 50_000).into_iter().map(|line| (line.body, line.terminated)).collect();
            prop_assert_eq!(back, forwards);
        }
    }
}
