//! The hook's side: starts the keeper, waits for its report, passes stop signals on, and ends what is left itself
//! where the keeper is lost.
//!
//! The client gets regular files and no pipes: its stdout is cut at 65 536 bytes on a slow pipe, with exit code 0
//! (2.1.156 and 2.1.332), and never on a file; and no grandchild can hold a file open against its reader.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, getpid, kill_process, set_child_subreaper};

use super::children::Children;
use super::ending::{Ending, KeeperLoss, StartFailure};
use super::orders::Orders;
use super::report::{Leftover, Report};
use super::signals::{Signals, StopSignal};
use super::spawn_plan::SpawnPlan;
use super::terminate::{Patience, Swept, terminate};
use crate::base::{Deadline, ProcessIdentity, UnixNanos};

/// This process's own program, also where its file was replaced since.
pub const OWN_EXECUTABLE: &str = "/proc/self/exe";

// What a keeper may take beyond run and grace: its start, the sweep, the report.
const SLACK: Duration = Duration::from_secs(5);
// What it may take after a stop signal: 400 ms of grace, 200 ms of sweep, the report.
const STOP_SLACK: Duration = Duration::from_millis(700);
// What is left of the second for a hook that has to sweep by itself then.
const LAST_SWEEP: Duration = Duration::from_millis(100);
const LONGEST_REPORT: usize = 1024 * 1024;

/// Where a client is supervised.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The `subcell` program that becomes the keeper, with a slash in its name: [`OWN_EXECUTABLE`].
    pub keeper: &'a Path,
    /// A folder for the prompt and the outputs, on a disk that can hold them. None of them ever has a name there where
    /// the file system can do without.
    pub scratch: &'a Path,
    /// This process's signals.
    pub signals: &'a Signals,
    /// What the keeper tells its own caller where this process is gone by its end (see [`Orders::notice`]).
    pub notice: Option<&'a OsStr>,
}

/// How a supervised client ended, and what it wrote.
#[derive(Debug)]
pub struct Finished {
    /// The keeper's account, or this side's own where the keeper is lost.
    pub report: Report,
    /// Its stdout, at the start.
    pub stdout: File,
    /// The size of its stdout in bytes.
    pub stdout_bytes: u64,
}

/// A cell that could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum SuperviseError {
    /// No file could be made for the client's input and output.
    #[error("prepare the client's input and output in {}", folder.display())]
    Scratch {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// This process cannot adopt orphans, so it could not end what a lost keeper leaves.
    #[error("adopt orphans (PR_SET_CHILD_SUBREAPER)")]
    Subreaper(#[source] io::Error),
}

/// Runs a client to its end, with `prompt` on its stdin; afterwards nothing that it started is left.
///
/// `on_start` is told the keeper's identity as soon as it runs. To be called from the main thread (the keeper's death
/// signal is tied to the thread that starts it) and once at a time: where the keeper is lost, every child of this
/// process is ended.
///
/// # Errors
/// Only what fails before anything was started; all else is an [`Ending`].
pub fn supervise(
    site: Site<'_>,
    plan: &SpawnPlan,
    prompt: &[u8],
    on_start: impl FnOnce(&ProcessIdentity),
) -> Result<Finished, SuperviseError> {
    let scratch = |source| SuperviseError::Scratch {
        folder: site.scratch.to_owned(),
        source,
    };
    let stdin = prompt_file(site.scratch, prompt).map_err(scratch)?;
    let stdout = tempfile::tempfile_in(site.scratch).map_err(scratch)?;
    let outside = stdout.try_clone().map_err(scratch)?;
    set_child_subreaper(Some(getpid())).map_err(|error| SuperviseError::Subreaper(error.into()))?;
    let started = UnixNanos::now();
    let report = match start_keeper(site, plan, stdin, outside) {
        Ok(keeper) => {
            if let Some(identity) = ProcessIdentity::of(keeper.pid().as_raw_pid()) {
                on_start(&identity);
            }
            keeper.report(site.signals, plan, started)
        }
        Err(ending) => own_report(ending, started, &[]),
    };
    finish(report, stdout).map_err(scratch)
}

fn prompt_file(scratch: &Path, prompt: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile_in(scratch)?;
    file.write_all(prompt)?;
    file.rewind()?;
    Ok(file)
}

fn finish(report: Report, mut stdout: File) -> io::Result<Finished> {
    stdout.rewind()?;
    let stdout_bytes = stdout.metadata()?.len();
    Ok(Finished {
        report,
        stdout,
        stdout_bytes,
    })
}

#[expect(clippy::disallowed_methods, reason = "this is where keepers are started")]
fn start_keeper(site: Site<'_>, plan: &SpawnPlan, stdin: File, stdout: File) -> Result<Keeper, Ending> {
    if let Some(signal) = site.signals.stop() {
        return Err(Ending::Interrupted { signal });
    }
    let not_started = |tried: String, error: &io::Error| Ending::NotStarted {
        failure: StartFailure::new(tried, error),
    };
    let mut orders = Orders::new(plan, getpid().as_raw_pid(), site.scratch)
        .map_err(|error| not_started("find the client's folder".into(), &error))?;
    orders.notice = site.notice.map(OsStr::to_owned);
    let spawned = Command::new(site.keeper)
        .arg0("subcell")
        .args(orders.to_args())
        .env_clear()
        .envs(&plan.env)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::piped())
        .spawn();
    let mut child =
        spawned.map_err(|error| not_started(format!("start the keeper {}", site.keeper.display()), &error))?;
    let pipe = child.stderr.take();
    Ok(Keeper { child, pipe })
}

