//! `subcell ls`, `stop` and `gc`: the cells of this user.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::hook_io::{complain, print};
use crate::base::UnixNanos;
use crate::base::chain::Chain;
use crate::config::{LiveProc, Surroundings};
use crate::exit::Exit;
use crate::isolate::cells::{self, Keep, Life, Row, Stopping};
use crate::isolate::show;
use crate::ledger::{LedgerError, places};

/// A hook that is told to end takes about a second; the grace of a stubborn child comes on top.
const STOP_WAIT: Duration = Duration::from_secs(30);
const MIB: u64 = 1 << 20;

/// Lists the cells, running and ended, with what they cost
///
/// Example: `subcell ls --running`, `subcell ls --json`
#[derive(Debug, clap::Args)]
pub(crate) struct LsArgs {
    /// Only those that run
    #[arg(long)]
    running: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    /// Look here: a folder of records, a `FULLSEND_OUTPUT_DIR` or a state folder [default: your own two]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Ends a running cell with every process of it; the parent gets a failure as the call's result
///
/// Example: `subcell stop toolu_01ABC`
#[derive(Debug, clap::Args)]
pub(crate) struct StopArgs {
    /// The call (`tool_use_id`), the cell, or the cell's session, as `subcell ls` shows them
    id: String,
    /// Look here: a folder of records, a `FULLSEND_OUTPUT_DIR` or a state folder [default: your own two]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Removes old records with their results; those of a running cell stay
///
/// Example: `subcell gc --older-than 7 --max-size 200 --dry-run`
#[derive(Debug, clap::Args)]
pub(crate) struct GcArgs {
    /// Remove what ended so many days ago or longer
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    older_than: u32,
    /// Remove the oldest until all together have at most so many MiB; what ended within the last hour stays
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    max_size: u32,
    /// Print what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Clean here: a folder of records, a `FULLSEND_OUTPUT_DIR` or a state folder [default: your state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Lists.
pub(crate) fn ls(args: &LsArgs) -> Exit {
    let mut rows = rows("ls", args.dir.as_ref());
    rows.retain(|row| !args.running || row.life == Life::Running);
    let now = UnixNanos::now();
    if args.json {
        let rows: Vec<Value> = rows.iter().map(|row| row.json(now)).collect();
        return print(&format!("{:#}\n", Value::Array(rows)));
    }
    print(&cells::render(&rows, now))
}

/// Ends.
pub(crate) fn stop(args: &StopArgs) -> Exit {
    let is_meant = |row: &Row| {
        let record = &row.record;
        let child = record
            .child_session
            .as_ref()
            .is_some_and(|session| session.as_str() == args.id);
        child || record.tool_use_id.as_str() == args.id || record.cell.as_str() == args.id
    };
    let mut meant = rows("stop", args.dir.as_ref());
    meant.retain(is_meant);
    if meant.is_empty() {
        complain(
            "stop",
            &format!(
                "no record of {:?}; `subcell ls` lists them, --dir names another folder",
                args.id
            ),
        );
        return Exit::NoInput;
    }
    let mut told = String::new();
    let mut exit = Exit::Done;
    for row in &meant {
        let id = &row.record.tool_use_id;
        let (said, ended) = match cells::stop(row, STOP_WAIT) {
            Stopping::Ended => (format!("{id} has ended"), true),
            Stopping::WasOver => (format!("{id} does not run: {}", row.word()), true),
            Stopping::Outlived => (format!("{id} still runs after {} s", STOP_WAIT.as_secs()), false),
            Stopping::Failed(error) => (format!("{id} cannot be told to end: {error}"), false),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(told, "{said}");
        if !ended {
            exit = Exit::Negative;
        }
    }
    let printed = print(&told);
    if printed == Exit::Done { exit } else { printed }
}

/// Cleans.
pub(crate) fn gc(args: &GcArgs) -> Exit {
    let folders = match &args.dir {
        Some(dir) => show::folders_in(dir),
        None => places::state_folder(&Surroundings::look_as_command(&LiveProc).believed)
            .into_iter()
            .collect(),
    };
    let keep = Keep {
        younger_than: Duration::from_hours(24) * args.older_than,
        bytes: u64::from(args.max_size) * MIB,
    };
    let mut told = String::new();
    let mut exit = Exit::Done;
    for folder in folders {
        match cells::clean(&folder, keep, UnixNanos::now(), args.dry_run) {
            Ok(cleaned) => {
                tell("gc", &cleaned.troubles);
                let would = if args.dry_run { "would remove" } else { "removed" };
                for path in &cleaned.removed {
                    let _ = writeln!(told, "{would} {}", path.display());
                }
                let (count, kept) = (cleaned.removed.len(), cleaned.kept);
                if count + kept > 0 {
                    let bytes = cleaned.bytes;
                    let _ = writeln!(
                        told,
                        "{}: {would} {count} records, {bytes} bytes; {kept} stay",
                        folder.display()
                    );
                }
            }
            Err(error) => {
                tell("gc", &[error]);
                exit = Exit::Io;
            }
        }
    }
    let printed = print(&told);
    if printed == Exit::Done { exit } else { printed }
}

fn rows(command: &str, dir: Option<&PathBuf>) -> Vec<Row> {
    let folders = match dir {
        Some(dir) => show::folders_in(dir),
        None => places::usual_folders(&Surroundings::look_as_command(&LiveProc).believed),
    };
    let (rows, troubles) = cells::list(&folders);
    tell(command, &troubles);
    rows
}

fn tell(command: &str, troubles: &[LedgerError]) {
    for trouble in troubles {
        complain(command, &Chain(trouble).to_string());
    }
}
