//! `subcell guard …`: the hooks that stand alone.

use std::io::{self, Read, Write};

use clap::Subcommand;

use super::guard_background::{self, BackgroundArgs};
use super::guard_bash::{self, BashArgs};
use super::guard_liveness::{self, LivenessArgs};
use crate::exit::Exit;
use crate::guard::Answer;

/// No payload of a client comes near it: a prompt is at most 10 MB.
const PAYLOAD_LIMIT: u64 = 64 * 1024 * 1024;

/// Hooks that stand alone, with or without isolation.
#[derive(Debug, Subcommand)]
pub(crate) enum GuardCommand {
    Background(BackgroundArgs),
    Bash(BashArgs),
    Liveness(LivenessArgs),
}

/// Runs a guard.
pub(crate) fn run(guard: &GuardCommand) -> Exit {
    match guard {
        GuardCommand::Background(args) => guard_background::run(args),
        GuardCommand::Bash(args) => guard_bash::run(args),
        GuardCommand::Liveness(args) => guard_liveness::run(args),
    }
}

/// The payload on stdin, cut where it is larger than any client's: what is cut is no JSON any more.
pub(super) fn read_payload() -> Vec<u8> {
    let mut payload = Vec::new();
    // What was read before an error is kept; if it was not all, it is no JSON.
    let _ = io::stdin().lock().take(PAYLOAD_LIMIT).read_to_end(&mut payload);
    payload
}

/// Hands an answer to the client. Whoever does not listen any more gets the exit code all the same.
pub(super) fn deliver(answer: &Answer) -> Exit {
    let _ = io::stderr().write_all(answer.stderr.as_bytes());
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(answer.stdout.as_bytes()).and_then(|()| stdout.flush());
    answer.exit
}