fn own_report(ending: Ending, started: UnixNanos, survivors: &[super::proc_table::Process]) -> Report {
    Report {
        ending,
        leaked: Leftover::default(),
        survivors: survivors.into(),
        stderr_tail: String::new(),
        client_pid: None,
        started,
        ended: UnixNanos::now(),
    }
}

/// A running keeper, with the pipe on which it reports.
struct Keeper {
    child: Child,
    pipe: Option<ChildStderr>,
}

/// What was heard of a keeper until its pipe closed or time was up.
struct Heard {
    bytes: Vec<u8>,
    stop: Option<StopSignal>,
}

impl Keeper {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn report(mut self, signals: &Signals, plan: &SpawnPlan, started: UnixNanos) -> Report {
        let heard = self.listen(signals, plan);
        let loss = self.end(signals);
        match (serde_json::from_slice::<Report>(&heard.bytes), loss) {
            (Ok(report), _) => report,
            (Err(_), loss) => {
                let ending = match heard.stop.or(signals.stop()) {
                    // It came before the keeper could handle it, or took the keeper too long.
                    Some(signal) => Ending::Interrupted { signal },
                    None => Ending::KeeperLost { loss },
                };
                let swept = sweep(self.pid(), signals, &ending, plan);
                own_report(ending, started, &swept.survivors)
            }
        }
    }

    /// Reads the report until the keeper closes the pipe, passing on the first stop signal.
    fn listen(&mut self, signals: &Signals, plan: &SpawnPlan) -> Heard {
        let mut heard = Heard {
            bytes: Vec::new(),
            stop: None,
        };
        let Some(mut pipe) = self.pipe.take() else {
            return heard;
        };
        let mut deadline = Deadline::after(plan.limits.run.saturating_add(plan.limits.grace).saturating_add(SLACK));
        let mut buffer = [0_u8; 4096];
        while !deadline.is_over() && heard.bytes.len() < LONGEST_REPORT {
            if let (None, Some(signal)) = (heard.stop, signals.stop()) {
                // The keeper is not reaped yet, so the pid is its own.
                let _ = kill_process(self.pid(), signal.signal());
                heard.stop = Some(signal);
                deadline = deadline.sooner(Deadline::after(STOP_SLACK));
            }
            if !signals.wait(Some(pipe.as_fd()), deadline.remaining()) {
                continue;
            }
            match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => heard.bytes.extend(buffer.iter().take(count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        heard
    }

    /// Waits for the keeper's own end, which follows its report at once; kills it where it does not.
    fn end(&mut self, signals: &Signals) -> KeeperLoss {
        let own = Deadline::after(LAST_SWEEP);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return loss(status),
                Ok(None) => {}
                Err(_) => return KeeperLoss::Unresponsive,
            }
            if own.is_over() {
                // Bounded: what got KILL and does not go is stuck in the kernel, and the sweep reports it.
                let _ = self.child.kill();
                return KeeperLoss::Unresponsive;
            }
            let _ = signals.wait(None, own.remaining());
        }
    }
}

fn loss(status: ExitStatus) -> KeeperLoss {
    match (status.code(), status.signal()) {
        (Some(code), _) => KeeperLoss::Exited { code },
        (None, Some(signal)) => KeeperLoss::Killed { signal },
        (None, None) => KeeperLoss::Unresponsive,
    }
}

/// Ends what a lost keeper left, which this process adopted.
fn sweep(keeper: Pid, signals: &Signals, ending: &Ending, plan: &SpawnPlan) -> Swept {
    let hurry = Patience {
        grace: Duration::ZERO,
        kill: LAST_SWEEP,
    };
    let patience = match ending {
        Ending::Interrupted { .. } => hurry,
        Ending::Exited { .. }
        | Ending::Signaled { .. }
        | Ending::TimedOut
        | Ending::TooMuchOutput { .. }
        | Ending::NotStarted { .. }
        | Ending::HookGone
        | Ending::KeeperLost { .. } => Patience::usual(plan.limits.grace),
    };
    terminate(&mut Children::new(keeper), signals, patience)
}
