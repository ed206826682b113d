//! Prints an error and its sources as one line. Done once, at the edge: a `Display` never repeats its source.

use std::error::Error;
use std::fmt;

/// Shows `error` and every source behind it, joined by `": "`.
#[derive(Debug)]
pub struct Chain<'a>(pub &'a (dyn Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("read the record")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn shows_every_source_once() {
        let error = Outer(std::io::Error::other("disk gone"));
        assert_eq!(Chain(&error).to_string(), "read the record: disk gone");
    }
}
