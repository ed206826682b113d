//! What a guard hands to the edge.

use crate::exit::Exit;
use crate::protocol::HookReply;

/// A guard's whole answer to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// For stdout; the client reads JSON there, whatever the exit code.
    pub stdout: String,
    /// For stderr: with [`Exit::Refused`] it is what the session reads, else it goes to the client's debug log.
    pub stderr: String,
    /// How the process ends.
    pub exit: Exit,
}

impl Answer {
    /// Nothing to say: what was asked about goes on.
    #[must_use]
    pub const fn silent() -> Self {
        Self {
            stdout: String::new(),
            stderr: String::new(),
            exit: Exit::Done,
        }
    }

    /// A decision in JSON.
    #[must_use]
    pub fn reply(reply: &HookReply) -> Self {
        Self {
            stdout: reply.to_json().map(|json| format!("{json}\n")).unwrap_or_default(),
            ..Self::silent()
        }
    }

    /// What was asked about goes on, and stderr says a line.
    #[must_use]
    pub fn aside(line: &str) -> Self {
        Self {
            stderr: format!("{line}\n"),
            ..Self::silent()
        }
    }
}
