//! How many cells run at once on this host: one lock file a slot, held for the life of a cell and freed by the system
//! however its hook ends.
//!
//! Waiting hooks stand behind one lock, `queue`. Its holder alone looks at the slots, so that hooks that start together
//! do not mistake one another's looking for running; the others ask for the lock the more often the longer they wait.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use super::memory::{self, PER_CELL};
use super::signals::Signals;
use super::slot_folder::{SlotError, SlotFile, SlotFolder};
use crate::base::{Deadline, UnixNanos};

// A cell that is younger may not have taken its memory yet.
const SETTLED: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(20);

/// The slots of this host, as one user sees them.
#[derive(Clone, Debug)]
pub struct Slots {
    folder: PathBuf,
    most: usize,
    available: fn() -> Option<u64>,
}

/// A slot that is held until this is dropped.
#[derive(Debug)]
pub struct Slot {
    // Its lock is the slot.
    _file: File,
    number: usize,
    waited: Duration,
}

impl Slot {
    /// Which slot it is, from 0.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// How long it was waited for.
    #[must_use]
    pub const fn waited(&self) -> Duration {
        self.waited
    }
}

impl Slots {
    /// The slots in `folder`, which is made for its owner alone where it is missing; at most `most` of them (at least
    /// one).
    #[must_use]
    pub fn new(folder: PathBuf, most: usize) -> Self {
        Self {
            folder,
            most: most.max(1),
            available: memory::available,
        }
    }

    /// The usual number: 8, or the processors where they are more.
    #[must_use]
    pub fn usual() -> usize {
        available_parallelism().map_or(8, |count| count.get().max(8))
    }

    /// Waits for a slot, at most for `limit`.
    ///
    /// # Errors
    /// [`SlotError`].
    pub fn acquire(&self, limit: Duration, signals: &Signals) -> Result<Slot, SlotError> {
        let wait = Wait {
            since: Instant::now(),
            limit,
            deadline: Deadline::after(limit),
            signals,
        };
        let folder = SlotFolder::open_or_make(&self.folder)?;
        let _turn = take_turn(&folder, &wait)?;
        loop {
            if let Some(SlotFile { number, file }) = self.look(&folder)? {
                return Ok(Slot {
                    _file: file,
                    number,
                    waited: wait.since.elapsed(),
                });
            }
            wait.pause(LOOK)?;
        }
    }

    /// Takes a free slot if the host has room for one more cell.
    fn look(&self, folder: &SlotFolder) -> Result<Option<SlotFile>, SlotError> {
        let slots = folder.slots()?;
        let next = (0..slots.len()).find(|n| slots.iter().all(|slot| slot.number != *n));
        let next = next.unwrap_or(slots.len());
        let mut taken = Taken::default();
        let mut free = None;
        for slot in slots {
            if slot.try_lock(folder)? {
                free = free.or(Some(slot));
            } else {
                taken.count(&slot.file);
            }
        }
        if !taken.leave_room(self.most, self.available) {
            return Ok(None);
        }
        let slot = match free {
            Some(slot) => slot,
            None => folder.make_slot(next)?,
        };
        // Nobody else locks a slot meanwhile but a hook whose queue file was taken away.
        Ok(if slot.try_lock(folder)? {
            slot.touch(folder).map(Some)?
        } else {
            None
        })
    }
}

fn take_turn(folder: &SlotFolder, wait: &Wait<'_>) -> Result<File, SlotError> {
    let queue = folder.queue()?;
    let mut tries = 0_u32;
    while !folder.try_lock(&queue)? {
        wait.pause(interval(tries, wait.since.elapsed()))?;
        tries = tries.saturating_add(1);
    }
    Ok(queue)
}

/// The time to the next try for the queue: short at first, for hooks that start together; then the shorter the longer
/// one has waited, so that the oldest most likely comes next.
fn interval(tries: u32, waited: Duration) -> Duration {
    if tries < 8 {
        return Duration::from_millis(1);
    }
    let (slowest, fastest) = (Duration::from_millis(40), Duration::from_millis(5));
    slowest.saturating_sub(waited / 250).max(fastest)
}

struct Wait<'a> {
    since: Instant,
    limit: Duration,
    deadline: Deadline,
    signals: &'a Signals,
}

impl Wait<'_> {
    fn pause(&self, at_most: Duration) -> Result<(), SlotError> {
        if let Some(signal) = self.signals.stop() {
            return Err(SlotError::Interrupted { signal });
        }
        if self.deadline.is_over() {
            return Err(SlotError::NotInTime {
                waited: self.since.elapsed(),
                limit: self.limit,
            });
        }
        let _ = self.signals.wait(None, self.deadline.remaining().min(at_most));
        Ok(())
    }
}

/// The slots that are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Taken {
    running: usize,
    /// Those of them whose memory shows in what is available.
    settled: usize,
}

