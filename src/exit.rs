//! Every exit code of the program, documented once; `HOW_TO.md` carries the same table.
//!
//! The client gives exit codes of a hook a meaning (2.1.156 to 2.1.332, hooks documentation): 0 reads stdout as the
//! decision, 2 BLOCKS the call with stderr as the reason, anything else is an error that lets the original call run
//! unless the entry carries `"onFailure": "block"` (known from 2.1.295 on). So a hook of ours decides in its JSON and
//! exits 0, and 2 is used by the one hook whose contract is exit 2 (`guard liveness`); `doctor` is no hook. clap's own usage code is 2: it
//! is mapped to 64 here.

use std::process::ExitCode;

/// How the process ends, as one documented code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done; for a hook, the decision (or the absence of one) is on stdout.
    Done,
    /// 1: the command ran and its answer is "no" (a check found something, a cell failed).
    Negative,
    /// 2: `guard liveness`: the turn may not end; the reason is on stderr. `doctor`: calls are not isolated.
    Refused,
    /// 64: the command line was wrong; nothing was done.
    Usage,
    /// 65: the input could not be read as what it should be.
    BadInput,
    /// 66: a named file or record does not exist.
    NoInput,
    /// 70: a defect inside subcell.
    Internal,
    /// 74: reading or writing failed.
    Io,
    /// 78: the configuration is wrong; the message names file and line.
    Config,
    /// `run-record` only: the code of the command that it ran; 128 + n where signal n ended that, 127 where there is no
    /// such program, 126 where it cannot be run.
    Handed(u8),
}

impl Exit {
    /// The number that the process ends with.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Negative => 1,
            Self::Refused => 2,
            Self::Usage => 64,
            Self::BadInput => 65,
            Self::NoInput => 66,
            Self::Internal => 70,
            Self::Io => 74,
            Self::Config => 78,
            Self::Handed(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
