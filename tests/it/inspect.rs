//! Looks at processes from outside: who carries a mark, who is still there.

use std::fs;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// The longest that any test waits for an event; it only ever passes when the test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Every process whose environment holds `mark`, as `pid name`.
pub(crate) fn marked(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environ.windows(mark.len()).any(|window| window == mark.as_bytes()) {
            let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.push(format!("{} {}", entry.file_name().display(), name.trim_end()));
        }
    }
    found
}

/// Waits until the process is no more (or at least a zombie).
pub(crate) fn wait_for_end(pid: i32) {
    // No such process: it has ended and was reaped.
    let Ok(pidfd) = pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()) else {
        return;
    };
    assert!(ready(&pidfd, PATIENCE), "process {pid} is still there");
}

/// Waits for the descriptor to be readable or closed.
pub(crate) fn ready(fd: impl std::os::fd::AsFd, at_most: Duration) -> bool {
    let until = Instant::now() + at_most;
    loop {
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).unwrap();
        let mut fds = [PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)];
        match poll(&mut fds, Some(&left)) {
            Ok(count) => return count > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("poll: {error}"),
        }
    }
}

/// Waits until the process handles the signal by itself.
pub(crate) fn wait_for_handler(pid: i32, signal: rustix::process::Signal) {
    let until = Instant::now() + PATIENCE;
    loop {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        let caught = u64::from_str_radix(caught.trim(), 16).unwrap();
        if caught & (1 << (signal.as_raw() - 1)) != 0 {
            return;
        }
        assert!(Instant::now() < until, "process {pid} handles no {signal:?}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}
