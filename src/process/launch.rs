//! Starts a command of the user's and waits for it, however long it takes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, kill_process};

use super::signals::{Signals, StopSignal};
use super::supervise::OWN_EXECUTABLE;
use crate::base::Deadline;

/// A wait is looked after this often where no signal comes: SIGCHLD ends it sooner.
const LOOK: Duration = Duration::from_mins(1);
/// What a process of ours may say before its command runs.
const ANNOUNCEMENT: u64 = 64 * 1024;

/// A command that was started.
#[derive(Debug)]
pub struct Launched {
    child: Child,
}

/// Starts `command` (a program and its arguments, no shell) in this process's folder and environment. With `output`
/// its stdin is empty and both its outputs go there; else it has this process's.
///
/// # Errors
/// The system's, where the program cannot be started; `InvalidInput` where there is none.
#[expect(clippy::disallowed_methods, reason = "this is where a user's command is started")]
pub fn launch(command: &[OsString], output: Option<&File>) -> io::Result<Launched> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut starting = std::process::Command::new(program);
    starting.args(arguments);
    if let Some(file) = output {
        starting
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file.try_clone()?);
    }
    Ok(Launched {
        child: starting.spawn()?,
    })
}

impl Launched {
    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> i32 {
        Pid::from_child(&self.child).as_raw_pid()
    }

    /// Waits until it has exited. A stop signal to this process is handed on to it.
    ///
    /// # Errors
    /// The system's, where it cannot be waited for.
    pub fn wait(&mut self, signals: &Signals) -> io::Result<ExitStatus> {
        let mut handed_on: Option<StopSignal> = None;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            let stop = signals.stop();
            if let Some(signal) = stop.filter(|_| stop != handed_on) {
                handed_on = stop;
                // It may have ended in between.
                let _ = kill_process(Pid::from_child(&self.child), signal.signal());
            }
            let _ = signals.wait(None, LOOK);
        }
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts this program again, away from the terminal and the session, and gives back what it announces on its stdout
/// until it closes that; none where it ends without an announcement or `deadline` passes. Its stderr is this process's.
///
/// # Errors
/// The system's, where it cannot be started or listened to.
#[expect(clippy::disallowed_methods, reason = "this is where a process of ours is detached")]
pub fn detach(arguments: &[OsString], deadline: Deadline, signals: &Signals) -> io::Result<Option<String>> {
    let mut child = std::process::Command::new(OWN_EXECUTABLE)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut said = Vec::new();
    let mut piece = [0_u8; 4096];
    while !deadline.is_over() && said.len() as u64 <= ANNOUNCEMENT {
        if !signals.wait(Some(stdout.as_fd()), deadline.remaining()) {
            continue;
        }
        match stdout.read(&mut piece)? {
            0 => return Ok(Some(String::from_utf8_lossy(&said).into_owned()).filter(|said| !said.is_empty())),
            count => said.extend(piece.iter().take(count)),
        }
    }
    Ok(None)
}

/// Leaves the session of whoever started this process.
///
/// # Errors
/// The system's: a process that leads a group already cannot.
pub fn leave_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// Lets go of the stdout and stderr of whoever started this process, so that nobody waits for them to close.
///
/// # Errors
/// The system's, where there is no `/dev/null`.
pub fn let_go_of_outputs() -> io::Result<()> {
    let null = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}
