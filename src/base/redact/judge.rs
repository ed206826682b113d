//! From the beginning that a rule's expression found to the secret behind it.

use std::ops::Range;

use super::tail::{Class, Pem, Quoted, Tail};
use super::value::{Before, begins_word, is_made_up, is_placeholder, is_plain_secret, is_quoted_secret};

/// How the secret lies to the beginning that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The beginning is the secret's, wherever it stands.
    Token(Class),
    /// The same, but not inside a longer word.
    WordToken(Class),
    /// The same, and a digit has to be near: `sk-` begins many names of style sheets.
    DigitToken,
    /// A JSON web token: three parts or five.
    Jwt,
    /// A PEM block, from its first dash.
    Pem,
    /// The password of a URL, behind the beginning and before `@`.
    UrlPassword,
    /// The credentials of an Authorization header, behind the beginning.
    Authorization,
    /// The credentials behind the word Bearer.
    Bearer,
    /// The value of an assignment, behind the beginning.
    Assignment,
    /// The value of a command-line flag, behind the beginning.
    Flag,
    /// A word behind the beginning, whatever it is.
    Word,
    /// A word behind the beginning that looks made up.
    MadeUp,
    /// The values of a cookie's header, behind the first name.
    Cookie,
    /// The password of a URL that is written with percent signs, behind the beginning.
    EncodedUrlPassword,
    /// What a pattern of the configuration matched: its first group, else all of it.
    Custom,
}

/// A secret in a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Secret {
    /// Where it starts.
    pub(super) start: usize,
    /// Up to where it was looked at already.
    pub(super) known: usize,
    /// What comes behind; none where it ends there.
    pub(super) tail: Option<Tail>,
}

/// Bytes behind a beginning that are looked at to judge it; less than a window of the stream looks ahead.
pub(super) const LOOK_AHEAD: usize = 6 << 10;

/// The secret at the beginning `found` in `text`, if it is one.
pub(super) fn judge(shape: Shape, text: &[u8], found: &Range<usize>) -> Option<Secret> {
    let ahead = text.get(found.end..).unwrap_or_default();
    let ahead = ahead.get(..LOOK_AHEAD).unwrap_or(ahead);
    let whole = |tail| Secret {
        start: found.start,
        known: found.end,
        tail: Some(tail),
    };
    let behind = |tail| Secret {
        start: found.end,
        known: found.end,
        tail: Some(tail),
    };
    let up_to = |length| Secret {
        start: found.end,
        known: found.end + length,
        tail: None,
    };
    let word = || begins_word(text, found.start);
    match shape {
        Shape::Token(class) => Some(whole(Tail::Run(class))),
        Shape::WordToken(class) => word().then(|| whole(Tail::Run(class))),
        Shape::DigitToken => {
            let token = text.get(found.start..).unwrap_or_default();
            (has_early_digit(token) && word()).then(|| whole(Tail::Run(Class::Token)))
        }
        Shape::Jwt => (word() && is_jwt(ahead)).then(|| whole(Tail::Run(Class::Jwt))),
        Shape::Pem => Some(whole(Tail::Pem(Pem::default()))),
        Shape::UrlPassword => url_password(ahead).map(up_to),
        Shape::EncodedUrlPassword => encoded_password(ahead).map(up_to),
        Shape::Word => (!is_placeholder(value(ahead))).then(|| behind(Tail::Run(Class::Value))),
        Shape::MadeUp => is_made_up_word(value(ahead)).then(|| behind(Tail::Run(Class::Value))),
        Shape::Cookie => is_made_up_word(value(ahead)).then(|| behind(Tail::Run(Class::Cookies))),
        Shape::Authorization => {
            is_authorization(text.get(found.clone())?, ahead).then(|| behind(Tail::Run(Class::Credentials)))
        }
        Shape::Bearer => {
            let value = credentials(ahead);
            let made_up = value.len() >= 16 && value.iter().any(u8::is_ascii_digit);
            (made_up && word()).then(|| behind(Tail::Run(Class::Credentials)))
        }
        Shape::Assignment => assigned(text.get(found.clone())?, ahead).map(behind),
        Shape::Flag => {
            let strict = Before {
                tight: false,
                capitals: false,
            };
            (is_made_up(value(ahead)) && is_plain_secret(ahead, strict)).then(|| behind(Tail::Run(Class::Value)))
        }
        Shape::Custom => (found.start < found.end).then_some(Secret {
            start: found.start,
            known: found.end,
            tail: None,
        }),
    }
}

