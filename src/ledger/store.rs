//! The folder of records: claiming a call, changing a record, storing a result.
//!
//! Every change goes through [`Store::change`]: lock, read, change, rename. Two writers lose nothing.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::budget::{Budget, Exceeded, Standing};
use super::error::{LedgerError, io_error};
use super::files;
use super::name::RecordName;
use super::record::{FORMAT, Record, ResultFile, State};
use crate::base::digest::sha256_hex;
use crate::base::{Links, read_bounded};

/// A record is some kilobytes; anything above this is not one of ours.
const RECORD_LIMIT: u64 = 4 * 1024 * 1024;
/// How long a hook waits for another one's rename.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// What came of claiming a call.
#[derive(Debug)]
pub enum Claim {
    /// The record is ours, under this name.
    Created(RecordName),
    /// Another hook of the same call (a second settings scope) has it already.
    Joined(RecordName, Box<Record>),
    /// The session's budget is against it; the record says so, where it could be written.
    Refused(Exceeded),
}

/// A folder of records.
#[derive(Clone, Debug)]
pub struct Store {
    cells: PathBuf,
}

impl Store {
    /// Opens the folder `cells`, making it owner-only where it does not exist.
    ///
    /// # Errors
    /// [`LedgerError::Io`] where it cannot be made, is a link, or belongs to another user.
    pub fn open(cells: &Path) -> Result<Self, LedgerError> {
        files::make_private_dir(cells).map_err(io_error("use the folder of records", cells))?;
        Ok(Self {
            cells: cells.to_owned(),
        })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.cells
    }

    /// The path of a record.
    #[must_use]
    pub fn record_path(&self, name: &RecordName) -> PathBuf {
        self.cells.join(format!("{}.json", name.as_str()))
    }

    /// The path of a result.
    #[must_use]
    pub fn result_path(&self, name: &RecordName) -> PathBuf {
        self.cells.join(format!("{}.result", name.as_str()))
    }

    /// Claims the call that `record` is about: creates its record, or joins the one that another hook of the same call
    /// made. A record of another session, of another prompt, or one that cannot be read is never used or replaced.
    ///
    /// # Errors
    /// [`LedgerError::Io`] where the folder cannot be locked or written, or where both names are taken by others.
    pub fn claim(&self, record: &Record) -> Result<Claim, LedgerError> {
        let _lock = self.lock()?;
        self.claim_locked(record)
    }

    /// The same for a cell that `budget` limits: it is checked, and what the cell may cost is put into the record, under
    /// the lock under which the record is made. So no two hooks can spend the same rest.
    ///
    /// # Errors
    /// [`LedgerError`]; also where a record of the folder cannot be read, since what it has cost is not known then.
    pub fn claim_within(&self, record: &mut Record, budget: &Budget) -> Result<Claim, LedgerError> {
        let _lock = self.lock()?;
        let Listing { records, unreadable } = self.list()?;
        if let Some(error) = unreadable.into_iter().next() {
            return Err(error);
        }
        if let Some((name, found)) = records.iter().find(|(_, found)| same_call(found, record)) {
            return Ok(Claim::Joined(name.clone(), Box::new(found.clone())));
        }
        let standing = Standing::of(&record.parent_session, records.iter().map(|(_, record)| record));
        match budget.admit(standing) {
            Ok(limit) => record.asked.cost_limit = limit,
            Err(exceeded) => {
                record.state = State::Refused {
                    reason: exceeded.reason(),
                };
                self.claim_locked(record)?;
                return Ok(Claim::Refused(exceeded));
            }
        }
        self.claim_locked(record)
    }

