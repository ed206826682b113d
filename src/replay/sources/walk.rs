//! Lists the files under a path, within bounds.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::base::bounded_file::BoundedReadError;

/// How many folders deep a path is looked into: a run directory holds `iteration-1/transcripts/…`, a project folder
/// `<session>/subagents/workflows/<id>/…`.
const DEPTH: usize = 10;
/// At most this many entries of folders are looked at.
const ENTRIES: usize = 200_000;

/// A path that was given and cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// It does not exist, or cannot be looked at.
    #[error("read {}", .path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is neither a folder nor a file that can be read.
    #[error("read {}", .path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        source: BoundedReadError,
    },
    /// Nothing in what was given is a transcript or a record.
    #[error(
        "there is no transcript in {}; give a session's .jsonl file, its folder, a project folder, or a run's folder",
        .paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    NothingFound {
        /// The paths.
        paths: Vec<PathBuf>,
    },
}

/// A file that was passed over, and why.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SkippedFile {
    /// The file.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// One file found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    /// Where it is.
    pub(super) path: PathBuf,
    /// Its name as it is shown: below the folder that was given, so that the same run gives the same output anywhere.
    pub(super) shown: String,
}

/// Every file under `root`, sorted. Links are not followed.
pub(super) fn files_under(root: &Path, skipped: &mut Vec<SkippedFile>) -> Vec<Found> {
    let mut found = BTreeSet::new();
    let mut folders = vec![(root.to_owned(), 0)];
    let mut entries = 0;
    while let Some((folder, depth)) = folders.pop() {
        let listing = match std::fs::read_dir(&folder) {
            Ok(listing) => listing,
            Err(error) => {
                skipped.push(skip(shown_below(root, &folder), error.to_string()));
                continue;
            }
        };
        for entry in listing.flatten() {
            entries += 1;
            if entries > ENTRIES {
                skipped.push(skip(shown_below(root, &folder), format!("more than {ENTRIES} entries")));
                return found.into_iter().collect();
            }
            let (path, kind) = (entry.path(), entry.file_type());
            match kind {
                Ok(kind) if kind.is_dir() && depth < DEPTH => folders.push((path, depth + 1)),
                Ok(kind) if kind.is_dir() => skipped.push(skip(shown_below(root, &path), "too deep".to_owned())),
                // It may lead out of what was given: a run's folder comes from wherever the run was.
                Ok(kind) if kind.is_symlink() => {
                    skipped.push(skip(
                        shown_below(root, &path),
                        "a link, which is not followed".to_owned(),
                    ));
                }
                Ok(_) => {
                    let shown = shown_below(root, &path);
                    found.insert(Found { path, shown });
                }
                Err(error) => skipped.push(skip(shown_below(root, &path), error.to_string())),
            }
        }
    }
    found.into_iter().collect()
}

pub(super) fn skip(file: String, reason: String) -> SkippedFile {
    SkippedFile { file, reason }
}

fn shown_below(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let below = if below.as_os_str().is_empty() { path } else { below };
    below.to_string_lossy().into_owned()
}
