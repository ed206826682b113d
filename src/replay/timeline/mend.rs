//! Lines that are JSON to the client and not to us.
//!
//! The client is JavaScript, whose texts may hold half of a surrogate pair (a text that was cut inside an emoji); it
//! writes that half as an escape, which no UTF-8 text can hold.

use std::borrow::Cow;

use serde_json::Value;

use crate::protocol::transcript::Line;

/// Reads a line; where the parser refuses it, once more with the replacement character in the place of what cannot be a
/// character.
///
/// # Errors
/// The parser's on the line as it stands.
pub(super) fn parse(bytes: &[u8]) -> Result<Line, serde_json::Error> {
    Line::parse(bytes).or_else(|error| {
        let text = String::from_utf8_lossy(bytes);
        Line::parse(without_halves(&text).as_bytes()).map_err(|_| error)
    })
}

/// The same line as any parser reads it: without halves of pairs, in UTF-8, and each field once (the last one counts, as
/// in JavaScript). Nothing where it is no JSON object.
pub(super) fn mended(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let value: Value = serde_json::from_str(&without_halves(&text)).ok()?;
    value.is_object().then(|| value.to_string())
}

/// `text` with `\ufffd` for each escape that is half of a surrogate pair.
fn without_halves(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        mended.push_str(before);
        let escape = Escape::at(after);
        let (taken, left) = after.split_at_checked(escape.length(after)).unwrap_or((after, ""));
        if matches!(escape, Escape::Half) {
            mended.push_str("\\ufffd");
        } else {
            mended.push('\\');
            mended.push_str(taken);
        }
        rest = left;
    }
    mended.push_str(rest);
    Cow::Owned(mended)
}

/// What follows a backslash.
#[derive(Clone, Copy)]
enum Escape {
    /// One character, `n` say.
    Short,
    /// `uXXXX` of a character.
    Unit,
    /// `uXXXX\uXXXX` of a pair.
    Pair,
    /// `uXXXX` of a half.
    Half,
}

impl Escape {
    fn at(after: &str) -> Self {
        match unit(after) {
            None => Self::Short,
            Some(0xd800..=0xdbff) => {
                let second = after.get(5..).and_then(|rest| rest.strip_prefix('\\')).and_then(unit);
                if matches!(second, Some(0xdc00..=0xdfff)) {
                    Self::Pair
                } else {
                    Self::Half
                }
            }
            Some(0xdc00..=0xdfff) => Self::Half,
            Some(_) => Self::Unit,
        }
    }

    /// How many bytes follow the backslash.
    fn length(self, after: &str) -> usize {
        match self {
            Self::Short => after.chars().next().map_or(0, char::len_utf8),
            Self::Unit | Self::Half => 5,
            Self::Pair => 11,
        }
    }
}

fn unit(after: &str) -> Option<u32> {
    let digits = after.strip_prefix('u')?.get(..4)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_become_replacement_characters_and_nothing_else_changes() {
        for (text, mended) in [
            (r"a\ud83d", r"a\ufffd"),
            (r"\ud83d\ude00", r"\ud83d\ude00"),
            (r"\ude00\ud83d", r"\ufffd\ufffd"),
            (r"\ud83d\n", r"\ufffd\n"),
            (r"\\ud83d", r"\\ud83d"),
            (r"\u00e9\ud83dx", r"\u00e9\ufffdx"),
            (r"é\u", r"é\u"),
            (r"\é", r"\é"),
            (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
            ("\\", "\\"),
        ] {
            assert_eq!(without_halves(text), mended, "{text}");
        }
    }

    #[test]
    fn a_line_with_half_a_pair_is_a_line() {
        let line = parse(br#"{"type":"x","text":"cut \ud83d"}"#).unwrap();
        assert_eq!(line.rest.get("text"), Some(&serde_json::json!("cut \u{fffd}")));
        assert!(parse(b"{\"type\":\"x\",\"text\":\"\xff\"}").is_ok());
        assert!(parse(br#"{"type":"x""#).is_err());
    }
}