    fn claim_locked(&self, record: &Record) -> Result<Claim, LedgerError> {
        let names = [
            RecordName::of(&record.tool_use_id),
            RecordName::of_session(&record.tool_use_id, &record.parent_session),
        ];
        for name in names {
            let path = self.record_path(&name);
            match std::fs::symlink_metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.write(&name, record)?;
                    return Ok(Claim::Created(name));
                }
                Err(error) => return Err(io_error("look at the record", &path)(error)),
                Ok(_) => {}
            }
            if let Ok(found) = self.read(&name)
                && same_call(&found, record)
            {
                return Ok(Claim::Joined(name, Box::new(found)));
            }
        }
        let path = self.record_path(&RecordName::of_session(&record.tool_use_id, &record.parent_session));
        Err(io_error("create the record", &path)(
            io::ErrorKind::AlreadyExists.into(),
        ))
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`LedgerError`] where it does not exist, is no record, or is of a newer format.
    pub fn read(&self, name: &RecordName) -> Result<Record, LedgerError> {
        read_record(&self.record_path(name))
    }

    /// The one way in which a record changes: lock, read, change, rename. Gives back the record as it is now.
    ///
    /// # Errors
    /// [`LedgerError`] where it cannot be locked, read or written; it is then as it was.
    pub fn change(&self, name: &RecordName, change: impl FnOnce(&mut Record)) -> Result<Record, LedgerError> {
        let _lock = self.lock()?;
        let mut record = self.read(name)?;
        change(&mut record);
        self.write(name, &record)?;
        Ok(record)
    }

    /// Stores a result's exact bytes and says what a record keeps of them.
    ///
    /// # Errors
    /// [`LedgerError::Io`] where it cannot be written.
    pub fn store_result(&self, name: &RecordName, bytes: &[u8]) -> Result<ResultFile, LedgerError> {
        let path = self.result_path(name);
        files::replace(&path, |file| file.write_all(bytes)).map_err(io_error("write the result", &path))?;
        Ok(ResultFile {
            file: format!("{}.result", name.as_str()),
            bytes: bytes.len() as u64,
            sha256: sha256_hex(bytes),
            utf8: std::str::from_utf8(bytes).is_ok(),
        })
    }

    /// Removes a record and its result: the result first, so that no result is left of which nobody knows.
    ///
    /// # Errors
    /// [`LedgerError::Io`] where one of them cannot be removed.
    pub fn remove(&self, name: &RecordName) -> Result<(), LedgerError> {
        let _lock = self.lock()?;
        for path in [self.result_path(name), self.record_path(name)] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(io_error("remove", &path)(error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Every record of the folder, oldest first, and what of it cannot be read.
    ///
    /// # Errors
    /// [`LedgerError::Io`] where the folder itself cannot be read.
    pub fn list(&self) -> Result<Listing, LedgerError> {
        let mut listing = Listing {
            records: Vec::new(),
            unreadable: Vec::new(),
        };
        let entries = std::fs::read_dir(&self.cells).map_err(io_error("read the folder of records", &self.cells))?;
        for entry in entries {
            let path = entry
                .map_err(io_error("read the folder of records", &self.cells))?
                .path();
            let hidden = path
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if hidden || path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let Some(name) = path.file_stem().and_then(OsStr::to_str).and_then(RecordName::parse) else {
                continue;
            };
            match read_record(&path) {
                Ok(record) => listing.records.push((name, record)),
                Err(error) => listing.unreadable.push(error),
            }
        }
        listing
            .records
            .sort_by(|a, b| (a.1.started_unix_nano, &a.0).cmp(&(b.1.started_unix_nano, &b.0)));
        Ok(listing)
    }

    /// Runs `work` while no other hook can change a record of this folder.
    ///
    /// # Errors
    /// [`LedgerError::Io`] where the lock cannot be had.
    pub fn locked<T>(&self, work: impl FnOnce() -> T) -> Result<T, LedgerError> {
        let _lock = self.lock()?;
        Ok(work())
    }

    fn lock(&self) -> Result<File, LedgerError> {
        let path = self.cells.join(".lock");
        files::lock(&path, LOCK_WAIT).map_err(io_error("lock", &path))
    }

    fn write(&self, name: &RecordName, record: &Record) -> Result<(), LedgerError> {
        let path = self.record_path(name);
        files::replace(&path, |file| {
            let mut text = serde_json::to_vec_pretty(record)?;
            text.push(b'\n');
            file.write_all(&text)
        })
        .map_err(io_error("write the record", &path))
    }
}

/// The records of a folder.
#[derive(Debug)]
pub struct Listing {
    /// Those that can be read, oldest first.
    pub records: Vec<(RecordName, Record)>,
    /// One error for each that cannot.
    pub unreadable: Vec<LedgerError>,
}

fn same_call(found: &Record, ours: &Record) -> bool {
    found.parent_session == ours.parent_session
        && found.tool_use_id == ours.tool_use_id
        && found.asked.prompt_sha256 == ours.asked.prompt_sha256
}

fn read_record(path: &Path) -> Result<Record, LedgerError> {
    #[derive(serde::Deserialize)]
    struct Head {
        format: u32,
    }
    let bytes = read_bounded(path, RECORD_LIMIT, Links::Refuse).map_err(|source| LedgerError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let not_a_record = |source| LedgerError::NotARecord {
        path: path.to_owned(),
        source,
    };
    let head: Head = serde_json::from_slice(&bytes).map_err(not_a_record)?;
    if head.format > FORMAT {
        return Err(LedgerError::Newer {
            path: path.to_owned(),
            format: head.format,
        });
    }
    serde_json::from_slice(&bytes).map_err(not_a_record)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::ledger::testing::running;

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("cells")).unwrap();
        (dir, store)
    }

    #[test]
    fn a_call_is_claimed_once_and_joined_by_a_second_hook() {
        let (_dir, store) = store();
        let record = running("toolu_1", "session-a");
        let Claim::Created(name) = store.claim(&record).unwrap() else {
            panic!("not created")
        };
        assert_eq!(name.as_str(), "toolu_1");
        let Claim::Joined(name, found) = store.claim(&running("toolu_1", "session-a")).unwrap() else {
            panic!("not joined")
        };
        assert_eq!((name.as_str(), &found.cell), ("toolu_1", &record.cell));
    }

    #[test]
    fn a_record_of_another_session_prompt_or_kind_is_neither_used_nor_replaced() {
        let (_dir, store) = store();
        let first = running("toolu_1", "session-a");
        store.claim(&first).unwrap();
        let Claim::Created(name) = store.claim(&running("toolu_1", "session-b")).unwrap() else {
            panic!()
        };
        assert_eq!(name.as_str(), "toolu_1.session-b");
        assert_eq!(store.read(&RecordName::of(&first.tool_use_id)).unwrap(), first);

        let mut other_prompt = running("toolu_1", "session-b");
        other_prompt.asked.prompt_sha256 = "1".repeat(64);
        assert!(store.claim(&other_prompt).is_err());

        std::fs::write(store.folder().join("toolu_2.json"), "{\"format\":1}").unwrap();
        let Claim::Created(name) = store.claim(&running("toolu_2", "s")).unwrap() else {
            panic!()
        };
        assert_eq!(name.as_str(), "toolu_2.s");

        let outside = store.folder().join("../outside");
        std::fs::write(&outside, "untouched").unwrap();
        symlink(&outside, store.folder().join("toolu_3.json")).unwrap();
        let Claim::Created(name) = store.claim(&running("toolu_3", "s")).unwrap() else {
            panic!()
        };
        assert_eq!(name.as_str(), "toolu_3.s");
        assert_eq!(std::fs::read_to_string(outside).unwrap(), "untouched");
    }

    #[test]
    fn a_record_round_trips_and_is_owner_only() {
        let (_dir, store) = store();
        let record = running("toolu_1", "session-a");
        store.claim(&record).unwrap();
        let name = RecordName::of(&record.tool_use_id);
        assert_eq!(store.read(&name).unwrap(), record);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(store.folder()), mode(&store.record_path(&name))), (0o700, 0o600));
        store.store_result(&name, b"x\xff").unwrap();
        assert_eq!(mode(&store.result_path(&name)), 0o600);
    }

    #[test]
    fn a_result_is_stored_to_the_byte() {
        let (_dir, store) = store();
        let name = RecordName::of(&"t".parse().unwrap());
        let stored = store.store_result(&name, b"a\xff\r\n").unwrap();
        assert_eq!((stored.bytes, stored.utf8), (4, false));
        assert_eq!(std::fs::read(store.result_path(&name)).unwrap(), b"a\xff\r\n");
        assert_eq!(stored.sha256, sha256_hex(b"a\xff\r\n"));
    }

    #[test]
    fn changes_of_many_writers_are_all_kept() {
        let (_dir, store) = store();
        let record = running("toolu_1", "session-a");
        store.claim(&record).unwrap();
        let name = RecordName::of(&record.tool_use_id);
        std::thread::scope(|scope| {
            for n in 0..16 {
                let (store, name) = (&store, &name);
                scope.spawn(move || {
                    for k in 0..8 {
                        store
                            .change(name, |record| record.notes.push(format!("{n}-{k}")))
                            .unwrap();
                    }
                });
            }
        });
        assert_eq!(store.read(&name).unwrap().notes.len(), 16 * 8);
    }

    #[test]
    fn a_newer_format_is_named_and_left_alone() {
        let (_dir, store) = store();
        std::fs::write(store.folder().join("toolu_1.json"), "{\"format\":2,\"new\":true}").unwrap();
        let error = store.read(&RecordName::of(&"toolu_1".parse().unwrap())).unwrap_err();
        assert!(error.to_string().contains("format 2"), "{error}");
        let listing = store.list().unwrap();
        assert_eq!((listing.records.len(), listing.unreadable.len()), (0, 1));
    }

    #[test]
    fn a_folder_that_is_a_link_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("real")).unwrap();
        symlink(dir.path().join("real"), dir.path().join("cells")).unwrap();
        assert!(Store::open(&dir.path().join("cells")).is_err());
    }
}
