//! The redactor: its rules, and what it reports.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use super::rules::{BUILTIN, Rule};
use super::stream::RedactStream;

/// Takes secrets out of text.
#[derive(Debug, Default)]
pub struct Redactor {
    custom: Vec<Rule>,
}

/// A pattern of the configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the pattern {pattern:?} cannot be used")]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    #[source]
    source: regex::Error,
}

/// What was taken: how many secrets of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct Report(BTreeMap<&'static str, u64>);

impl Report {
    /// The kinds that were found, with the number of each, in alphabetical order.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(kind, count)| (*kind, *count))
    }

    /// How many secrets were taken in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Adds what another report counted.
    pub fn add(&mut self, other: &Self) {
        for (kind, count) in other.kinds() {
            *self.0.entry(kind).or_default() += count;
        }
    }

    pub(super) fn count(&mut self, kind: &'static str) {
        *self.0.entry(kind).or_default() += 1;
    }
}

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<T> {
    /// The text; `[redacted:KIND]` stands for each secret.
    pub text: T,
    /// What was taken.
    pub report: Report,
}

const CHUNK: usize = 64 << 10;

impl Redactor {
    /// A redactor of the built-in kinds.
    #[must_use]
    pub const fn builtin() -> Self {
        Self { custom: Vec::new() }
    }

    /// A redactor of the built-in kinds and of `patterns`: regular expressions over bytes, `^` and `$` at lines, whose
    /// first group, where there is one, is the secret. A match of more than 6 KiB may not be seen whole.
    ///
    /// # Errors
    /// [`PatternError`] for the first one that is no expression, or would need more than 1 MiB.
    pub fn with_patterns<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, PatternError> {
        let compiled = patterns.into_iter().map(|pattern| {
            Rule::custom(pattern).map_err(|source| PatternError {
                pattern: pattern.to_owned(),
                source,
            })
        });
        Ok(Self {
            custom: compiled.collect::<Result<_, _>>()?,
        })
    }

    /// A text without its secrets.
    #[must_use]
    pub fn text(&self, text: &str) -> Redacted<String> {
        let Redacted { text, report } = self.bytes(text.as_bytes());
        // A pattern of the configuration may end inside a character.
        let text =
            String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Redacted { text, report }
    }

    /// Bytes without their secrets.
    #[must_use]
    pub fn bytes(&self, bytes: &[u8]) -> Redacted<Vec<u8>> {
        let mut text = Vec::with_capacity(bytes.len());
        let mut stream = self.stream();
        stream.push(bytes, &mut text);
        let report = stream.finish(&mut text);
        Redacted { text, report }
    }

    /// Copies `from` to `to` without secrets, in memory that does not grow with the text.
    ///
    /// # Errors
    /// Where reading or writing fails.
    pub fn copy(&self, mut from: impl Read, mut to: impl Write) -> io::Result<Report> {
        let mut stream = self.stream();
        let (mut chunk, mut out) = (vec![0; CHUNK], Vec::new());
        loop {
            let count = match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            stream.push(chunk.get(..count).unwrap_or_default(), &mut out);
            to.write_all(&out)?;
            out.clear();
        }
        let report = stream.finish(&mut out);
        to.write_all(&out)?;
        Ok(report)
    }

    /// A stream that takes a text in pieces.
    #[must_use]
    pub fn stream(&self) -> RedactStream<'_> {
        RedactStream::new(self)
    }

    pub(super) fn rules(&self) -> impl Iterator<Item = &Rule> {
        BUILTIN.iter().chain(&self.custom)
    }
}
