//! Which process is the client, and what it was started with.
//!
//! The client starts a hook either directly (exec form: the hook's parent is the client) or through a shell that
//! stays in between (2.1.156 to 2.1.332). `CLAUDE_PID` names the client too, but 2.1.156 lets a repository's settings
//! set it: it is compared, never followed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::source::{Pid, ProcSource, ProcessStat};
use crate::config::env::Environment;

/// The client process that runs this hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its pid.
    pub pid: Pid,
    /// When it started, in clock ticks since boot.
    pub start_ticks: u64,
    /// The file that it executes; none where that cannot be read or is gone (replaced by an update).
    pub exe: Option<PathBuf>,
    /// Its arguments as it was started, the program's name first; empty where they cannot be read.
    pub cmdline: Vec<OsString>,
    /// The folder that it is in now; none where that cannot be read.
    pub cwd: Option<PathBuf>,
    /// The folder that it was started in, where that is certain: `PWD` of its start environment names the folder that
    /// it is in now.
    pub start_cwd: Option<PathBuf>,
    /// Its start environment.
    pub start_env: StartEnv,
    /// Whether `CLAUDE_PID` names this process too; none where the hook has no such variable (2.1.156).
    pub confirmed: Option<bool>,
}

/// The environment that a process was started with, before the client's settings added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartEnv {
    /// It was read.
    Known(Environment),
    /// It could not be read, for this reason.
    Unreadable(String),
}

/// The client cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The hook has no parent in its pid namespace.
    #[error("the hook has no parent process in its pid namespace")]
    NoParent,
    /// Nothing but shells stands above the hook.
    #[error("every process above the hook is a shell")]
    OnlyShells,
    /// A process above the hook cannot be read.
    #[error("cannot read process {pid} above the hook")]
    Unreadable {
        /// The process.
        pid: Pid,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Programs that stand between client and hook only because a hook's command was written for a shell. `env`,
/// `timeout` and the like are not among them: who wraps the hook in one gets that program's environment judged.
const SHELLS: [&[u8]; 9] = [
    b"sh", b"bash", b"dash", b"zsh", b"ksh", b"mksh", b"ash", b"fish", b"busybox",
];

/// More shells than this above one hook are taken for a loop in what `/proc` shows.
const MAX_ANCESTORS: usize = 64;

const DELETED: &[u8] = b" (deleted)";

impl Client {
    /// Finds the client above this process. `claimed` is `CLAUDE_PID` of the hook's own environment.
    ///
    /// # Errors
    /// [`ClientError`] where no process above this one can be told to be the client.
    pub fn find(source: &dyn ProcSource, claimed: Option<&OsStr>) -> Result<Self, ClientError> {
        let (pid, stat) = nearest_non_shell(source)?;
        let start_env = read_start_env(source, pid, stat);
        let cwd = source.cwd(pid).ok();
        Ok(Self {
            pid,
            start_ticks: stat.start_ticks,
            exe: source.exe(pid).ok().filter(|path| !is_deleted(path)),
            cmdline: source.cmdline(pid).map(|block| split_block(&block)).unwrap_or_default(),
            start_cwd: start_cwd(cwd.as_deref(), &start_env),
            cwd,
            start_env,
            confirmed: claimed.map(|text| text.as_bytes() == pid.to_string().as_bytes()),
        })
    }
}

fn nearest_non_shell(source: &dyn ProcSource) -> Result<(Pid, ProcessStat), ClientError> {
    let mut pid = source.own_parent().ok_or(ClientError::NoParent)?;
    for _ in 0..MAX_ANCESTORS {
        let stat = source
            .stat(pid)
            .map_err(|source| ClientError::Unreadable { pid, source })?;
        // A process whose file cannot be read belongs to somebody else: no shell that a client of ours started.
        if !source.exe(pid).is_ok_and(|path| is_shell(&path)) {
            return Ok((pid, stat));
        }
        pid = stat.parent.ok_or(ClientError::OnlyShells)?;
    }
    Err(ClientError::OnlyShells)
}

fn is_shell(exe: &Path) -> bool {
    exe.file_name().is_some_and(|name| {
        let name = name.as_bytes();
        SHELLS.contains(&name.strip_suffix(DELETED).unwrap_or(name))
    })
}

fn is_deleted(exe: &Path) -> bool {
    exe.as_os_str().as_bytes().ends_with(DELETED)
}

fn read_start_env(source: &dyn ProcSource, pid: Pid, before: ProcessStat) -> StartEnv {
    let block = match source.environ(pid) {
        Ok(block) => block,
        Err(error) => return StartEnv::Unreadable(format!("/proc/{pid}/environ: {error}")),
    };
    // The pid may have gone to another process in between.
    match source.stat(pid) {
        Ok(after) if after.start_ticks == before.start_ticks => {}
        Ok(_) => return StartEnv::Unreadable(format!("process {pid} was replaced while it was read")),
        Err(error) => return StartEnv::Unreadable(format!("/proc/{pid}/stat: {error}")),
    }
    let env = Environment::from_block(&block);
    // A process that is ending shows an empty block, and a client cannot run with none.
    if env.iter().next().is_none() {
        return StartEnv::Unreadable(format!("/proc/{pid}/environ is empty"));
    }
    StartEnv::Known(env)
}

fn start_cwd(now: Option<&Path>, start_env: &StartEnv) -> Option<PathBuf> {
    let StartEnv::Known(env) = start_env else { return None };
    let (named, now) = (Path::new(env.get("PWD")?), now?);
    let same = named.is_absolute() && (named == now || named.canonicalize().is_ok_and(|real| real == now));
    same.then(|| now.to_owned())
}

fn split_block(block: &[u8]) -> Vec<OsString> {
    let block = block.strip_suffix(b"\0").unwrap_or(block);
    if block.is_empty() {
        return Vec::new();
    }
    block
        .split(|byte| *byte == 0)
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect()
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
