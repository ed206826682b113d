//! Runs a small helper program (git) to its end, or to a deadline, and keeps at most so much of what it prints.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};

use super::signals::Signals;
use crate::base::Deadline;

// How often the sizes of the outputs are looked at.
const SLICE: Duration = Duration::from_millis(50);
const AFTER_KILL: Duration = Duration::from_secs(1);
// What a helper still gets after a stop signal: the record has to be written within 1 s of it.
const AFTER_STOP: Duration = Duration::from_millis(200);

/// A helper program to be run. Its stdin is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helper {
    /// The program, started as it is, never through a shell; a name without a slash is looked up in its `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: BTreeMap<OsString, OsString>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// The most bytes that each of stdout and stderr may reach.
    pub output_bytes: u64,
}

/// What a helper left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperOutput {
    /// Whether it exited with 0.
    pub success: bool,
    /// Its exit code.
    pub code: Option<i32>,
    /// Its stdout, whole.
    pub stdout: Vec<u8>,
    /// Its stderr, whole.
    pub stderr: Vec<u8>,
}

/// A helper that did not come to its own end.
#[derive(Debug, thiserror::Error)]
pub enum BoundedError {
    /// It could not be started.
    #[error("start {} in {}", program.display(), cwd.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The folder.
        cwd: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It was killed at its deadline.
    #[error("{} did not end in time and was killed", program.display())]
    TimedOut {
        /// The program.
        program: PathBuf,
    },
    /// It printed more than it may and was killed.
    #[error("{} printed more than {output_bytes} bytes and was killed", program.display())]
    TooMuchOutput {
        /// The program.
        program: PathBuf,
        /// The limit.
        output_bytes: u64,
    },
    /// A signal killed it.
    #[error("{} was killed by signal {signal}", program.display())]
    Signaled {
        /// The program.
        program: PathBuf,
        /// The signal's number.
        signal: i32,
    },
    /// It could not be watched, or what it printed not be read.
    #[error("watch {}", program.display())]
    Watch {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Runs `helper` until it ends, or until `deadline`, when its whole group is killed. A stop signal does not end the
/// wait at once, for cleaning up is what is done after one; but from then on it has no more than 200 ms.
///
/// # Errors
/// [`BoundedError`]; a helper that exits by itself is no error, whatever its code.
pub fn run_bounded(helper: &Helper, mut deadline: Deadline, signals: &Signals) -> Result<HelperOutput, BoundedError> {
    let program = || helper.program.clone();
    let watch = |source| BoundedError::Watch {
        program: program(),
        source,
    };
    let (stdout, stderr) = (memory_file().map_err(watch)?, memory_file().map_err(watch)?);
    let child = start(helper, &stdout, &stderr).map_err(|source| BoundedError::Start {
        program: program(),
        cwd: helper.cwd.clone(),
        source,
    })?;
    let mut group = Group(child);
    let mut stopping = false;
    let full = || [&stdout, &stderr].iter().any(|file| size(file) > helper.output_bytes);
    let status = loop {
        let ended = group.0.try_wait().map_err(watch)?;
        if full() {
            return Err(BoundedError::TooMuchOutput {
                program: program(),
                output_bytes: helper.output_bytes,
            });
        }
        if let Some(status) = ended {
            break status;
        }
        if !stopping && signals.stop().is_some() {
            stopping = true;
            deadline = deadline.sooner(Deadline::after(AFTER_STOP));
        }
        if deadline.is_over() {
            return Err(BoundedError::TimedOut { program: program() });
        }
        let _ = signals.wait(None, deadline.remaining().min(SLICE));
    };
    if let Some(signal) = status.signal() {
        return Err(BoundedError::Signaled {
            program: program(),
            signal,
        });
    }
    let read = |file| read_all(file).map_err(watch);
    Ok(HelperOutput {
        success: status.success(),
        code: status.code(),
        stdout: read(stdout)?,
        stderr: read(stderr)?,
    })
}

#[expect(clippy::disallowed_methods, reason = "this is where helpers are started")]
fn start(helper: &Helper, stdout: &File, stderr: &File) -> io::Result<Child> {
    std::process::Command::new(&helper.program)
        .args(&helper.args)
        .env_clear()
        .envs(&helper.env)
        .current_dir(&helper.cwd)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::from(stdout.try_clone()?))
        .stderr(Stdio::from(stderr.try_clone()?))
        .spawn()
}

/// A helper and what it started: killed and reaped when this goes before it has ended.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        // Its pid is its group's number, and is its own until it is reaped.
        if matches!(self.0.try_wait(), Ok(None)) {
            let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
            let deadline = Deadline::after(AFTER_KILL);
            while matches!(self.0.try_wait(), Ok(None)) && !deadline.is_over() {
                std::thread::park_timeout(deadline.remaining().min(Duration::from_millis(1)));
            }
        }
    }
}

