//! Which settings file, and where the client then looks for agents.

use std::path::{Path, PathBuf};

use super::error::HooksError;
use crate::config::Believed;

/// The settings that are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The user's: `settings.json` in the client's configuration folder.
    User,
    /// The project's: `.claude/settings.json` of this folder. The client reads it where it is started in this very
    /// folder, and not in one below.
    Project,
    /// A file for `--settings`, or a `settings.local.json`.
    File(PathBuf),
}

/// The files that an installation works on, all absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The settings file.
    pub settings: PathBuf,
    /// The folder of agent definitions that belongs to it.
    pub agents: PathBuf,
}

impl Target {
    /// Finds the files of a scope; `cwd` is the folder of this process.
    ///
    /// # Errors
    /// [`HooksError::NoPlace`] where the home folder is needed and not known.
    pub fn of(scope: &Scope, believed: &Believed, cwd: &Path) -> Result<Self, HooksError> {
        let user = believed.client_config_dir().ok_or(HooksError::NoPlace(
            "the client's configuration folder is not known: set HOME to an absolute path",
        ));
        let settings = match scope {
            Scope::User => user?.join("settings.json"),
            Scope::Project => cwd.join(".claude/settings.json"),
            Scope::File(path) => {
                let settings = normal(&cwd.join(path));
                let agents = match project_of(&settings) {
                    Some(project) => project.join(".claude/agents"),
                    None => user?.join("agents"),
                };
                return Ok(Self { settings, agents });
            }
        };
        let agents = settings.with_file_name("agents");
        Ok(Self { settings, agents })
    }
}

/// The project that a file in its `.claude` folder belongs to.
pub(super) fn project_of(settings: &Path) -> Option<&Path> {
    let folder = settings.parent()?;
    let named = matches!(settings.file_name()?.to_str()?, "settings.json" | "settings.local.json");
    folder
        .parent()
        .filter(|_| named && folder.file_name().is_some_and(|name| name == ".claude"))
}

/// Without `.` and, where the folder above is there, with links of folders followed: one file has one name.
fn normal(path: &Path) -> PathBuf {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_owned();
    };
    folder
        .canonicalize()
        .map_or_else(|_| path.to_owned(), |folder| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_known_by_its_settings_files() {
        for (path, project) in [
            ("/p/.claude/settings.json", Some("/p")),
            ("/p/.claude/settings.local.json", Some("/p")),
            ("/p/.claude/mine.json", None),
            ("/p/settings.json", None),
            ("/settings.json", None),
        ] {
            assert_eq!(project_of(Path::new(path)), project.map(Path::new), "{path}");
        }
    }

    #[test]
    fn agents_lie_where_the_client_looks_for_the_scope() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let believed = Believed::of_person(&[("HOME", home.to_str().unwrap())]);
        let of = |scope: &Scope| Target::of(scope, &believed, &home).unwrap();
        let target = |settings: &str, agents: &str| Target {
            settings: home.join(settings),
            agents: home.join(agents),
        };
        assert_eq!(of(&Scope::User), target(".claude/settings.json", ".claude/agents"));
        assert_eq!(of(&Scope::Project), target(".claude/settings.json", ".claude/agents"));
        assert_eq!(of(&Scope::File("./x.json".into())), target("x.json", ".claude/agents"));
    }
}
