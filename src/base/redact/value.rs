//! Tells a secret from what merely stands where one could stand.

use super::tail::Class;

/// Bytes of a value that are looked at.
const LOOKED_AT: usize = 256;

/// Words that stand for a value's type, absence or place, in lower case.
const NO_SECRETS: [&[u8]; 36] = [
    b"any",
    b"bool",
    b"boolean",
    b"changeme",
    b"empty",
    b"false",
    b"hidden",
    b"int",
    b"integer",
    b"masked",
    b"nil",
    b"no",
    b"none",
    b"null",
    b"number",
    b"object",
    b"option",
    b"optional",
    b"password",
    b"placeholder",
    b"redacted",
    b"removed",
    b"required",
    b"secret",
    b"secretstr",
    b"self",
    b"str",
    b"string",
    b"token",
    b"true",
    b"undefined",
    b"unknown",
    b"unset",
    b"yes",
    b"your-api-key",
    b"your_api_key",
];

/// Whether `value` names a secret that stands elsewhere, or none: `$TOKEN`, `<token>`, `{{ token }}`, `***`, `null`.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let Some(first) = value.first() else { return true };
    let filler = |byte: &u8| matches!(byte, b'*' | b'.' | b'x' | b'X' | b'-' | b'_' | b'?');
    matches!(first, b'$' | b'<' | b'{' | b'*')
        || value.starts_with(b"%(")
        || value.starts_with(b"[redacted")
        || (value.len() >= 3 && value.iter().all(filler))
        || NO_SECRETS.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Whether `value` looks less like a word than like something made up: a digit, a sign, or its length.
pub(super) fn is_made_up(value: &[u8]) -> bool {
    let sign =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'!' | b'@' | b'#' | b'%' | b'^' | b'+' | b'/' | b'=');
    value.len() >= 16 || value.iter().any(sign)
}

/// Whether `value` reads as a field of something in code: `config.api_key`.
fn is_field(value: &[u8]) -> bool {
    let parts: Vec<&[u8]> = value.split(|byte| *byte == b'.').collect();
    let name = |part: &&[u8]| !part.is_empty() && part.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    parts.len() > 1 && parts.iter().all(name)
}

/// What stands before a value without quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    /// Whether only `=` stands between name and value, as in an environment; else a colon or spaces too, as in prose
    /// and code.
    pub(super) tight: bool,
    /// Whether the name is in capitals.
    pub(super) capitals: bool,
}

/// Whether a value without quotes at the start of `bytes` is a secret.
pub(super) fn is_plain_secret(bytes: &[u8], before: Before) -> bool {
    let bytes = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    let (value, after) = bytes.split_at_checked(Class::Value.run(bytes)).unwrap_or((bytes, b""));
    let call = matches!(after.first(), Some(b'(' | b'['));
    let reference = !before.capitals && is_field(value);
    if is_placeholder(value) || call || reference || matches!(value.first(), Some(b'=' | b':')) {
        return false;
    }
    before.tight || is_made_up(value) || ends_line(after)
}

fn ends_line(after: &[u8]) -> bool {
    match after.first() {
        None | Some(b'\n' | b'\r' | b'"' | b'\'') => true,
        Some(b'\\') => matches!(after.get(1), Some(b'n' | b'r' | b'"')),
        Some(_) => false,
    }
}

/// Whether a quoted value at the start of `bytes` is a secret. `level` is the number of backslashes of its quotes.
pub(super) fn is_quoted_secret(bytes: &[u8], quote: u8, level: usize) -> bool {
    let bytes = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    let ends = |byte: &u8| *byte == quote || *byte == b'\n';
    let to_quote = bytes.iter().position(ends).unwrap_or(bytes.len());
    let value = bytes.get(..to_quote.saturating_sub(level)).unwrap_or_default();
    !is_placeholder(value)
}

/// Whether a token may begin at `at`: not inside a longer word. The letter of an escape (`\n`, `\u000a`, `%0a`) or of
/// a colour sequence is no part of a word.
pub(super) fn begins_word(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default();
    let before = before.get(before.len().saturating_sub(16)..).unwrap_or_default();
    let Some(last) = before.last() else { return true };
    !last.is_ascii_alphanumeric() || ends_with_escape(before) || ends_with_colour(before)
}

fn ends_with_escape(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'0'] => true,
        [.., b'\\', b'u', a, b, c, d] => [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()),
        [.., b'%', a, b] | [.., b'\\', b'x', a, b] => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
        _ => false,
    }
}

/// `ESC [ 3 2 m`, ESC as itself or as `\u001b`, `\x1b`, `\033`, `\e`.
fn ends_with_colour(before: &[u8]) -> bool {
    let Some((b'm', rest)) = before.split_last().map(|(last, rest)| (*last, rest)) else {
        return false;
    };
    let numbers = rest
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';');
    let rest = rest.get(..rest.len() - numbers.count()).unwrap_or_default();
    rest.strip_suffix(b"[").is_some_and(|escape| {
        let spelt: [&[u8]; 6] = [b"\x1b", b"\\u001b", b"\\u001B", b"\\x1b", b"\\033", b"\\e"];
        spelt.iter().any(|spelt| escape.ends_with(spelt))
    })
}
