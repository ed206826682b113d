//! What the believed variables mean.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::judge::Believed;
use super::names::{self, CONFIG_DIR, CONFIG_HOME, DATA_HOME, HOME, OUR_PREFIX, OUTPUT_DIR, STATE_HOME};
use super::settings::read_user_settings;
use crate::base::{CellId, TraceContext};
use crate::config::env::Environment;
use crate::config::proc::{Client, ClientError, ProcSource};

/// What the recursion guard says of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// No cell is above us.
    None,
    /// We run in this cell.
    Ours {
        /// Its id.
        cell: CellId,
    },
    /// Another tool's hook started the client.
    Foreign {
        /// Its value, as text; bytes that are not UTF-8 are replaced.
        value: String,
    },
}

/// Everything that a hook learns about where it runs.
#[derive(Debug)]
pub struct Surroundings {
    /// The hook's own environment, unjudged: the base of a cell's environment and nothing else.
    pub environment: Environment,
    /// The client that runs the hook.
    pub client: Result<Client, ClientError>,
    /// What is believed.
    pub believed: Believed,
}

impl Surroundings {
    /// Looks around: reads the environment, finds the client, and judges.
    #[must_use]
    pub fn look(source: &dyn ProcSource) -> Self {
        let environment = Environment::of_this_process();
        let client = Client::find(source, environment.get("CLAUDE_PID"));
        let believed = Believed::judge(&environment, client.as_ref(), read_user_settings);
        Self {
            environment,
            client,
            believed,
        }
    }
}

impl Believed {
    /// The recursion guard (`FULLSEND_HOOK_SPAWNED`); an empty value is none.
    #[must_use]
    pub fn guard(&self) -> Guard {
        let Some(value) = self.filled(names::GUARD) else {
            return Guard::None;
        };
        let value = value.to_string_lossy();
        value.parse().map_or_else(
            |_| Guard::Foreign {
                value: value.clone().into_owned(),
            },
            |cell| Guard::Ours { cell },
        )
    }

    /// How many cells are above us (`SUBCELL_DEPTH`): 0 in a session of its own. Under a guard of ours it is at least
    /// 1, and a value that is no number counts as the deepest, so that a mistake cannot start cells without end.
    #[must_use]
    pub fn depth(&self) -> u32 {
        let least = u32::from(matches!(self.guard(), Guard::Ours { .. }));
        self.filled(names::DEPTH).map_or(least, |value| {
            value
                .to_str()
                .and_then(|text| text.parse().ok())
                .unwrap_or(u32::MAX)
                .max(least)
        })
    }

    /// The limits on agent types that the cell around us was given (`SUBCELL_AGENT_LIMITS`), unread.
    #[must_use]
    pub fn agent_limits(&self) -> Option<&OsStr> {
        self.filled(names::AGENT_LIMITS)
    }

    /// The client binary that `CLAUDE_BIN` names: a path, or a bare name to be found on `PATH`.
    #[must_use]
    pub fn claude_bin(&self) -> Option<&Path> {
        self.filled(names::CLAUDE_BIN).map(Path::new)
    }

    /// `FULLSEND_OUTPUT_DIR`, absolute. A relative one is resolved against the folder that the client was started in;
    /// where that is not certain it counts as not set and [`Believed::problems`] says so.
    #[must_use]
    pub fn output_dir(&self) -> Option<PathBuf> {
        self.resolved(OUTPUT_DIR)
    }

    /// The trace that the client belongs to (`TRACEPARENT`); none where it is missing or invalid.
    #[must_use]
    pub fn trace_context(&self) -> Option<TraceContext> {
        self.filled(names::TRACEPARENT)?.to_str()?.parse().ok()
    }

    /// `TRACESTATE`, where it came with a valid trace context (W3C: without one it is dropped).
    #[must_use]
    pub fn trace_state(&self) -> Option<&OsStr> {
        self.trace_context().and_then(|_| self.filled(names::TRACESTATE))
    }

    /// Every believed `SUBCELL_*`.
    pub fn subcell_vars(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.values()
            .filter(|(name, _)| name.as_bytes().starts_with(OUR_PREFIX.as_bytes()))
    }

