//! The knobs as they are meant: environment over knob file over default, each checked.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use super::knob_file::{Knob, KnobFile};
use crate::config::Believed;

/// The name of this guard in settings, messages and logs.
pub const HOOK: &str = "subagent-stop-liveness";

/// The log of a trial, where no knob names one.
const OBSERVE_LOG: &str = "subagent-stop-liveness.observe.log";

/// What a running background task of the session's own means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// `refuse`: the turn does not end.
    Refuse,
    /// `resume-wait`: the client gives the session a new turn when the task has ended, so the turn may end. Launch
    /// records refuse all the same: nothing wakes a session for a process that the client does not know.
    ResumeWait,
}

const WAITS: [(&str, Wait); 2] = [("refuse", Wait::Refuse), ("resume-wait", Wait::ResumeWait)];

/// A log, and the folder that it may not leave: a repository could make its log a link to another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogFile {
    /// The file.
    pub(super) path: PathBuf,
    /// The repository that it belongs to, where the path is relative to one.
    pub(super) within: Option<PathBuf>,
}

/// The knobs of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knobs {
    /// Where launch records are.
    pub(super) scratch: PathBuf,
    /// Where each firing leaves a line.
    pub(super) stop_log: LogFile,
    /// What a task of the session's own means.
    pub(super) wait: Wait,
    /// The program that answers for the launch records, with its arguments; empty: this one.
    pub(super) check: Vec<String>,
    /// Where each call leaves a line on trial.
    pub(super) observe_log: LogFile,
}

/// A knob that cannot be used: the rule is not enforced, and the user is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnobFault {
    /// Which, and why.
    pub(super) reason: String,
    /// The stop log, where that one could be used.
    pub(super) stop_log: Option<LogFile>,
    /// The log of a trial, where that one could be used.
    pub(super) observe_log: Option<LogFile>,
}

impl KnobFault {
    /// The file that would name the knob file cannot be used.
    pub(super) const fn of_configuration(reason: String) -> Self {
        Self {
            reason,
            stop_log: None,
            observe_log: None,
        }
    }
}

impl fmt::Display for KnobFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{HOOK}: {} \u{2014} so the rule could not be enforced on this call, and the call was allowed.",
            self.reason
        )
    }
}

/// Where knobs are from.
#[derive(Clone, Copy, Debug)]
pub struct KnobSources<'a> {
    /// The file that `--knobs` names. With one no repository is looked at: both paths have to be absolute.
    pub file: Option<&'a Path>,
    /// The environment that is believed; a value that is empty counts.
    pub believed: &'a Believed,
    /// The root of the repository that the call is in.
    pub repository: Option<&'a Path>,
}

impl Knobs {
    /// Resolves the knobs.
    ///
    /// # Errors
    /// [`KnobFault`] for the first that cannot be used.
    pub(super) fn resolve(sources: &KnobSources<'_>) -> Result<Self, KnobFault> {
        let file = match sources.file {
            Some(path) => KnobFile::read(path).map_err(|error| KnobFault::of_configuration(error.to_string()))?,
            None => KnobFile::default(),
        };
        let resolver = Resolver { file: &file, sources };
        let stop_log = resolver.path(Knob::StopLog, ".workflow/subagent-stop-liveness.log");
        let scratch = resolver.path(Knob::TmpDir, ".tmp");
        let observe_log = resolver.observe_log(scratch.as_ref().ok());
        let fault = |reason: String| KnobFault {
            reason,
            stop_log: stop_log.clone().ok(),
            observe_log: observe_log.clone().ok(),
        };
        let (stop_log, scratch) = (stop_log.clone().map_err(fault)?, scratch.map_err(fault)?);
        let wait = resolver.wait().map_err(fault)?;
        let observe_log = observe_log.clone().map_err(fault)?;
        Ok(Self {
            scratch: scratch.path,
            stop_log,
            wait,
            check: file.list(Knob::LivenessCmd).to_vec(),
            observe_log,
        })
    }

    /// Resolves the scratch directory alone, for those who write launch records.
    ///
    /// # Errors
    /// A sentence that names the knob where it cannot be used.
    pub fn scratch(sources: &KnobSources<'_>) -> Result<PathBuf, String> {
        let file = match sources.file {
            Some(path) => KnobFile::read(path).map_err(|error| error.to_string())?,
            None => KnobFile::default(),
        };
        let resolver = Resolver { file: &file, sources };
        resolver.path(Knob::TmpDir, ".tmp").map(|log| log.path)
    }
}

struct Resolver<'a> {
    file: &'a KnobFile,
    sources: &'a KnobSources<'a>,
}

impl<'a> Resolver<'a> {
    fn value(&self, knob: Knob) -> Option<&'a OsStr> {
        let from_file = || self.file.scalar(knob).map(OsStr::new);
        self.sources.believed.value(knob.name()).or_else(from_file)
    }

    fn path(&self, knob: Knob, default: &str) -> Result<LogFile, String> {
        let path = Path::new(self.value(knob).unwrap_or(OsStr::new(default)));
        let name = knob.name();
        if path.as_os_str().is_empty() {
            return Err(format!("{name} is empty; give it an absolute path"));
        }
        if path.is_absolute() {
            return Ok(LogFile {
                path: path.to_owned(),
                within: None,
            });
        }
        match (self.sources.file, self.sources.repository) {
            (None, Some(root)) => Ok(LogFile {
                path: root.join(path),
                within: Some(root.to_owned()),
            }),
            (Some(_), _) | (None, None) => Err(format!(
                "{name} is the relative path {:?}; outside a repository it has to be absolute",
                path.display().to_string().chars().take(200).collect::<String>()
            )),
        }
    }

    fn wait(&self) -> Result<Wait, String> {
        let Some(value) = self.value(Knob::StopWait) else {
            return Ok(Wait::Refuse);
        };
        let found = WAITS.iter().find(|(word, _)| value == *word);
        found.map(|(_, wait)| *wait).ok_or_else(|| {
            let shown: String = value.to_string_lossy().chars().take(40).collect();
            format!("{} must be refuse|resume-wait (got {shown:?})", Knob::StopWait.name())
        })
    }

    /// Where no knob names one it lies in the scratch directory.
    fn observe_log(&self, scratch: Option<&LogFile>) -> Result<LogFile, String> {
        if self.value(Knob::ObserveLog).is_some_and(|value| !value.is_empty()) {
            return self.path(Knob::ObserveLog, "");
        }
        let scratch = scratch.ok_or_else(|| format!("{} cannot be used", Knob::TmpDir.name()))?;
        Ok(LogFile {
            path: scratch.path.join(OBSERVE_LOG),
            within: scratch.within.clone(),
        })
    }
}

#[cfg(test)]
#[path = "knobs_tests.rs"]
mod tests;
