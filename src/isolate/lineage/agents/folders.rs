//! Where a session's definitions are, in the order in which they win.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::built_in::built_in;
use super::plugins::plugins;
use super::scan::{FileOrder, ScanBudget, read_file, scan};
use super::table::{Agents, Found, Origin};
use crate::protocol::agent_file::agents_of_json;
use crate::protocol::command_line::ParentFlags;
use crate::protocol::command_line::inherit::is_json;
use crate::protocol::settings::{LoadedSettings, Sources};
use crate::protocol::version::ClientVersion;

/// How many folders above the project are looked into.
const ANCESTORS: usize = 64;

/// What decides which definitions a session has.
#[derive(Clone, Copy, Debug)]
pub struct AgentPlaces<'a> {
    /// The client's version.
    pub version: Option<ClientVersion>,
    /// Its options.
    pub flags: &'a ParentFlags,
    /// The scopes that are on.
    pub sources: Sources,
    /// Its settings: they switch installed plugins on.
    pub settings: &'a LoadedSettings,
    /// `/etc/claude-code`.
    pub managed: &'a Path,
    /// `$CLAUDE_CONFIG_DIR`, or `~/.claude`.
    pub config: Option<&'a Path>,
    /// The user's home folder: the search for project folders ends below it.
    pub home: Option<&'a Path>,
    /// The folder the client was started in.
    pub start: &'a Path,
}

/// Reads every definition of a session, weakest first.
#[must_use]
pub fn collect(places: AgentPlaces<'_>) -> Agents {
    let mut budget = ScanBudget::default();
    // One of its own: however much a repository holds, what others define is read.
    let mut project_budget = ScanBudget::default();
    let flags = places.flags;
    // Measured: --bare (2.1.156, 2.1.332), --safe-mode and --restricted (2.1.332) hide what files define.
    let files = !(flags.bare || flags.safe_mode || flags.restricted);
    let mut all = built_in(places.version);
    if files {
        all.extend(plugins(places, &mut budget));
        if let Some(config) = places.config.filter(|_| places.sources.user) {
            all.extend(folder(&config.join("agents"), Origin::User, places, &mut budget));
        }
        if places.sources.project {
            all.extend(project(places, &mut project_budget));
        }
    }
    all.extend(flag_agents(places, &mut budget));
    if files {
        let managed = places.managed.join(".claude/agents");
        all.extend(folder(&managed, Origin::Managed, places, &mut budget));
    }
    Agents::new(all).beside(project_budget.unread.or(budget.unread))
}

fn nearest_wins(version: Option<ClientVersion>) -> bool {
    version.is_none_or(ClientVersion::nearest_agent_wins)
}

/// The definitions of one folder, weakest first.
fn folder(path: &Path, origin: Origin, places: AgentPlaces<'_>, budget: &mut ScanBudget) -> Vec<Found> {
    scan(path, origin, file_order(places.version), budget)
}

/// The order in which a version reads the files of a folder.
pub(super) fn file_order(version: Option<ClientVersion>) -> FileOrder {
    if version.is_none_or(ClientVersion::sorts_agent_files) {
        FileOrder::Sorted
    } else {
        FileOrder::Listed
    }
}

/// The definitions of `--add-dir` folders, and of the project's folders.
fn project(places: AgentPlaces<'_>, budget: &mut ScanBudget) -> Vec<Found> {
    let mut found = Vec::new();
    if places.version.is_none_or(ClientVersion::loads_agents_of_added_folders) {
        for added in &places.flags.add_dir {
            let path = places.start.join(added).join(".claude/agents");
            found.extend(folder(&path, Origin::AddedFolder, places, budget));
        }
    }
    let mut folders = project_folders(places.start, places.home);
    if nearest_wins(places.version) {
        folders.reverse();
    }
    for path in folders {
        found.extend(folder(&path.join(".claude/agents"), Origin::Project, places, budget));
    }
    found
}

/// The folders whose `.claude/agents` is the project's, nearest first: from `start` up to the root of its git repository;
/// outside of one up to the root of the file system, or to the home folder, whose own is the user's (2.1.156, 2.1.332).
fn project_folders(start: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for folder in start.ancestors().take(ANCESTORS) {
        if Some(folder) == home {
            break;
        }
        folders.push(folder.to_owned());
        if folder.join(".git").exists() {
            break;
        }
    }
    folders
}

/// The definitions of `--agents`: JSON, or a file of it (newer versions).
fn flag_agents(places: AgentPlaces<'_>, budget: &mut ScanBudget) -> Vec<Found> {
    let Some(value) = places.flags.agents.as_deref() else {
        return Vec::new();
    };
    if is_json(value) {
        return without_files(value);
    }
    if places.version.is_some_and(|version| !version.reads_agents_from_file()) {
        return Vec::new();
    }
    let path = places.start.join(value);
    let Some((bytes, changed)) = read_file(&path, budget) else {
        return Vec::new();
    };
    let found = |definition| Found {
        path: Some(path.clone()),
        changed,
        ..Found::without_file(definition, Origin::Flag)
    };
    agents_of_json(&bytes).into_iter().map(found).collect()
}

