//! What is remembered from one firing to the next, in the user's state folder: how often a turn's end was refused for one
//! cause, and what a session was told.
//!
//! Nothing of it is needed to decide: where it cannot be kept, a refusal is not counted (the client's own limit, 8 in a
//! row from 2.1.143 on, is left), and a notice comes again.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::base::digest::sha256_hex;
use crate::base::{Links, UnixNanos, read_bounded};

/// Below the state folder.
const FOLDER: &str = "liveness/seen";
/// A file here is a line of at most 100 bytes.
const LIMIT: u64 = 4096;
/// What nobody came back to for so long is forgotten.
const FORGOTTEN: Duration = Duration::from_hours(30 * 24);

/// The memory of one session.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    folder: Option<PathBuf>,
    session: String,
}

impl Memory {
    pub(super) fn new(state_dir: Option<&Path>, session: &str) -> Self {
        Self {
            // Sessions that cannot be told apart are not counted together.
            folder: state_dir.filter(|_| !session.is_empty()).map(|dir| dir.join(FOLDER)),
            session: session.to_owned(),
        }
    }

    /// Counts one more refusal of `turn` (a subagent's id) for `cause`: how many in a row that makes. None where it
    /// cannot be kept.
    pub(super) fn refused(&self, turn: Option<&str>, cause: &str) -> Option<u32> {
        let path = self.file("refused", turn.unwrap_or_default())?;
        let cause = sha256_hex(cause.as_bytes());
        let count = Self::refusals(&path, &cause).saturating_add(1);
        write(&path, &format!("{count} {cause}\n")).ok()?;
        Some(count)
    }

    /// How many refusals in a row there were for `cause`.
    fn refusals(path: &Path, cause: &str) -> u32 {
        let bytes = read_bounded(path, LIMIT, Links::Refuse).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let before = text.trim_end().split_once(' ').filter(|(_, seen)| *seen == cause);
        before.and_then(|(count, _)| count.parse().ok()).unwrap_or_default()
    }

    /// The turn ended with nothing to hold it: the next refusal is a first one.
    pub(super) fn released(&self, turn: Option<&str>) {
        if let Some(path) = self.file("refused", turn.unwrap_or_default()) {
            // As a rule there is none.
            let _ = fs::remove_file(path);
        }
    }

    /// Whether the session has not been told of `matter` yet; from now on it has.
    pub(super) fn first_time(&self, matter: &str) -> bool {
        let Some(path) = self.file("told", matter) else {
            return true;
        };
        let fresh = !path.exists();
        if fresh {
            let _ = write(&path, "told\n");
        }
        fresh
    }

    /// Ids are a client's to choose, so the file has a name of ours.
    fn file(&self, kind: &str, of: &str) -> Option<PathBuf> {
        let name = sha256_hex(format!("{}\0{kind}\0{of}", self.session).as_bytes());
        self.folder
            .as_ref()
            .map(|folder| folder.join(name.get(..32).unwrap_or(&name)))
    }
}

/// Replaces a file whole; a new one is a moment to forget old ones.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let new = !path.exists();
    let mut file = match tempfile::NamedTempFile::new_in(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(folder)?;
            tempfile::NamedTempFile::new_in(folder)?
        }
        other => other?,
    };
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    if new {
        forget(folder, UnixNanos::now());
    }
    Ok(())
}

fn forget(folder: &Path, now: UnixNanos) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(1000) {
        let changed = entry.metadata().ok().and_then(|meta| meta.modified().ok());
        let since = changed.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let age = since.map(|at| Duration::from_nanos(now.as_nanos()).saturating_sub(at));
        if age.is_some_and(|age| age > FORGOTTEN) {
            // Another guard may have been quicker.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_one_turn_for_one_cause_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::new(Some(dir.path()), "s");
        let count = |turn, cause| memory.refused(turn, cause);
        assert_eq!(
            [count(Some("a"), "x"), count(Some("a"), "x"), count(Some("b"), "x")],
            [Some(1), Some(2), Some(1)]
        );
        assert_eq!(
            [count(Some("a"), "y"), count(Some("a"), "y"), count(None, "y")],
            [Some(1), Some(2), Some(1)]
        );
        memory.released(Some("a"));
        assert_eq!([count(Some("a"), "y"), count(Some("b"), "x")], [Some(1), Some(2)]);
        let another = Memory::new(Some(dir.path()), "t");
        assert_eq!(another.refused(Some("b"), "x"), Some(1));
    }

    #[test]
    fn a_session_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let memory = |session| Memory::new(Some(dir.path()), session);
        assert!(memory("s").first_time("scratch"));
        assert!(!memory("s").first_time("scratch"));
        assert!(memory("s").first_time("other") && memory("t").first_time("scratch"));
    }

    #[test]
    fn without_a_folder_nothing_is_counted_and_every_notice_comes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let nameless = Memory::new(Some(dir.path()), "");
        for memory in [Memory::new(None, "s"), Memory::new(Some(&file), "s"), nameless] {
            assert_eq!((memory.refused(None, "x"), memory.refused(None, "x")), (None, None));
            assert!(memory.first_time("m") && memory.first_time("m"));
            memory.released(None);
        }
    }

    #[test]
    fn what_stands_there_and_is_not_ours_counts_for_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::new(Some(dir.path()), "../../s");
        for content in [&b""[..], b"\xff", b"99", b"x y", &[b'7'; 10_000]] {
            let path = memory.file("refused", "../x").unwrap();
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            assert_eq!(memory.refused(Some("../x"), "c"), Some(1));
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_long_past_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("old"), "").unwrap();
        let now = UnixNanos::now();
        forget(dir.path(), now);
        assert!(dir.path().join("old").exists());
        let later = now.as_nanos() + u64::try_from(FORGOTTEN.as_nanos()).unwrap() + 60_000_000_000;
        forget(dir.path(), UnixNanos::from_nanos(later));
        assert!(!dir.path().join("old").exists());
    }
}
