//! Which version of the client this is, and what that version is known to do.
//!
//! Measured versions: 2.1.156, 2.1.226, 2.1.295, 2.1.332. A version between two of them is credited with a flag only if
//! the older of the two already takes it.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::base::{Links, read_bounded};

/// A version of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
    /// The third number.
    pub patch: u32,
}

/// A text that is no version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a version of the client is three numbers with dots between them")]
pub struct VersionError;

/// What a version does with an option that takes one value and is given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// The first value counts.
    FirstWins,
    /// The last value counts.
    LastWins,
    /// Nobody measured this version.
    Unmeasured,
}

/// 2.1.156, the oldest version measured.
pub const V2_1_156: ClientVersion = ClientVersion::new(2, 1, 156);
/// 2.1.226.
pub const V2_1_226: ClientVersion = ClientVersion::new(2, 1, 226);
/// 2.1.295.
pub const V2_1_295: ClientVersion = ClientVersion::new(2, 1, 295);
/// 2.1.332, the newest version measured.
pub const V2_1_332: ClientVersion = ClientVersion::new(2, 1, 332);

impl ClientVersion {
    /// The version of these three numbers.
    #[must_use]
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// `--safe-mode` is an option (226, 295, 332: yes; 156: no).
    #[must_use]
    pub fn knows_safe_mode(self) -> bool {
        self >= V2_1_226
    }

    /// `--restricted` is an option (295, 332: yes; 156, 226: no).
    #[must_use]
    pub fn knows_restricted(self) -> bool {
        self >= V2_1_295
    }

    /// `--permission-prompts` is an option (295, 332: yes; 156, 226: no).
    #[must_use]
    pub fn knows_permission_prompts(self) -> bool {
        self >= V2_1_295
    }

    /// `--append-subagent-system-prompt` is an option (226, 295, 332: yes; 156: no).
    #[must_use]
    pub fn knows_append_subagent_system_prompt(self) -> bool {
        self >= V2_1_226
    }

    /// `--append-subagent-system-prompt-file` is an option (295, 332: yes; 156, 226: no).
    #[must_use]
    pub fn knows_append_subagent_system_prompt_file(self) -> bool {
        self >= V2_1_295
    }

    /// `--plugin-dir-no-mcp` is an option (226, 295, 332: yes; 156: no).
    #[must_use]
    pub fn knows_plugin_dir_no_mcp(self) -> bool {
        self >= V2_1_226
    }

    /// `--managed-settings` and `--plugin-url` are options (all four).
    #[must_use]
    pub fn knows_managed_settings(self) -> bool {
        self >= V2_1_156
    }

    /// `--agent` with an unknown name ends with an error; 156 silently runs its default agent and model instead.
    #[must_use]
    pub fn rejects_unknown_agent(self) -> bool {
        self >= V2_1_226
    }

    /// What becomes of `--settings` or `--setting-sources` given twice, with a space or with `=`: 156 takes the first, 226,
    /// 295 and 332 the last.
    #[must_use]
    pub fn repeated_settings(self) -> Repeated {
        if self <= V2_1_156 {
            Repeated::FirstWins
        } else if self >= V2_1_226 {
            Repeated::LastWins
        } else {
            Repeated::Unmeasured
        }
    }

    /// `CLAUDE_CODE_SUBAGENT_MODEL` beats the call's and the definition's model for in-process subagents (156, 226); in
    /// 295 and 332 it stands behind both.
    #[must_use]
    pub fn subagent_model_variable_comes_first(self) -> bool {
        self < V2_1_295
    }

    /// The built-in Explore runs the small model; from 226 on it runs the parent's.
    #[must_use]
    pub fn explore_has_a_model(self) -> bool {
        self < V2_1_226
    }

    /// Of two agent definitions with one name in nested project folders the nearest counts (226, 295, 332); in 156 the
    /// outermost.
    #[must_use]
    pub fn nearest_agent_wins(self) -> bool {
        self >= V2_1_226
    }

    /// Of two agent definitions with one name in one folder the last by path counts (332); before (156, 226, 295) it is
    /// the last in the order in which the folder lists its files.
    #[must_use]
    pub fn sorts_agent_files(self) -> bool {
        self >= V2_1_332
    }

    /// Agents in `--add-dir` folders are loaded (226, 295, 332: yes; 156: no).
    #[must_use]
    pub fn loads_agents_of_added_folders(self) -> bool {
        self >= V2_1_226
    }

    /// `--agents` may name a file (295, 332: yes; 156 and 226 pass a path over).
    #[must_use]
    pub fn reads_agents_from_file(self) -> bool {
        self >= V2_1_295
    }

    /// Rules on a parameter, such as `Agent(subagent_type:x)`, have an effect (226, 295, 332: yes; 156: no).
    /// Between 156 and 226 they are taken to have one: a rule too many refuses a cell, a rule too few lets one run.
    #[must_use]
    pub fn judges_parameter_rules(self) -> bool {
        self > V2_1_156
    }

    /// Finds the version of a running client: by its executable, else by `AI_AGENT` of the hook's environment, which all
    /// four versions set and a project's settings may set otherwise.
    #[must_use]
    pub fn detect(executable: Option<&Path>, ai_agent: Option<&str>) -> Option<Self> {
        let by_executable = executable.and_then(Self::of_executable);
        by_executable.or_else(|| ai_agent.and_then(Self::from_ai_agent))
    }

    /// Reads the value of `AI_AGENT` as the client sets it for hooks: `claude-code_2-1-332_harness`.
    #[must_use]
    pub fn from_ai_agent(value: &str) -> Option<Self> {
        let rest = value.strip_prefix("claude-code_")?;
        let numbers = rest.split('_').next()?;
        numbers.replace('-', ".").parse().ok()
    }

