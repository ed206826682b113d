//! Where a secret ends: small machines that read a byte at a time, so that a secret may be longer than any buffer.

/// The bytes that a secret without quotes is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// `A-Z a-z 0-9 _ -`.
    Token,
    /// The same, and `.` before one of them.
    Dotted,
    /// The same, and `.` before one of them or before another `.`: a part may be empty.
    Jwt,
    /// What a value of an assignment goes on with: neither white space nor a quote, a bracket or a separator.
    Value,
    /// What the credentials of an HTTP header go on with.
    Credentials,
    /// What a header of cookies goes on with: several pairs, up to a quote or the end of the line.
    Cookies,
}

impl Class {
    pub(super) const fn has(self, byte: u8) -> bool {
        match self {
            Self::Token | Self::Dotted | Self::Jwt => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
            Self::Value => {
                !byte.is_ascii_whitespace()
                    && !byte.is_ascii_control()
                    && !matches!(
                        byte,
                        b'"' | b'\''
                            | b'`'
                            | b'\\'
                            | b','
                            | b';'
                            | b'&'
                            | b'|'
                            | b'<'
                            | b'>'
                            | b'('
                            | b')'
                            | b'{'
                            | b'}'
                            | b'['
                            | b']'
                    )
            }
            Self::Cookies => !byte.is_ascii_control() && !matches!(byte, b'"' | b'\'' | b'`' | b'\\'),
            Self::Credentials => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b':' | b'%')
            }
        }
    }

    /// Whether `byte` belongs to the secret where `next` follows it.
    const fn joins(self, byte: u8, next: u8) -> bool {
        match self {
            Self::Dotted => byte == b'.' && self.has(next),
            Self::Jwt => byte == b'.' && (self.has(next) || next == b'.'),
            Self::Token | Self::Value | Self::Credentials | Self::Cookies => false,
        }
    }

    /// Whether it takes more than `byte` itself to know.
    const fn may_join(self, byte: u8) -> bool {
        match self {
            Self::Dotted | Self::Jwt => byte == b'.',
            Self::Token | Self::Value | Self::Credentials | Self::Cookies => false,
        }
    }

    /// How many bytes from the start of `bytes` are of the class.
    pub(super) fn run(self, bytes: &[u8]) -> usize {
        bytes.iter().position(|byte| !self.has(*byte)).unwrap_or(bytes.len())
    }
}

/// The rest of a secret whose beginning was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// It goes on as long as the bytes are of a class.
    Run(Class),
    /// It goes on to the closing quote.
    Quoted(Quoted),
    /// It goes on to the end of a PEM block.
    Pem(Pem),
}

/// How far a tail got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Eaten {
    /// Bytes that belong to the secret.
    pub(super) bytes: usize,
    /// Whether the secret ended there.
    pub(super) done: bool,
    /// Backslashes before the end that belong to the closing quote, and have to be written again.
    pub(super) backslashes: usize,
}

impl Eaten {
    const fn ended(bytes: usize) -> Self {
        Self {
            bytes,
            done: true,
            backslashes: 0,
        }
    }

    const fn going(bytes: usize) -> Self {
        Self {
            bytes,
            done: false,
            backslashes: 0,
        }
    }
}

impl Tail {
    /// Goes on through `bytes`; `last` says that nothing follows them.
    pub(super) fn eat(&mut self, bytes: &[u8], last: bool) -> Eaten {
        match self {
            Self::Run(class) => eat_run(*class, bytes, last),
            Self::Quoted(quoted) => quoted.eat(bytes),
            Self::Pem(pem) => pem.eat(bytes),
        }
    }
}

fn eat_run(class: Class, bytes: &[u8], last: bool) -> Eaten {
    for (at, byte) in bytes.iter().enumerate() {
        if class.has(*byte) {
            continue;
        }
        return match bytes.get(at + 1) {
            Some(next) if class.joins(*byte, *next) => continue,
            None if class.may_join(*byte) && !last => Eaten::going(at),
            Some(_) | None => Eaten::ended(at),
        };
    }
    Eaten::going(bytes.len())
}

/// A quoted value, which may stand in text that was itself quoted, as JSON in a string of JSON does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quoted {
    quote: u8,
    /// Backslashes before the opening quote: 0, 1, 3, 7 for each time that the text was quoted again.
    level: usize,
    /// Backslashes directly before the next byte.
    run: usize,
}

impl Quoted {
    pub(super) const fn new(quote: u8, level: usize) -> Self {
        Self { quote, level, run: 0 }
    }

    fn eat(&mut self, bytes: &[u8]) -> Eaten {
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\\' {
                self.run += 1;
                continue;
            }
            // A backslash of the value takes 2 (level + 1) bytes, so the remainder belongs to the quote. With fewer
            // than `level` the text around ends, and the value with it.
            let own = self.run % (2 * (self.level + 1));
            if *byte == self.quote && own <= self.level {
                return Eaten {
                    backslashes: own,
                    ..Eaten::ended(at)
                };
            }
            if *byte == b'\n' {
                return Eaten::ended(at);
            }
            self.run = 0;
        }
        Eaten::going(bytes.len())
    }
}

/// A PEM block (RFC 7468), its line breaks possibly written as `\n`. It ends after the dashes of its END line, at a
/// byte that no block holds, or after 64 KiB, which no key reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pem {
    dashes: u8,
    rows: u8,
    length: usize,
}

impl Pem {
    const LONGEST: usize = 64 << 10;

    fn eat(&mut self, bytes: &[u8]) -> Eaten {
        for (at, byte) in bytes.iter().enumerate() {
            self.length += 1;
            if self.length > Self::LONGEST || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'{' | b'\0') {
                return Eaten::ended(at);
            }
            self.dashes = if *byte == b'-' { self.dashes + 1 } else { 0 };
            // The END line has five dashes before its text and five behind.
            if self.dashes == 5 {
                self.dashes = 0;
                self.rows += 1;
            }
            if self.rows == 2 {
                return Eaten::ended(at + 1);
            }
        }
        Eaten::going(bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_belongs_to_a_token_only_between_two_parts() {
        let eat = |text: &str, last| Tail::Run(Class::Dotted).eat(text.as_bytes(), last);
        assert_eq!(eat("ab.cd ", false), Eaten::ended(5));
        assert_eq!(eat("ab. ", false), Eaten::ended(2));
        assert_eq!(eat("ab.", false), Eaten::going(2));
        assert_eq!(eat("ab.", true), Eaten::ended(2));
        assert_eq!(eat("ab", true), Eaten::going(2));
    }

    #[test]
    fn a_quoted_value_ends_at_its_own_quote() {
        let eat = |level, text: &str| Tail::Quoted(Quoted::new(b'"', level)).eat(text.as_bytes(), false);
        let ended = |bytes, backslashes| Eaten {
            backslashes,
            ..Eaten::ended(bytes)
        };
        assert_eq!(eat(0, r#"ab" "#), ended(2, 0));
        assert_eq!(eat(0, r#"a\"b" "#), ended(4, 0));
        assert_eq!(eat(0, r#"a\\" "#), ended(3, 0));
        assert_eq!(eat(1, r#"ab\" "#), ended(3, 1));
        assert_eq!(eat(1, r#"a\\\"b\" "#), ended(7, 1));
        assert_eq!(eat(1, r#"a\\\\\" "#), ended(6, 1));
        assert_eq!(eat(1, r#"ab" "#), ended(2, 0));
        assert_eq!(eat(0, "ab\ncd\""), ended(2, 0));
        assert_eq!(eat(0, "ab"), Eaten::going(2));
    }
}
