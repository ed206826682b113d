//! A launch record of ours: written whole, taken away when its process has exited.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::key::Key;
use crate::base::{Links, ProcessIdentity, read_bounded};
use crate::guard::liveness::record_line;
use crate::guard::liveness::scratch::{Standing, file_name, standing};

/// A record of ours is two lines.
const OURS_LIMIT: u64 = 4096;

/// A command that was not run under a record.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The scratch directory cannot be used.
    #[error("use the scratch directory {}", .0.display())]
    Scratch(PathBuf, #[source] io::Error),
    /// A record of that key is there and its process runs, or nobody can say whether it does.
    #[error("the record {} is there already; wait for its process, or give another --key", .0.display())]
    Taken(PathBuf),
    /// The record could not be written; the command was ended again.
    #[error("write the record {}; the command was ended again", .0.display())]
    Record(PathBuf, #[source] io::Error),
    /// The file for the command's output could not be made.
    #[error("make the output file {}", .0.display())]
    Output(PathBuf, #[source] io::Error),
    /// The command could not be started.
    #[error("start {0:?}")]
    Start(std::ffi::OsString, #[source] io::Error),
    /// It could not be waited for; its record stays.
    #[error("wait for the command; its record {} stays", .0.display())]
    Wait(PathBuf, #[source] io::Error),
    /// Signals cannot be listened to, or this process cannot leave its session.
    #[error("prepare to wait for the command")]
    Prepare(#[source] io::Error),
}

/// The place of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    path: PathBuf,
    key: Key,
}

impl RunRecord {
    /// Finds a place for the record `key`, in a scratch directory that is made where it is missing. The record of a
    /// process that has ended makes room.
    ///
    /// # Errors
    /// [`LaunchError::Scratch`] or [`LaunchError::Taken`].
    pub fn claim(scratch: &Path, key: &Key) -> Result<Self, LaunchError> {
        fs::create_dir_all(scratch).map_err(|error| LaunchError::Scratch(scratch.to_owned(), error))?;
        let path = scratch.join(file_name(key.as_str().as_ref()));
        match standing(&path) {
            Standing::Dead => {
                // Whoever made it may have been quicker.
                let _ = fs::remove_file(&path);
            }
            Standing::Nothing if path.symlink_metadata().is_err() => {}
            Standing::Live { .. } | Standing::Corrupt | Standing::Unknown | Standing::Nothing => {
                return Err(LaunchError::Taken(path));
            }
        }
        Ok(Self { path, key: key.clone() })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// [`LaunchError::Taken`] where another process was quicker with the key, else [`LaunchError::Record`].
    pub fn write(&self, process: &ProcessIdentity) -> Result<(), LaunchError> {
        let failed = |error: io::Error| LaunchError::Record(self.path.clone(), error);
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        let text = record_line::text(process, self.key.as_str());
        file.write_all(text.as_bytes()).map_err(failed)?;
        match file.persist_noclobber(&self.path) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(LaunchError::Taken(self.path.clone()))
            }
            Err(error) => Err(failed(error.error)),
        }
    }

    /// Takes it away, if it is still ours.
    pub fn remove(&self, process: &ProcessIdentity) {
        let ours = record_line::text(process, self.key.as_str());
        let found = read_bounded(&self.path, OURS_LIMIT, Links::Refuse);
        if found.is_ok_and(|found| found == ours.as_bytes()) {
            // What cannot be taken away names a process that has ended: it holds nobody.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        text.parse().unwrap()
    }

    #[test]
    fn a_record_is_written_whole_seen_by_the_guard_and_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = dir.path().join("not/yet");
        let record = RunRecord::claim(&scratch, &key("k")).unwrap();
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
        let parent = i32::try_from(std::os::unix::process::parent_id()).unwrap();
        let process = ProcessIdentity::of(parent).unwrap();
        record.write(&process).unwrap();
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 1);
        assert_eq!(standing(record.path()), Standing::Live { pid: parent });
        assert!(matches!(
            RunRecord::claim(&scratch, &key("k")),
            Err(LaunchError::Taken(_))
        ));
        assert!(matches!(record.write(&process), Err(LaunchError::Taken(_))));
        record.remove(&process);
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    }

    #[test]
    fn a_dead_record_makes_room_and_nothing_else_does() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        put("dead.run", "pid=2147483646 run=dead\n");
        put("corrupt.run", "x");
        fs::create_dir(dir.path().join("folder.run")).unwrap();
        assert!(RunRecord::claim(dir.path(), &key("dead")).is_ok());
        assert!(RunRecord::claim(dir.path(), &key("corrupt")).is_err());
        assert!(RunRecord::claim(dir.path(), &key("folder")).is_err());
        put("file", "");
        assert!(matches!(
            RunRecord::claim(&dir.path().join("file"), &key("k")),
            Err(LaunchError::Scratch(..))
        ));
    }

    #[test]
    fn a_record_that_somebody_replaced_stays() {
        let dir = tempfile::tempdir().unwrap();
        let record = RunRecord::claim(dir.path(), &key("k")).unwrap();
        let process = ProcessIdentity::current().unwrap();
        record.write(&process).unwrap();
        fs::write(record.path(), "pid=1 run=k\n").unwrap();
        record.remove(&process);
        assert!(record.path().exists());
    }
}
