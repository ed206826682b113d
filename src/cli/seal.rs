//! `subcell seal`: the PostToolUse hook on `Agent`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::hook_io::{Unread, complain, print, read_event};
use crate::config::{LiveProc, Surroundings};
use crate::exit::Exit;
use crate::isolate;
use crate::process::Signals;
use crate::protocol::PostReply;

/// The hook after `Agent`: puts a cell's exact result into the call's output
///
/// Reads a `PostToolUse` payload on stdin and answers on stdout. It belongs beside `subcell intercept`, which decides what
/// there is to put in. Example: `subcell seal < payload.json`
#[derive(Debug, clap::Args)]
pub(crate) struct SealArgs {}

/// Runs the hook. Whatever happens, the client gets an answer and exit code 0, and keeps the output that it has.
pub(crate) fn run(_: &SealArgs) -> Exit {
    let reply = catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| PostReply::Note {
        message:
            "subcell seal failed inside (a defect; its message is on stderr): the output of the call stays as it is"
                .to_owned(),
    });
    let text = reply.into_json().map(|json| format!("{json}\n")).unwrap_or_default();
    print(&text)
}

fn answer() -> PostReply {
    let signals = match Signals::install() {
        Ok(signals) => signals,
        Err(error) => return left(&format!("signal handlers cannot be installed: {error}")),
    };
    match read_event(&signals) {
        Ok(event) if isolate::is_not_to_seal(&event) => PostReply::Silent,
        Ok(event) => isolate::run_seal(&event, &Surroundings::look(&LiveProc)),
        Err(Unread::Malformed(problem) | Unread::Late(problem)) => left(&problem),
    }
}

fn left(problem: &str) -> PostReply {
    complain("seal", problem);
    PostReply::Note {
        message: format!("subcell seal: {problem}; the output of the call stays as it is"),
    }
}
