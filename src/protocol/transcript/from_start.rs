//! Reads lines from the first to the last.

use std::io::{self, BufRead, BufReader, Read};

use super::raw::{Body, LINE_CAP, Position, RawLine};

/// The lines of a reader, first to last. Memory: one line of at most the cap, and a buffer.
#[derive(Debug)]
pub struct LinesFromStart<R> {
    reader: BufReader<R>,
    cap: usize,
    number: u64,
}

impl<R: Read> LinesFromStart<R> {
    /// Reads `reader` with the usual cap, [`LINE_CAP`].
    pub fn new(reader: R) -> Self {
        Self::with_cap(reader, LINE_CAP)
    }

    /// Reads `reader`; a line of more than `cap` bytes is passed over.
    pub fn with_cap(reader: R, cap: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            cap,
            number: 0,
        }
    }

    fn read_line(&mut self) -> io::Result<Option<RawLine>> {
        let limit = u64::try_from(self.cap).unwrap_or(u64::MAX).saturating_add(1);
        let mut line = Vec::new();
        if self.reader.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let mut terminated = line.pop_if(|byte| *byte == b'\n').is_some();
        let body = if !terminated && line.len() > self.cap {
            let (more, ended) = self.pass_over()?;
            terminated = ended;
            Body::TooLong {
                bytes: limit.saturating_add(more),
            }
        } else {
            Body::Bytes(line)
        };
        Ok(Some(RawLine {
            position: Position::FromStart(self.number),
            terminated,
            body,
        }))
    }

    /// Skips to the end of the line: how many bytes that were, and whether a `\n` followed.
    fn pass_over(&mut self) -> io::Result<(u64, bool)> {
        let mut passed = 0;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok((passed, false));
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let used = end.unwrap_or(buffer.len());
            passed += u64::try_from(used).unwrap_or(u64::MAX);
            self.reader.consume(end.map_or(used, |at| at + 1));
            if end.is_some() {
                return Ok((passed, true));
            }
        }
    }
}

impl<R: Read> Iterator for LinesFromStart<R> {
    type Item = io::Result<RawLine>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_line().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], cap: usize) -> Vec<RawLine> {
        LinesFromStart::with_cap(text, cap).map(Result::unwrap).collect()
    }

    #[test]
    fn only_a_line_feed_ends_a_line() {
        let lines = read("a\u{2028}b\rc\n\nd".as_bytes(), 100);
        let expected = [("a\u{2028}b\rc", true), ("", true), ("d", false)];
        assert_eq!(lines.len(), expected.len());
        for (number, (line, (text, terminated))) in lines.into_iter().zip(expected).enumerate() {
            assert_eq!(line.position, Position::FromStart(number as u64 + 1));
            assert_eq!(line.body, Body::Bytes(text.into()));
            assert_eq!(line.terminated, terminated);
        }
    }

    #[test]
    fn a_line_over_the_cap_is_passed_over_with_its_size() {
        for (text, bodies) in [
            (
                &b"1234\n12345\nx\n"[..],
                vec![
                    Body::Bytes(b"1234".into()),
                    Body::TooLong { bytes: 5 },
                    Body::Bytes(b"x".into()),
                ],
            ),
            (b"123456", vec![Body::TooLong { bytes: 6 }]),
            (b"1234", vec![Body::Bytes(b"1234".into())]),
        ] {
            let read: Vec<Body> = read(text, 4).into_iter().map(|line| line.body).collect();
            assert_eq!(read, bodies);
        }
        // Longer than every buffer on the way.
        let mut long = vec![b'x'; 200_000];
        long.extend(b"\nend");
        let lines = read(&long, 10);
        assert_eq!(lines[0].body, Body::TooLong { bytes: 200_000 });
        assert!(lines[0].terminated);
        assert_eq!(lines[1].body, Body::Bytes(b"end".into()));
    }
}
