//! The part of the parent's command line that its cells get, so that a cell has no more than the in-process subagent had.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::flags::{ParentFlags, Undecidable};
use crate::protocol::version::ClientVersion;

/// The two versions that inheriting asks for; they are the same where the cell runs the parent's executable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    /// The parent's: it decides which of two `--settings` counted.
    pub parent: Option<ClientVersion>,
    /// The cell's: an option it does not take would end it at once.
    pub cell: Option<ClientVersion>,
}

/// What a cell gets of its parent's command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inherited {
    /// The arguments. Every value is joined to its option by `=`: no value can be read as an option, and no variadic
    /// option takes what follows it.
    pub arguments: Vec<OsString>,
    /// Options of the parent that the cell's version is not known to take and that limit nothing: left out.
    pub dropped: Vec<&'static str>,
}

/// A limit of the parent that cannot be passed on: a cell without it would have more than the in-process subagent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InheritError {
    /// The option was given more than once and the parent's version is not known to use one of the values.
    #[error("the parent's {option} cannot be passed on")]
    Undecidable {
        /// The option.
        option: &'static str,
        /// Why.
        #[source]
        source: Undecidable,
    },
    /// The cell's version is not known to take the option.
    #[error("the parent runs with {option}, which the cell's version of the client is not known to take")]
    Unsupported {
        /// The option.
        option: &'static str,
    },
}

/// Builds the arguments; relative paths are resolved against `start`, the folder the parent was started in.
///
/// Beyond the options that say what a cell may do, those that bring the parent's own limits along are passed on too:
/// plugins (their hooks), `--managed-settings` (its rules), `--disable-slash-commands` (no skills).
///
/// # Errors
/// [`InheritError`] where a limit of the parent would be lost.
pub fn inherit(flags: &ParentFlags, versions: Versions, start: &Path) -> Result<Inherited, InheritError> {
    let mut out = Builder {
        start,
        inherited: Inherited::default(),
    };
    out.settings(flags, versions.parent)?;
    out.modes(flags, versions.cell)?;
    out.tools(flags);
    out.folders(flags, versions.cell);
    out.rest(flags, versions.cell);
    Ok(out.inherited)
}

struct Builder<'a> {
    start: &'a Path,
    inherited: Inherited,
}

