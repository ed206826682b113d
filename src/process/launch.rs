//! Starts a command of the user's and waits for it, however long it takes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, set_parent_process_death_signal, waitid,
};

use super::signals::{Signals, StopSignal};
use super::supervise::OWN_EXECUTABLE;
use crate::base::Deadline;

/// A wait is looked after this often where no signal comes: SIGCHLD ends it sooner.
const LOOK: Duration = Duration::from_mins(1);
/// How long this program may take to be held at its gate.
const GATE_LIMIT: Duration = Duration::from_secs(30);
/// What a process of ours may say before its command runs.
const ANNOUNCEMENT: u64 = 64 * 1024;

/// A command that was started.
#[derive(Debug)]
pub struct Launched {
    child: Child,
}

/// Starts this program again with `arguments`, by which it calls [`gate`], and waits until it is held there: its pid is
/// the command's, which does not run before [`Launched::go`]. It has this process's folder and environment; with `output`
/// its stdin is empty and both its outputs go there, else it has this process's.
///
/// # Errors
/// The system's, where it cannot be started; `TimedOut` where it is not held in time.
#[expect(clippy::disallowed_methods, reason = "this is where a user's command is started")]
pub fn launch(arguments: &[OsString], output: Option<&File>, signals: &Signals) -> io::Result<Launched> {
    let mut starting = std::process::Command::new(OWN_EXECUTABLE);
    starting.args(arguments);
    if let Some(file) = output {
        starting
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file.try_clone()?);
    }
    let mut launched = Launched {
        child: starting.spawn()?,
    };
    if launched.is_held(signals)? {
        return Ok(launched);
    }
    launched.kill();
    Err(io::ErrorKind::TimedOut.into())
}

/// Holds this process until its parent lets it go, and becomes `command`. Returns only where it cannot.
///
/// Stopped, it runs nothing; and where `parent` is gone before it lets go, it ends.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is where a process becomes a user's command"
)]
pub fn gate(parent: u32, command: &[OsString]) -> io::Error {
    let Some((program, arguments)) = command.split_first() else {
        return io::ErrorKind::InvalidInput.into();
    };
    let held = || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have ended before it was asked for.
        if std::os::unix::process::parent_id() != parent {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        }
        kill_process(getpid(), Signal::STOP)?;
        Ok(set_parent_process_death_signal(None)?)
    };
    match held() {
        Ok(()) => std::process::Command::new(program).args(arguments).exec(),
        Err(error) => error,
    }
}

impl Launched {
    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> i32 {
        Pid::from_child(&self.child).as_raw_pid()
    }

    /// Whether it is held at its gate; false where it has ended before or is too late.
    fn is_held(&self, signals: &Signals) -> io::Result<bool> {
        let deadline = Deadline::after(GATE_LIMIT);
        // Looked at and not reaped: that is for `wait`.
        let changes = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while !deadline.is_over() {
            if let Some(status) = waitid(WaitId::Pid(Pid::from_child(&self.child)), changes)? {
                return Ok(status.stopped());
            }
            let _ = signals.wait(None, deadline.remaining());
        }
        Ok(false)
    }

    /// Lets it become its command.
    ///
    /// # Errors
    /// The system's, where it is gone.
    pub fn go(&self) -> io::Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), Signal::CONT)?)
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