    /// A variable that finds files (`HOME`, `XDG_*`, `CLAUDE_CONFIG_DIR`, `PATH`), an empty one as none.
    #[must_use]
    pub fn locating(&self, name: &str) -> Option<&OsStr> {
        matches!(names::class(OsStr::new(name)), Some(names::Class::Locating))
            .then(|| self.filled(name))
            .flatten()
    }

    /// The user's home folder (`HOME`); a relative one counts as none.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.absolute(HOME)
    }

    /// The client's configuration folder: `CLAUDE_CONFIG_DIR`, else `.claude` in the home folder. None where the
    /// former is relative and the folder that the client was started in is not certain.
    #[must_use]
    pub fn client_config_dir(&self) -> Option<PathBuf> {
        if self.filled(CONFIG_DIR).is_some() {
            self.resolved(CONFIG_DIR)
        } else {
            self.home().map(|home| home.join(".claude"))
        }
    }

    /// The user's configuration of subcell: `subcell/subcell.toml` in `$XDG_CONFIG_HOME` or `~/.config`.
    #[must_use]
    pub fn user_config_file(&self) -> Option<PathBuf> {
        self.base_dir(CONFIG_HOME, ".config")
            .map(|dir| dir.join("subcell/subcell.toml"))
    }

    /// Where records are kept without an output folder: `subcell` in `$XDG_STATE_HOME` or `~/.local/state`.
    #[must_use]
    pub fn state_dir(&self) -> Option<PathBuf> {
        self.base_dir(STATE_HOME, ".local/state").map(|dir| dir.join("subcell"))
    }

    /// Where installed guards lie: `subcell` in `$XDG_DATA_HOME` or `~/.local/share`.
    #[must_use]
    pub fn data_dir(&self) -> Option<PathBuf> {
        self.base_dir(DATA_HOME, ".local/share").map(|dir| dir.join("subcell"))
    }

    /// XDG Base Directory Specification 0.8: a relative path is invalid and ignored.
    fn base_dir(&self, name: &str, below_home: &str) -> Option<PathBuf> {
        self.absolute(name)
            .map(Path::to_owned)
            .or_else(|| self.home().map(|home| home.join(below_home)))
    }

    fn filled(&self, name: &str) -> Option<&OsStr> {
        self.value(name).filter(|value| !value.is_empty())
    }

    fn absolute(&self, name: &str) -> Option<&Path> {
        self.filled(name).map(Path::new).filter(|path| path.is_absolute())
    }

    fn resolved(&self, name: &str) -> Option<PathBuf> {
        let path = Path::new(self.filled(name)?);
        if path.is_absolute() {
            return Some(path.to_owned());
        }
        self.start_cwd().map(|folder| folder.join(path))
    }

    /// The believed value as a process in another folder has to see it: the paths that count from the client's start
    /// folder become absolute. An output folder that we do not follow is left out; a configuration folder of that
    /// kind stays, since without it the child would use another account.
    pub(crate) fn portable_value(&self, name: &OsStr, text: &OsStr) -> Option<OsString> {
        let as_given = || Some(text.to_owned());
        if name == OUTPUT_DIR {
            self.resolved(OUTPUT_DIR).map(PathBuf::into_os_string)
        } else if name == CONFIG_DIR {
            self.resolved(CONFIG_DIR).map(PathBuf::into_os_string).or_else(as_given)
        } else {
            as_given()
        }
    }

    /// A sentence for each path that is believed but cannot be followed.
    pub(super) fn relative_paths(&self) -> Vec<String> {
        let lost = |name: &&str| self.filled(name).is_some() && self.resolved(name).is_none();
        let relative = |name: &&str| self.filled(name).is_some() && self.absolute(name).is_none();
        let from_start = [OUTPUT_DIR, CONFIG_DIR].into_iter().filter(lost).map(|name| {
            format!(
                "{name} is a relative path and the folder that the client was started in is not known: it is ignored"
            )
        });
        let absolute = [HOME, CONFIG_HOME, DATA_HOME, STATE_HOME]
            .into_iter()
            .filter(relative)
            .map(|name| format!("{name} is a relative path: it is ignored"));
        from_start.chain(absolute).collect()
    }
}