impl Builder<'_> {
    fn settings(&mut self, flags: &ParentFlags, parent: Option<ClientVersion>) -> Result<(), InheritError> {
        let undecidable = |option| move |source| InheritError::Undecidable { option, source };
        let settings = flags.effective_settings(parent).map_err(undecidable("--settings"))?;
        if let Some(value) = settings {
            self.text_or_path("--settings", value);
        }
        let sources = flags
            .effective_setting_sources(parent)
            .map_err(undecidable("--setting-sources"))?;
        if let Some(value) = sources {
            self.joined("--setting-sources", value);
        }
        if let Some(value) = &flags.managed_settings {
            self.text_or_path("--managed-settings", value);
        }
        Ok(())
    }

    fn modes(&mut self, flags: &ParentFlags, cell: Option<ClientVersion>) -> Result<(), InheritError> {
        let takes = |knows: fn(ClientVersion) -> bool| cell.is_some_and(knows);
        for (given, option, taken) in [
            (flags.bare, "--bare", true),
            (flags.strict_mcp_config, "--strict-mcp-config", true),
            (flags.disable_slash_commands, "--disable-slash-commands", true),
            (flags.safe_mode, "--safe-mode", takes(ClientVersion::knows_safe_mode)),
            (flags.restricted, "--restricted", takes(ClientVersion::knows_restricted)),
        ] {
            match (given, taken) {
                (false, _) => {}
                (true, true) => self.inherited.arguments.push(option.into()),
                (true, false) => return Err(InheritError::Unsupported { option }),
            }
        }
        Ok(())
    }

    fn tools(&mut self, flags: &ParentFlags) {
        self.each("--allowedTools", &flags.allowed_tools);
        self.each("--disallowedTools", &flags.disallowed_tools);
        self.each("--tools", flags.tools.as_deref().unwrap_or_default());
    }

    fn folders(&mut self, flags: &ParentFlags, cell: Option<ClientVersion>) {
        for value in &flags.mcp_config {
            self.text_or_path("--mcp-config", value);
        }
        for value in &flags.add_dir {
            self.path("--add-dir", value);
        }
        for value in &flags.plugin_dir {
            self.path("--plugin-dir", value);
        }
        if self.taken(
            "--plugin-dir-no-mcp",
            &flags.plugin_dir_no_mcp,
            cell.is_some_and(ClientVersion::knows_plugin_dir_no_mcp),
        ) {
            for value in &flags.plugin_dir_no_mcp {
                self.path("--plugin-dir-no-mcp", value);
            }
        }
        self.each("--plugin-url", &flags.plugin_url);
        if let Some(value) = &flags.agents {
            self.text_or_path("--agents", value);
        }
    }

    fn rest(&mut self, flags: &ParentFlags, cell: Option<ClientVersion>) {
        self.each("--permission-prompt-tool", flags.permission_prompt_tool.as_slice());
        self.each("--fallback-model", flags.fallback_model.as_slice());
        let prompts = flags.permission_prompts.as_slice();
        if self.taken(
            "--permission-prompts",
            prompts,
            cell.is_some_and(ClientVersion::knows_permission_prompts),
        ) {
            self.each("--permission-prompts", prompts);
        }
        let appended = flags.append_subagent_system_prompt.as_slice();
        let knows = cell.is_some_and(ClientVersion::knows_append_subagent_system_prompt);
        if self.taken("--append-subagent-system-prompt", appended, knows) {
            self.each("--append-subagent-system-prompt", appended);
        }
        let file = flags.append_subagent_system_prompt_file.as_slice();
        let knows = cell.is_some_and(ClientVersion::knows_append_subagent_system_prompt_file);
        if self.taken("--append-subagent-system-prompt-file", file, knows) {
            for value in file {
                self.path("--append-subagent-system-prompt-file", value);
            }
        }
    }

    /// Whether the cell takes `option`; where the parent has it and the cell does not, it is noted as dropped.
    fn taken(&mut self, option: &'static str, given: &[OsString], known: bool) -> bool {
        if !known && !given.is_empty() {
            self.inherited.dropped.push(option);
        }
        known
    }

    fn each(&mut self, option: &str, values: &[OsString]) {
        for value in values {
            self.joined(option, value);
        }
    }

    fn joined(&mut self, option: &str, value: &OsStr) {
        let mut argument = OsString::from(option);
        argument.push("=");
        argument.push(value);
        self.inherited.arguments.push(argument);
    }

    fn path(&mut self, option: &str, value: &OsStr) {
        self.joined(option, resolve(self.start, value).as_os_str());
    }

    fn text_or_path(&mut self, option: &str, value: &OsStr) {
        if is_json(value) {
            self.joined(option, value);
        } else {
            self.path(option, value);
        }
    }
}

/// Whether a value that may be JSON text or a path is the text: the client looks at its first character, past white
/// space.
#[must_use]
pub fn is_json(value: &OsStr) -> bool {
    value.as_bytes().trim_ascii_start().starts_with(b"{")
}

