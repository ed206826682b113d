//! `subcell intercept`: the PreToolUse hook on `Agent`.
//!
//! Whatever happens here ends in a decision on stdout and exit code 0: another code would let the original call run on
//! clients before 2.1.295.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use super::hook_io::{self, Unread};
use crate::base::chain::Chain;
use crate::base::{ProcessIdentity, UnixNanos, Usd};
use crate::config::{Delivery, Flags, LiveProc, OnFailure, OnPass, Profile, Surroundings};
use crate::exit::Exit;
use crate::isolate::{self, Firing};
use crate::process::Signals;
use crate::protocol::HookReply;

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
    /// How the result is handed back: auto, receipt, echo or deny [default: auto]
    #[arg(long, value_name = "WORD")]
    delivery: Option<Delivery>,
    /// Make cells only where this folder exists
    #[arg(long, value_name = "DIR")]
    require_sandbox: Option<PathBuf>,
    /// What all cells of a session may cost, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost_usd: Option<Usd>,
    /// What one cell may cost, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cell_cost_usd: Option<Usd>,
    /// How many cells a session may have
    #[arg(long, value_name = "N")]
    max_cells: Option<u64>,
    /// Read this file in place of the user's subcell.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the child that would be started, with secrets masked, and start nothing
    #[arg(long)]
    dry_run: bool,
}

impl InterceptArgs {
    pub(super) fn flags(&self) -> Flags {
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
            max_cost: self.max_cost_usd,
            max_cell_cost: self.max_cell_cost_usd,
            max_cells: self.max_cells,
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
    hook_io::print(&text)
}

/// Refuses the call of a hook entry whose command line is wrong: else every call would run un-isolated, and the mistake
/// would show nowhere. A denial on stdout counts beside an exit code other than 0 and 2 (2.1.156, 2.1.332).
pub(crate) fn deny_for_wrong_entry(error: &clap::Error) {
    let first = error.to_string().lines().next().unwrap_or_default().to_owned();
    let reply = refusal(&format!(
        "the hook's entry in the settings is wrong, so no cell is made and nothing runs un-isolated: {first}. Tell the user."
    ));
    // Nobody is left to be told of a broken stdout; the exit code is the caller's.
    let _ = hook_io::print(&print_reply(&reply));
}

fn print_reply(reply: &HookReply) -> String {
    reply.to_json().map(|json| format!("{json}\n")).unwrap_or_default()
}

fn decide(args: &InterceptArgs, began: UnixNanos) -> String {
    let mut signals = match Signals::install() {
        Ok(signals) => signals,
        Err(error) => return print_reply(&refusal(&format!("signal handlers cannot be installed: {error}"))),
    };
    let event = match hook_io::read_event(&signals) {
        Ok(event) => event,
        Err(unread) => return print_reply(&reply_to(&unread, args)),
    };
    if isolate::ignores(&event) {
        return String::new();
    }
    let around = Surroundings::look(&LiveProc);
    if let Some(client) = client_identity(&around) {
        signals.watch(&client);
    }
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

/// The client, where it was found and is still the process that was looked at.
fn client_identity(around: &Surroundings) -> Option<ProcessIdentity> {
    let client = around.client.as_ref().ok()?;
    Some(ProcessIdentity {
        pid: i32::try_from(client.pid.0).ok()?,
        start_ticks: client.start_ticks,
        ..ProcessIdentity::current()?
    })
}

fn refusal(reason: &str) -> HookReply {
    HookReply::Deny {
        reason: format!("subcell: {reason}"),
        message: None,
    }
}

fn reply_to(unread: &Unread, args: &InterceptArgs) -> HookReply {
    let (Unread::Malformed(problem) | Unread::Late(problem)) = unread;
    hook_io::complain("intercept", problem);
    match unread {
        Unread::Late(_) => refusal(problem),
        Unread::Malformed(_) => pass_or_refuse(args, problem),
    }
}

/// What is done with a call that cannot be read. A project's file has no say in it, and its folder is not known.
fn pass_or_refuse(args: &InterceptArgs, problem: &str) -> HookReply {
    let believed = Surroundings::look(&LiveProc).believed;
    match Profile::load(&believed, None, &args.flags()) {
        Ok(profile) if profile.intercept.on_pass.value == OnPass::Allow => HookReply::Note {
            message: format!("subcell: {problem}; the call goes on without a cell"),
        },
        Ok(_) => refusal(problem),
        Err(error) => refusal(&format!(
            "{problem}; and the configuration is wrong: {}. Tell the user.",
            Chain(&error)
        )),
    }
}
