//! What is to be started, as plain data: decided elsewhere, printed by a dry run, carried out here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// One client process to be: nothing is added to it and nothing inherited beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnPlan {
    /// The program; it is started as it is, never through a shell.
    pub program: PathBuf,
    /// Its arguments, without the program's own name.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: BTreeMap<OsString, OsString>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// What it may take.
    pub limits: Limits,
}

/// What a cell may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From the client's start to the TERM that ends it.
    pub run: Duration,
    /// From TERM to KILL. A stop signal to the hook shortens it.
    pub grace: Duration,
    /// The most bytes that each of stdout and stderr may reach.
    pub output_bytes: u64,
}
