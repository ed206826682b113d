//! Reads the agent files of a folder, with limits on how many and how large.

use std::fs::{DirEntry, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::table::{Found, Origin};
use crate::base::{Links, open_regular};
use crate::protocol::agent_file::AgentDefinition;

/// A file larger than this defines no agent here: 256 KiB.
const FILE_LIMIT: u64 = 256 * 1024;

/// How deep folders are followed; links to folders may make a circle.
const DEPTH: usize = 8;

/// How much scanning is left. One budget serves all folders of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanBudget {
    /// Entries of folders that may still be looked at.
    pub entries: usize,
    /// Bytes that may still be read.
    pub bytes: u64,
}

impl Default for ScanBudget {
    /// 20 000 entries and 32 MiB.
    fn default() -> Self {
        Self {
            entries: 20_000,
            bytes: 32 * 1024 * 1024,
        }
    }
}

/// In which order the files of a folder are read; of two definitions with one name the later counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOrder {
    /// By path.
    Sorted,
    /// As the folder lists them.
    Listed,
}

/// The definitions in `folder` and its sub-folders. Links are followed; only names that end in `.md`, in lower case,
/// count (2.1.156, 2.1.332).
#[must_use]
pub fn scan(folder: &Path, origin: Origin, order: FileOrder, budget: &mut ScanBudget) -> Vec<Found> {
    let mut files = Vec::new();
    list(folder, DEPTH, budget, &mut files);
    match order {
        FileOrder::Sorted => files.sort(),
        FileOrder::Listed => {}
    }
    files
        .iter()
        .filter_map(|path| read_definition(path, origin, budget))
        .collect()
}

fn list(folder: &Path, depth: usize, budget: &mut ScanBudget, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if budget.entries == 0 {
            return;
        }
        budget.entries -= 1;
        let path = entry.path();
        if is_folder(&entry) {
            if depth > 0 {
                list(&path, depth - 1, budget, files);
            }
        } else if path.as_os_str().as_encoded_bytes().ends_with(b".md") {
            files.push(path);
        }
    }
}

fn is_folder(entry: &DirEntry) -> bool {
    entry
        .file_type()
        .is_ok_and(|kind| kind.is_dir() || (kind.is_symlink() && entry.path().is_dir()))
}

/// The definition in one file.
#[must_use]
pub fn read_definition(path: &Path, origin: Origin, budget: &mut ScanBudget) -> Option<Found> {
    let (bytes, changed) = read_file(path, budget)?;
    let definition = AgentDefinition::from_markdown(&bytes).ok()?;
    Some(Found {
        definition,
        origin,
        path: Some(path.to_owned()),
        changed,
        bytes,
    })
}

/// The bytes of a file and the time of its last change.
pub(super) fn read_file(path: &Path, budget: &mut ScanBudget) -> Option<(Vec<u8>, Option<SystemTime>)> {
    let limit = FILE_LIMIT.min(budget.bytes);
    let file = open_regular(path, Links::Follow).ok()?;
    let changed = file.metadata().ok().and_then(|metadata| changed(&metadata));
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).ok()?;
    let size = u64::try_from(bytes.len()).ok().filter(|size| *size <= limit)?;
    budget.bytes -= size;
    Some((bytes, changed))
}

fn changed(metadata: &Metadata) -> Option<SystemTime> {
    let seconds = u64::try_from(metadata.ctime()).ok()?;
    let nanos = u32::try_from(metadata.ctime_nsec()).ok()?;
    UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str) -> String {
        format!("---\nname: {name}\ndescription: d\n---\n")
    }

    #[test]
    fn sub_folders_and_links_are_followed_and_others_files_are_not() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("agents");
        std::fs::create_dir_all(folder.join("x/y")).unwrap();
        for (path, name) in [
            ("b.md", "second"),
            ("a.md", "first"),
            ("x/y/deep.md", "deep"),
            ("no.MD", "upper"),
            ("t.txt", "text"),
        ] {
            std::fs::write(folder.join(path), agent(name)).unwrap();
        }
        std::fs::write(root.path().join("elsewhere"), agent("linked")).unwrap();
        std::os::unix::fs::symlink(root.path().join("elsewhere"), folder.join("c.md")).unwrap();
        std::os::unix::fs::symlink(&folder, folder.join("x/circle")).unwrap();
        std::fs::write(folder.join("broken.md"), "no front matter").unwrap();
        std::fs::write(folder.join("large.md"), agent("large") + &"x".repeat(300_000)).unwrap();
        let mut budget = ScanBudget::default();
        let found = scan(&folder, Origin::User, FileOrder::Sorted, &mut budget);
        let mut names: Vec<&str> = found.iter().map(|found| found.definition.name.as_str()).collect();
        assert_eq!(names[..3], ["first", "second", "linked"]);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, ["deep", "first", "linked", "second"]);
        assert!(
            found
                .iter()
                .all(|found| found.changed.is_some() && !found.bytes.is_empty())
        );
    }

    #[test]
    fn files_come_sorted_or_as_listed() {
        let root = tempfile::tempdir().unwrap();
        for name in ["p", "q", "r", "s", "t", "one", "two"] {
            std::fs::write(root.path().join(format!("{name}.md")), agent(name)).unwrap();
        }
        let names = |order| -> Vec<String> {
            let found = scan(root.path(), Origin::User, order, &mut ScanBudget::default());
            found.into_iter().map(|found| found.definition.name).collect()
        };
        assert_eq!(names(FileOrder::Sorted), ["one", "p", "q", "r", "s", "t", "two"]);
        let listed = std::fs::read_dir(root.path()).unwrap().flatten();
        let listed: Vec<String> = listed.map(|entry| entry.file_name().into_string().unwrap()).collect();
        let expected: Vec<&str> = listed.iter().map(|name| name.trim_end_matches(".md")).collect();
        assert_eq!(names(FileOrder::Listed), expected);
    }

    #[test]
    fn the_budget_ends_a_scan() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..10 {
            std::fs::write(root.path().join(format!("{number}.md")), agent("n")).unwrap();
        }
        let size = agent("n").len() as u64;
        let mut few = ScanBudget {
            entries: 4,
            bytes: 1000,
        };
        assert_eq!(scan(root.path(), Origin::User, FileOrder::Sorted, &mut few).len(), 4);
        let mut small = ScanBudget {
            entries: 100,
            bytes: 3 * size,
        };
        assert_eq!(scan(root.path(), Origin::User, FileOrder::Sorted, &mut small).len(), 3);
        assert_eq!(small.bytes, 0);
    }
}
