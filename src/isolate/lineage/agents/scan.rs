//! Reads the agent files of a folder, with limits on how many and how large.

use std::fs::{DirEntry, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::table::{Found, Origin};
use crate::base::{Links, open_regular};
use crate::protocol::agent_file::{AgentDefinition, AgentFileError};

/// A file larger than this is not read: 4 MiB. The client has no such limit (400 KB tried, 2.1.332).
const FILE_LIMIT: u64 = 4 * 1024 * 1024;

/// How deep folders are followed. The client has no such limit (12 levels tried, 2.1.332).
const DEPTH: usize = 32;

/// How much scanning is left, and what was not read for want of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanBudget {
    /// Entries of folders that may still be looked at.
    pub entries: usize,
    /// Bytes that may still be read.
    pub bytes: u64,
    /// The first file or folder that could not be read: the client may find any definition there.
    pub unread: Option<PathBuf>,
}

impl Default for ScanBudget {
    /// 20 000 entries and 32 MiB.
    fn default() -> Self {
        Self {
            entries: 20_000,
            bytes: 32 * 1024 * 1024,
            unread: None,
        }
    }
}

impl ScanBudget {
    fn pass_over(&mut self, path: &Path) {
        self.unread.get_or_insert_with(|| path.to_owned());
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
    list(folder, &mut Vec::new(), budget, &mut files);
    match order {
        FileOrder::Sorted => files.sort(),
        FileOrder::Listed => {}
    }
    files
        .iter()
        .filter_map(|path| read_definition(path, origin, budget))
        .collect()
}

/// Lists `folder`; `above` are the folders that it was reached through.
fn list(folder: &Path, above: &mut Vec<(u64, u64)>, budget: &mut ScanBudget, files: &mut Vec<PathBuf>) {
    let Ok(metadata) = std::fs::metadata(folder) else {
        return;
    };
    let own = (metadata.dev(), metadata.ino());
    // A link that leads back up shows nothing new.
    if above.contains(&own) {
        return;
    }
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) if above.len() <= DEPTH => entries,
        Ok(_) => return budget.pass_over(folder),
        // The client runs as the same user and cannot read it either.
        Err(_) => return,
    };
    above.push(own);
    for entry in entries.flatten() {
        if budget.entries == 0 {
            budget.pass_over(folder);
            break;
        }
        budget.entries -= 1;
        let path = entry.path();
        if is_folder(&entry) {
            list(&path, above, budget, files);
        } else if path.as_os_str().as_encoded_bytes().ends_with(b".md") {
            files.push(path);
        }
    }
    above.pop();
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
    let definition = match AgentDefinition::from_markdown(&bytes) {
        Ok(definition) => definition,
        Err(AgentFileError::NoFrontMatter | AgentFileError::Missing { .. }) => return None,
        // The client's own reader of YAML may understand what ours does not.
        Err(AgentFileError::FrontMatter(_)) => {
            budget.pass_over(path);
            return None;
        }
    };
    // What our reader took for text may be a tag, an anchor or a block to the client's: no agent has such a name.
    if definition.name.starts_with(['!', '&', '*', '|', '>', '{', '[']) {
        budget.pass_over(path);
    }
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
    let Some(size) = u64::try_from(bytes.len()).ok().filter(|size| *size <= limit) else {
        budget.pass_over(path);
        return None;
    };
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
        // The client reads all of these (2.1.332).
        std::fs::write(folder.join("large.md"), agent("large") + &"x".repeat(400_000)).unwrap();
        std::fs::write(folder.join("latin.md"), [agent("latin").as_bytes(), b"\xff"].concat()).unwrap();
        let far = folder.join("x/y/c/d/e/f/g/h/i/j/k/l");
        std::fs::create_dir_all(&far).unwrap();
        std::fs::write(far.join("far.md"), agent("far")).unwrap();
        let mut budget = ScanBudget::default();
        let found = scan(&folder, Origin::User, FileOrder::Sorted, &mut budget);
        let mut names: Vec<&str> = found.iter().map(|found| found.definition.name.as_str()).collect();
        assert_eq!(names[..3], ["first", "second", "linked"]);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, ["deep", "far", "first", "large", "latin", "linked", "second"]);
        assert!(
            found
                .iter()
                .all(|found| found.changed.is_some() && !found.bytes.is_empty())
        );
    }

    #[test]
    fn what_the_client_may_read_otherwise_is_named() {
        let unread = |text: &str| {
            let root = tempfile::tempdir().unwrap();
            std::fs::write(root.path().join("f.md"), text).unwrap();
            let mut budget = ScanBudget::default();
            let _ = scan(root.path(), Origin::Project, FileOrder::Sorted, &mut budget);
            budget.unread.is_some()
        };
        assert!(unread(&(agent("n") + &"x".repeat(5 * 1024 * 1024))));
        assert!(unread("---\nname: \"open\n---\n"));
        assert!(unread("---\nname: !!binary echo-through\ndescription: d\n---\n"));
        assert!(!unread(&agent("n")));
        assert!(!unread("---\nname: n\n---\n"));
        assert!(!unread("no front matter"));
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
            unread: None,
        };
        assert_eq!(scan(root.path(), Origin::User, FileOrder::Sorted, &mut few).len(), 4);
        assert_eq!(few.unread.as_deref(), Some(root.path()));
        let mut small = ScanBudget {
            entries: 100,
            bytes: 3 * size,
            unread: None,
        };
        assert_eq!(scan(root.path(), Origin::User, FileOrder::Sorted, &mut small).len(), 3);
        assert_eq!(small.bytes, 0);
        assert!(small.unread.is_some());
    }
}