fn without_files(value: &OsStr) -> Vec<Found> {
    let agents = agents_of_json(value.as_bytes());
    agents
        .into_iter()
        .map(|definition| Found::without_file(definition, Origin::Flag))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::super::table::Lookup;
    use super::*;
    use crate::protocol::version::{V2_1_156, V2_1_226, V2_1_332};

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(agents: &[(&str, &str)]) -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for (path, description) in agents {
                let path = tree.path(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, format!("---\nname: ex\ndescription: {description}\n---\n")).unwrap();
            }
            tree
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        /// The description that `ex` leads to.
        fn ex(&self, version: ClientVersion, line: &str) -> Option<String> {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let flags = ParentFlags::parse(&words);
            let agents = collect(AgentPlaces {
                version: Some(version),
                flags: &flags,
                sources: Sources::from_flag(flags.setting_sources.last().map(OsString::as_os_str)),
                settings: &LoadedSettings::default(),
                managed: &self.path("etc"),
                config: Some(&self.path("config")),
                home: Some(self.0.path()),
                start: &self.path("repo/a/b"),
            });
            match agents.lookup("ex") {
                Lookup::Found(found) => Some(found.definition.description.clone()),
                Lookup::Ambiguous | Lookup::NotFound => None,
            }
        }
    }

    #[test]
    fn the_order_measured_on_the_client() {
        let tree = Tree::new(&[
            ("config/agents/sub/ex.md", "user"),
            ("repo/.claude/agents/ex.md", "outer"),
            ("repo/a/b/.claude/agents/ex.md", "inner"),
            ("added/.claude/agents/ex.md", "added"),
        ]);
        std::fs::create_dir_all(tree.path("repo/.git")).unwrap();
        let added = tree.path("added").display().to_string();
        for (version, line, expected) in [
            (V2_1_156, "claude", Some("outer")),
            (V2_1_226, "claude", Some("inner")),
            (V2_1_332, "claude", Some("inner")),
            (V2_1_332, "claude --setting-sources user", Some("user")),
            (V2_1_332, "claude --setting-sources local", None),
            (V2_1_332, "claude --bare", None),
            (V2_1_332, "claude --safe-mode", None),
            (V2_1_332, "claude --restricted", None),
            (
                V2_1_332,
                "claude --bare --agents {\"ex\":{\"description\":\"flag\",\"prompt\":\"p\"}}",
                Some("flag"),
            ),
            (V2_1_332, &format!("claude --add-dir {added}"), Some("inner")),
        ] {
            assert_eq!(tree.ex(version, line).as_deref(), expected, "{version} {line}");
        }
    }

    #[test]
    fn an_added_folder_counts_from_later_versions_on() {
        let tree = Tree::new(&[("added/.claude/agents/ex.md", "added"), ("config/agents/ex.md", "user")]);
        let line = format!("claude --add-dir {}", tree.path("added").display());
        assert_eq!(tree.ex(V2_1_332, &line).as_deref(), Some("added"));
        assert_eq!(tree.ex(V2_1_156, &line).as_deref(), Some("user"));
    }

    #[test]
    fn of_two_in_one_folder_the_version_decides() {
        let names = ["p", "q", "r", "s", "t"];
        let paths: Vec<String> = names.iter().map(|name| format!("config/agents/{name}.md")).collect();
        let agents: Vec<(&str, &str)> = paths.iter().map(String::as_str).zip(names).collect();
        let tree = Tree::new(&agents);
        assert_eq!(tree.ex(V2_1_332, "claude").as_deref(), Some("t"));
        let last = std::fs::read_dir(tree.path("config/agents")).unwrap().flatten().last();
        let last = last.unwrap().file_name().into_string().unwrap();
        let found = tree.ex(V2_1_156, "claude").unwrap();
        assert_eq!(format!("{found}.md"), last);
    }

    #[test]
    fn agents_from_a_file_are_read_by_later_versions_only() {
        let tree = Tree::new(&[("repo/a/b/.claude/agents/ex.md", "project")]);
        std::fs::write(tree.path("a.json"), r#"{"ex":{"description":"flag","prompt":"p"}}"#).unwrap();
        let line = format!("claude --agents {}", tree.path("a.json").display());
        assert_eq!(tree.ex(V2_1_332, &line).as_deref(), Some("flag"));
        assert_eq!(tree.ex(V2_1_226, &line).as_deref(), Some("project"));
    }

    #[test]
    fn the_search_ends_at_the_repository_or_below_home() {
        let above = Tree::new(&[("repo/.claude/agents/ex.md", "above")]);
        assert_eq!(above.ex(V2_1_332, "claude").as_deref(), Some("above"));
        std::fs::create_dir_all(above.path("repo/a/.git")).unwrap();
        assert_eq!(above.ex(V2_1_332, "claude"), None);
        let home = Tree::new(&[(".claude/agents/ex.md", "home")]);
        assert_eq!(home.ex(V2_1_332, "claude"), None);
    }

    #[test]
    fn managed_definitions_win_over_all() {
        let tree = Tree::new(&[
            ("etc/.claude/agents/ex.md", "managed"),
            ("repo/.claude/agents/ex.md", "outer"),
        ]);
        let line = "claude --agents {\"ex\":{\"description\":\"flag\",\"prompt\":\"p\"}}";
        assert_eq!(tree.ex(V2_1_332, line).as_deref(), Some("managed"));
    }
}