/// `value` as a path from the root, where it is relative; `~` and an empty value stay as they are.
#[must_use]
pub fn resolve(start: &Path, value: &OsStr) -> OsString {
    if value.is_empty() || value.as_bytes().starts_with(b"~") {
        return value.to_owned();
    }
    start.join(value).into_os_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::version::{V2_1_156, V2_1_226, V2_1_332};

    fn flags(line: &str) -> ParentFlags {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        ParentFlags::parse(&words)
    }

    fn same(version: ClientVersion) -> Versions {
        Versions {
            parent: Some(version),
            cell: Some(version),
        }
    }

    fn arguments(line: &str, versions: Versions) -> String {
        let inherited = inherit(&flags(line), versions, Path::new("/start")).unwrap();
        let words: Vec<_> = inherited.arguments.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn every_option_of_the_list_is_passed_on_in_a_form_that_takes_nothing_else() {
        for (line, expected) in [
            ("claude -p --settings s.json", "--settings=/start/s.json"),
            ("claude --settings {\"a\":1} -p", "--settings={\"a\":1}"),
            ("claude --settings /abs/s.json", "--settings=/abs/s.json"),
            (
                "claude --setting-sources user,project",
                "--setting-sources=user,project",
            ),
            ("claude --setting-sources ", "--setting-sources="),
            (
                "claude --mcp-config a.json {} --strict-mcp-config",
                "--strict-mcp-config --mcp-config=/start/a.json --mcp-config={}",
            ),
            (
                "claude --add-dir a ../b --add-dir=/c",
                "--add-dir=/start/a --add-dir=/start/../b --add-dir=/c",
            ),
            (
                "claude --plugin-dir p --plugin-dir q",
                "--plugin-dir=/start/p --plugin-dir=/start/q",
            ),
            ("claude --agents {\"x\":{}} --agents a.json", "--agents=/start/a.json"),
            (
                "claude --allowed-tools Read Edit",
                "--allowedTools=Read --allowedTools=Edit",
            ),
            ("claude --disallowedTools=-x", "--disallowedTools=-x"),
            ("claude --tools ", "--tools="),
            ("claude --tools Bash,Read", "--tools=Bash,Read"),
            (
                "claude --bare --restricted --safe-mode",
                "--bare --safe-mode --restricted",
            ),
            (
                "claude --permission-prompt-tool mcp__a__b",
                "--permission-prompt-tool=mcp__a__b",
            ),
            ("claude --permission-prompts none", "--permission-prompts=none"),
            ("claude --fallback-model haiku", "--fallback-model=haiku"),
            (
                "claude --append-subagent-system-prompt -careful",
                "--append-subagent-system-prompt=-careful",
            ),
            (
                "claude --append-subagent-system-prompt-file f",
                "--append-subagent-system-prompt-file=/start/f",
            ),
            (
                "claude --managed-settings {} --plugin-url u",
                "--managed-settings={} --plugin-url=u",
            ),
            // What is not a limit, or is decided elsewhere, stays with the parent.
            (
                "claude -p --model opus --agent a --session-id 1 --resume --verbose PROMPT",
                "",
            ),
        ] {
            assert_eq!(arguments(line, same(V2_1_332)), expected, "{line}");
        }
    }

    #[test]
    fn settings_given_twice_are_never_both() {
        let line = "claude --settings a --settings b --setting-sources user --setting-sources=local";
        assert_eq!(
            arguments(line, same(V2_1_156)),
            "--settings=/start/a --setting-sources=user"
        );
        assert_eq!(
            arguments(line, same(V2_1_332)),
            "--settings=/start/b --setting-sources=local"
        );
        let unknown = inherit(&flags(line), Versions::default(), Path::new("/start"));
        assert!(matches!(
            unknown,
            Err(InheritError::Undecidable {
                option: "--settings",
                ..
            })
        ));
    }

    #[test]
    fn a_limit_that_the_cell_cannot_take_is_an_error_and_anything_else_is_dropped() {
        let restricted = flags("claude --restricted");
        for cell in [None, Some(V2_1_226)] {
            let versions = Versions {
                parent: Some(V2_1_332),
                cell,
            };
            let error = inherit(&restricted, versions, Path::new("/")).unwrap_err();
            assert_eq!(error, InheritError::Unsupported { option: "--restricted" });
        }
        let prompts = flags("claude --permission-prompts none --append-subagent-system-prompt x --bare");
        let inherited = inherit(&prompts, same(V2_1_156), Path::new("/")).unwrap();
        assert_eq!(inherited.arguments, ["--bare"]);
        assert_eq!(
            inherited.dropped,
            ["--permission-prompts", "--append-subagent-system-prompt"]
        );
    }

    proptest! {
        /// Whatever the parent's values look like, the cell's parser reads the same ones and no other option.
        #[test]
        fn the_cell_reads_what_the_parent_had(
            lists in prop::collection::vec(prop::collection::vec("[-/{a-z=, ]{0,9}", 0..3), 4),
            single in prop::option::of("(--|-)?[-a-z={ ]{0,9}"),
        ) {
            let list = |at: usize| lists[at].iter().map(OsString::from).collect::<Vec<_>>();
            let given = ParentFlags {
                allowed_tools: list(0),
                disallowed_tools: list(1),
                tools: Some(list(2)).filter(|tools| !tools.is_empty()),
                plugin_url: list(3),
                fallback_model: single.map(OsString::from),
                ..ParentFlags::default()
            };
            let inherited = inherit(&given, same(V2_1_332), Path::new("/start")).unwrap();
            let mut words = vec![OsString::from("claude")];
            words.extend(inherited.arguments);
            prop_assert_eq!(ParentFlags::parse(&words), given);
        }
    }
}
