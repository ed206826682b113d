//! `subcell show`: a cell's record and result in a terminal.

use std::path::PathBuf;

use crate::base::chain::Chain;
use crate::config::{LiveProc, Surroundings};
use crate::exit::Exit;
use crate::isolate::show::{self, Found};

/// Shows a cell: its record, how its result was delivered, and the result
///
/// Control characters are shown, not obeyed; the exact bytes are in the result's file. Example: `subcell show toolu_01ABC`
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The call (`tool_use_id`), or the session of parent or cell
    #[arg(value_name = "TOOL_USE_ID|SESSION")]
    query: String,
    /// Look here: a folder of records, a `FULLSEND_OUTPUT_DIR` or a state folder [default: the user's own two]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints what is found.
pub(crate) fn run(args: &ShowArgs) -> Exit {
    let folders = match &args.dir {
        Some(dir) => show::folders_in(dir),
        None => crate::ledger::places::usual_folders(&Surroundings::look_as_command(&LiveProc).believed),
    };
    let Found { cells, troubles } = show::find(&args.query, &folders);
    for trouble in &troubles {
        complain(&Chain(trouble).to_string());
    }
    if cells.is_empty() {
        let places: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        complain(&format!(
            "no record of {:?} in {}; name the folder with --dir",
            args.query,
            places.join(" or ")
        ));
        return Exit::NoInput;
    }
    let shown: Vec<String> = cells.iter().map(show::render).collect();
    super::hook_io::print(&shown.join("\n"))
}

fn complain(problem: &str) {
    super::hook_io::complain("show", problem);
}
