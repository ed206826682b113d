//! Decides, variable by variable, which value counts.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::names::{self, Class, class, is_start_only};
use crate::config::env::Environment;
use crate::config::proc::{Client, ClientError, StartEnv};

/// Where a believed value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the environment that the client was started with.
    StartEnvironment,
    /// In `env` of the user's own settings.
    UserSettings,
    /// In the hook's own environment, where nothing could be verified.
    HookEnvironment,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    text: OsString,
    origin: Origin,
}

/// The part of the environment that is believed, and what was found that is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Believed {
    values: BTreeMap<OsString, Value>,
    /// Loader and interpreter hooks of the start environment.
    start_only: BTreeMap<OsString, OsString>,
    start_cwd: Option<PathBuf>,
    unverified: Option<String>,
    ignored: Vec<String>,
    problems: Vec<String>,
}

impl Believed {
    /// Judges the hook's environment by what the client was started with. `read_settings` gives `env` of the user's
    /// settings in a client configuration folder ([`super::read_user_settings`]).
    #[must_use]
    pub fn judge(
        hook: &Environment,
        client: Result<&Client, &ClientError>,
        read_settings: impl FnOnce(&Path) -> Result<Environment, String>,
    ) -> Self {
        match start_env(client) {
            Ok((client, start)) => Self::verified(hook, start, client.start_cwd.clone(), read_settings),
            Err(reason) => Self::unverified_from(hook, reason),
        }
    }

    fn verified(
        hook: &Environment,
        start: &Environment,
        start_cwd: Option<PathBuf>,
        read_settings: impl FnOnce(&Path) -> Result<Environment, String>,
    ) -> Self {
        let mut believed = Self::empty(start_cwd, None);
        for (name, text) in start {
            if class(name).is_some() {
                believed.take(name, text, Origin::StartEnvironment);
            } else if is_start_only(name) {
                believed.start_only.insert(name.clone(), text.clone());
            }
        }
        // The group that finds the settings is complete now: they cannot add to it.
        let settings = match believed.client_config_dir().map(|dir| read_settings(&dir)) {
            Some(Ok(settings)) => settings,
            Some(Err(problem)) => {
                believed.problems.push(problem);
                Environment::default()
            }
            None => Environment::default(),
        };
        let start_has_trace = start.get(names::TRACEPARENT).is_some();
        for (name, text) in &settings {
            let elsewhere = name == names::TRACESTATE && start_has_trace;
            if matches!(class(name), Some(Class::Guard | Class::Directing)) && !elsewhere {
                believed.take(name, text, Origin::UserSettings);
            }
        }
        believed.finish(hook)
    }

    fn unverified_from(hook: &Environment, reason: String) -> Self {
        let mut believed = Self::empty(None, Some(reason));
        for (name, text) in hook {
            if matches!(class(name), Some(Class::Guard | Class::Locating)) {
                believed.take(name, text, Origin::HookEnvironment);
            }
        }
        believed.finish(hook)
    }

    const fn empty(start_cwd: Option<PathBuf>, unverified: Option<String>) -> Self {
        Self {
            values: BTreeMap::new(),
            start_only: BTreeMap::new(),
            start_cwd,
            unverified,
            ignored: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// The first to name a variable wins: the start environment is asked before the settings.
    fn take(&mut self, name: &OsStr, text: &OsStr, origin: Origin) {
        self.values.entry(name.to_owned()).or_insert_with(|| Value {
            text: text.to_owned(),
            origin,
        });
    }

    fn finish(mut self, hook: &Environment) -> Self {
        self.problems.extend(self.relative_paths());
        let ignored: BTreeSet<String> = hook
            .iter()
            .filter(|(name, text)| {
                let loader = is_start_only(name) && self.start_only.get(*name) != Some(text);
                loader || (class(name).is_some() && !self.agrees(name, text))
            })
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect();
        self.ignored = ignored.into_iter().collect();
        self
    }

    /// Whether the hook's value says no more than what is believed anyway: an empty value is the same as none, and
    /// the client tells its hooks where its configuration folder is also where nobody told it.
    fn agrees(&self, name: &OsStr, text: &OsStr) -> bool {
        let believed = self.value(name);
        let default_dir = || name == names::CONFIG_DIR && self.client_config_dir().is_some_and(|dir| dir == text);
        believed.unwrap_or_default() == text || (believed.is_none() && default_dir())
    }

    /// The believed value of a judged variable; none where none stands in a place that counts.
    #[must_use]
    pub fn value(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.values.get(name.as_ref()).map(|value| value.text.as_os_str())
    }

    /// Where the believed value of `name` stands.
    #[must_use]
    pub fn origin(&self, name: impl AsRef<OsStr>) -> Option<Origin> {
        self.values.get(name.as_ref()).map(|value| value.origin)
    }

    /// Every judged variable that has a believed value.
    pub fn values(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.text.as_os_str()))
    }

    /// The loader and interpreter hooks (`LD_*`, `NODE_OPTIONS`, …) that the client was started with.
    pub fn start_only(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.start_only
            .iter()
            .map(|(name, text)| (name.as_os_str(), text.as_os_str()))
    }

    /// The folder that the client was started in, where that is certain.
    #[must_use]
    pub fn start_cwd(&self) -> Option<&Path> {
        self.start_cwd.as_deref()
    }

    /// The names of judged variables that stood in the hook's own environment with a value that is not believed, in
    /// alphabetical order: for the record.
    #[must_use]
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// What was wrong with values that are believed, as sentences for a record or a `systemMessage`.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Whether the client's start environment could be read.
    #[must_use]
    pub const fn start_env_readable(&self) -> bool {
        self.unverified.is_none()
    }

    /// Why nothing could be verified; none where the start environment was read. A `systemMessage` has to say it: a
    /// guard or depth of the hook's own environment counts then.
    #[must_use]
    pub fn unverified(&self) -> Option<&str> {
        self.unverified.as_deref()
    }
}

fn start_env<'a>(client: Result<&'a Client, &ClientError>) -> Result<(&'a Client, &'a Environment), String> {
    let client = client.map_err(|error| crate::base::chain::Chain(error).to_string())?;
    match &client.start_env {
        StartEnv::Known(env) => Ok((client, env)),
        StartEnv::Unreadable(reason) => Err(reason.clone()),
    }
}
