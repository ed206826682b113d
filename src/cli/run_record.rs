//! `subcell run-record`.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::guard_background::profile_of;
use crate::base::Deadline;
use crate::base::chain::Chain;
use crate::config::{Guard, LiveProc, Surroundings};
use crate::exit::Exit;
use crate::guard::liveness::launch::{self, Entry, Key, LaunchError, Order, Output, Place, Started};
use crate::process::Signals;
use crate::process::launch::{detach, gate, let_go_of_outputs};

/// How long the process that keeps a detached command may take to start it.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Runs a long command under a launch record, so that it is seen to run and to end
///
/// The record is written when COMMAND has started and taken away when it has exited; the liveness guard holds a turn
/// that would end before. Example: `subcell run-record --detach -- make test`
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct RunRecordArgs {
    /// Return at once and let the command run on; in a cell it is waited for all the same
    #[arg(long)]
    detach: bool,
    /// The record's name [default: the command's name and a number]
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
    /// The scratch directory [default: that of --knobs, of the installed guard, or of the repository]
    #[arg(long, value_name = "DIR", conflicts_with = "knobs")]
    dir: Option<PathBuf>,
    /// A knob file that names the scratch directory
    #[arg(long, value_name = "FILE")]
    knobs: Option<PathBuf>,
    /// Write the command's output to FILE [default with --detach: KEY.out in the scratch directory]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// List the records and whether their processes run
    #[arg(long, conflicts_with_all = ["detach", "key", "output", "command"])]
    list: bool,
    /// Take the records of processes that have ended away
    #[arg(long, conflicts_with_all = ["detach", "key", "output", "command", "list"])]
    prune: bool,
    /// Keep the command for the process that started this one
    #[arg(long, hide = true)]
    keep: bool,
    /// Become the command once the process PARENT lets go
    #[arg(long, value_name = "PARENT", hide = true)]
    gate: Option<u32>,
    /// The command and its arguments; no shell reads them
    #[arg(last = true, required_unless_present_any = ["list", "prune"])]
    command: Vec<OsString>,
}

/// What went wrong, and how the process ends for it.
struct Failure {
    what: String,
    exit: Exit,
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        let exit = match &error {
            LaunchError::Taken(_) => Exit::Negative,
            LaunchError::Scratch(..)
            | LaunchError::Record(..)
            | LaunchError::Output(..)
            | LaunchError::Start(..)
            | LaunchError::Wait(..)
            | LaunchError::Prepare(_) => Exit::Io,
        };
        Self {
            what: Chain(&error).to_string(),
            exit,
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &RunRecordArgs) -> Exit {
    if let Some(parent) = args.gate {
        return at_gate(parent, &args.command);
    }
    decide(args).unwrap_or_else(|failure| {
        tell(&failure.what);
        failure.exit
    })
}

/// The codes that a shell has for a command that it cannot run.
fn at_gate(parent: u32, command: &[OsString]) -> Exit {
    let error = gate(parent, command);
    tell(&format!(
        "start {}: {error}",
        command.first().cloned().unwrap_or_default().display()
    ));
    Exit::Handed(if error.kind() == ErrorKind::NotFound { 127 } else { 126 })
}

fn tell(what: &str) {
    // Nowhere is left to report a broken stderr.
    let _ = writeln!(io::stderr(), "subcell run-record: {what}");
}

fn decide(args: &RunRecordArgs) -> Result<Exit, Failure> {
    let around = Surroundings::look_as_command(&LiveProc);
    let cwd = std::env::current_dir().ok();
    let place = Place {
        dir: args.dir.clone(),
        knobs: args.knobs.clone(),
    };
    let scratch =
        launch::scratch(&place, &around, cwd.as_deref(), &|| profile_of(&around)).map_err(|what| Failure {
            what,
            exit: Exit::Config,
        })?;
    let io = |what| Failure { what, exit: Exit::Io };
    if args.list {
        return print(&launch::list(&scratch).map_err(io)?);
    }
    if args.prune {
        return print(&launch::prune(&scratch).map_err(io)?);
    }
    let program = args.command.first().cloned().unwrap_or_default();
    if is_missing(&program, around.environment.get("PATH")) {
        return Err(Failure {
            what: format!("start {}: there is no such program", program.display()),
            exit: Exit::Handed(127),
        });
    }
    let key = args
        .key
        .clone()
        .unwrap_or_else(|| Key::of_command(&program, std::process::id()));
    let mut order = Order {
        scratch,
        key,
        command: args.command.clone(),
        output: args.output.clone().map(Output::Named),
    };
    let in_cell = matches!(around.believed.guard(), Guard::Ours { .. });
    if args.detach && in_cell {
        tell("in a cell a command is waited for, since what is left running ends with the cell");
    }
    if args.detach && !in_cell {
        return start_keeper(&order);
    }
    if args.keep {
        order
            .output
            .get_or_insert_with(|| Output::Ours(order.scratch.join(format!("{}.out", order.key))));
        return keep(&order);
    }
    Ok(Exit::Handed(launch::run(&order)?.code()))
}

/// Whether no program is where a start would look for it: said at once, also for a command that is detached.
fn is_missing(program: &OsStr, path: Option<&OsStr>) -> bool {
    let name = Path::new(program);
    if program.as_encoded_bytes().contains(&b'/') {
        return !name.exists();
    }
    let mut folders = path.into_iter().flat_map(std::env::split_paths);
    !folders.any(|folder| folder.join(name).is_file())
}

fn print(entries: &[Entry]) -> Result<Exit, Failure> {
    let lines: String = entries.iter().map(|entry| entry.line() + "\n").collect();
    write_out(&lines)
}

fn write_out(text: &str) -> Result<Exit, Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(Exit::Done),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(error) => Err(Failure {
            what: format!("write to stdout: {error}"),
            exit: Exit::Io,
        }),
    }
}

/// Starts the process that keeps the command, and hands on what it announces.
fn start_keeper(order: &Order) -> Result<Exit, Failure> {
    let mut arguments: Vec<OsString> = ["run-record", "--keep", "--key", order.key.as_str(), "--dir"]
        .map(Into::into)
        .into();
    arguments.push(order.scratch.clone().into());
    if let Some(output) = &order.output {
        arguments.extend(["--output".into(), output.path().into()]);
    }
    arguments.push("--".into());
    arguments.extend(order.command.iter().cloned());
    let prepared = Signals::install().map_err(LaunchError::Prepare)?;
    let announced = detach(&arguments, Deadline::after(START_LIMIT), &prepared).map_err(LaunchError::Prepare)?;
    match announced {
        Some(text) => write_out(&text),
        None => Err(Failure {
            what: "the command was not started; the reason is above, if there is one".to_owned(),
            exit: Exit::Negative,
        }),
    }
}

/// Keeps a detached command to its end.
fn keep(order: &Order) -> Result<Exit, Failure> {
    let ended = launch::keep(order, |started| {
        // Who does not listen any more does not need to know.
        let _ = write_out(&announcement(order, started));
        let _ = let_go_of_outputs();
    })?;
    Ok(Exit::Handed(ended.code()))
}

fn announcement(order: &Order, started: &Started) -> String {
    let output = order.output.as_ref().map_or(Path::new(""), Output::path);
    format!(
        "key: {}\npid: {}\nrecord: {}\noutput: {}\nexit: {} (written when it has exited)\n",
        order.key,
        started.pid,
        started.record.display(),
        output.display(),
        started.exit_file.display(),
    )
}
