//! Ends a running cell.

use std::io;
use std::time::Duration;

use super::list::{Life, Row};
use crate::base::{Deadline, ProcessIdentity};
use crate::process::Stopped;

/// What came of the attempt to end one cell.
#[derive(Debug)]
pub enum Stopping {
    /// It has ended, with every process of it.
    Ended,
    /// It was over before.
    WasOver,
    /// A process of it still runs.
    Outlived,
    /// The system refused.
    Failed(io::Error),
}

/// Tells the cell's hook to end, as the client does: it ends the whole tree through its keeper and hands a failure to
/// the parent. Where the hook is gone, the keeper is told. Waits at most `wait` for both.
#[must_use]
pub fn stop(row: &Row, wait: Duration) -> Stopping {
    if row.life != Life::Running {
        return Stopping::WasOver;
    }
    let deadline = Deadline::after(wait);
    let processes = [&row.record.hook_process, &row.record.keeper_process];
    let mut ending = Stopping::WasOver;
    for process in processes.into_iter().flatten() {
        match end(process, deadline) {
            Ok(Stopped::WasGone) => {}
            Ok(Stopped::Ended) => ending = Stopping::Ended,
            Ok(Stopped::Outlived) => return Stopping::Outlived,
            Err(error) => return Stopping::Failed(error),
        }
    }
    ending
}

/// A keeper is on its way out when its hook has ended, and a second TERM does not hasten it.
fn end(process: &ProcessIdentity, deadline: Deadline) -> io::Result<Stopped> {
    crate::process::stop(process, deadline.remaining())
}
