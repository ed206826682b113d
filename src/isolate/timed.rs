//! A phase of the hook: its times for the record, and a live span where one is recorded.

use crate::base::UnixNanos;
use crate::ledger::record;
use crate::telemetry::live;

/// A phase that runs.
#[derive(Debug)]
pub(super) struct Timed {
    name: &'static str,
    began: UnixNanos,
    live: live::Phase,
}

impl Timed {
    /// Begins the phase `name`.
    #[must_use]
    pub(super) fn begin(name: &'static str) -> Self {
        Self {
            name,
            began: UnixNanos::now(),
            live: live::phase(name),
        }
    }

    /// Ends it: its name and times.
    #[must_use]
    pub(super) fn end(self) -> (&'static str, record::Phase) {
        drop(self.live);
        let phase = record::Phase {
            start_unix_nano: self.began,
            end_unix_nano: UnixNanos::now(),
        };
        (self.name, phase)
    }
}
