//! The lines of the stop log and the observe log.
//!
//! `time  key=value  key=value…`: two spaces between fields, every value one word. Readers go by the keys; new ones go
//! before `keys`, which is last.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::decide::{Decision, Hold, Pardon};
use super::knobs::{HOOK, LogFile};
use super::payload::Payload;
use super::reading::{Reading, Verdict};
use super::token::{token, tokens};
use crate::base::UnixNanos;

/// What one firing came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Firing<'a> {
    pub(super) at: UnixNanos,
    pub(super) payload: &'a Payload,
    pub(super) reading: &'a Reading,
    /// How many shells of the session's own run.
    pub(super) own_tasks: usize,
    pub(super) decision: Decision,
    /// How often in a row this end was refused for the same cause, this time included; 0 where it was not counted.
    pub(super) repeat: u32,
}

impl Firing<'_> {
    /// Its line in the stop log.
    pub(super) fn stop_line(&self) -> String {
        self.line(&format!("decision={}", word(self.decision)), "")
    }

    /// Its line in the observe log.
    pub(super) fn observe_line(&self) -> String {
        self.line(&format!("would={}", word(self.decision)), &format!("  hook={HOOK}"))
    }

    fn line(&self, decision: &str, hook: &str) -> String {
        let spawn = match &self.reading.verdict {
            Verdict::Unstarted(reason) => token(reason),
            Verdict::Green
            | Verdict::Red
            | Verdict::Corrupt
            | Verdict::Unresolved
            | Verdict::Error
            | Verdict::Unavailable => "-".to_owned(),
        };
        let live = if self.reading.verdict == Verdict::Red {
            "yes"
        } else {
            "no"
        };
        format!(
            "{time}{hook}  event={event}  session={session}  live={live}  verdict={verdict}  spawn={spawn}  \
             records={records}  runs={runs}  {decision}  held={held}  pardon={pardon}  tasks={own}/{running}  \
             repeat={repeat}  scratch={scratch}  keys={keys}\n",
            time = utc(self.at),
            event = token(&self.payload.event),
            session = token(&self.payload.session),
            verdict = self.reading.verdict.word(),
            records = self.reading.keys.len(),
            runs = tokens(self.reading.keys.iter().map(std::ffi::OsString::as_os_str)),
            held = held(self.decision),
            pardon = pardon(self.decision).map_or("-", Pardon::word),
            own = self.own_tasks,
            running = self.payload.running_shells().len(),
            repeat = self.repeat,
            scratch = self.reading.no_scratch.map_or("ok", |none| none.word()),
            keys = keys(self.payload),
        )
    }
}

/// The line of a firing that no knob let decide: of the stop log, or on trial of the observe log.
pub(super) fn fault_line(at: UnixNanos, payload: &Payload, fault: &str, on_trial: bool) -> String {
    let (hook, decision) = if on_trial {
        (format!("  hook={HOOK}"), "would")
    } else {
        (String::new(), "decision")
    };
    format!(
        "{time}{hook}  event={event}  session={session}  live=no  verdict=unavailable  spawn=-  records=0  runs=-  \
         {decision}=allow  fault={fault}  keys={keys}\n",
        time = utc(at),
        event = token(&payload.event),
        session = token(&payload.session),
        fault = token(fault),
        keys = keys(payload),
    )
}

const fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Free | Decision::Pardoned(_) => "allow",
        Decision::Refuse(_) => "refuse",
    }
}

const fn held(decision: Decision) -> &'static str {
    match decision {
        Decision::Refuse(Hold::Live | Hold::Corrupt | Hold::Unresolved) => "record",
        Decision::Refuse(Hold::Task) => "task",
        Decision::Free | Decision::Pardoned(_) => "-",
    }
}

const fn pardon(decision: Decision) -> Option<Pardon> {
    match decision {
        Decision::Pardoned(pardon) => Some(pardon),
        Decision::Free | Decision::Refuse(_) => None,
    }
}

fn keys(payload: &Payload) -> String {
    tokens(payload.keys.iter().map(std::ffi::OsStr::new))
}

/// `YYYY-MM-DDThh:mm:ssZ`.
fn utc(at: UnixNanos) -> String {
    let seconds = i64::try_from(at.as_nanos() / 1_000_000_000).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds).map_or_else(|_| "-".to_owned(), |time| time.to_string())
}

/// Adds a line. Its folder is made where it is missing. A log that cannot be written changes no decision, so the error
/// is for tests and for nobody else.
pub(super) fn append(log: &LogFile, line: &str) -> io::Result<()> {
    let folder = log.path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    if let Some(root) = &log.within {
        check_within(folder, root)?;
    }
    let mut file = match open(&log.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            std::fs::create_dir_all(folder)?;
            open(&log.path)?
        }
        other => other?,
    };
    // One write: with O_APPEND lines of several guards do not mix.
    file.write_all(line.as_bytes())
}

/// A repository can make the folder of its log a link to anywhere: what is there of the path has to lie in it.
fn check_within(folder: &Path, root: &Path) -> io::Result<()> {
    let real = folder.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
    if real.is_some_and(|real| root.canonicalize().is_ok_and(|root| real.starts_with(root))) {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// Opens a log that is a plain file: a link is not followed, and a pipe is not waited for.
fn open(path: &Path) -> io::Result<File> {
    let flags =
        OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::from_raw_mode(0o666))?);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
