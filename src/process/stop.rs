//! Tells another process of this program to end, and waits for its end.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::proc_table;
use crate::base::{Deadline, ProcessIdentity};

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It had ended before, or its pid is another process's by now: nothing was sent.
    WasGone,
    /// It has ended.
    Ended,
    /// It still runs.
    Outlived,
}

/// Sends SIGTERM to this process and no other, and waits at most `wait` for its end.
///
/// # Errors
/// The system's, where the process is another user's or cannot be waited for.
pub fn stop(process: &ProcessIdentity, wait: Duration) -> io::Result<Stopped> {
    let deadline = Deadline::after(wait);
    let Some(pid) = proc_table::pid(process.pid) else {
        return Ok(Stopped::WasGone);
    };
    let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(pidfd) => pidfd,
        Err(Errno::SRCH) => return Ok(Stopped::WasGone),
        Err(error) => return Err(error.into()),
    };
    // Judged after the descriptor was opened: from here on it names the process that is judged, whoever has the pid.
    if !process.is_alive() {
        return Ok(Stopped::WasGone);
    }
    match pidfd_send_signal(&pidfd, Signal::TERM) {
        Ok(()) => {}
        Err(Errno::SRCH) => return Ok(Stopped::Ended),
        Err(error) => return Err(error.into()),
    }
    loop {
        let left = deadline.remaining();
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(
            &mut [PollFd::from_borrowed_fd(pidfd.as_fd(), PollFlags::IN)],
            Some(&timeout),
        ) {
            Ok(0) => return Ok(Stopped::Outlived),
            Ok(_) => return Ok(Stopped::Ended),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> (std::process::Child, ProcessIdentity) {
        #[expect(clippy::disallowed_methods, reason = "the test needs a process of its own")]
        let child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let identity = ProcessIdentity::of(i32::try_from(child.id()).unwrap()).unwrap();
        (child, identity)
    }

    #[test]
    fn the_process_that_is_named_ends_and_another_with_its_pid_does_not() {
        let (mut child, identity) = sleeper();
        let another = ProcessIdentity {
            start_ticks: identity.start_ticks + 1,
            ..identity.clone()
        };
        assert_eq!(stop(&another, Duration::from_secs(5)).unwrap(), Stopped::WasGone);
        assert!(child.try_wait().unwrap().is_none());
        assert_eq!(stop(&identity, Duration::from_secs(30)).unwrap(), Stopped::Ended);
        child.wait().unwrap();
        assert_eq!(stop(&identity, Duration::from_secs(5)).unwrap(), Stopped::WasGone);
    }
}
