//! The keeper: the process between a hook and its client. It has a session of its own, adopts every orphan below it,
//! gets SIGTERM when the hook dies, and does not end before everything below it has.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitStatus, getpid, getppid, set_child_subreaper, set_parent_process_death_signal, setsid,
};

use super::children::Children;
use super::ending::{Ending, StartFailure, Stream};
use super::orders::Orders;
use super::report::{Leftover, Report};
use super::signals::{Signals, StopSignal};
use super::spawn_plan::Limits;
use super::terminate::{Patience, Swept, terminate};
use crate::base::{Deadline, UnixNanos};

// How often the sizes of the output files are looked at: a file that grows wakes nobody.
const SLICE: Duration = Duration::from_millis(50);
const TAIL: usize = 64 * 1024;

/// Whether a report found its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The hook has it, and writes the record.
    ToHook,
    /// The hook is gone: nobody but the caller can write the record.
    HookGone,
}

/// Starts the client, watches it, ends everything below this process, and tells how it went.
#[must_use]
pub fn run(orders: &Orders) -> Report {
    let started = UnixNanos::now();
    match start(orders) {
        Ok(watch) => watch.run(orders, started),
        Err(ending) => Report {
            ending,
            leaked: Leftover::default(),
            survivors: Leftover::default(),
            stderr_tail: String::new(),
            client_pid: None,
            started,
            ended: UnixNanos::now(),
        },
    }
}

/// Writes the report to stderr, where the hook reads.
#[must_use]
pub fn deliver(report: &Report, orders: &Orders) -> Delivery {
    // Serializing plain data cannot fail; an empty report reads as a lost keeper.
    let json = serde_json::to_vec(report).unwrap_or_default();
    let written = io::stderr().write_all(&json);
    if written.is_ok() && hook_lives(orders) {
        Delivery::ToHook
    } else {
        Delivery::HookGone
    }
}

fn hook_lives(orders: &Orders) -> bool {
    Pid::as_raw(getppid()) == orders.hook
}

fn start(orders: &Orders) -> Result<Watch, Ending> {
    let failed = |tried: &str, error: &io::Error| Ending::NotStarted {
        failure: StartFailure::new(tried, error),
    };
    // The handlers come first: a stop signal from here on finds somebody who ends the client.
    let signals = Signals::install().map_err(|e| failed("install signal handlers", &e))?;
    // Refused only to the leader of a group, as when a shell starts a keeper by hand: it has a group of its own then.
    let _ = setsid();
    set_child_subreaper(Some(getpid())).map_err(|e| failed("adopt orphans", &e.into()))?;
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(|e| failed("ask for the hook's death", &e.into()))?;
    if !hook_lives(orders) {
        return Err(Ending::HookGone);
    }
    if let Some(signal) = signals.stop() {
        return Err(Ending::Interrupted { signal });
    }
    let stderr = tempfile::tempfile_in(&orders.scratch).map_err(|e| failed("make a file for stderr", &e))?;
    std::env::set_current_dir(&orders.cwd).map_err(|e| failed(&format!("enter {}", orders.cwd.display()), &e))?;
    let client = spawn(orders, &stderr).map_err(|e| failed(&format!("start {}", orders.program.display()), &e))?;
    Ok(Watch {
        children: Children::new(client),
        signals,
        stderr,
    })
}

#[expect(clippy::disallowed_methods, reason = "this is where clients are started")]
fn spawn(orders: &Orders, stderr: &File) -> io::Result<Pid> {
    let client = Command::new(&orders.program)
        .args(&orders.args)
        .process_group(0)
        .stderr(Stdio::from(stderr.try_clone()?))
        .spawn()?;
    Ok(Pid::from_child(&client))
}

/// A running client under watch.
struct Watch {
    children: Children,
    signals: Signals,
    stderr: File,
}

impl Watch {
    fn run(mut self, orders: &Orders, started: UnixNanos) -> Report {
        let ending = self.ending(orders);
        let Swept { found, survivors } =
            terminate(&mut self.children, &self.signals, patience(&ending, orders.limits));
        // What was written after the last look counts too.
        let ending = if ended_by_itself(&ending) {
            self.too_much(orders.limits).unwrap_or(ending)
        } else {
            ending
        };
        let leaked = if ended_by_itself(&ending) { found } else { Vec::new() };
        Report {
            ending,
            leaked: leaked.as_slice().into(),
            survivors: survivors.as_slice().into(),
            stderr_tail: tail(&self.stderr),
            client_pid: Some(self.children.main().as_raw_pid()),
            started,
            ended: UnixNanos::now(),
        }
    }

