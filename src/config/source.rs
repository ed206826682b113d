//! Where a value of the configuration is from.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The place that a value stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Built in.
    Default,
    /// The user's file, or the one that `--config` names.
    User {
        /// The file.
        path: Arc<Path>,
        /// Its line, from 1; 0 stands for the file as a whole.
        line: u32,
    },
    /// The project's `.subcell.toml`.
    Project {
        /// The file.
        path: Arc<Path>,
        /// Its line, from 1; 0 stands for the file as a whole.
        line: u32,
    },
    /// A variable of the believed environment.
    Environment(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User { path, line: 0 } | Self::Project { path, line: 0 } => write!(f, "{}", path.display()),
            Self::User { path, line } | Self::Project { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// A value, and where it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it is from.
    pub source: Source,
}

impl<T> Sourced<T> {
    /// A built-in value.
    #[must_use]
    pub const fn default_of(value: T) -> Self {
        Self {
            value,
            source: Source::Default,
        }
    }

    /// The same place with what `change` makes of the value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Sourced<U> {
        Sourced {
            value: change(self.value),
            source: self.source,
        }
    }
}

/// Something wrong in the configuration: where, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands.
    pub source: Source,
    /// What is wrong, and what would be right.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.what)
    }
}

/// A configuration that cannot be used: every problem of the user's file, the environment and the flags.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.lines())]
pub struct ConfigError {
    /// The problems; never empty.
    pub problems: Vec<Problem>,
}

impl ConfigError {
    fn lines(&self) -> String {
        let lines: Vec<String> = self.problems.iter().map(Problem::to_string).collect();
        lines.join("\n")
    }
}
