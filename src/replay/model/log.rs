//! The request log: a JSON line for each request, before it is answered. Credentials are never in it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::Value;

use super::facts::{Facts, Role};
use super::rule::Numbers;
use crate::base::UnixNanos;

/// Where requests are logged, if anywhere.
#[derive(Debug, Default)]
pub struct RequestLog(Option<File>);

/// One line.
#[derive(Debug, serde::Serialize)]
pub(super) struct Line<'a> {
    n: u64,
    nth: u64,
    time_unix_nano: UnixNanos,
    role: Role,
    session: &'a str,
    agent: Option<&'a str>,
    bytes: u64,
    /// `rule 3` or `default`: what answers it.
    answered_by: &'a str,
    headers: serde_json::Map<String, Value>,
    request: &'a Value,
}

impl<'a> Line<'a> {
    /// The line for a request that arrives now. `headers` are all that it has.
    pub(super) fn now(
        (facts, numbers): (&'a Facts, Numbers),
        headers: impl Iterator<Item = (&'a str, String)>,
        request: &'a Value,
        answered_by: &'a str,
    ) -> Self {
        Self {
            n: numbers.n,
            nth: numbers.nth,
            time_unix_nano: UnixNanos::now(),
            role: facts.caller.role(),
            session: &facts.caller.session,
            agent: facts.caller.agent.as_deref(),
            bytes: facts.bytes,
            answered_by,
            headers: headers
                .filter(|(name, _)| is_harmless(name))
                .map(|(name, value)| (name.to_owned(), Value::String(value)))
                .collect(),
            request,
        }
    }
}

/// Whether a header may be logged: a list of what may, since nobody knows every name that a credential travels under.
fn is_harmless(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "traceparent",
        "user-agent",
        "x-app",
        "x-claude-code-agent-id",
        "x-claude-code-session-id",
    ];
    NAMES.contains(&name) || name.starts_with("x-stainless-")
}

impl RequestLog {
    /// Logs nothing.
    #[must_use]
    pub const fn off() -> Self {
        Self(None)
    }

    /// Adds to a file, which is made for its owner alone: prompts are in it.
    ///
    /// # Errors
    /// The file cannot be opened for writing.
    pub fn append(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        Ok(Self(Some(file)))
    }

    /// Writes one line whole.
    pub(super) fn write(&mut self, line: &Line<'_>) -> io::Result<()> {
        let Some(file) = &mut self.0 else { return Ok(()) };
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        file.write_all(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn credentials_are_not_logged_under_any_name() {
        for secret in [
            "x-api-key",
            "authorization",
            "proxy-authorization",
            "cookie",
            "x-goog-api-key",
            "x-amz-security-token",
            "x-my-token",
        ] {
            assert!(!is_harmless(secret), "{secret}");
        }
        assert!(is_harmless("x-claude-code-agent-id") && is_harmless("x-stainless-retry-count"));
    }
}