impl Taken {
    fn count(&mut self, file: &File) {
        self.running += 1;
        let age = file.metadata().map_or(Duration::ZERO, |stat| {
            let nanos = i128::from(stat.mtime()) * 1_000_000_000 + i128::from(stat.mtime_nsec());
            UnixNanos::now().since(UnixNanos::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
        });
        self.settled += usize::from(age > SETTLED);
    }

    /// Whether one more may run: a first one always may.
    fn leave_room(self, most: usize, available: impl FnOnce() -> Option<u64>) -> bool {
        if self.running == 0 {
            return true;
        }
        if self.running >= most {
            return false;
        }
        let more = available().map_or(most, |bytes| usize::try_from(bytes / PER_CELL).unwrap_or(most));
        self.running < self.settled.saturating_add(more)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::signals::StopSignal;
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const AT_ONCE: Duration = Duration::ZERO;

    fn slots(folder: &Path, most: usize, available: fn() -> Option<u64>) -> Slots {
        Slots {
            available,
            ..Slots::new(folder.to_owned(), most)
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "stands in for a reader that may not know")]
    fn plenty() -> Option<u64> {
        Some(u64::MAX)
    }

    #[expect(clippy::unnecessary_wraps, reason = "stands in for a reader that may not know")]
    fn room_for_two() -> Option<u64> {
        Some(2 * PER_CELL + 1)
    }

    #[expect(clippy::unnecessary_wraps, reason = "stands in for a reader that may not know")]
    fn nothing_left() -> Option<u64> {
        Some(PER_CELL - 1)
    }

    fn make_old(folder: &Path, slot: &Slot) {
        let past = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let path = folder.join(format!("slot-{:03}", slot.number()));
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(past)
            .unwrap();
    }

    #[test]
    fn a_slot_is_free_again_when_its_holder_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let signals = Signals::install().unwrap();
        let slots = slots(folder.path(), 2, plenty);
        let first = slots.acquire(SECOND, &signals).unwrap();
        let second = slots.acquire(SECOND, &signals).unwrap();
        assert_eq!((first.number(), second.number()), (0, 1));
        let third = slots.acquire(AT_ONCE, &signals);
        assert!(
            matches!(third, Err(SlotError::NotInTime { limit: AT_ONCE, .. })),
            "{third:?}"
        );
        drop(first);
        assert_eq!(slots.acquire(SECOND, &signals).unwrap().number(), 0);
    }

    #[test]
    fn simultaneous_starts_get_no_more_than_memory_has_room_for() {
        let folder = tempfile::tempdir().unwrap();
        let signals = Signals::install().unwrap();
        let slots = slots(folder.path(), 8, room_for_two);
        let held = [
            slots.acquire(SECOND, &signals).unwrap(),
            slots.acquire(SECOND, &signals).unwrap(),
        ];
        assert!(slots.acquire(AT_ONCE, &signals).is_err());
        // The memory of cells that have run for a while is no longer in what is available.
        for slot in &held {
            make_old(folder.path(), slot);
        }
        let more = [
            slots.acquire(SECOND, &signals).unwrap(),
            slots.acquire(SECOND, &signals).unwrap(),
        ];
        assert!(slots.acquire(AT_ONCE, &signals).is_err());
        drop((held, more));
    }

    #[test]
    fn one_cell_may_run_however_short_memory_is() {
        let folder = tempfile::tempdir().unwrap();
        let signals = Signals::install().unwrap();
        let slots = slots(folder.path(), 8, nothing_left);
        let only = slots.acquire(SECOND, &signals).unwrap();
        assert!(slots.acquire(AT_ONCE, &signals).is_err());
        drop(only);
        assert!(slots.acquire(AT_ONCE, &signals).is_ok());
    }

    #[test]
    fn where_memory_is_unknown_the_number_alone_counts() {
        let three = Taken { running: 3, settled: 0 };
        assert!(three.leave_room(4, || None));
        assert!(!three.leave_room(3, || None));
    }

    #[test]
    fn thirty_hooks_all_get_through_two_slots_and_never_three_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let slots = slots(folder.path(), 2, plenty);
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..30 {
                scope.spawn(|| {
                    let signals = Signals::install().unwrap();
                    let slot = slots.acquire(60 * SECOND, &signals).unwrap();
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    let _ = signals.wait(None, Duration::from_millis(2));
                    running.fetch_sub(1, Ordering::SeqCst);
                    drop(slot);
                });
            }
        });
        assert_eq!(running.into_inner(), 0);
        assert!((1..=2).contains(&most.into_inner()));
        let names: HashSet<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(names, ["queue", "slot-000", "slot-001"].map(Into::into).into());
    }

    #[test]
    fn a_stop_signal_ends_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let signals = Signals::install().unwrap();
        let slots = slots(folder.path(), 1, plenty);
        let _held = slots.acquire(SECOND, &signals).unwrap();
        signals.pretend(StopSignal::Hup);
        let stopped = slots.acquire(60 * SECOND, &signals);
        assert!(
            matches!(
                stopped,
                Err(SlotError::Interrupted {
                    signal: StopSignal::Hup
                })
            ),
            "{stopped:?}"
        );
    }

    #[test]
    fn who_waits_longer_asks_more_often() {
        let intervals = [0, 1, 5, 60].map(|s| interval(8, Duration::from_secs(s)).as_millis());
        assert_eq!(intervals, [40, 36, 20, 5]);
        assert_eq!(interval(0, Duration::ZERO).as_millis(), 1);
    }
}
