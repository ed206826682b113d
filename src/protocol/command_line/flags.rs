//! The options of a parent that matter to its cells.

use std::ffi::OsString;

use super::words::{Word, arguments, split};
use crate::protocol::version::{ClientVersion, Repeated};

/// What the parent was started with. Lists keep their values in the order given, unsplit and unresolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the client, independent of the others"
)]
pub struct ParentFlags {
    /// Every `--settings`, JSON text or a path. Only one of them counts: see [`ParentFlags::effective_settings`].
    pub settings: Vec<OsString>,
    /// Every `--setting-sources`. Only one of them counts, like `settings`.
    pub setting_sources: Vec<OsString>,
    /// `--mcp-config`: JSON texts or paths; they accumulate.
    pub mcp_config: Vec<OsString>,
    /// `--strict-mcp-config`.
    pub strict_mcp_config: bool,
    /// `--add-dir`; they accumulate.
    pub add_dir: Vec<OsString>,
    /// `--plugin-dir`; they accumulate.
    pub plugin_dir: Vec<OsString>,
    /// `--plugin-dir-no-mcp`.
    pub plugin_dir_no_mcp: Vec<OsString>,
    /// `--plugin-url`.
    pub plugin_url: Vec<OsString>,
    /// The last `--agents`, JSON text or (newer versions) a path.
    pub agents: Option<OsString>,
    /// `--allowedTools`, `--allowed-tools`; they accumulate.
    pub allowed_tools: Vec<OsString>,
    /// `--disallowedTools`, `--disallowed-tools`; they accumulate.
    pub disallowed_tools: Vec<OsString>,
    /// `--tools`, where given; one empty value means no tools.
    pub tools: Option<Vec<OsString>>,
    /// `--restricted`.
    pub restricted: bool,
    /// `--safe-mode`.
    pub safe_mode: bool,
    /// `--bare`.
    pub bare: bool,
    /// `--disable-slash-commands`: no skills.
    pub disable_slash_commands: bool,
    /// `--permission-prompt-tool`.
    pub permission_prompt_tool: Option<OsString>,
    /// `--permission-prompts`.
    pub permission_prompts: Option<OsString>,
    /// `--fallback-model`.
    pub fallback_model: Option<OsString>,
    /// `--append-subagent-system-prompt`.
    pub append_subagent_system_prompt: Option<OsString>,
    /// `--append-subagent-system-prompt-file`.
    pub append_subagent_system_prompt_file: Option<OsString>,
    /// `--managed-settings`: JSON text.
    pub managed_settings: Option<OsString>,
    /// `--model`.
    pub model: Option<OsString>,
    /// `--agent`.
    pub agent: Option<OsString>,
    /// `--permission-mode`.
    pub permission_mode: Option<OsString>,
    /// `--effort`.
    pub effort: Option<OsString>,
    /// `--dangerously-skip-permissions`: bypass, whatever `--permission-mode` says (all four versions).
    pub dangerously_skip_permissions: bool,
    /// `--allow-dangerously-skip-permissions`.
    pub allow_dangerously_skip_permissions: bool,
    /// `-p`, `--print`.
    pub print: bool,
    /// Options that no measured version has, without their values.
    pub unknown: Vec<String>,
}

impl ParentFlags {
    /// Reads the words of `/proc/PID/cmdline`, the program first.
    #[must_use]
    pub fn parse(command_line: &[OsString]) -> Self {
        let mut flags = Self::default();
        for word in split(arguments(command_line)) {
            match word {
                Word::Option { name, value: None } => flags.switch(&name),
                Word::Option {
                    name,
                    value: Some(value),
                } => flags.value(&name, value),
                Word::Unknown { name } => flags.unknown.push(name),
                Word::Positional => {}
            }
        }
        flags
    }

    /// The `--settings` that the parent's version used; an error where two differ and the version is not known to take
    /// one of them.
    ///
    /// # Errors
    /// [`Undecidable`] as said.
    pub fn effective_settings(&self, version: Option<ClientVersion>) -> Result<Option<&OsString>, Undecidable> {
        the_one_that_counts(&self.settings, version)
    }

    /// The `--setting-sources` that the parent's version used, like [`ParentFlags::effective_settings`].
    ///
    /// # Errors
    /// [`Undecidable`] where two differ and the version is not known to take one of them.
    pub fn effective_setting_sources(
        &self,
        version: Option<ClientVersion>,
    ) -> Result<Option<&OsString>, Undecidable> {
        the_one_that_counts(&self.setting_sources, version)
    }

    fn switch(&mut self, name: &str) {
        match name {
            "--strict-mcp-config" => self.strict_mcp_config = true,
            "--restricted" => self.restricted = true,
            "--safe-mode" => self.safe_mode = true,
            "--bare" => self.bare = true,
            "--disable-slash-commands" => self.disable_slash_commands = true,
            "--dangerously-skip-permissions" => self.dangerously_skip_permissions = true,
            "--allow-dangerously-skip-permissions" => self.allow_dangerously_skip_permissions = true,
            "-p" | "--print" => self.print = true,
            _ => {}
        }
    }

