//! The scratch directory and its launch records (`<key>.run`).
//!
//! Anybody may have put anything there. A record is a regular file of that name and nothing else: a folder, a pipe, a
//! socket or a link stands for no process, and none of them is waited for or followed.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::record_line::{LaunchRecord, RecordedPid};
use crate::base::{BoundedReadError, Links, ProcessIdentity, open_regular};
use crate::process::{Presence, presence};

/// A record is one or two short lines; what has no newline by then is none.
const RECORD_LIMIT: u64 = 64 * 1024;

/// At most so many records are looked at: more than any host runs. Where there are more, nobody can say what runs.
const RECORDS_LIMIT: usize = 20_000;

/// What a launch record stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A process that runs.
    Live {
        /// Its pid.
        pid: i32,
    },
    /// A process that has ended.
    Dead,
    /// It does not parse, or cannot be read.
    Corrupt,
    /// Nobody can say whether its process runs.
    Unknown,
    /// It is no record: it has vanished, or is no regular file.
    Nothing,
}

/// One name in the scratch directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The file's name without `.run`.
    pub key: OsString,
    /// What it stands for.
    pub standing: Standing,
}

/// Why there is nothing to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoScratch {
    /// There is no such directory.
    Missing,
    /// It cannot be listed.
    Unreadable,
}

impl NoScratch {
    /// The word for it in the log.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
        }
    }
}

/// The keys of the records, sorted.
///
/// # Errors
/// [`NoScratch`] where the directory cannot be listed.
pub fn keys(scratch: &Path) -> Result<Vec<OsString>, NoScratch> {
    let entries = std::fs::read_dir(scratch).map_err(|error| {
        if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
            NoScratch::Missing
        } else {
            NoScratch::Unreadable
        }
    })?;
    let mut keys: Vec<OsString> = entries
        .flatten()
        .filter(|entry| !entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| key_of(&entry.file_name()))
        .take(RECORDS_LIMIT + 1)
        .collect();
    keys.sort_unstable();
    Ok(keys)
}

fn key_of(name: &OsStr) -> Option<OsString> {
    let stem = name.as_bytes().strip_suffix(b".run")?;
    Some(OsStr::from_bytes(stem).to_owned())
}

/// Reads the records under `keys`, and asks what they stand for.
#[must_use]
pub fn read(scratch: &Path, keys: &[OsString]) -> Vec<Record> {
    let records = keys.iter().take(RECORDS_LIMIT).map(|key| Record {
        key: key.clone(),
        standing: standing(&scratch.join(file_name(key))),
    });
    let beyond = keys.get(RECORDS_LIMIT).map(|key| Record {
        key: key.clone(),
        standing: Standing::Unknown,
    });
    records.chain(beyond).collect()
}

/// The file that the record `key` is kept in.
#[must_use]
pub fn file_name(key: &OsStr) -> OsString {
    let mut name = key.to_owned();
    name.push(".run");
    name
}

/// What the file at `path` stands for.
#[must_use]
pub fn standing(path: &Path) -> Standing {
    match read_record(path) {
        Found::Bytes(bytes) => LaunchRecord::parse(&bytes).map_or(Standing::Corrupt, |record| of_process(&record)),
        Found::Unreadable => Standing::Corrupt,
        Found::NoRecord => Standing::Nothing,
    }
}

fn of_process(record: &LaunchRecord) -> Standing {
    let RecordedPid::Possible(pid) = record.pid else {
        return Standing::Dead;
    };
    // A record that names us is about a process that had our pid before.
    if u32::try_from(pid) == Ok(std::process::id()) {
        return Standing::Dead;
    }
    let was = record.identity.as_ref();
    if was.is_some_and(|was| ProcessIdentity::of(pid).is_some_and(|now| now != *was)) {
        return Standing::Dead;
    }
    match presence(pid) {
        Presence::Runs => Standing::Live { pid },
        Presence::Gone | Presence::Ended => Standing::Dead,
        Presence::Unknown => Standing::Unknown,
    }
}

enum Found {
    Bytes(Vec<u8>),
    Unreadable,
    NoRecord,
}

