//! Characters that a terminal or a browser obeys instead of showing.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character acts on what shows it: control characters (C0, DEL, C1), those that change the direction of text,
/// that break lines without looking like it, or that cannot be seen at all.
#[must_use]
pub const fn is_active(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// `text` with each such character turned into one that shows it; tabs and line feeds stay.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let acts = |character: char| is_active(character) && !matches!(character, '\n' | '\t');
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) || !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if acts(character) {
            push_visible(&mut shown, character);
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Control characters have pictures of their own; the others are named by their number.
fn push_visible(shown: &mut String, character: char) {
    match u32::from(character) {
        code @ 0..=0x1f => shown.extend(char::from_u32(0x2400 + code)),
        0x7f => shown.push('\u{2421}'),
        // Writing to a string cannot fail.
        code => drop(write!(shown, "<U+{code:04X}>")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        for (text, shown) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[31mred\u{1b}[0m", "␛[31mred␛[0m"),
            ("\u{1b}]52;c;ZXZpbA==\u{7}", "␛]52;c;ZXZpbA==␇"),
            ("over\rwritten", "over␍written"),
            ("a\u{8}b\u{7f}", "a␈b␡"),
            ("\u{9b}31m", "<U+009B>31m"),
            ("exe\u{202e}gpj.", "exe<U+202E>gpj."),
            ("\u{2066}x\u{2069}", "<U+2066>x<U+2069>"),
            ("zero\u{200b}width\u{feff}", "zero<U+200B>width<U+FEFF>"),
            ("\u{e0041}\u{e007f}", "<U+E0041><U+E007F>"),
            ("line\u{2028}end", "line<U+2028>end"),
            ("é 漢字 👩\u{200d}👩 שלום", "é 漢字 👩\u{200d}👩 שלום"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
