//! Finding what is there, without making anything: for those who come after the hook that wrote it.

use std::io;
use std::path::Path;

use super::record::{Record, ResultFile};
use super::store::{LedgerError, RecordName, Store};
use crate::base::digest::sha256_hex;
use crate::base::{BoundedReadError, Links, SessionId, ToolUseId, read_bounded};

/// What the file of a recorded result holds now.
#[derive(Debug)]
pub enum Stored {
    /// The bytes that were recorded.
    Intact(Vec<u8>),
    /// Other bytes: redacted, as a rule.
    Changed(Vec<u8>),
    /// Nothing that can be read.
    Missing(BoundedReadError),
}

/// Of a result that has grown, so much is read besides: enough to tell that it is another one.
const GROWTH: u64 = 1024 * 1024;

impl Store {
    /// The folder `cells`, where there is one.
    ///
    /// # Errors
    /// [`LedgerError::Io`] where it is a link, or belongs to another user.
    pub fn existing(cells: &Path) -> Result<Option<Self>, LedgerError> {
        match std::fs::symlink_metadata(cells) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(_) | Ok(_) => Self::open(cells).map(Some),
        }
    }

    /// The names of the folder's records, in the order of their text. Unlike [`Store::list`] it reads none of them.
    ///
    /// # Errors
    /// [`LedgerError::Io`] where the folder cannot be read.
    pub fn names(&self) -> Result<Vec<RecordName>, LedgerError> {
        let failed = |source| LedgerError::Io {
            what: "read the folder of records",
            path: self.folder().to_owned(),
            source,
        };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.folder()).map_err(failed)? {
            let file = entry.map_err(failed)?.file_name();
            let stem = file.to_str().and_then(|name| name.strip_suffix(".json"));
            names.extend(stem.and_then(RecordName::parse));
        }
        names.sort();
        Ok(names)
    }

    /// The record of a session's call, under either of the names that it may have.
    ///
    /// # Errors
    /// [`LedgerError`] where no record is found and a file that could be it cannot be read.
    pub fn find(
        &self,
        tool_use: &ToolUseId,
        session: &SessionId,
    ) -> Result<Option<(RecordName, Record)>, LedgerError> {
        let mut unread = None;
        for name in [RecordName::of(tool_use), RecordName::of_session(tool_use, session)] {
            match self.read(&name) {
                Ok(record) if record.parent_session == *session && record.tool_use_id == *tool_use => {
                    return Ok(Some((name, record)));
                }
                Ok(_)
                | Err(LedgerError::Unreadable {
                    source: BoundedReadError::Missing,
                    ..
                }) => {}
                Err(error) => unread = Some(error),
            }
        }
        unread.map_or(Ok(None), Err)
    }

    /// Reads the result of the record `name`, and compares it with what was recorded.
    #[must_use]
    pub fn stored(&self, name: &RecordName, recorded: &ResultFile) -> Stored {
        match read_bounded(
            &self.result_path(name),
            recorded.bytes.saturating_add(GROWTH),
            Links::Refuse,
        ) {
            Ok(bytes) if sha256_hex(&bytes) == recorded.sha256 => Stored::Intact(bytes),
            Ok(bytes) => Stored::Changed(bytes),
            Err(error) => Stored::Missing(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::testing::running;

    #[test]
    fn a_record_is_found_under_both_names_and_a_foreign_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("cells")).unwrap();
        let (first, second) = (running("toolu_1", "session-a"), running("toolu_1", "session-b"));
        store.claim(&first).unwrap();
        store.claim(&second).unwrap();
        let tool_use = "toolu_1".parse().unwrap();
        let find = |session: &str| store.find(&tool_use, &session.parse().unwrap());
        for (session, name, record) in [
            ("session-a", "toolu_1", &first),
            ("session-b", "toolu_1.session-b", &second),
        ] {
            let (found, what) = find(session).unwrap().unwrap();
            assert_eq!((found.as_str(), &what), (name, record));
        }
        assert!(find("session-c").unwrap().is_none());
        std::fs::write(store.folder().join("toolu_1.session-c.json"), "{}").unwrap();
        assert!(find("session-c").is_err());
        assert!(
            store
                .find(&"toolu_2".parse().unwrap(), &first.parent_session)
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn nothing_is_made_where_nothing_is() {
        let dir = tempfile::tempdir().unwrap();
        let cells = dir.path().join("state/cells");
        assert!(Store::existing(&cells).unwrap().is_none());
        assert!(!dir.path().join("state").exists());
        std::fs::write(dir.path().join("state"), "a file in the way").unwrap();
        assert!(Store::existing(&cells).unwrap().is_none());
    }

    #[test]
    fn a_result_that_was_changed_is_not_taken_for_the_recorded_one() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("cells")).unwrap();
        let name = RecordName::of(&"toolu_1".parse().unwrap());
        let recorded = store.store_result(&name, b"the key is sk-1234").unwrap();
        assert!(matches!(store.stored(&name, &recorded), Stored::Intact(bytes) if bytes == b"the key is sk-1234"));
        std::fs::write(store.result_path(&name), "the key is ****").unwrap();
        assert!(matches!(store.stored(&name, &recorded), Stored::Changed(bytes) if bytes == b"the key is ****"));
        std::fs::remove_file(store.result_path(&name)).unwrap();
        assert!(matches!(store.stored(&name, &recorded), Stored::Missing(_)));
    }
}
