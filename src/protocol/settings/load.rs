//! Which settings documents a client loads, and their reading.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::file::{Settings, SettingsError};
use super::hooks::HookEntry;
use crate::base::{BoundedReadError, Links, read_bounded};
use crate::protocol::command_line::inherit::is_json;

/// A settings file larger than this is not read: 4 MiB.
pub const SETTINGS_LIMIT: u64 = 4 * 1024 * 1024;

/// At most this many files of `managed-settings.d` are read.
const MANAGED_PARTS: usize = 64;

/// Where settings come from; a later one wins over an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `<config dir>/settings.json`.
    User,
    /// `<project>/.claude/settings.json`.
    Project,
    /// `<project>/.claude/settings.local.json`.
    Local,
    /// `--settings`.
    Flag,
    /// A rule given by `--disallowedTools`.
    CommandLine,
    /// `managed-settings.json`, `managed-settings.d`, `--managed-settings`.
    Managed,
}

impl Scope {
    /// The client's own word for it, as its messages name it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "userSettings",
            Self::Project => "projectSettings",
            Self::Local => "localSettings",
            Self::Flag => "flagSettings",
            Self::CommandLine => "cliArg",
            Self::Managed => "policySettings",
        }
    }
}

/// The scopes that `--setting-sources` leaves on; managed settings and `--settings` always count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sources {
    /// The user's.
    pub user: bool,
    /// The project's.
    pub project: bool,
    /// The project's local one.
    pub local: bool,
}

impl Sources {
    /// Reads the value of `--setting-sources`: a comma list, empty for none; all where the option is not given.
    #[must_use]
    pub fn from_flag(value: Option<&OsStr>) -> Self {
        let Some(value) = value else {
            return Self {
                user: true,
                project: true,
                local: true,
            };
        };
        let text = value.to_string_lossy();
        let has = |word| text.split(',').any(|part| part.trim() == word);
        Self {
            user: has("user"),
            project: has("project"),
            local: has("local"),
        }
    }
}

/// Where a client looks for its settings.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// `/etc/claude-code`.
    pub managed: &'a Path,
    /// `$CLAUDE_CONFIG_DIR`, or `~/.claude`.
    pub config: Option<&'a Path>,
    /// The folder the client was started in.
    pub project: &'a Path,
}

/// A document that should have been loaded and could not be read. Its rules are not known.
#[derive(Debug)]
pub struct SettingsProblem {
    /// The scope.
    pub scope: Scope,
    /// The file; nothing for text on the command line.
    pub path: Option<PathBuf>,
    /// What is wrong.
    pub error: ProblemKind,
}

/// What is wrong with a document.
#[derive(Debug, thiserror::Error)]
pub enum ProblemKind {
    /// The file cannot be read.
    #[error("the settings file cannot be read")]
    Read(#[from] BoundedReadError),
    /// Its text is no settings document.
    #[error("the settings cannot be understood")]
    Parse(#[from] SettingsError),
}

/// The loaded settings.
#[derive(Debug, Default)]
pub struct LoadedSettings {
    /// The documents, lowest scope first.
    pub documents: Vec<(Scope, Settings)>,
    /// What could not be read.
    pub problems: Vec<SettingsProblem>,
}

impl LoadedSettings {
    /// The `model` that counts.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.highest(|settings| settings.model.as_deref())
    }

    /// The `agent` that counts: the one that the session runs as.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.highest(|settings| settings.agent.as_deref())
    }

    /// The value that `env` of the settings gives to `name`, where one does.
    #[must_use]
    pub fn env(&self, name: &str) -> Option<&str> {
        self.highest(|settings| settings.env.get(name).map(String::as_str))
    }

    /// Whether a plugin (`name@marketplace`) is switched on.
    #[must_use]
    pub fn plugin_enabled(&self, id: &str) -> bool {
        self.highest(|settings| settings.enabled_plugins.get(id)) == Some(&true)
    }

    /// The hooks that run when a tool has ended: every scope's, or the administrator's alone where they say so.
    pub fn post_tool_use(&self) -> impl Iterator<Item = &HookEntry> {
        let managed_only = self
            .documents
            .iter()
            .any(|(scope, settings)| *scope == Scope::Managed && settings.managed_hooks_only);
        self.documents
            .iter()
            .filter(move |(scope, _)| !managed_only || *scope == Scope::Managed)
            .flat_map(|(_, settings)| &settings.post_tool_use)
    }

    fn highest<'a, T>(&'a self, field: impl Fn(&'a Settings) -> Option<T>) -> Option<T> {
        self.documents.iter().rev().find_map(|(_, settings)| field(settings))
    }

    fn add(&mut self, scope: Scope, path: Option<PathBuf>, read: Result<Settings, ProblemKind>) {
        match read {
            Ok(settings) => self.documents.push((scope, settings)),
            Err(ProblemKind::Read(BoundedReadError::Missing)) if scope != Scope::Flag => {}
            Err(error) => self.problems.push(SettingsProblem { scope, path, error }),
        }
    }

    fn add_file(&mut self, scope: Scope, path: PathBuf) {
        let read = read_file(&path);
        self.add(scope, Some(path), read);
    }