fn has_early_digit(token: &[u8]) -> bool {
    let token = token.get(..64).unwrap_or(token);
    let mut token = token.iter().take_while(|byte| Class::Token.has(**byte));
    token.any(u8::is_ascii_digit)
}

/// Behind `eyJ` and eight more: the rest of the header, then a payload that is JSON too (RFC 7519), or for an
/// encrypted token four more parts (RFC 7516).
fn is_jwt(ahead: &[u8]) -> bool {
    let rest = ahead.get(Class::Token.run(ahead)..).unwrap_or_default();
    let Some(rest) = rest.strip_prefix(b".") else {
        return false;
    };
    if rest.starts_with(b"eyJ") {
        return Class::Token.run(rest) >= 8;
    }
    // The encrypted key may be empty; the vector and what was encrypted never are.
    let mut parts = rest.split(|byte| *byte == b'.');
    let key = parts.next().is_some_and(|part| Class::Token.run(part) == part.len());
    let vector = parts
        .next()
        .is_some_and(|part| part.len() >= 8 && Class::Token.run(part) == part.len());
    key && vector && parts.next().is_some_and(|part| Class::Token.run(part) >= 8)
}

/// The length of the password at the start of `ahead`: up to the last `@` of the authority (RFC 3986, section 3.2).
fn url_password(ahead: &[u8]) -> Option<usize> {
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>')
    };
    let authority = ahead.get(..ahead.iter().position(ends).unwrap_or(ahead.len()))?;
    let length = authority.iter().rposition(|byte| *byte == b'@')?;
    let password = authority.get(..length)?;
    (!is_placeholder(password)).then_some(length)
}

/// The same where `@` is `%40`: up to it, if nothing before it ends the authority.
fn encoded_password(ahead: &[u8]) -> Option<usize> {
    let word = value(ahead);
    let length = memchr::memmem::find(word, b"%40")?;
    let password = word.get(..length)?;
    let ends = password.to_ascii_lowercase().windows(3).any(|three| three == b"%2f");
    (!ends && !is_placeholder(password)).then_some(length)
}

fn value(ahead: &[u8]) -> &[u8] {
    ahead.get(..Class::Value.run(ahead)).unwrap_or_default()
}

fn is_made_up_word(value: &[u8]) -> bool {
    !is_placeholder(value) && is_made_up(value)
}

fn credentials(ahead: &[u8]) -> &[u8] {
    ahead.get(..Class::Credentials.run(ahead)).unwrap_or_default()
}

fn is_authorization(head: &[u8], ahead: &[u8]) -> bool {
    let value = credentials(ahead);
    // With a scheme the beginning ends in a space behind a letter, else behind the colon.
    let scheme = head.trim_ascii_end().last().is_some_and(u8::is_ascii_alphanumeric);
    !value.is_empty() && !is_placeholder(value) && (scheme || is_made_up(value))
}

/// How the value behind the assignment `head` goes on, where it is a secret.
fn assigned(head: &[u8], ahead: &[u8]) -> Option<Tail> {
    if let Some((quote @ (b'"' | b'\''), rest)) = head.split_last().map(|(last, rest)| (*last, rest)) {
        let level = rest.iter().rev().take_while(|byte| **byte == b'\\').count();
        return is_quoted_secret(ahead, quote, level).then(|| Tail::Quoted(Quoted::new(quote, level)));
    }
    let spaced = |byte: &u8| matches!(byte, b' ' | b'\t');
    let before = Before {
        tight: head.ends_with(b"=") && !head.iter().any(spaced),
        capitals: !head.iter().any(u8::is_ascii_lowercase),
    };
    is_plain_secret(ahead, before).then_some(Tail::Run(Class::Value))
}
