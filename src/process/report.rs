//! What a keeper tells its hook in the end: one JSON object on the report pipe.

use serde::{Deserialize, Serialize};

use super::ending::Ending;
use super::proc_table::Process;
use crate::base::UnixNanos;

const NAMES: usize = 16;

/// A keeper's account of its client's life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How it ended.
    pub ending: Ending,
    /// What it left running when it had ended by itself; all of it was ended then.
    pub leaked: Leftover,
    /// What runs still because even KILL did not end it (another user's process, or one stuck in the kernel).
    pub survivors: Leftover,
    /// The end of its stderr, at most 64 KiB of it, invalid UTF-8 replaced.
    pub stderr_tail: String,
    /// Its pid, where it was started.
    pub client_pid: Option<i32>,
    /// When it was started.
    pub started: UnixNanos,
    /// When it had ended, and everything below it too.
    pub ended: UnixNanos,
}

/// Processes that were left over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    /// How many.
    pub count: usize,
    /// Their short names, printable ASCII, sorted, each once, at most 16 of them.
    pub names: Vec<String>,
}

impl From<&[Process]> for Leftover {
    fn from(processes: &[Process]) -> Self {
        let mut names: Vec<String> = processes.iter().map(|process| process.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        names.truncate(NAMES);
        Self {
            count: processes.len(),
            names,
        }
    }
}
