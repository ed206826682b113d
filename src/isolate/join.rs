//! A second hook of the same call (the hook entry stands in two settings scopes, with arguments that differ): it waits
//! for the cell that the first one runs, and gives the same answer.

use std::time::Duration;

use super::books::Books;
use crate::base::{Deadline, ProcessIdentity, UnixNanos};
use crate::ledger::{End, Ending, Record, RecordName, State};
use crate::process::Signals;

/// How often the record is looked at: a file that changes wakes nobody.
const SLICE: Duration = Duration::from_millis(25);

/// Waits until the record has ended, no longer than `at_most`. What comes back has always ended: a cell whose processes
/// are gone is lost, and one that takes longer than this hook may wait has timed out, for this hook.
#[must_use]
pub(super) fn wait(
    books: &mut Books,
    (name, found): (&RecordName, Record),
    signals: &Signals,
    at_most: Duration,
) -> Record {
    let deadline = Deadline::after(at_most);
    let mut record = found;
    loop {
        match &record.state {
            State::Ended(_) | State::PassedThrough { .. } | State::Refused { .. } => return record,
            State::Running => {}
        }
        if record.is_lost(ProcessIdentity::is_alive) {
            return lose(books, name, record);
        }
        let ending = match signals.stop() {
            Some(signal) => Some(Ending::Interrupted {
                signal: signal.number(),
            }),
            None if deadline.is_over() => {
                let limit_ms = u64::try_from(at_most.as_millis()).unwrap_or(u64::MAX);
                Some(Ending::TimedOut { limit_ms })
            }
            None => None,
        };
        if let Some(ending) = ending {
            // Not written down: the record is the other hook's, and its cell goes on.
            record.state = State::Ended(Box::new(End::bare(ending, UnixNanos::now())));
            return record;
        }
        let _ = signals.wait(None, SLICE.min(deadline.remaining()));
        if let Ok(now) = books.read(name) {
            record = now;
        }
    }
}

/// Marks a cell as lost, unless it ended meanwhile.
fn lose(books: &mut Books, name: &RecordName, mut record: Record) -> Record {
    let end = || State::Ended(Box::new(End::bare(Ending::Lost, UnixNanos::now())));
    record.state = end();
    books.change(Some(name), |now| {
        if now.is_lost(ProcessIdentity::is_alive) {
            now.state = end();
        }
        record = now.clone();
    });
    record
}
