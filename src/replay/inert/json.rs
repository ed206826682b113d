//! JSON whose text no terminal, browser or HTML parser obeys. The values stay the same: what could act is escaped.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

use crate::base::visible::is_active;

/// Which characters are escaped besides those that act on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// None.
    Terminal,
    /// Those that could end a `<script>` element or begin markup.
    Html,
}

/// Writes a value as one line of JSON, without the line feed.
pub(crate) fn write_json<T: Serialize>(out: &mut impl Write, value: &T, escape: Escape) -> io::Result<()> {
    let formatter = InertFormatter { escape };
    value
        .serialize(&mut Serializer::with_formatter(out, formatter))
        .map_err(io::Error::from)
}

struct InertFormatter {
    escape: Escape,
}

impl InertFormatter {
    fn is_plain(&self, byte: u8) -> bool {
        match self.escape {
            Escape::Terminal => matches!(byte, b' '..=b'~'),
            Escape::Html => matches!(byte, b' '..=b'~') && !matches!(byte, b'<' | b'>' | b'&'),
        }
    }

    fn acts(&self, character: char) -> bool {
        is_active(character) || (self.escape == Escape::Html && matches!(character, '<' | '>' | '&'))
    }
}

impl Formatter for InertFormatter {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.bytes().position(|byte| !self.is_plain(byte)) {
            let (plain, other) = rest.split_at_checked(at).unwrap_or((rest, ""));
            writer.write_all(plain.as_bytes())?;
            let Some(character) = other.chars().next() else {
                return Ok(());
            };
            let (shown, after) = other.split_at_checked(character.len_utf8()).unwrap_or((other, ""));
            if self.acts(character) {
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            } else {
                writer.write_all(shown.as_bytes())?;
            }
            rest = after;
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        serde_json::ser::CompactFormatter.write_char_escape(writer, escape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, escape: Escape) -> String {
        let mut out = Vec::new();
        write_json(&mut out, &text, escape).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_could_act_is_escaped_and_means_the_same() {
        for text in [
            "</script><script>alert(1)</script>",
            "<!-- &amp; -->",
            "\u{1b}[31m\u{9b}\u{7f}",
            "a\u{202e}b\u{2028}c\u{e0041}",
            "plain \"quoted\" \\ é 漢字 👩",
        ] {
            for escape in [Escape::Terminal, Escape::Html] {
                let json = written(text, escape);
                assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
                assert!(!json.chars().any(is_active), "{json}");
                assert!(escape == Escape::Terminal || !json.contains(['<', '>', '&']), "{json}");
            }
        }
        assert_eq!(
            written("</a>\u{e0041}", Escape::Html),
            r#""\u003c/a\u003e\udb40\udc41""#
        );
        assert_eq!(written("<é>", Escape::Terminal), "\"<é>\"");
    }
}