fn read_record(path: &Path) -> Found {
    let file = match open_regular(path, Links::Refuse) {
        Ok(file) => file,
        // A regular file that this user may not read is a record that says nothing.
        Err(BoundedReadError::Unreadable(_)) if path.symlink_metadata().is_ok_and(|meta| meta.is_file()) => {
            return Found::Unreadable;
        }
        Err(_) => return Found::NoRecord,
    };
    let mut bytes = Vec::new();
    match file.take(RECORD_LIMIT).read_to_end(&mut bytes) {
        Ok(_) => Found::Bytes(bytes),
        Err(_) => Found::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::guard::liveness::record_line;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn put(&self, name: &str, content: &[u8]) {
            std::fs::write(self.0.path().join(name), content).unwrap();
        }

        fn read(&self) -> Vec<(String, Standing)> {
            let keys = keys(self.0.path()).unwrap();
            let records = read(self.0.path(), &keys);
            records
                .into_iter()
                .map(|record| (record.key.into_string().unwrap(), record.standing))
                .collect()
        }
    }

    fn parent() -> i32 {
        i32::try_from(std::os::unix::process::parent_id()).unwrap()
    }

    #[test]
    fn records_stand_for_their_processes() {
        let folder = Folder::new();
        folder.put("a.run", b"pid=1 run=a\n");
        folder.put("b.run", b"pid=2147483646 run=b\n");
        folder.put("c.run", b"pid=99999999999 run=c\n");
        folder.put("d.run", b"");
        folder.put("e.run", b"pid=1 run=e");
        folder.put("f.run", format!("pid={} run=f\n", std::process::id()).as_bytes());
        folder.put("g.run", format!("pid={} run=other-name\n", parent()).as_bytes());
        folder.put("h.run", &vec![b'x'; 200_000]);
        folder.put("h.runs", b"garbage");
        folder.put("run", b"garbage");
        let expected = [
            ("a", Standing::Live { pid: 1 }),
            ("b", Standing::Dead),
            ("c", Standing::Dead),
            ("d", Standing::Corrupt),
            ("e", Standing::Corrupt),
            ("f", Standing::Dead),
            ("g", Standing::Live { pid: parent() }),
            ("h", Standing::Corrupt),
        ];
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(key, standing)| (key.to_owned(), standing))
            .collect();
        assert_eq!(folder.read(), expected);
    }

    #[test]
    fn a_pid_that_was_used_again_is_not_the_recorded_process() {
        let folder = Folder::new();
        let now = ProcessIdentity::of(parent()).unwrap();
        let earlier = ProcessIdentity {
            start_ticks: now.start_ticks + 1,
            ..now.clone()
        };
        let last_boot = ProcessIdentity {
            boot_id: "another".to_owned(),
            ..now.clone()
        };
        for (key, process) in [("a", &now), ("b", &earlier), ("c", &last_boot)] {
            folder.put(&format!("{key}.run"), record_line::text(process, key).as_bytes());
        }
        let standings: Vec<_> = folder.read().into_iter().map(|(_, standing)| standing).collect();
        assert_eq!(
            standings,
            [Standing::Live { pid: parent() }, Standing::Dead, Standing::Dead]
        );
    }

    #[test]
    fn pipes_sockets_folders_and_links_stand_for_nothing_and_are_not_waited_for() {
        let folder = Folder::new();
        let at = |name: &str| folder.0.path().join(name);
        folder.put("real", b"pid=1 run=real\n");
        symlink(at("real"), at("link.run")).unwrap();
        symlink("/nowhere", at("dangling.run")).unwrap();
        symlink("/dev/zero", at("device.run")).unwrap();
        symlink(at("ring.run"), at("ring.run")).unwrap();
        std::fs::create_dir(at("folder.run")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo.run"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = UnixListener::bind(at("socket.run")).unwrap();
        let read = folder.read();
        assert!(
            read.iter().all(|(_, standing)| *standing == Standing::Nothing),
            "{read:?}"
        );
        // The folder is no record at all.
        assert_eq!(read.len(), 6, "{read:?}");
        assert_eq!(standing(&at("vanished.run")), Standing::Nothing);
    }

    #[test]
    fn a_directory_that_is_not_there_is_told_from_one_that_cannot_be_read() {
        let folder = Folder::new();
        folder.put("file", b"");
        assert_eq!(keys(&folder.0.path().join("none")), Err(NoScratch::Missing));
        assert_eq!(keys(&folder.0.path().join("file")), Err(NoScratch::Missing));
        assert_eq!(keys(&folder.0.path().join("x".repeat(300))), Err(NoScratch::Unreadable));
        assert_eq!(folder.read(), []);
    }

    #[test]
    fn more_records_than_can_be_read_leave_the_question_open() {
        let folder = Folder::new();
        let keys: Vec<OsString> = (0..=RECORDS_LIMIT)
            .map(|number| format!("{number:06}").into())
            .collect();
        let records = read(folder.0.path(), &keys);
        assert_eq!(records.len(), RECORDS_LIMIT + 1);
        assert_eq!(records.last().map(|record| record.standing), Some(Standing::Unknown));
    }
}
