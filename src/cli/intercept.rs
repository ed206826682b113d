//! `subcell intercept`: the PreToolUse hook on `Agent`.
//!
//! Whatever happens here ends in a decision on stdout and exit code 0: another code would let the original call run on
//! clients before 2.1.295.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use crate::base::UnixNanos;
use crate::base::chain::Chain;
use crate::config::{Delivery, Flags, LiveProc, OnFailure, OnPass, Profile, Surroundings};
use crate::exit::Exit;
use crate::isolate::{self, Firing};
use crate::process::Signals;
use crate::protocol::{HookEvent, HookReply};

/// No payload of a client comes near it: a prompt is at most 10 MB.
const PAYLOAD_LIMIT: u64 = 64 * 1024 * 1024;

/// The hook on `Agent`: runs the call in a cell of its own
///
/// Reads a `PreToolUse` payload on stdin and answers on stdout. Example: `subcell intercept --dry-run < payload.json`
#[derive(Debug, clap::Args)]
pub(crate) struct InterceptArgs {
    /// The client's program [default: CLAUDE_BIN, the parent's own executable, `claude` on the PATH]
    #[arg(long, value_name = "PATH")]
    claude: Option<PathBuf>,
    /// How long a cell may run [default: 300]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// How long a call waits for a free slot [default: 60]
    #[arg(long, value_name = "SECONDS")]
    slot_wait: Option<u64>,
    /// How many cells may run at once on this host [default: the larger of 8 and the processors, capped by memory]
    #[arg(long, value_name = "N")]
    max_parallel: Option<u64>,
    /// How deep cells may nest [default: 1]
    #[arg(long, value_name = "N")]
    max_depth: Option<u64>,
    /// What the parent gets for a failed cell: report, deny or builtin [default: report]
    #[arg(long, value_name = "WORD")]
    on_failure: Option<OnFailure>,
    /// What is done with a call that no cell can be made for: allow or deny [default: allow]
    #[arg(long, value_name = "WORD")]
    on_pass: Option<OnPass>,
    /// How the result is handed back: echo [default: echo]
    #[arg(long, value_name = "WORD")]
    delivery: Option<Delivery>,
    /// Make cells only where this folder exists
    #[arg(long, value_name = "DIR")]
    require_sandbox: Option<PathBuf>,
    /// Read this file in place of the user's subcell.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the child that would be started, with secrets masked, and start nothing
    #[arg(long)]
    dry_run: bool,
}

impl InterceptArgs {
    fn flags(&self) -> Flags {
        Flags {
            config: self.config.clone(),
            claude: self.claude.clone(),
            timeout_s: self.timeout,
            slot_wait_s: self.slot_wait,
            max_parallel: self.max_parallel,
            max_depth: self.max_depth,
            on_failure: self.on_failure,
            on_pass: self.on_pass,
            delivery: self.delivery,
            require_sandbox: self.require_sandbox.clone(),
        }
    }
}

/// Runs the hook.
pub(crate) fn run(args: &InterceptArgs) -> Exit {
    let began = UnixNanos::now();
    let text = catch_unwind(AssertUnwindSafe(|| decide(args, began))).unwrap_or_else(|_| {
        print_reply(&HookReply::Deny {
            reason:
                "subcell failed inside (a defect; its message is on stderr). Nothing is running. Do not repeat the \
                     call; tell the user."
                    .to_owned(),
            message: None,
        })
    });
    match std::io::stdout()
        .write_all(text.as_bytes())
        .and_then(|()| std::io::stdout().flush())
    {
        Ok(()) => Exit::Done,
        // Nobody reads the decision any more: the client has gone, and with it the call.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::Done,
        Err(_) => Exit::Io,
    }
}

/// Refuses the call of a hook entry whose command line is wrong: else every call would run un-isolated, and the mistake
/// would show nowhere. A denial on stdout counts beside an exit code other than 0 and 2 (2.1.156, 2.1.332).
pub(crate) fn deny_for_wrong_entry(error: &clap::Error) {
    let first = error.to_string().lines().next().unwrap_or_default().to_owned();
    let reply = refusal(&format!(
        "the hook's entry in the settings is wrong, so no cell is made and nothing runs un-isolated: {first}. Tell the user."
    ));
    // Nobody is left to be told of a broken stdout.
    let _ = std::io::stdout().write_all(print_reply(&reply).as_bytes());
}

fn print_reply(reply: &HookReply) -> String {
    reply.to_json().map(|json| format!("{json}\n")).unwrap_or_default()
}

fn decide(args: &InterceptArgs, began: UnixNanos) -> String {
    let signals = match Signals::install() {
        Ok(signals) => signals,
        Err(error) => return print_reply(&refusal(&format!("signal handlers cannot be installed: {error}"))),
    };
    let event = match read_event() {
        Ok(event) => event,
        Err(problem) => return print_reply(&unreadable(args, &problem)),
    };
    if isolate::ignores(&event) {
        return String::new();
    }
    let around = Surroundings::look(&LiveProc);
    let project = isolate::project_folder(&around, &event);
    let profile = match Profile::load(&around.believed, Some(&project), &args.flags()) {
        Ok(profile) => profile,
        Err(error) => {
            return print_reply(&refusal(&format!(
                "the configuration is wrong, so no cell is made and nothing runs un-isolated: {}. Tell the user.",
                Chain(&error)
            )));
        }
    };
    let firing = Firing {
        event: &event,
        around: &around,
        profile: &profile,
        signals: &signals,
        project,
        began,
    };
    if args.dry_run {
        isolate::dry_run(&firing)
    } else {
        print_reply(&isolate::run(&firing))
    }
}

fn refusal(reason: &str) -> HookReply {
    HookReply::Deny {
        reason: format!("subcell: {reason}"),
        message: None,
    }
}

/// Input that is no event: the client's own affair, unless the user wants every call in a cell.
fn unreadable(args: &InterceptArgs, problem: &str) -> HookReply {
    complain(problem);
    if args.on_pass == Some(OnPass::Deny) {
        return refusal(problem);
    }
    HookReply::Note {
        message: format!("subcell: {problem}; the call goes on without a cell"),
    }
}

fn read_event() -> Result<HookEvent, String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(PAYLOAD_LIMIT + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("the payload on stdin cannot be read: {error}"))?;
    if bytes.len() as u64 > PAYLOAD_LIMIT {
        return Err(format!(
            "the payload on stdin is larger than {} MiB",
            PAYLOAD_LIMIT / 1024 / 1024
        ));
    }
    HookEvent::parse(&bytes).map_err(|error| Chain(&error).to_string())
}

fn complain(problem: &str) {
    // Nowhere is left to report a broken stderr.
    let _ = writeln!(std::io::stderr(), "subcell intercept: {problem}");
}
