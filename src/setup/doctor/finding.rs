//! What is wrong, why it matters, and what to do.

use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Calls are isolated, and something costs more, is less safe, or may fail.
    Warning,
    /// A subagent call would not be isolated, or would fail.
    Broken,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its name, which stays the same from version to version: `hook-timeout-low`.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What was found, and where.
    pub what: String,
    /// Why it matters.
    pub why: String,
    /// What to do.
    pub fix: String,
}

impl Finding {
    /// A finding that leaves calls isolated.
    #[must_use]
    pub fn warning(id: &'static str, what: String, why: &str, fix: impl Into<String>) -> Self {
        Self {
            id,
            severity: Severity::Warning,
            what,
            why: why.to_owned(),
            fix: fix.into(),
        }
    }

    /// A finding that does not.
    #[must_use]
    pub fn broken(id: &'static str, what: String, why: &str, fix: impl Into<String>) -> Self {
        Self {
            severity: Severity::Broken,
            ..Self::warning(id, what, why, fix)
        }
    }
}