/// A file in memory: no pipe that fills up, no folder that has to be writable.
fn memory_file() -> io::Result<File> {
    Ok(memfd_create("subcell-helper", MemfdFlags::CLOEXEC)?.into())
}

fn size(file: &File) -> u64 {
    file.metadata().map_or(0, |stat| stat.len())
}

fn read_all(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Helper {
        Helper {
            program: "sh".into(),
            args: ["-c", line].map(OsString::from).to_vec(),
            env: [("PATH".into(), "/usr/bin:/bin".into()), ("A".into(), "b".into())].into(),
            cwd: "/".into(),
            output_bytes: 1_000_000,
        }
    }

    fn run(helper: &Helper, millis: u64) -> Result<HelperOutput, BoundedError> {
        let signals = Signals::install().unwrap();
        run_bounded(helper, Deadline::after(Duration::from_millis(millis)), &signals)
    }

    #[test]
    fn both_outputs_are_kept_apart_and_a_failure_is_no_error() {
        let output = run(&shell("echo $A; pwd; echo no >&2; exit 3"), 30_000).unwrap();
        assert_eq!(
            (output.success, &output.stdout[..], &output.stderr[..]),
            (false, &b"b\n/\n"[..], &b"no\n"[..])
        );
        // More than any pipe holds.
        let much = run(&shell("head -c 900000 /dev/zero"), 30_000).unwrap();
        assert_eq!((much.success, much.stdout.len()), (true, 900_000));
    }

    #[test]
    fn what_does_not_end_by_itself_is_told_apart() {
        assert!(matches!(
            run(&shell("while :; do :; done"), 50),
            Err(BoundedError::TimedOut { .. })
        ));
        assert!(matches!(
            run(&shell("yes"), 30_000),
            Err(BoundedError::TooMuchOutput { .. })
        ));
        assert!(matches!(
            run(&shell("kill -9 $$"), 30_000),
            Err(BoundedError::Signaled { signal: 9, .. })
        ));
        let gone = Helper {
            cwd: "/nowhere".into(),
            ..shell("")
        };
        assert!(matches!(run(&gone, 30_000), Err(BoundedError::Start { .. })));
    }

    #[test]
    fn a_stop_signal_leaves_little_time_and_not_none() {
        let signals = Signals::install().unwrap();
        signals.pretend(super::super::signals::StopSignal::Term);
        let never = Deadline::after(Duration::from_hours(1));
        let ends = run_bounded(&shell("while :; do :; done"), never, &signals);
        assert!(matches!(ends, Err(BoundedError::TimedOut { .. })));
    }

    #[test]
    fn a_deadline_ends_the_whole_group() {
        let (reader, writer) = io::pipe().unwrap();
        let path = format!(
            "/proc/{}/fd/{}",
            std::process::id(),
            std::os::fd::AsRawFd::as_raw_fd(&writer)
        );
        let line = format!("exec 3>{path}; (while :; do :; done) & while :; do :; done");
        assert!(matches!(run(&shell(&line), 300), Err(BoundedError::TimedOut { .. })));
        drop(writer);
        let signals = Signals::install().unwrap();
        let closed = Deadline::after(Duration::from_secs(30));
        // Both shells held the pipe open; it closes when the last of them is gone.
        while !signals.wait(Some(std::os::fd::AsFd::as_fd(&reader)), Duration::from_secs(1)) {
            assert!(!closed.is_over());
        }
    }
}