    /// Reads the version out of an executable's path: the native installer keeps `…/versions/2.1.332`.
    #[must_use]
    pub fn from_executable_path(path: &Path) -> Option<Self> {
        let mut parts = path.components().rev().map(|part| part.as_os_str().to_str());
        let name = parts.next()??;
        (parts.next()?? == "versions").then(|| name.parse().ok())?
    }

    /// Reads `version` of a `package.json` whose `name` is one of the client's npm packages.
    #[must_use]
    pub fn from_package_json(bytes: &[u8]) -> Option<Self> {
        let package: serde_json::Value = serde_json::from_slice(bytes).ok()?;
        let name = package.get("name")?.as_str()?;
        name.starts_with("@anthropic-ai/claude-code")
            .then(|| package.get("version")?.as_str()?.parse().ok())?
    }

    /// Finds the version of the client's executable: by its path, else by the `package.json` beside it (the native npm
    /// package) or one folder up (npm's bin link leads to `claude-code/bin/claude.exe`; both measured on all four).
    #[must_use]
    pub fn of_executable(path: &Path) -> Option<Self> {
        const PACKAGE_JSON_LIMIT: u64 = 256 * 1024;
        Self::from_executable_path(path).or_else(|| {
            path.ancestors()
                .skip(1)
                .take(2)
                .filter_map(|folder| {
                    read_bounded(&folder.join("package.json"), PACKAGE_JSON_LIMIT, Links::Follow).ok()
                })
                .find_map(|bytes| Self::from_package_json(&bytes))
        })
    }
}

impl FromStr for ClientVersion {
    type Err = VersionError;

    /// Reads `2.1.332`; what follows a `-`, `+` or a space (`2.1.332 (Claude Code)`) does not count.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let core = text.trim().split(['-', '+', ' ']).next().unwrap_or_default();
        let mut numbers = core.split('.').map(|part| part.parse::<u32>().ok());
        match (numbers.next(), numbers.next(), numbers.next(), numbers.next()) {
            (Some(Some(major)), Some(Some(minor)), Some(Some(patch)), None) => Ok(Self::new(major, minor, patch)),
            _ => Err(VersionError),
        }
    }
}

impl fmt::Display for ClientVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_every_place_the_client_leaves_them() {
        let v = Some(V2_1_332);
        assert_eq!("2.1.332".parse().ok(), v);
        assert_eq!("2.1.332 (Claude Code)\n".parse().ok(), v);
        assert_eq!("2.1.332-beta.1".parse().ok(), v);
        assert_eq!(ClientVersion::from_ai_agent("claude-code_2-1-332_harness"), v);
        assert_eq!(ClientVersion::from_ai_agent("claude-code_2-1-332"), v);
        let path = Path::new("/home/a/.local/share/claude/versions/2.1.332");
        assert_eq!(ClientVersion::from_executable_path(path), v);
        let package = br#"{"name":"@anthropic-ai/claude-code-linux-x64","version":"2.1.332"}"#;
        assert_eq!(ClientVersion::from_package_json(package), v);
    }

    #[test]
    fn what_is_no_version_is_none() {
        for text in ["", "2.1", "2.1.x", "2.1.3.4", "v2.1.3", "-2.1.3"] {
            assert_eq!(text.parse::<ClientVersion>(), Err(VersionError), "{text}");
        }
        assert_eq!(ClientVersion::from_ai_agent("other_2-1-332_harness"), None);
        assert_eq!(ClientVersion::from_executable_path(Path::new("/usr/bin/claude")), None);
        let other = br#"{"name":"left-pad","version":"2.1.332"}"#;
        assert_eq!(ClientVersion::from_package_json(other), None);
    }

    #[test]
    fn the_package_beside_or_above_the_executable_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let package = br#"{"name":"@anthropic-ai/claude-code","version":"2.1.226"}"#;
        std::fs::write(folder.path().join("package.json"), package).unwrap();
        for executable in ["claude", "bin/claude.exe"] {
            let found = ClientVersion::of_executable(&folder.path().join(executable));
            assert_eq!(found, Some(V2_1_226), "{executable}");
        }
        let elsewhere = folder.path().join("a/b/claude");
        assert_eq!(ClientVersion::of_executable(&elsewhere), None);
        let detect = |path: &Path| ClientVersion::detect(Some(path), Some("claude-code_2-1-332_harness"));
        assert_eq!(detect(&folder.path().join("claude")), Some(V2_1_226));
        assert_eq!(detect(&elsewhere), Some(V2_1_332));
    }

    #[test]
    fn the_table_of_the_measured_versions() {
        // Columns: safe-mode, restricted, permission-prompts, unknown agent refused; as measured.
        for (version, expected) in [
            (V2_1_156, [false, false, false, false]),
            (V2_1_226, [true, false, false, true]),
            (V2_1_295, [true, true, true, true]),
            (V2_1_332, [true, true, true, true]),
        ] {
            let got = [
                version.knows_safe_mode(),
                version.knows_restricted(),
                version.knows_permission_prompts(),
                version.rejects_unknown_agent(),
            ];
            assert_eq!(got, expected, "{version}");
        }
        assert_eq!(V2_1_156.repeated_settings(), Repeated::FirstWins);
        assert_eq!(ClientVersion::new(2, 1, 200).repeated_settings(), Repeated::Unmeasured);
        assert_eq!(V2_1_226.repeated_settings(), Repeated::LastWins);
        assert_eq!(V2_1_332.repeated_settings(), Repeated::LastWins);
    }
}
