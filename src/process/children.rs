//! Reaps what has ended below this process and remembers how the one child that matters ended.

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

/// The children of this process, of which one is the main one.
#[derive(Debug)]
pub(super) struct Children {
    main: Pid,
    main_status: Option<WaitStatus>,
}

/// Whether any child is left. As a child-subreaper this process is handed every orphan below it, so that no child left
/// means no descendant left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// At least one, running or stopped.
    Some,
    /// None at all.
    None,
}

impl Children {
    pub(super) const fn new(main: Pid) -> Self {
        Self {
            main,
            main_status: None,
        }
    }

    pub(super) const fn main(&self) -> Pid {
        self.main
    }

    /// How the main child ended, once it was reaped.
    pub(super) const fn main_status(&self) -> Option<WaitStatus> {
        self.main_status
    }

    /// Reaps every child that has ended.
    pub(super) fn reap(&mut self) -> Left {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.main => self.main_status = Some(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Left::Some,
                // ECHILD; nothing else can be meant by a wait for any child.
                Err(_) => return Left::None,
            }
        }
    }
}
