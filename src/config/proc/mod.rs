//! Finds the client that runs this hook, and what it was started with, through `/proc`.

mod client;
mod source;

pub use client::{Client, ClientError, StartEnv};
pub use source::{LiveProc, Pid, ProcSource, ProcessStat};