    fn value(&mut self, name: &str, value: OsString) {
        if let Some(list) = self.list(name) {
            list.push(value);
        } else if let Some(single) = self.single(name) {
            *single = Some(value);
        }
    }

    /// The list that a repeated option adds to.
    fn list(&mut self, name: &str) -> Option<&mut Vec<OsString>> {
        Some(match name {
            "--settings" => &mut self.settings,
            "--setting-sources" => &mut self.setting_sources,
            "--mcp-config" => &mut self.mcp_config,
            "--add-dir" => &mut self.add_dir,
            "--plugin-dir" => &mut self.plugin_dir,
            "--plugin-dir-no-mcp" => &mut self.plugin_dir_no_mcp,
            "--plugin-url" => &mut self.plugin_url,
            "--allowedTools" | "--allowed-tools" => &mut self.allowed_tools,
            "--disallowedTools" | "--disallowed-tools" => &mut self.disallowed_tools,
            "--tools" => self.tools.get_or_insert_default(),
            _ => return None,
        })
    }

    /// The place of an option of which the last counts (measured for `--agents`, `--model`, `--session-id`).
    fn single(&mut self, name: &str) -> Option<&mut Option<OsString>> {
        Some(match name {
            "--agents" => &mut self.agents,
            "--permission-prompt-tool" => &mut self.permission_prompt_tool,
            "--permission-prompts" => &mut self.permission_prompts,
            "--fallback-model" => &mut self.fallback_model,
            "--append-subagent-system-prompt" => &mut self.append_subagent_system_prompt,
            "--append-subagent-system-prompt-file" => &mut self.append_subagent_system_prompt_file,
            "--managed-settings" => &mut self.managed_settings,
            "--model" => &mut self.model,
            "--agent" => &mut self.agent,
            "--permission-mode" => &mut self.permission_mode,
            "--effort" => &mut self.effort,
            _ => return None,
        })
    }
}

/// An option that takes one value was given twice with different values, and which of them the parent used is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the option was given more than once, and which value this version of the client uses is not known")]
pub struct Undecidable;

fn the_one_that_counts(given: &[OsString], version: Option<ClientVersion>) -> Result<Option<&OsString>, Undecidable> {
    let (first, last) = (given.first(), given.last());
    let repeated = version.map_or(Repeated::Unmeasured, ClientVersion::repeated_settings);
    match repeated {
        Repeated::FirstWins => Ok(first),
        Repeated::LastWins => Ok(last),
        Repeated::Unmeasured if given.iter().all(|value| Some(value) == first) => Ok(first),
        Repeated::Unmeasured => Err(Undecidable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::version::{V2_1_156, V2_1_332};

    fn parse(line: &[&str]) -> ParentFlags {
        let words: Vec<OsString> = std::iter::once("claude")
            .chain(line.iter().copied())
            .map(OsString::from)
            .collect();
        ParentFlags::parse(&words)
    }

    #[test]
    fn both_spellings_and_repeats_add_up() {
        let flags = parse(&[
            "-p",
            "--allowedTools",
            "Read",
            "Bash(git log:*)",
            "--allowed-tools=Edit",
            "--disallowed-tools",
            "Agent(x)",
            "--add-dir",
            "a",
            "b",
            "--add-dir",
            "c",
            "--tools",
            "",
            "--model",
            "haiku",
            "--model=sonnet",
            "--safe-mode",
        ]);
        let expected = ParentFlags {
            print: true,
            safe_mode: true,
            allowed_tools: vec!["Read".into(), "Bash(git log:*)".into(), "Edit".into()],
            disallowed_tools: vec!["Agent(x)".into()],
            add_dir: vec!["a".into(), "b".into(), "c".into()],
            tools: Some(vec!["".into()]),
            model: Some("sonnet".into()),
            ..ParentFlags::default()
        };
        assert_eq!(flags, expected);
    }

    #[test]
    fn of_two_settings_the_version_decides() {
        let twice = parse(&["--settings", "a.json", "--settings=b.json"]);
        assert_eq!(twice.effective_settings(Some(V2_1_156)), Ok(Some(&"a.json".into())));
        assert_eq!(twice.effective_settings(Some(V2_1_332)), Ok(Some(&"b.json".into())));
        assert_eq!(twice.effective_settings(None), Err(Undecidable));
        let between = Some(ClientVersion::new(2, 1, 200));
        assert_eq!(twice.effective_settings(between), Err(Undecidable));
        let same = parse(&["--settings", "a.json", "--settings=a.json"]);
        assert_eq!(same.effective_settings(None), Ok(Some(&"a.json".into())));
        assert_eq!(parse(&[]).effective_settings(None), Ok(None));
    }

    #[test]
    fn an_option_of_the_future_does_not_hide_the_next_one() {
        let flags = parse(&["--from-tomorrow", "--restricted", "--other", "x", "--bare"]);
        assert!(flags.restricted && flags.bare);
        assert_eq!(flags.unknown, ["--from-tomorrow", "--other"]);
    }
}
