//! The cells of a run, each once: fullsend hands an earlier iteration's records out again with the next one's.

use std::collections::BTreeMap;

use super::folders::{Folder, Home};
use crate::base::CellId;
use crate::base::chain::Chain;
use crate::ledger::record::ExportState;
use crate::ledger::{LedgerError, Record, RecordName, State, Store};

/// One copy of a cell's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The folder's place in the list of folders.
    pub folder: usize,
    /// The record's name in it.
    pub name: RecordName,
    has_ended: bool,
    is_sent: bool,
}

/// What is to be done with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has ended, or is lost, and waits to be sent.
    Waits,
    /// It was sent.
    Sent,
    /// It still runs.
    Runs,
    /// There was no cell: the call passed through or was refused.
    NoCell,
}

/// A cell, with every copy of its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The copies; the best is the last.
    pub copies: Vec<Copy>,
    /// What is to be done with it.
    pub standing: Standing,
}

/// What was found. Records themselves are not kept: hundreds of them would all be in memory at once.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The folders that could be opened, by their place in the list.
    pub stores: BTreeMap<usize, Store>,
    /// The cells, in the order in which they began.
    pub cells: Vec<Cell>,
    /// What could not be read, each told in full.
    pub broken: Vec<String>,
}

/// Reads the records of `folders` one after the other; `is_lost` tells whether the processes of a record that says
/// "running" are gone.
#[must_use]
pub fn gather(folders: &[Folder], is_lost: &dyn Fn(&Record) -> bool) -> Gathered {
    let mut gathered = Gathered::default();
    let mut cells: BTreeMap<(u64, String), Cell> = BTreeMap::new();
    for (at, folder) in folders.iter().enumerate() {
        let names = match open(folder) {
            Ok(None) => continue,
            Ok(Some((store, names))) => {
                gathered.stores.insert(at, store);
                names
            }
            Err(error) => {
                gathered.broken.push(Chain(&error).to_string());
                continue;
            }
        };
        let Some(store) = gathered.stores.get(&at) else {
            continue;
        };
        for name in names {
            match store.read(&name) {
                Ok(record) => take(
                    &mut cells,
                    &record,
                    (at, name),
                    folder.home == Home::Extracted || is_lost(&record),
                ),
                Err(error) => gathered.broken.push(Chain(&error).to_string()),
            }
        }
    }
    gathered.cells = cells.into_values().collect();
    gathered
}

fn open(folder: &Folder) -> Result<Option<(Store, Vec<RecordName>)>, LedgerError> {
    let Some(store) = Store::existing(&folder.cells)? else {
        return Ok(None);
    };
    let names = store.names()?;
    Ok(Some((store, names)))
}

fn take(
    cells: &mut BTreeMap<(u64, String), Cell>,
    record: &Record,
    (folder, name): (usize, RecordName),
    is_lost: bool,
) {
    let cell = cells.entry(key(record)).or_insert(Cell {
        copies: Vec::new(),
        standing: Standing::NoCell,
    });
    let (has_ended, can_be_sent) = match &record.state {
        State::Ended(_) => (true, true),
        State::Running => (false, is_lost),
        State::PassedThrough { .. } | State::Refused { .. } => (true, false),
    };
    let is_sent = record.export == ExportState::Sent;
    let copy = Copy {
        folder,
        name,
        has_ended,
        is_sent,
    };
    // A later copy knows more, unless it was taken before the end of a cell that an earlier one has: the last is the best.
    let is_best = cell.copies.last().is_none_or(|best| has_ended || !best.has_ended);
    let at = if is_best { cell.copies.len() } else { 0 };
    cell.copies.insert(at, copy);
    if is_best {
        cell.standing = if record.trace.is_none() || (has_ended && !can_be_sent) {
            Standing::NoCell
        } else if can_be_sent {
            Standing::Waits
        } else {
            Standing::Runs
        };
    }
    // What was sent of a cell that was taken for lost says less than its end: that is sent then, under the same ids.
    let best_has_ended = cell.copies.last().is_some_and(|best| best.has_ended);
    let is_told = |copy: &Copy| copy.is_sent && copy.has_ended == best_has_ended;
    if cell.standing == Standing::Waits && cell.copies.iter().any(is_told) {
        cell.standing = Standing::Sent;
    }
}

/// Cells in the order of their begin, and each only once.
fn key(record: &Record) -> (u64, String) {
    (
        record.started_unix_nano.as_nanos(),
        CellId::as_str(&record.cell).to_owned(),
    )
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
