//! `subcell trace`: a run's trace in a terminal.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use super::replay_show::When;
use crate::base::UnixNanos;
use crate::base::chain::Chain;
use crate::config::{Environment, LiveProc, Surroundings};
use crate::exit::Exit;
use crate::ledger::Record;
use crate::ledger::places::usual_folders;
use crate::process::terminal_columns;
use crate::replay::terminal::Paint;
use crate::trace::gather::{Standing, gather};
use crate::trace::view::{self, Look, Query, RunFile, Shown};
use crate::trace::{Folder, folders};

/// How wide the waterfall is where nobody says: in a pipe, or a terminal that does not tell.
const COLUMNS: usize = 120;

/// Shows the trace of a run as a waterfall, with what every cell cost
///
/// Without RUN it shows the fullsend run in the current folder, else the latest of the user's own. Example: `subcell trace
/// /tmp/fullsend/agent-judge-1-2`
#[derive(Debug, clap::Args)]
pub(crate) struct TraceArgs {
    /// A run's folder, a `FULLSEND_OUTPUT_DIR`, a state folder or a folder of records; or the id of a session, cell, call or
    /// trace
    #[arg(value_name = "RUN")]
    run: Option<PathBuf>,
    /// Show every run that is found, and not the latest only
    #[arg(long)]
    all: bool,
    /// Show the phases of the hook below each cell
    #[arg(long)]
    phases: bool,
    /// Print the spans as one line of OTLP/JSON
    #[arg(long)]
    json: bool,
    /// Colours: on a terminal (unless `NO_COLOR` is set), always, or never
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    color: When,
}

/// Prints what is found.
pub(crate) fn run(args: &TraceArgs) -> Exit {
    let found = Found::look(args);
    found.troubles.iter().for_each(|trouble| complain(trouble));
    let (query, is_all) = (&found.query, args.all || args.json && found.query.is_folder());
    let chosen = match view::choose(found.shown, query, is_all) {
        Ok(chosen) => chosen,
        Err(nothing) => {
            complain(&nothing);
            return Exit::NoInput;
        }
    };
    if chosen.left_out > 0 {
        let runs = if chosen.left_out == 1 { "run" } else { "runs" };
        complain(&format!(
            "{} earlier {runs} not shown; --all shows every one",
            chosen.left_out
        ));
    }
    let text = if args.json {
        let running = chosen.running();
        if running > 0 {
            complain(&format!("{running} still running and left out: a span has an end"));
        }
        json(&chosen)
    } else {
        Ok(chosen.draw(look(args)).into_bytes())
    };
    text.map_or(Exit::Io, |text| super::hook_io::print(&text))
}

fn json(chosen: &view::Chosen) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    crate::replay::inert::write_json(&mut line, &chosen.otlp(), crate::replay::inert::Escape::Terminal)?;
    line.push(b'\n');
    Ok(line)
}

fn look(args: &TraceArgs) -> Look {
    let environment = Environment::of_this_process();
    // https://no-color.org: set and not empty.
    let unwanted = environment.get("NO_COLOR").is_some_and(|value| !value.is_empty());
    let stdout = io::stdout();
    let said = environment.get("COLUMNS").and_then(|text| text.to_str()?.parse().ok());
    Look {
        width: terminal_columns(&stdout).or(said).unwrap_or(COLUMNS),
        colours: args.color.paint(stdout.is_terminal() && !unwanted) == Paint::On,
        phases: args.phases,
    }
}

fn complain(problem: &str) {
    super::hook_io::complain("trace", problem);
}

/// What is where RUN says.
struct Found {
    query: Query,
    shown: Shown,
    troubles: Vec<String>,
}

impl Found {
    fn look(args: &TraceArgs) -> Self {
        let around = Surroundings::look_as_command(&LiveProc);
        let named = args.run.as_deref();
        let cwd = std::env::current_dir().unwrap_or_else(|_| ".".into());
        let usual = || -> Vec<Folder> {
            let folders = usual_folders(&around.believed).into_iter();
            folders.map(Folder::here).collect()
        };
        match named {
            Some(dir) if dir.is_dir() => Self::read(Query::Folder(dir.to_owned()), &folders::in_dir(dir), Some(dir)),
            Some(id) => Self::read(Query::Id(id.to_string_lossy().into_owned()), &usual(), None),
            None => {
                let here = folders::of_post_script(&cwd, None);
                if here.is_empty() && !cwd.join(view::RUN_FILE).exists() {
                    return Self::read(Query::Latest, &usual(), None);
                }
                Self::read(Query::Folder(cwd.clone()), &here, Some(&cwd))
            }
        }
    }

    fn read(query: Query, folders: &[Folder], run: Option<&Path>) -> Self {
        let is_lost = |record: &Record| record.is_lost(crate::base::ProcessIdentity::is_alive);
        let gathered = gather(folders, &is_lost);
        let mut troubles = gathered.broken;
        let mut records = Vec::new();
        for cell in &gathered.cells {
            let best = cell.copies.last().filter(|_| cell.standing != Standing::NoCell);
            let Some((copy, store)) = best.and_then(|copy| Some((copy, gathered.stores.get(&copy.folder)?))) else {
                continue;
            };
            match store.read(&copy.name) {
                Ok(record) => records.push((record, cell.standing == Standing::Runs)),
                Err(error) => troubles.push(Chain(&error).to_string()),
            }
        }
        let file = run.and_then(|dir| match run_file(dir) {
            Ok(file) => file,
            Err(error) => {
                troubles.push(Chain(&error).to_string());
                None
            }
        });
        troubles.extend(file.iter().flat_map(|file| file.broken.clone()));
        Self {
            query,
            shown: Shown::new(records, file, UnixNanos::now()),
            troubles,
        }
    }
}

/// fullsend's file of the run in `dir`, or of the run that the output folder `dir` is of.
fn run_file(dir: &Path) -> Result<Option<RunFile>, view::RunFileError> {
    let above = dir.ends_with("output").then(|| dir.join("../.."));
    match (RunFile::read(dir)?, above) {
        (None, Some(above)) => RunFile::read(&above),
        (file, _) => Ok(file),
    }
}
