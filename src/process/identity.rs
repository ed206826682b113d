//! Names one process for good, so that a later reader of a record can tell whether it still lives.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::io::Errno;
use rustix::param::clock_ticks_per_second;
use rustix::process::test_kill_process;
use rustix::time::{ClockId, clock_gettime};

use super::proc_table::{self, Process};
use crate::base::{ProcessIdentity, UnixNanos};

impl ProcessIdentity {
    /// This process; `None` where `/proc` is not there.
    #[must_use]
    pub fn current() -> Option<Self> {
        Self::of(rustix::process::getpid().as_raw_pid())
    }

    /// The process that has this pid now; `None` where there is none.
    #[must_use]
    pub fn of(pid: i32) -> Option<Self> {
        let process = Process::read(proc_table::pid(pid)?)?;
        Some(Self {
            pid,
            start_ticks: process.start_ticks,
            boot_id: boot_id(),
        })
    }

    /// Whether it still runs; a zombie does not.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let now = proc_table::pid(self.pid).and_then(Process::read);
        self.boot_id == boot_id() && now.is_some_and(|now| now.start_ticks == self.start_ticks && now.runs())
    }
}

/// When a process of this boot started, from its clock ticks since boot; to some hundredths of a second, and `None` where
/// the clocks do not fit together.
#[must_use]
pub fn started_at(start_ticks: u64) -> Option<SystemTime> {
    let per_second = clock_ticks_per_second();
    let after_boot = Duration::from_millis(start_ticks.checked_mul(1000)?.checked_div(per_second)?);
    let now = clock_gettime(ClockId::Boottime);
    let since_boot = Duration::new(now.tv_sec.try_into().ok()?, now.tv_nsec.try_into().ok()?);
    let age = since_boot.checked_sub(after_boot)?;
    (UNIX_EPOCH + Duration::from_nanos(UnixNanos::now().as_nanos())).checked_sub(age)
}

/// What the kernel says of a pid at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// No process has it.
    Gone,
    /// Its process has ended and waits to be reaped.
    Ended,
    /// A process has it, of this user or another, and runs.
    Runs,
    /// The kernel does not say.
    Unknown,
}

/// Asks the kernel about `pid`.
#[must_use]
pub fn presence(pid: i32) -> Presence {
    let Some(pid) = proc_table::pid(pid) else {
        return Presence::Gone;
    };
    // Signal 0 answers where /proc does not: mounted with hidepid it shows no process of another user.
    match test_kill_process(pid) {
        Ok(()) | Err(Errno::PERM) => {}
        Err(Errno::SRCH) => return Presence::Gone,
        Err(_) => return Presence::Unknown,
    }
    match Process::read(pid) {
        Some(process) if !process.runs() => Presence::Ended,
        None if test_kill_process(pid) == Err(Errno::SRCH) => Presence::Gone,
        Some(_) | None => Presence::Runs,
    }
}

fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_started_a_little_while_ago() {
        let me = ProcessIdentity::current().unwrap();
        let age = started_at(me.start_ticks).unwrap().elapsed().unwrap();
        assert!(age < Duration::from_secs(3600), "{age:?}");
        assert!(started_at(me.start_ticks + 100_000_000_000).is_none());
    }

    #[test]
    fn this_process_is_alive_and_one_of_another_start_or_boot_is_not() {
        let me = ProcessIdentity::current().unwrap();
        assert!(me.is_alive());
        let earlier = ProcessIdentity {
            start_ticks: me.start_ticks - 1,
            ..me.clone()
        };
        let last_boot = ProcessIdentity {
            boot_id: "another".into(),
            ..me
        };
        assert!(!earlier.is_alive());
        assert!(!last_boot.is_alive());
    }

    #[test]
    fn a_process_of_another_user_runs() {
        assert_eq!(presence(1), Presence::Runs);
    }

    #[test]
    fn pids_that_cannot_be_are_no_process() {
        for pid in [0, -1, i32::MAX] {
            assert_eq!(ProcessIdentity::of(pid), None);
            assert_eq!(presence(pid), Presence::Gone);
        }
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "a process of its own is what the test is about"
    )]
    fn a_zombie_is_not_alive() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut child = std::process::Command::new("/bin/sh")
            .args(["-c", "read x"])
            .stdin(std::process::Stdio::piped())
            .stdout(writer)
            .spawn()
            .unwrap();
        let identity = ProcessIdentity::of(i32::try_from(child.id()).unwrap()).unwrap();
        assert!(identity.is_alive());
        assert_eq!(presence(identity.pid), Presence::Runs);
        drop(child.stdin.take());
        // Its end of the pipe closes while it exits; the process is a zombie soon after, and not reaped before `wait`.
        std::io::Read::read_to_end(&mut reader, &mut Vec::new()).unwrap();
        let gone = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(
            rustix::process::WaitId::Pid(rustix::process::Pid::from_child(&child)),
            gone,
        )
        .unwrap();
        assert!(!identity.is_alive());
        assert_eq!(presence(identity.pid), Presence::Ended);
        child.wait().unwrap();
        assert_eq!(presence(identity.pid), Presence::Gone);
    }
}
