//! Where a call's record goes, and what is done when it cannot be kept.
//!
//! A ledger that fails never changes a cell's result: the trouble is collected and told beside it.

use std::path::{Path, PathBuf};

use crate::base::chain::Chain;
use crate::ledger::places::{IN_OUTPUT, IN_STATE};
use crate::ledger::record::ResultFile;
use crate::ledger::{Budget, Claim, End, Ending, LedgerError, Record, RecordName, State, Store, Stored, cost_file};
use crate::process::Report;
use crate::telemetry::live;

/// Ends the record `name` of `folder` for a hook that is gone (SIGKILL): the keeper is the only one left to do it.
///
/// What fails here cannot be told to anyone; the record then stays "running" and reads as lost.
pub fn end_orphan(folder: &Path, name: &str, report: &Report) {
    let Some(name) = RecordName::parse(name) else { return };
    let Ok(store) = Store::open(folder) else { return };
    let _ = store.change(&name, |record| {
        if record.state == State::Running {
            record.state = State::Ended(Box::new(End::bare(Ending::Interrupted { signal: 9 }, report.ended)));
        }
    });
    if let Some(output_dir) = folder.ancestors().nth(2).filter(|_| folder.ends_with(IN_OUTPUT)) {
        let _ = cost_file::rebuild(&store, output_dir);
    }
}

/// What to say where there is no place for records.
pub(super) const NO_FOLDER: &str = "no folder for records: neither XDG_STATE_HOME nor HOME is set";

/// The folder of records in `output_dir` (`FULLSEND_OUTPUT_DIR`), else in `state_dir`.
///
/// # Errors
/// What to say where there is neither.
fn folder_of(output_dir: Option<&Path>, state_dir: Option<&Path>) -> Result<PathBuf, String> {
    match (output_dir, state_dir) {
        (Some(dir), _) => Ok(dir.join(IN_OUTPUT)),
        (None, Some(dir)) => Ok(dir.join(IN_STATE)),
        (None, None) => Err(NO_FOLDER.to_owned()),
    }
}

/// The ledger as one hook uses it.
#[derive(Debug)]
pub(super) struct Books {
    store: Option<Store>,
    output_dir: Option<PathBuf>,
    troubles: Vec<String>,
}

/// One call's record in the books.
#[derive(Debug)]
pub(super) enum Entry {
    /// Ours to fill.
    Ours(Option<RecordName>),
    /// Another hook of the same call fills it.
    Theirs(RecordName, Box<Record>),
    /// There is to be no cell, for this reason: the session's budget is against it, or cannot be checked.
    Refused(String),
}

impl Books {
    /// Opens the ledger in `output_dir` (`FULLSEND_OUTPUT_DIR`), else in `state_dir`.
    #[must_use]
    pub(super) fn open(output_dir: Option<PathBuf>, state_dir: Option<&Path>) -> Self {
        let folder = folder_of(output_dir.as_deref(), state_dir);
        let opened = folder.and_then(|folder| Store::open(&folder).map_err(|error| Chain(&error).to_string()));
        let (store, troubles) = match opened {
            Ok(store) => (Some(store), Vec::new()),
            Err(trouble) => (None, vec![trouble]),
        };
        Self {
            store,
            output_dir,
            troubles,
        }
    }

    /// Claims the call of `record`, a cell that `budget` limits; what it may cost is put into the record.
    pub(super) fn claim_within(&mut self, record: &mut Record, budget: &Budget) -> Entry {
        if budget.is_unlimited() {
            return self.claim(record);
        }
        let unchecked = |why: &str| {
            Entry::Refused(format!(
                "subcell: the budget cannot be checked, so no cell is made: {why}. Tell the user."
            ))
        };
        let Some(store) = &self.store else {
            return unchecked(&self.troubles.join("; "));
        };
        match store.claim_within(record, budget) {
            Ok(Claim::Created(name)) => Entry::Ours(Some(name)),
            Ok(Claim::Joined(name, found)) => Entry::Theirs(name, found),
            Ok(Claim::Refused(exceeded)) => Entry::Refused(exceeded.reason()),
            Err(error) => unchecked(&Chain(&error).to_string()),
        }
    }