    fn add_text_or_file(&mut self, scope: Scope, value: &OsStr, start: &Path) {
        if is_json(value) {
            let read = Settings::parse(value.as_bytes()).map_err(ProblemKind::from);
            self.add(scope, None, read);
        } else {
            self.add_file(scope, start.join(value));
        }
    }
}

/// Reads every document that a client loads. `flag` is the `--settings` that counts, `managed_flag` is
/// `--managed-settings`; relative paths are resolved against the project folder.
///
/// `--bare`, `--safe-mode` and `--restricted` switch parts of the settings off; their rules are read all the same, because
/// a rule too many refuses a cell and a rule too few lets one run.
#[must_use]
pub fn load(
    places: Places<'_>,
    sources: Sources,
    flag: Option<&OsStr>,
    managed_flag: Option<&OsStr>,
) -> LoadedSettings {
    let mut loaded = LoadedSettings::default();
    if let Some(config) = places.config.filter(|_| sources.user) {
        loaded.add_file(Scope::User, config.join("settings.json"));
    }
    let project = places.project.join(".claude");
    if sources.project {
        loaded.add_file(Scope::Project, project.join("settings.json"));
    }
    if sources.local {
        loaded.add_file(Scope::Local, project.join("settings.local.json"));
    }
    if let Some(value) = flag {
        loaded.add_text_or_file(Scope::Flag, value, places.project);
    }
    if let Some(value) = managed_flag {
        loaded.add_text_or_file(Scope::Managed, value, places.project);
    }
    loaded.add_file(Scope::Managed, places.managed.join("managed-settings.json"));
    for path in managed_parts(places.managed) {
        loaded.add_file(Scope::Managed, path);
    }
    loaded
}

/// The `*.json` files of `managed-settings.d`, by name.
fn managed_parts(managed: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(managed.join("managed-settings.d")) else {
        return Vec::new();
    };
    let mut parts: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some(OsStr::new("json")))
        .take(MANAGED_PARTS)
        .collect();
    parts.sort();
    parts
}

fn read_file(path: &Path) -> Result<Settings, ProblemKind> {
    Ok(Settings::parse(&read_bounded(path, SETTINGS_LIMIT, Links::Follow)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn the_sources_flag_switches_scopes() {
        let of = |text: &str| Sources::from_flag(Some(OsStr::new(text)));
        let sources = |user, project, local| Sources { user, project, local };
        assert_eq!(Sources::from_flag(None), sources(true, true, true));
        assert_eq!(of(""), sources(false, false, false));
        assert_eq!(of("user, local"), sources(true, false, true));
        assert_eq!(of("project"), sources(false, true, false));
    }

    #[test]
    fn later_scopes_win_and_absent_files_are_no_problem() {
        let root = tempfile::tempdir().unwrap();
        let (config, project, managed) = (
            root.path().join("config"),
            root.path().join("project"),
            root.path().join("etc"),
        );
        write(
            &config.join("settings.json"),
            r#"{"model":"user","env":{"A":"user","B":"user"}}"#,
        );
        write(&project.join(".claude/settings.json"), r#"{"env":{"A":"project"}}"#);
        write(
            &managed.join("managed-settings.d/10.json"),
            r#"{"permissions":{"deny":["Agent(x)"]}}"#,
        );
        write(&project.join("flag.json"), r#"{"model":"flag"}"#);
        let places = Places {
            managed: &managed,
            config: Some(&config),
            project: &project,
        };
        let all = load(places, Sources::from_flag(None), Some(OsStr::new("flag.json")), None);
        assert!(all.problems.is_empty(), "{:?}", all.problems);
        assert_eq!(all.model(), Some("flag"));
        assert_eq!(
            (all.env("A"), all.env("B"), all.env("C")),
            (Some("project"), Some("user"), None)
        );
        let scopes: Vec<Scope> = all.documents.iter().map(|(scope, _)| *scope).collect();
        assert_eq!(scopes, [Scope::User, Scope::Project, Scope::Flag, Scope::Managed]);

        let none = load(
            places,
            Sources::from_flag(Some(OsStr::new(""))),
            Some(OsStr::new(r#"{"model":"text"}"#)),
            Some(OsStr::new(r#"{"model":"managed"}"#)),
        );
        assert_eq!(none.model(), Some("managed"));
        assert_eq!(none.documents.len(), 3);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let root = tempfile::tempdir().unwrap();
        let broken = root.path().join(".claude/settings.json");
        write(&broken, "{bad");
        std::fs::create_dir_all(root.path().join(".claude/settings.local.json")).unwrap();
        let places = Places {
            managed: Path::new("/nonexistent"),
            config: None,
            project: root.path(),
        };
        let loaded = load(places, Sources::from_flag(None), Some(OsStr::new("gone.json")), None);
        let scopes: Vec<Scope> = loaded.problems.iter().map(|problem| problem.scope).collect();
        assert_eq!(scopes, [Scope::Project, Scope::Local, Scope::Flag]);
        assert_eq!(loaded.problems[0].path.as_deref(), Some(&*broken));
    }
}
