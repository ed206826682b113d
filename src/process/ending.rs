//! How a supervised client ended, as far as its process tells. What its output says is judged elsewhere: an exit code
//! of 0 proves nothing (the client prints a cut result and exits 0, 2.1.156 and 2.1.332).

use std::io;

use serde::{Deserialize, Serialize};

use super::signals::StopSignal;

/// How a supervised client ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ending {
    /// It exited by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal that is not ours killed it.
    Signaled {
        /// The signal's number.
        signal: i32,
    },
    /// It ran past its deadline and was ended.
    TimedOut,
    /// The hook (or its keeper) was told to stop, so it was ended.
    Interrupted {
        /// The signal that said so.
        signal: StopSignal,
    },
    /// It wrote more than it may and was ended.
    TooMuchOutput {
        /// Where to.
        stream: Stream,
    },
    /// It never ran.
    NotStarted {
        /// Why.
        failure: StartFailure,
    },
    /// The hook disappeared (SIGKILL), so its keeper ended the client.
    HookGone,
    /// The keeper disappeared or stopped answering; the hook ended what was left.
    KeeperLost {
        /// What became of the keeper.
        loss: KeeperLoss,
    },
}

/// An output stream of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Why a client never ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartFailure {
    /// What was tried.
    pub tried: String,
    /// The system's error number, where there is one.
    pub os_error: Option<i32>,
    /// The system's error text.
    pub message: String,
}

impl StartFailure {
    pub(super) fn new(tried: impl Into<String>, error: &io::Error) -> Self {
        Self {
            tried: tried.into(),
            os_error: error.raw_os_error(),
            message: error.to_string(),
        }
    }
}

/// What became of a keeper that did not report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum KeeperLoss {
    /// It exited without a readable report.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal killed it.
    Killed {
        /// The signal's number.
        signal: i32,
    },
    /// It was still there long after its last deadline, and was killed.
    Unresponsive,
}
