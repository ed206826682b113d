//! Ends everything below this process: TERM, grace, KILL, until no child is left.
//!
//! Measured (2.1.332): the client's Bash commands run in sessions of their own and go on when the client's group is
//! killed; a client that gets TERM ends them within 1 s. So everything gets one TERM, what is new after that only once
//! the main child is gone (it may be the client's own cleaning up), and everything gets KILL until none is left.

use std::collections::HashSet;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpgrp, getpid, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
};

use super::children::{Children, Left};
use super::proc_table::{Group, Process, descendants};
use super::signals::Signals;
use crate::base::Deadline;

/// How long each part may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    /// From TERM to KILL.
    pub(super) grace: Duration,
    /// From KILL to giving up on what cannot be killed.
    pub(super) kill: Duration,
}

impl Patience {
    /// For a stop signal: the record must be written within 1 s of it.
    pub(super) fn hurried(grace: Duration) -> Self {
        Self {
            grace: grace.min(Duration::from_millis(400)),
            kill: Duration::from_millis(200),
        }
    }

    /// For every other ending.
    pub(super) const fn usual(grace: Duration) -> Self {
        Self {
            grace,
            kill: Duration::from_secs(2),
        }
    }
}

// A backstop only: whatever ends below this process ends as a child of it, whose SIGCHLD ends the wait.
const SLICE: Duration = Duration::from_millis(50);
// New processes may appear between two looks while KILL is under way.
const KILL_SLICE: Duration = Duration::from_millis(5);

/// What [`terminate`] saw.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Swept {
    /// What ran when it began, the main child not included.
    pub(super) found: Vec<Process>,
    /// What runs still, KILL notwithstanding.
    pub(super) survivors: Vec<Process>,
}

/// Ends everything below this process, which must be a child-subreaper, and reaps it.
pub(super) fn terminate(children: &mut Children, signals: &Signals, patience: Patience) -> Swept {
    if children.reap() == Left::None {
        return Swept {
            found: Vec::new(),
            survivors: Vec::new(),
        };
    }
    let mut told = Told::default();
    let running = descendants(getpid());
    told.tell(&running, Signal::TERM);
    let grace = Deadline::after(patience.grace);
    while children.reap() == Left::Some && !grace.is_over() {
        if children.main_status().is_some() {
            told.tell(&descendants(getpid()), Signal::TERM);
        }
        let _ = signals.wait(None, grace.remaining().min(SLICE));
    }
    let survivors = kill_all(children, signals, Deadline::after(patience.kill));
    let main = children.main();
    let found = running.into_iter().filter(|process| process.pid != main).collect();
    Swept { found, survivors }
}

fn kill_all(children: &mut Children, signals: &Signals, deadline: Deadline) -> Vec<Process> {
    while children.reap() == Left::Some {
        let running = descendants(getpid());
        if deadline.is_over() {
            return running;
        }
        Told::default().tell(&running, Signal::KILL);
        let _ = signals.wait(None, deadline.remaining().min(KILL_SLICE));
    }
    Vec::new()
}

/// Who has been sent a signal already. A second TERM means "at once" to many programs, so nobody gets two. The name is
/// part of it: between fork and exec a process may take a TERM with its parent's handler, and lose it with the exec.
#[derive(Default)]
struct Told(HashSet<(Pid, u64, String)>);

impl Told {
    fn tell(&mut self, running: &[Process], signal: Signal) {
        let new: Vec<&Process> = running
            .iter()
            .filter(|p| self.0.insert((p.pid, p.start_ticks, p.name.clone())))
            .collect();
        if signal == Signal::KILL {
            // A group is killed at a stroke, so that one that forks without end cannot outrun it. Every group met here
            // holds descendants alone: a process can only join a group of its own session.
            let own = Group(getpgrp());
            let groups: HashSet<Group> = new.iter().filter_map(|p| p.group).filter(|g| *g != own).collect();
            for Group(group) in groups {
                let _ = kill_process_group(group, signal);
            }
        }
        for process in new {
            send(process, signal);
        }
    }
}

/// Sends to this process and no other: one that took the pid over since is not touched. A process that is gone, or
/// that is another user's by now, is left to the next look.
fn send(process: &Process, signal: Signal) {
    let is_same = || Process::read(process.pid).is_some_and(|now| now.start_ticks == process.start_ticks);
    match pidfd_open(process.pid, PidfdFlags::empty()) {
        Ok(pidfd) => {
            if is_same() {
                let _ = pidfd_send_signal(pidfd, signal);
            }
        }
        Err(Errno::SRCH) => {}
        // Refused or unknown, as in some sandboxes.
        Err(_) => {
            if is_same() {
                let _ = kill_process(process.pid, signal);
            }
        }
    }
}
