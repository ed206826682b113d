//! Lists of processes, as `ps` prints them and filters narrow them.

use super::super::facts::Run;
use super::super::marks::{END, PROCESS, unglob};
use super::option::has_short;

/// Whether a text is a list of processes, by their names.
pub(super) fn lists_processes(text: &str) -> bool {
    text.starts_with(PROCESS)
}

/// A list of processes after a filter: `grep NAME` leaves those of that name.
pub(super) fn narrowed_processes(run: &Run, list: &str) -> String {
    let greps = matches!(run.verb.as_str(), "grep" | "egrep" | "rg") && !has_short(&run.args, 'v');
    let pattern = run.args.iter().find(|arg| !arg.starts_with('-')).filter(|_| greps);
    match pattern {
        // `[s]ubcell` keeps grep itself out of the list.
        Some(pattern) => format!("{PROCESS}{}{END}", unglob(pattern).replace(['[', ']'], "")),
        None => list.to_owned(),
    }
}