    fn ending(&mut self, orders: &Orders) -> Ending {
        let deadline = Deadline::after(orders.limits.run);
        loop {
            self.children.reap();
            let seen = Seen {
                hook_gone: !hook_lives(orders),
                stop: self.signals.stop(),
                ended: self.children.main_status().map(own_ending),
                too_much: self.too_much(orders.limits),
                out_of_time: deadline.is_over(),
            };
            if let Some(ending) = seen.ending() {
                return ending;
            }
            let _ = self.signals.wait(None, deadline.remaining().min(SLICE));
        }
    }

    fn too_much(&self, limits: Limits) -> Option<Ending> {
        let stream = if size(io::stdout()) > limits.output_bytes {
            Stream::Stdout
        } else if size(&self.stderr) > limits.output_bytes {
            Stream::Stderr
        } else {
            return None;
        };
        Some(Ending::TooMuchOutput { stream })
    }
}

/// What one look at a client shows.
#[derive(Debug)]
struct Seen {
    hook_gone: bool,
    stop: Option<StopSignal>,
    ended: Option<Ending>,
    too_much: Option<Ending>,
    out_of_time: bool,
}

impl Seen {
    /// The ending, if this is one. A stop comes first: a client that got the same signal as the hook, or was ended by
    /// what goes down with it, may exit with 0.
    fn ending(self) -> Option<Ending> {
        if self.hook_gone {
            return Some(Ending::HookGone);
        }
        let stopped = self.stop.map(|signal| Ending::Interrupted { signal });
        let late = self.out_of_time.then_some(Ending::TimedOut);
        stopped.or(self.too_much).or(self.ended).or(late)
    }
}

fn own_ending(status: WaitStatus) -> Ending {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ending::Exited { code },
        (None, Some(signal)) => Ending::Signaled { signal },
        // A wait without WUNTRACED tells of no other change.
        (None, None) => Ending::Exited { code: status.as_raw() },
    }
}

const fn ended_by_itself(ending: &Ending) -> bool {
    match ending {
        Ending::Exited { .. } | Ending::Signaled { .. } => true,
        Ending::TimedOut
        | Ending::Interrupted { .. }
        | Ending::TooMuchOutput { .. }
        | Ending::NotStarted { .. }
        | Ending::HookGone
        | Ending::KeeperLost { .. } => false,
    }
}

fn patience(ending: &Ending, limits: Limits) -> Patience {
    match ending {
        Ending::Interrupted { .. } => Patience::hurried(limits.grace),
        Ending::Exited { .. }
        | Ending::Signaled { .. }
        | Ending::TimedOut
        | Ending::TooMuchOutput { .. }
        | Ending::NotStarted { .. }
        | Ending::HookGone
        | Ending::KeeperLost { .. } => Patience::usual(limits.grace),
    }
}

/// The size of a regular file; 0 for a pipe or a terminal, and where the system does not tell.
fn size(file: impl AsFd) -> u64 {
    rustix::fs::fstat(file).map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or_default())
}

fn tail(file: &File) -> String {
    let mut bytes = Vec::new();
    let mut from = size(file).saturating_sub(TAIL as u64);
    let mut buffer = [0_u8; 8192];
    // Bounded also where something that could not be ended still writes.
    while bytes.len() < TAIL {
        match file.read_at(&mut buffer, from) {
            Ok(0) | Err(_) => break,
            Ok(count) => {
                bytes.extend(buffer.iter().take(count));
                from = from.saturating_add(count as u64);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_beats_the_exit_that_it_may_have_caused() {
        let exited = Ending::Exited { code: 0 };
        let flood = Ending::TooMuchOutput { stream: Stream::Stdout };
        let interrupted = Ending::Interrupted {
            signal: StopSignal::Term,
        };
        // What is seen, a letter each: hook gone, stop signal, too much, ended, late.
        for (look, ending) in [
            ("", None),
            ("e", Some(&exited)),
            ("el", Some(&exited)),
            ("l", Some(&Ending::TimedOut)),
            ("te", Some(&flood)),
            ("se", Some(&interrupted)),
            ("sl", Some(&interrupted)),
            ("st", Some(&interrupted)),
            ("hse", Some(&Ending::HookGone)),
        ] {
            let seen = Seen {
                hook_gone: look.contains('h'),
                stop: look.contains('s').then_some(StopSignal::Term),
                ended: look.contains('e').then(|| exited.clone()),
                too_much: look.contains('t').then(|| flood.clone()),
                out_of_time: look.contains('l'),
            };
            assert_eq!(seen.ending().as_ref(), ending, "{look}");
        }
    }

    #[test]
    fn the_tail_is_the_end_and_survives_invalid_utf8() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![b'a'; 100_000]).unwrap();
        file.write_all(b"\xff end").unwrap();
        let tail = tail(&file);
        assert!(tail.ends_with("\u{fffd} end"));
        assert_eq!(tail.chars().count(), 64 * 1024);
    }
}
