//! Values as one word of a log line or a message: whoever chose them writes no second field and no second line.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

/// A word is cut after so many characters.
const LIMIT: usize = 2000;

/// `value` as one word: white space becomes `_`, control characters are escaped, nothing becomes `-`.
pub(super) fn token(value: &str) -> String {
    let mut word = String::new();
    for character in value.chars().take(LIMIT) {
        if character.is_whitespace() {
            word.push('_');
        } else if is_hidden(character) {
            let _ = write!(word, "{}", character.escape_unicode());
        } else {
            word.push(character);
        }
    }
    if value.chars().nth(LIMIT).is_some() {
        word.push('\u{2026}');
    }
    if word.is_empty() { "-".to_owned() } else { word }
}

/// Characters that a terminal obeys or does not show: controls, and the marks that turn the direction of a text.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Names as one word, a comma between them.
pub(super) fn tokens<'a>(names: impl Iterator<Item = &'a OsStr>) -> String {
    let words: Vec<String> = names
        .map(|name| token(&String::from_utf8_lossy(name.as_bytes())))
        .collect();
    token(&words.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_word() {
        for (value, word) in [
            ("", "-"),
            (" ", "_"),
            ("a b\tc\nd\u{2028}e", "a_b_c_d_e"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\0", "a\\u{0}"),
            ("Text file busy (os error 26)", "Text_file_busy_(os_error_26)"),
        ] {
            assert_eq!(token(value), word);
        }
        assert_eq!(token(&"x".repeat(5000)).chars().count(), LIMIT + 1);
        let names = ["a b", "c"].map(OsStr::new);
        assert_eq!(tokens(names.into_iter()), "a_b,c");
        assert_eq!(tokens(std::iter::empty()), "-");
    }
}
