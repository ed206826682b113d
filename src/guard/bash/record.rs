//! Launch records (`<key>.run`, one line `pid=<n> run=<key>`): deleting one whose process is gone is the documented way
//! to settle it; one whose process lives may not go.

use std::path::Path;

use super::facts::{Action, Touch};
use super::marks::{glob_matches, is_glob, show, unglob};
use crate::base::bounded_file::{Links, read_bounded};

/// Most records of a folder that are looked at.
const MOST: usize = 512;

/// Tells whether a file is the launch record of a process that lives.
pub trait Records {
    /// Whether the file at this absolute path is one.
    fn is_live(&self, path: &Path) -> bool;
    /// The paths of the files in a folder; empty where it cannot be read.
    fn files_in(&self, folder: &Path) -> Vec<std::path::PathBuf>;
}

/// The files and processes of this machine.
#[derive(Debug, Clone, Copy)]
pub struct LiveRecords;

impl Records for LiveRecords {
    fn is_live(&self, path: &Path) -> bool {
        let Ok(bytes) = read_bounded(path, 4_096, Links::Follow) else {
            return false;
        };
        let Some(pid) = recorded_pid(&bytes) else { return false };
        let Ok(stat) = read_bounded(Path::new(&format!("/proc/{pid}/stat")), 4_096, Links::Follow) else {
            return false;
        };
        // proc(5): the state stands behind the name, which is in brackets and may hold anything.
        let state = stat
            .iter()
            .rposition(|byte| *byte == b')')
            .and_then(|at| stat.get(at + 2));
        !matches!(state, None | Some(b'Z' | b'X'))
    }

    fn files_in(&self, folder: &Path) -> Vec<std::path::PathBuf> {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return Vec::new();
        };
        entries
            .take(MOST)
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .collect()
    }
}

/// The process that a record names, by its grammar: `pid=<n>`, one blank, `run=<key>`, a line end.
fn recorded_pid(bytes: &[u8]) -> Option<u32> {
    let line = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .filter(|line| line.len() < bytes.len())?;
    let rest = line.strip_prefix(b"pid=")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = rest.split_at_checked(digits)?;
    let key = rest.strip_prefix(b" run=").or_else(|| rest.strip_prefix(b"\trun="))?;
    let well_formed = !key.is_empty() && !key.iter().any(u8::is_ascii_whitespace) && number.first() != Some(&b'0');
    std::str::from_utf8(number).ok().filter(|_| well_formed)?.parse().ok()
}

/// Whether a change takes the record of a living process away.
pub(crate) fn takes_live_record(touch: &Touch, records: &dyn Records) -> bool {
    let takes = matches!(
        touch.action,
        Action::Delete | Action::DeleteTree | Action::Move | Action::Write | Action::Shred
    );
    let tree = matches!(touch.action, Action::DeleteTree | Action::Move);
    takes && touch.resolved.iter().any(|path| record_in(path, tree, records))
}

fn record_in(path: &str, tree: bool, records: &dyn Records) -> bool {
    let is_record = |path: &Path| path.extension().is_some_and(|end| end == "run");
    if path.contains(is_glob) {
        let (folder, pattern) = path.rsplit_once('/').unwrap_or(("", path));
        if folder.contains(is_glob) || !pattern.contains(is_glob) {
            return false;
        }
        let name = |path: &Path| {
            path.file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default()
        };
        let files = records.files_in(Path::new(folder));
        return files
            .iter()
            .any(|file| is_record(file) && glob_matches(pattern, &name(file)) && records.is_live(file));
    }
    let shown = show(&unglob(path));
    let path = Path::new(&shown);
    if is_record(path) {
        return records.is_live(path);
    }
    tree && path.components().count() > 2
        && records
            .files_in(path)
            .iter()
            .any(|file| is_record(file) && records.is_live(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_of_a_record_is_kept() {
        assert_eq!(recorded_pid(b"pid=42 run=k\n"), Some(42));
        assert_eq!(recorded_pid(b"pid=42\trun=k\nmore"), Some(42));
        for bad in [
            &b""[..],
            b"pid=42 run=k",
            b"pid=042 run=k\n",
            b"pid=42  run=k\n",
            b"pid=42 run=\n",
            b"pid=0 run=k\n",
            b"pid=4 run=k \n",
        ] {
            assert_eq!(recorded_pid(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn only_a_living_process_makes_a_record_live() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("own.run");
        std::fs::write(&own, format!("pid={} run=own\n", std::process::id())).unwrap();
        let gone = dir.path().join("gone.run");
        // Above the largest pid that Linux gives out.
        std::fs::write(&gone, "pid=4194305 run=gone\n").unwrap();
        assert!(LiveRecords.is_live(&own));
        assert!(!LiveRecords.is_live(&gone));
        assert!(!LiveRecords.is_live(&dir.path().join("none.run")));
        let folder = dir.path().to_str().unwrap();
        let deletes = |path: String, action| {
            let touch = Touch {
                action,
                path: path.clone(),
                resolved: vec![path],
                span: super::super::Span::default(),
                by: "rm".into(),
            };
            takes_live_record(&touch, &LiveRecords)
        };
        let star = super::super::marks::STAR;
        assert!(deletes(format!("{folder}/own.run"), Action::Delete));
        assert!(!deletes(format!("{folder}/gone.run"), Action::Delete));
        assert!(deletes(format!("{folder}/{star}.run"), Action::Delete));
        assert!(!deletes(format!("{folder}/g{star}.run"), Action::Delete));
        assert!(deletes(folder.to_owned(), Action::DeleteTree));
        assert!(!deletes(format!("{folder}/own.run"), Action::Append));
    }
}
