//! `subcell intercept`: the PreToolUse hook on `Agent`.
//!
//! Whatever happens here ends in a decision on stdout and exit code 0: another code would let the original call run on
//! clients before 2.1.295.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

use crate::base::chain::Chain;
use crate::base::{Deadline, ProcessIdentity, UnixNanos};
use crate::config::{Delivery, Flags, LiveProc, OnFailure, OnPass, Profile, Surroundings};
use crate::exit::Exit;
use crate::isolate::{self, Firing};
use crate::process::Signals;
use crate::protocol::{HookEvent, HookReply};

/// No payload of a client comes near it: a prompt is at most 10 MB.
const PAYLOAD_LIMIT: usize = 64 * 1024 * 1024;
/// How long it may take to arrive: the client writes it whole and closes the pipe before it waits for anything.
const PAYLOAD_WAIT: Duration = Duration::from_secs(20);

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
    let mut signals = match Signals::install() {
        Ok(signals) => signals,
        Err(error) => return print_reply(&refusal(&format!("signal handlers cannot be installed: {error}"))),
    };
    let bytes = match read_payload(&signals) {
        Ok(bytes) => bytes,
        Err(problem) => return print_reply(&problem.reply(args)),
    };
    let event = match HookEvent::parse(&bytes) {
        Ok(event) => event,
        Err(error) => return print_reply(&Unread::Malformed(Chain(&error).to_string()).reply(args)),
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
    let found = ProcessIdentity::of(i32::try_from(client.pid.0).ok()?)?;
    Some(found).filter(|found| found.start_ticks == client.start_ticks)
}

fn refusal(reason: &str) -> HookReply {
    HookReply::Deny {
        reason: format!("subcell: {reason}"),
        message: None,
    }
}

/// A payload that was not read.
enum Unread {
    /// It is no event: the client's own affair, unless the user wants every call in a cell.
    Malformed(String),
    /// It did not arrive while there was time.
    Late(String),
}

impl Unread {
    fn reply(&self, args: &InterceptArgs) -> HookReply {
        let (Self::Malformed(problem) | Self::Late(problem)) = self;
        complain(problem);
        match self {
            Self::Late(_) => refusal(problem),
            Self::Malformed(_) => pass_or_refuse(args, problem),
        }
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

/// Reads stdin to its end, which the client makes at once after the payload.
fn read_payload(signals: &Signals) -> Result<Vec<u8>, Unread> {
    let deadline = Deadline::after(PAYLOAD_WAIT);
    let mut stdin = std::io::stdin().lock();
    let mut bytes = Vec::new();
    let mut buffer = vec![0_u8; 64 * 1024];
    loop {
        if let Some(signal) = signals.stop() {
            let number = signal.number();
            return Err(Unread::Late(format!(
                "signal {number} came before the payload on stdin"
            )));
        }
        if deadline.is_over() {
            let seconds = PAYLOAD_WAIT.as_secs();
            return Err(Unread::Late(format!(
                "the payload on stdin did not end within {seconds} s"
            )));
        }
        if !signals.wait(Some(std::io::stdin().as_fd()), deadline.remaining()) {
            continue;
        }
        match stdin.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend(buffer.iter().take(count)),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(Unread::Malformed(format!(
                    "the payload on stdin cannot be read: {error}"
                )));
            }
        }
        if bytes.len() > PAYLOAD_LIMIT {
            let limit = PAYLOAD_LIMIT / 1024 / 1024;
            return Err(Unread::Malformed(format!(
                "the payload on stdin is larger than {limit} MiB"
            )));
        }
    }
}

fn complain(problem: &str) {
    // Nowhere is left to report a broken stderr.
    let _ = writeln!(std::io::stderr(), "subcell intercept: {problem}");
}
