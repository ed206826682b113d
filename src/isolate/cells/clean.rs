//! Removes old records with their results, and never those of a running cell.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::list::Life;
use crate::base::UnixNanos;
use crate::ledger::{LedgerError, Record, RecordName, Store};

/// A record whose cell ended less than this ago stays, whatever the size: its result may be on its way to the parent.
const FRESH: Duration = Duration::from_hours(1);

/// What stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Records that are younger than this.
    pub younger_than: Duration,
    /// The youngest, as far as they and their results fit into so many bytes together.
    pub bytes: u64,
}

/// What was removed, or would be.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// The records' files, oldest first.
    pub removed: Vec<PathBuf>,
    /// What records and results had in bytes.
    pub bytes: u64,
    /// How many records stay.
    pub kept: usize,
    /// What could not be read or removed.
    pub troubles: Vec<LedgerError>,
}

/// One record as the choice sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Item {
    /// How long ago it ended; none where it runs.
    age: Option<Duration>,
    bytes: u64,
}

/// Cleans a folder of records; with `dry_run` it only looks.
///
/// # Errors
/// [`LedgerError`] where the folder cannot be used; a folder that is not there is clean.
pub fn clean(folder: &Path, keep: Keep, now: UnixNanos, dry_run: bool) -> Result<Cleaned, LedgerError> {
    let mut cleaned = Cleaned::default();
    let Some(store) = Store::existing(folder)? else {
        return Ok(cleaned);
    };
    let listing = store.list()?;
    cleaned.troubles = listing.unreadable;
    let items: Vec<Item> = listing
        .records
        .iter()
        .map(|(name, record)| item(&store, name, record, now))
        .collect();
    let goes = choose(&items, keep);
    for (((name, _), item), goes) in listing.records.iter().zip(&items).zip(goes) {
        if !goes {
            cleaned.kept += 1;
            continue;
        }
        match if dry_run { Ok(()) } else { store.remove(name) } {
            Ok(()) => {
                cleaned.removed.push(store.record_path(name));
                cleaned.bytes += item.bytes;
            }
            Err(error) => cleaned.troubles.push(error),
        }
    }
    Ok(cleaned)
}

fn item(store: &Store, name: &RecordName, record: &Record, now: UnixNanos) -> Item {
    let size = |path: PathBuf| path.symlink_metadata().map_or(0, |meta| meta.len());
    let ended = record.end().map_or(record.started_unix_nano, |end| end.ended_unix_nano);
    Item {
        age: (Life::of(record) != Life::Running).then(|| now.since(ended)),
        bytes: size(store.record_path(name)) + size(store.result_path(name)),
    }
}

/// Which of the records, oldest first, go.
fn choose(items: &[Item], keep: Keep) -> Vec<bool> {
    let mut left: u64 = items.iter().map(|item| item.bytes).sum();
    let mut goes = |item: &Item| {
        let Some(age) = item.age else { return false };
        let goes = age >= keep.younger_than || (left > keep.bytes && age >= FRESH);
        if goes {
            left -= item.bytes;
        }
        goes
    };
    items.iter().map(&mut goes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ProcessIdentity;
    use crate::ledger::testing::running;
    use crate::ledger::{End, Ending, State};

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn age_and_size_decide_and_a_running_cell_stays() {
        let keep = Keep {
            younger_than: DAY * 30,
            bytes: 100,
        };
        let of = |items: &[(Option<u32>, u64)]| {
            let items = items.iter().map(|(hours, bytes)| Item {
                age: hours.map(|hours| Duration::from_hours(1) * hours),
                bytes: *bytes,
            });
            choose(&items.collect::<Vec<_>>(), keep)
        };
        let month = Some(30 * 24);
        assert_eq!(of(&[(month, 1), (Some(30 * 24 - 1), 1)]), [true, false]);
        assert_eq!(of(&[(None, 500), (month, 1)]), [false, true]);
        assert_eq!(of(&[(Some(9), 60), (Some(8), 60), (Some(7), 40)]), [true, false, false]);
        assert_eq!(of(&[(Some(9), 60), (Some(8), 41)]), [true, false]);
        assert_eq!(of(&[(Some(9), 60), (Some(8), 40)]), [false, false]);
        // The last result may not have been handed over yet.
        assert_eq!(of(&[(Some(0), 500)]), [false]);
    }

    #[test]
    fn a_record_goes_with_its_result_and_one_that_runs_stays() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("cells");
        let store = Store::open(&folder).unwrap();
        let session = "11111111-1111-4111-8111-111111111111";
        let mut old = running("toolu_old", session);
        old.state = State::Ended(Box::new(End::bare(Ending::Completed, UnixNanos::from_nanos(1))));
        let mut runs = running("toolu_runs", session);
        runs.hook_process = ProcessIdentity::current();
        for record in [&old, &runs] {
            store.claim(record).unwrap();
        }
        let name = RecordName::of(&old.tool_use_id);
        store.store_result(&name, b"result").unwrap();
        let keep = Keep {
            younger_than: DAY,
            bytes: 0,
        };
        let now = UnixNanos::now();
        let would = clean(&folder, keep, now, true).unwrap();
        assert_eq!((would.removed.len(), would.kept), (1, 1));
        assert!(store.result_path(&name).exists());
        let done = clean(&folder, keep, now, false).unwrap();
        assert_eq!((done.removed.clone(), done.kept), (vec![store.record_path(&name)], 1));
        assert!(done.bytes > 6 && done.bytes == would.bytes);
        assert!(!store.record_path(&name).exists() && !store.result_path(&name).exists());
        assert!(store.record_path(&RecordName::of(&runs.tool_use_id)).exists());
        let none = clean(&dir.path().join("none"), keep, now, false).unwrap();
        assert_eq!(none.kept, 0);
    }
}