    /// Claims the call of `record`.
    pub(super) fn claim(&mut self, record: &Record) -> Entry {
        let Some(store) = &self.store else {
            return Entry::Ours(None);
        };
        match store.claim(record) {
            Ok(Claim::Created(name)) => Entry::Ours(Some(name)),
            Ok(Claim::Joined(name, found)) => Entry::Theirs(name, found),
            Ok(Claim::Refused(exceeded)) => Entry::Refused(exceeded.reason()),
            Err(error) => {
                self.trouble(&error);
                Entry::Ours(None)
            }
        }
    }

    /// Changes the record `name`, where there is one. Whether it is on record now.
    pub(super) fn change(&mut self, name: Option<&RecordName>, change: impl FnOnce(&mut Record)) -> bool {
        let (Some(store), Some(name)) = (&self.store, name) else {
            return false;
        };
        match store.change(name, change) {
            Ok(_) => true,
            Err(error) => {
                self.trouble(&error);
                false
            }
        }
    }

    /// Stores a result; `None` where it cannot be.
    pub(super) fn store_result(&mut self, name: Option<&RecordName>, bytes: &[u8]) -> Option<ResultFile> {
        let (store, name) = (self.store.as_ref()?, name?);
        match store.store_result(name, bytes) {
            Ok(file) => Some(file),
            Err(error) => {
                self.trouble(&error);
                None
            }
        }
    }

    /// The bytes of a recorded result; none where the file holds others: another text than the cell's is no answer of it.
    #[must_use]
    pub(super) fn intact(&self, name: &RecordName, recorded: &ResultFile) -> Option<Vec<u8>> {
        match self.store.as_ref()?.stored(name, recorded) {
            Stored::Intact(bytes) => Some(bytes),
            Stored::Changed(_) | Stored::Missing(_) => None,
        }
    }

    /// Reads the record `name` as it is now.
    ///
    /// # Errors
    /// [`LedgerError`], also where the ledger is closed.
    pub(super) fn read(&self, name: &RecordName) -> Result<Record, LedgerError> {
        self.store.as_ref().map_or_else(
            || {
                let source = std::io::ErrorKind::NotFound.into();
                Err(LedgerError::Io {
                    what: "read the record",
                    path: name.as_str().into(),
                    source,
                })
            },
            |store| store.read(name),
        )
    }

    /// Brings `.spawned-cost.json` up to date, where fullsend wants one.
    pub(super) fn sum_costs(&mut self) {
        let (Some(store), Some(output_dir)) = (&self.store, &self.output_dir) else {
            return;
        };
        if let Err(error) = cost_file::rebuild(store, output_dir) {
            self.trouble(&error);
        }
    }

    /// The folder of records, where the ledger is open.
    #[must_use]
    pub(super) fn folder(&self) -> Option<&Path> {
        self.store.as_ref().map(Store::folder)
    }

    /// The path of the record `name`.
    #[must_use]
    pub(super) fn record_path(&self, name: Option<&RecordName>) -> Option<PathBuf> {
        Some(self.store.as_ref()?.record_path(name?))
    }

    /// The path of its result.
    #[must_use]
    pub(super) fn result_path(&self, name: Option<&RecordName>) -> Option<PathBuf> {
        Some(self.store.as_ref()?.result_path(name?))
    }

    /// What went wrong with the ledger, for the user; `None` where nothing did.
    #[must_use]
    pub(super) fn troubles(&self) -> Option<String> {
        (!self.troubles.is_empty())
            .then(|| format!("subcell: the record is incomplete: {}", self.troubles.join("; ")))
    }

    fn trouble(&mut self, error: &LedgerError) {
        let what = Chain(error).to_string();
        live::event(&what);
        self.troubles.push(what);
    }
}
