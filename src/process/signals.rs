//! The signals that a hook and its keeper listen to, as one thing to poll.
//!
//! The client ends a hook with SIGTERM and, about 1.4 s later, SIGKILL (2.1.332): when its timeout is over, and when
//! the client itself is terminated.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use crate::base::ProcessIdentity;

const LONGEST: Duration = Duration::from_hours(24);

/// A signal that asks this process to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum StopSignal {
    /// SIGTERM.
    Term,
    /// SIGINT.
    Int,
    /// SIGHUP.
    Hup,
}

impl StopSignal {
    const ALL: [Self; 3] = [Self::Term, Self::Int, Self::Hup];

    /// The signal's number.
    #[must_use]
    pub const fn number(self) -> i32 {
        match self {
            Self::Term => SIGTERM,
            Self::Int => SIGINT,
            Self::Hup => SIGHUP,
        }
    }

    pub(super) const fn signal(self) -> Signal {
        match self {
            Self::Term => Signal::TERM,
            Self::Int => Signal::INT,
            Self::Hup => Signal::HUP,
        }
    }
}

/// TERM, INT, HUP and CHLD of this process, from [`Signals::install`] on and for the rest of its life: the handlers
/// stay when this is dropped, so one is made at the start and kept.
///
/// With a handler for CHLD a child that has ended can be waited for also where a parent handed CHLD down as ignored,
/// and a client started from here gets every handled signal back at its default.
#[derive(Debug)]
pub struct Signals {
    wakes: UnixStream,
    stop: Arc<AtomicUsize>,
    watched: Option<OwnedFd>,
}

impl Signals {
    /// Installs the handlers.
    ///
    /// # Errors
    /// No descriptors are left, or the system refuses a handler.
    pub fn install() -> io::Result<Self> {
        let (wakes, wake) = UnixStream::pair()?;
        wakes.set_nonblocking(true)?;
        let stop = Arc::new(AtomicUsize::new(0));
        for signal in StopSignal::ALL {
            // Actions run in the order of registration: the flag is up before the wake-up can be read.
            let number = signal.number();
            let mark = usize::try_from(number).unwrap_or_default();
            signal_hook::flag::register_usize(number, Arc::clone(&stop), mark)?;
            signal_hook::low_level::pipe::register(number, wake.try_clone()?)?;
        }
        signal_hook::low_level::pipe::register(SIGCHLD, wake)?;
        Ok(Self {
            wakes,
            stop,
            watched: None,
        })
    }

    /// From now on the end of `process` counts as SIGHUP: whoever this process works for has gone, killed perhaps, and
    /// nobody reads its answer. One that is not there any more, or whose pid is another process's by now, has ended
    /// already. Where the system cannot watch it (no descriptors are left), its end goes unseen.
    pub fn watch(&mut self, process: &ProcessIdentity) {
        let Some(pid) = Pid::from_raw(process.pid) else { return };
        let fd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) => fd,
            Err(Errno::SRCH) => return self.hang_up(),
            Err(_) => return,
        };
        // Looked at after opening: where the start is the same, the descriptor stands for this very process.
        if ProcessIdentity::of(process.pid).is_some_and(|now| now != *process) {
            return self.hang_up();
        }
        self.watched = Some(fd);
        // One that has ended and was not reaped yet is readable already.
        let _ = self.wait(None, Duration::ZERO);
    }

    /// As if SIGHUP had come. A signal that came before stays.
    fn hang_up(&self) {
        let hang_up = usize::try_from(StopSignal::Hup.number()).unwrap_or_default();
        let _ = self
            .stop
            .compare_exchange(0, hang_up, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The stop signal that came last, if any came.
    #[must_use]
    pub fn stop(&self) -> Option<StopSignal> {
        let mark = self.stop.load(Ordering::SeqCst);
        StopSignal::ALL
            .into_iter()
            .find(|signal| usize::try_from(signal.number()) == Ok(mark))
    }

    /// Waits for one of the signals, for `other` to be readable or closed, or for `at_most`. Whether `other` is ready.
    /// It may return early with nothing to see.
    #[must_use]
    pub fn wait(&self, other: Option<BorrowedFd<'_>>, at_most: Duration) -> bool {
        // A process that has ended stays readable: once that is known it is not asked again, so that nothing spins.
        let watched = self.watched.as_ref().filter(|_| self.stop().is_none());
        let mut fds = Vec::with_capacity(3);
        fds.push(PollFd::from_borrowed_fd(self.wakes.as_fd(), PollFlags::IN));
        fds.extend(other.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        fds.extend(watched.map(|fd| PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)));
        let at_most = at_most.min(LONGEST);
        let polled = Timespec::try_from(at_most)
            .map_err(|_| Errno::INVAL)
            .and_then(|time| poll(&mut fds, Some(&time)));
        if !matches!(polled, Ok(_) | Err(Errno::INTR)) {
            // The system is out of memory: the caller's loop goes on to its deadline, and this keeps it from spinning.
            std::thread::park_timeout(at_most.min(Duration::from_millis(10)));
            return false;
        }
        let is_ready = |fd: Option<&PollFd<'_>>| fd.is_some_and(|fd| !fd.revents().is_empty());
        let ready = other.is_some() && is_ready(fds.get(1));
        if watched.is_some() && is_ready(fds.last()) {
            self.hang_up();
        }
        self.drain();
        ready
    }

    /// As if the signal had come, for this instance alone.
    #[cfg(test)]
    pub(super) fn pretend(&self, signal: StopSignal) {
        self.stop
            .store(usize::try_from(signal.number()).unwrap(), Ordering::SeqCst);
    }

    fn drain(&self) {
        let mut bytes = [0_u8; 64];
        while matches!((&self.wakes).read(&mut bytes), Ok(count) if count > 0) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_descriptor_wakes_and_is_told_apart() {
        let signals = Signals::install().unwrap();
        let (reader, writer) = io::pipe().unwrap();
        assert!(!signals.wait(Some(reader.as_fd()), Duration::ZERO));
        drop(writer);
        // A child of another test may end and wake first.
        while !signals.wait(Some(reader.as_fd()), Duration::from_mins(1)) {}
    }

    fn stop_after_watching(process: &ProcessIdentity) -> Option<StopSignal> {
        let mut signals = Signals::install().unwrap();
        signals.watch(process);
        signals.stop()
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a process that ends is what is watched")]
    fn a_process_that_has_ended_before_the_watch_counts_as_ended() {
        let now = ProcessIdentity::current().unwrap();
        assert_eq!(stop_after_watching(&now), None);
        let earlier = ProcessIdentity {
            start_ticks: now.start_ticks - 1,
            ..now
        };
        assert_eq!(stop_after_watching(&earlier), Some(StopSignal::Hup));

        let mut child = std::process::Command::new("/bin/cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let identity = ProcessIdentity::of(i32::try_from(child.id()).unwrap()).unwrap();
        assert_eq!(stop_after_watching(&identity), None);
        drop(child.stdin.take());
        let options = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(rustix::process::WaitId::Pid(Pid::from_child(&child)), options).unwrap();
        assert_eq!(stop_after_watching(&identity), Some(StopSignal::Hup), "not reaped");
        child.wait().unwrap();
        assert_eq!(stop_after_watching(&identity), Some(StopSignal::Hup), "reaped");
    }
}
