//! Where a run's records are: a state folder, an output folder, or the folder of a fullsend run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::ledger::places::{IN_OUTPUT, IN_STATE};

/// Whether the processes of a folder's cells can be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// They ran on this machine, and may still run.
    Here,
    /// They ran in a sandbox that is gone: fullsend copies its output when the iteration is over. What such a record says
    /// to be running is lost.
    Extracted,
}

/// A folder of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The folder.
    pub cells: PathBuf,
    /// Whose processes its records name.
    pub home: Home,
}

impl Folder {
    /// The folder of records of this machine's own cells.
    #[must_use]
    pub const fn here(cells: PathBuf) -> Self {
        Self {
            cells,
            home: Home::Here,
        }
    }
}

/// The folders of records in `dir`, which somebody names: a fullsend run's, an output or state folder, or a folder of
/// records itself.
#[must_use]
pub fn in_dir(dir: &Path) -> Vec<Folder> {
    let run = of_run(dir);
    if !run.is_empty() {
        return run;
    }
    if is_extracted(dir) {
        return extracted(dir).into_iter().collect();
    }
    [dir.join(IN_OUTPUT), dir.join(IN_STATE), dir.to_owned()]
        .into_iter()
        .filter(|cells| cells.is_dir())
        .map(Folder::here)
        .take(1)
        .collect()
}

/// The folders of records of the fullsend run whose post script runs in `cwd`; `validated` is its
/// `FULLSEND_VALIDATED_ITERATION_DIR`. Every iteration's cells were paid for, so all are taken, not the validated one's only.
///
/// A run with a relative `--output-dir` gives a relative variable, which is relative to fullsend's own folder, while the post
/// script runs in the run's (v0.33 to v0.36; later absolute). Its last two parts, `iteration-N/output`, hold for both.
#[must_use]
pub fn of_post_script(cwd: &Path, validated: Option<&Path>) -> Vec<Folder> {
    let named = validated.into_iter().flat_map(|named| {
        let parts: Vec<_> = named.iter().collect();
        let tail: PathBuf = parts.iter().skip(parts.len().saturating_sub(2)).collect();
        [cwd.join(named), cwd.join(tail)]
    });
    let runs = named.filter_map(|output| Some(output.parent()?.parent()?.to_owned()));
    let mut seen = BTreeSet::new();
    std::iter::once(cwd.to_owned())
        .chain(runs)
        .filter(|run| seen.insert(run.canonicalize().unwrap_or_else(|_| run.clone())))
        .flat_map(|run| of_run(&run))
        .collect()
}

/// The iterations' folders of records below `run`, in the order in which they ran.
fn of_run(run: &Path) -> Vec<Folder> {
    let entries = std::fs::read_dir(run).into_iter().flatten().flatten();
    let mut iterations: Vec<(u64, PathBuf)> = entries
        .filter_map(|entry| Some((iteration(entry.file_name().to_str()?)?, entry.path())))
        .collect();
    iterations.sort();
    iterations
        .into_iter()
        .filter_map(|(_, path)| extracted(&path.join("output")))
        .collect()
}

fn iteration(name: &str) -> Option<u64> {
    name.strip_prefix("iteration-")?.parse().ok()
}

fn is_extracted(output: &Path) -> bool {
    let above = output.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    output.ends_with("output") && above.and_then(iteration).is_some()
}

fn extracted(output: &Path) -> Option<Folder> {
    let cells = output.join(IN_OUTPUT);
    cells.is_dir().then_some(Folder {
        cells,
        home: Home::Extracted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for path in paths {
            std::fs::create_dir_all(dir.path().join(path)).unwrap();
        }
        dir
    }

    fn below(dir: &Path, folders: &[Folder]) -> Vec<(String, Home)> {
        let relative = |folder: &Folder| folder.cells.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
        folders.iter().map(|folder| (relative(folder), folder.home)).collect()
    }

    #[test]
    fn a_run_gives_its_iterations_in_number_order() {
        let dir = tree(&[
            "iteration-10/output/.subcell/cells",
            "iteration-2/output/.subcell/cells",
            "iteration-3/output",
            "iteration-x/output/.subcell/cells",
            "logs",
        ]);
        let expected = [
            ("iteration-2/output/.subcell/cells".to_owned(), Home::Extracted),
            ("iteration-10/output/.subcell/cells".to_owned(), Home::Extracted),
        ];
        assert_eq!(below(dir.path(), &in_dir(dir.path())), expected);
        assert_eq!(below(dir.path(), &of_post_script(dir.path(), None)), expected);
    }

    #[test]
    fn the_validated_iteration_is_found_absolute_and_relative_to_another_folder() {
        let dir = tree(&["out/agent-x/iteration-1/output/.subcell/cells"]);
        let run = dir.path().join("out/agent-x");
        let expected = [(
            "out/agent-x/iteration-1/output/.subcell/cells".to_owned(),
            Home::Extracted,
        )];
        let absolute = run.join("iteration-1/output");
        for (cwd, validated) in [
            (run.as_path(), absolute.as_path()),
            (dir.path(), absolute.as_path()),
            (run.as_path(), Path::new("out/agent-x/iteration-1/output")),
            (dir.path(), Path::new("out/agent-x/iteration-1/output")),
            (run.as_path(), Path::new("elsewhere/iteration-9/output")),
            (run.as_path(), Path::new("")),
        ] {
            let found = of_post_script(cwd, Some(validated));
            assert_eq!(below(dir.path(), &found), expected, "{cwd:?} {validated:?}");
        }
    }

    #[test]
    fn state_and_output_folders_and_one_of_records_are_all_taken() {
        let dir = tree(&[
            "state/cells",
            "out/.subcell/cells",
            "plain",
            "run/iteration-1/output/.subcell/cells",
        ]);
        for (named, cells, home) in [
            ("state", "state/cells", Home::Here),
            ("out", "out/.subcell/cells", Home::Here),
            ("plain", "plain", Home::Here),
            (
                "run/iteration-1/output",
                "run/iteration-1/output/.subcell/cells",
                Home::Extracted,
            ),
        ] {
            let found = in_dir(&dir.path().join(named));
            assert_eq!(below(dir.path(), &found), [(cells.to_owned(), home)], "{named}");
        }
        assert!(in_dir(&dir.path().join("nothing")).is_empty());
        assert!(of_post_script(&dir.path().join("state"), None).is_empty());
    }
}
