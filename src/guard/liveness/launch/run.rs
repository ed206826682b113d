//! Runs a command under its record.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use super::key::Key;
use super::record::{LaunchError, RunRecord};
use crate::base::ProcessIdentity;
use crate::process::Signals;
use crate::process::launch::{Launched, launch, leave_session};

/// A command to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The scratch directory.
    pub scratch: PathBuf,
    /// The record's key.
    pub key: Key,
    /// The program and its arguments; no shell reads them.
    pub command: Vec<OsString>,
    /// Where its outputs go; none: to this process's own.
    pub output: Option<Output>,
}

/// A file for a command's outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// One that the user names: what is there is opened as any program opens it.
    Named(PathBuf),
    /// One of ours in the scratch directory. Anybody may have put a link or a pipe of that name there, which is neither
    /// followed nor waited for: it makes room for a new file.
    Ours(PathBuf),
}

impl Output {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Named(path) | Self::Ours(path) => path,
        }
    }

    fn create(&self) -> Result<File, LaunchError> {
        match self {
            Self::Named(path) => File::create(path),
            Self::Ours(path) => create_afresh(path),
        }
        .map_err(|error| LaunchError::Output(self.path().to_owned(), error))
    }
}

/// Makes a file in the place of whatever has its name.
fn create_afresh(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    File::create_new(path)
}

/// A command that runs under its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its pid.
    pub pid: i32,
    /// The record.
    pub record: PathBuf,
    /// The file that says how it ended, once it has; of a detached one only.
    pub exit_file: PathBuf,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this code.
    Exited(u8),
    /// By this signal.
    Signaled(i32),
}

impl Order {
    /// The arguments by which this program, started again, holds at the gate and becomes the command.
    fn gate_arguments(&self) -> Vec<OsString> {
        let parent = std::process::id().to_string();
        let gate = ["run-record", "--gate", &parent, "--"].map(OsString::from);
        gate.into_iter().chain(self.command.iter().cloned()).collect()
    }
}

impl Ended {
    fn of(status: ExitStatus) -> Self {
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        code.map_or_else(|| Self::Signaled(status.signal().unwrap_or_default()), Self::Exited)
    }

    /// The code that a shell would have for it: 128 + n for signal n.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Signaled(signal) => u8::try_from(signal).unwrap_or(u8::MAX).saturating_add(128),
        }
    }

    fn line(self) -> String {
        match self {
            Self::Exited(code) => format!("exit={code}\n"),
            Self::Signaled(signal) => format!("signal={signal}\n"),
        }
    }
}

/// Runs the command to its end.
///
/// # Errors
/// [`LaunchError`]; a command that fails is none.
pub fn run(order: &Order) -> Result<Ended, LaunchError> {
    let signals = Signals::install().map_err(LaunchError::Prepare)?;
    let (record, process, mut launched) = start(order, &signals)?;
    finish(&record, &process, &mut launched, &signals)
}

/// Runs the command to its end in a session of its own, tells `announce` when it has started, and leaves a file that
/// says how it ended.
///
/// # Errors
/// [`LaunchError`]; a command that fails is none.
pub fn keep(order: &Order, announce: impl FnOnce(&Started)) -> Result<Ended, LaunchError> {
    leave_session().map_err(LaunchError::Prepare)?;
    let signals = Signals::install().map_err(LaunchError::Prepare)?;
    let (record, process, mut launched) = start(order, &signals)?;
    let exit_file = order.scratch.join(format!("{}.exit", order.key));
    // That of an earlier run under the same key.
    let _ = fs::remove_file(&exit_file);
    announce(&Started {
        pid: launched.pid(),
        record: record.path().to_owned(),
        exit_file: exit_file.clone(),
    });
    let ended = wait(&record, &mut launched, &signals)?;
    // Whoever sees the record go finds the file there. It is news, and no part of the run.
    let _ = create_afresh(&exit_file).and_then(|mut file| file.write_all(ended.line().as_bytes()));
    record.remove(&process);
    Ok(ended)
}

fn start(order: &Order, signals: &Signals) -> Result<(RunRecord, ProcessIdentity, Launched), LaunchError> {
    let record = RunRecord::claim(&order.scratch, &order.key)?;
    let output = order.output.as_ref().map(Output::create).transpose()?;
    let failed = |error| LaunchError::Start(order.command.first().cloned().unwrap_or_default(), error);
    let mut launched = launch(&order.gate_arguments(), output.as_ref(), signals).map_err(failed)?;
    // A child that nobody has waited for keeps its entry in the table, so its identity can be read for sure.
    let process = ProcessIdentity::of(launched.pid()).unwrap_or(ProcessIdentity {
        pid: launched.pid(),
        start_ticks: 0,
        boot_id: String::new(),
    });
    // The record is there before the command runs.
    if let Err(error) = record.write(&process) {
        launched.kill();
        return Err(error);
    }
    launched.go().map_err(failed)?;
    Ok((record, process, launched))
}

fn finish(
    record: &RunRecord,
    process: &ProcessIdentity,
    launched: &mut Launched,
    signals: &Signals,
) -> Result<Ended, LaunchError> {
    let ended = wait(record, launched, signals)?;
    record.remove(process);
    Ok(ended)
}

fn wait(record: &RunRecord, launched: &mut Launched, signals: &Signals) -> Result<Ended, LaunchError> {
    let status = launched.wait(signals);
    status
        .map(Ended::of)
        .map_err(|error| LaunchError::Wait(record.path().to_owned(), error))
}
