//! What the launch records say together: read here, or by the program that a knob names.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::scratch::{self, NoScratch, Record, Standing};
use crate::base::Deadline;
use crate::config::{StartEnv, Surroundings};
use crate::process::{BoundedError, Helper, Signals, run_bounded};

/// How long the program of a knob may take.
const CHECK_LIMIT: Duration = Duration::from_secs(10);
/// What it prints is not looked at; it may not fill the memory.
const CHECK_OUTPUT: u64 = 16 << 20;

/// What the records say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing runs.
    Green,
    /// A record names a process that runs.
    Red,
    /// A record does not parse, or nobody can say whether its process runs.
    Corrupt,
    /// The knob's program had no answer, and there is no record.
    Unresolved,
    /// The knob's program did not end in time, or not with an answer.
    Error,
    /// The knob's program was not found.
    Unavailable,
    /// The knob's program could not be started, for this reason.
    Unstarted(String),
}

impl Verdict {
    /// The word for it in the log.
    #[must_use]
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Red => "red",
            Self::Corrupt => "corrupt",
            Self::Unresolved => "unresolved",
            Self::Error => "error",
            Self::Unavailable => "unavailable",
            Self::Unstarted(_) => "unstarted",
        }
    }
}

/// One look at the scratch directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// What it says.
    pub(super) verdict: Verdict,
    /// The keys of all records, dead ones too, sorted.
    pub(super) keys: Vec<OsString>,
    /// The records that hold the turn, where this program read them.
    pub(super) holding: Vec<Record>,
    /// Why there was nothing to read.
    pub(super) no_scratch: Option<NoScratch>,
}

impl Reading {
    /// Looks with our own eyes.
    #[must_use]
    pub(super) fn own(scratch: &Path) -> Self {
        let (keys, no_scratch) = listed(scratch);
        let mut holding = scratch::read(scratch, &keys);
        holding.retain(|record| holds(record.standing));
        let live = |record: &Record| matches!(record.standing, Standing::Live { .. });
        let verdict = if holding.is_empty() {
            Verdict::Green
        } else if holding.iter().all(live) {
            Verdict::Red
        } else {
            Verdict::Corrupt
        };
        Self {
            verdict,
            keys,
            holding,
            no_scratch,
        }
    }

    /// Looks through the program that a knob names. The records are listed after it, so that one that was written
    /// meanwhile counts.
    #[must_use]
    pub(super) fn by_program(scratch: &Path, argv: &[String], around: &Surroundings) -> Self {
        let verdict = ask(scratch, argv, around);
        let (keys, no_scratch) = listed(scratch);
        let verdict = match verdict {
            Verdict::Corrupt if keys.is_empty() => Verdict::Unresolved,
            other @ (Verdict::Green
            | Verdict::Red
            | Verdict::Corrupt
            | Verdict::Unresolved
            | Verdict::Error
            | Verdict::Unavailable
            | Verdict::Unstarted(_)) => other,
        };
        Self {
            verdict,
            keys,
            holding: Vec::new(),
            no_scratch,
        }
    }
}

fn listed(scratch: &Path) -> (Vec<OsString>, Option<NoScratch>) {
    match scratch::keys(scratch) {
        Ok(keys) => (keys, None),
        Err(none) => (Vec::new(), Some(none)),
    }
}

const fn holds(standing: Standing) -> bool {
    match standing {
        Standing::Live { .. } | Standing::Corrupt | Standing::Unknown => true,
        Standing::Dead | Standing::Nothing => false,
    }
}

/// Runs the program. 0 is green, 1 red, 2 corrupt or no answer.
fn ask(scratch: &Path, argv: &[String], around: &Surroundings) -> Verdict {
    let env = environment(around);
    let Some((name, arguments)) = argv.split_first() else {
        return Verdict::Unavailable;
    };
    let Some(program) = find(name, &env) else {
        return Verdict::Unavailable;
    };
    let helper = Helper {
        program,
        args: arguments.iter().map(OsString::from).chain([scratch.into()]).collect(),
        env,
        cwd: "/".into(),
        output_bytes: CHECK_OUTPUT,
    };
    let signals = match Signals::install() {
        Ok(signals) => signals,
        Err(error) => return Verdict::Unstarted(error.to_string()),
    };
    match run_bounded(&helper, Deadline::after(CHECK_LIMIT), &signals) {
        Ok(output) => match output.code {
            Some(0) => Verdict::Green,
            Some(1) => Verdict::Red,
            Some(2) => Verdict::Corrupt,
            Some(_) | None => Verdict::Error,
        },
        Err(BoundedError::Start { source, .. }) => Verdict::Unstarted(source.to_string()),
        Err(
            BoundedError::TimedOut { .. }
            | BoundedError::TooMuchOutput { .. }
            | BoundedError::Signaled { .. }
            | BoundedError::Watch { .. },
        ) => Verdict::Error,
    }
}

/// What the client was started with; where that is not known, what finds programs and the user's files.
fn environment(around: &Surroundings) -> BTreeMap<OsString, OsString> {
    match around.client.as_ref().map(|client| &client.start_env) {
        Ok(StartEnv::Known(env)) => env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        Ok(StartEnv::Unreadable(_)) | Err(_) => ["PATH", "HOME"]
            .into_iter()
            .filter_map(|name| Some((name.into(), around.believed.locating(name)?.to_owned())))
            .collect(),
    }
}

/// The program that a knob means: an absolute path, or a bare name on the `PATH`. A path that counts from wherever the
/// session stands would let a repository answer for it.
fn find(name: &str, env: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let path = Path::new(name);
    if name.contains('/') {
        return Some(path.to_owned()).filter(|path| path.is_absolute() && is_executable(path));
    }
    let dirs = env.get(std::ffi::OsStr::new("PATH"))?;
    let absolute = std::env::split_paths(dirs).filter(|dir| dir.is_absolute());
    absolute
        .map(|dir| dir.join(path))
        .find(|path| !name.is_empty() && is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
