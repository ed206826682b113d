//! The key of a launch record: its file's name and the word in its line.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

const LIMIT: usize = 64;

/// A key that is no good file name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is 1 to 64 characters of A-Z a-z 0-9 . _ - and starts with a letter or digit, got {0:?}")]
pub struct KeyError(String);

/// A key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The key that a command gets: its name and a number that nobody else has now.
    #[must_use]
    pub fn of_command(program: &OsStr, number: u32) -> Self {
        let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
        let mut plain: String = name.chars().filter(|c| is_plain(*c)).take(40).collect();
        if !plain.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            plain.insert_str(0, "run");
        }
        Self(format!("{plain}-{number}"))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let first = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if first && text.len() <= LIMIT && text.chars().all(is_plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(KeyError(text.chars().take(40).collect()))
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_plain_name() {
        for good in ["a", "build.2-x_Y", "0", &"a".repeat(64)] {
            assert_eq!(good.parse::<Key>().unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", ".a", "-a", "a/b", "a b", "a\n", "é", &"a".repeat(65)] {
            assert!(bad.parse::<Key>().is_err(), "{bad}");
        }
    }

    #[test]
    fn every_commands_key_is_one() {
        for (program, key) in [
            ("/usr/bin/make", "make-7"),
            ("make", "make-7"),
            ("./a b", "ab-7"),
            ("/", "run-7"),
            ("-x", "run-x-7"),
            ("\u{e9}\n", "run-7"),
        ] {
            let made = Key::of_command(OsStr::new(program), 7);
            assert_eq!(made.as_str(), key);
            assert_eq!(key.parse(), Ok(made));
        }
    }
}
