//! From a call and the parent's limits to the child that will run it: pure, plain data.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::intercept::{AgentCall, Isolation};
use crate::base::{AgentType, CellId, SessionId, Usd};
use crate::process::{Limits, SpawnPlan};
use crate::protocol::ClientVersion;

/// The version whose subagents have no Agent tool (those of 2.1.226 and newer have it).
const NO_NESTED_AGENTS: ClientVersion = ClientVersion::new(2, 1, 156);
/// The first version seen to have a switch for `@file` mentions alone (not 2.1.295).
const MENTION_SWITCH: ClientVersion = ClientVersion::new(2, 1, 332);

/// Everything that a plan is made from.
#[derive(Debug)]
pub struct Inputs<'a> {
    /// The call.
    pub call: &'a AgentCall,
    /// The exact name of the agent; `--agent` takes no other spelling, the tool does (2.1.156, 2.1.332).
    pub agent: &'a AgentType,
    /// The cell's id.
    pub cell: &'a CellId,
    /// The child's session id.
    pub session: &'a SessionId,
    /// The client's program.
    pub program: PathBuf,
    /// The project's folder: a child that is started elsewhere loads none of the project's hooks (2.1.156, 2.1.332).
    pub project: PathBuf,
    /// The calling session's folder, which follows its `cd`.
    pub call_cwd: Option<&'a Path>,
    /// The parent's flags that bind the child too.
    pub inherited: Vec<OsString>,
    /// The model to pass, where one is.
    pub model: Option<&'a str>,
    /// The JSON schema that the answer must meet, as text.
    pub schema: Option<&'a str>,
    /// The child's environment, without what this plan adds.
    pub env: BTreeMap<OsString, OsString>,
    /// The client's version, where it is known.
    pub version: Option<ClientVersion>,
    /// Whether calls of the cell get cells too.
    pub takes_cells: bool,
    /// What the child may take.
    pub limits: Limits,
}

/// A planned child.
#[derive(Clone, Debug, PartialEq)]
pub struct CellPlan {
    /// What is started.
    pub spawn: SpawnPlan,
    /// What it reads on stdin.
    pub prompt: Vec<u8>,
    /// The name of its git worktree, where the call asked for one.
    pub worktree: Option<String>,
}

impl CellPlan {
    /// Lets the child stop once it has cost this much. All versions have the flag; they look after each answer.
    pub fn limit_cost(&mut self, limit: Usd) {
        self.spawn
            .args
            .push(format!("--max-budget-usd={}", limit.digits()).into());
    }
}

/// Makes the plan.
#[must_use]
pub fn plan(inputs: Inputs<'_>) -> CellPlan {
    let worktree = (inputs.call.isolation == Isolation::Worktree).then(|| inputs.cell.to_string());
    let args = arguments(&inputs, worktree.as_deref());
    let prompt = prompt(&inputs);
    let env = environment(
        inputs.env,
        &inputs.call.prompt,
        inputs.version.is_some_and(|version| version >= MENTION_SWITCH),
    );
    CellPlan {
        spawn: SpawnPlan {
            program: inputs.program,
            args,
            env,
            cwd: inputs.project,
            limits: inputs.limits,
        },
        prompt: prompt.into_bytes(),
        worktree,
    }
}

/// Values are joined to their flags by `=`: so no value can be read as a flag, and a flag that takes several takes this
/// one only (commander's rules, measured on 2.1.156 and 2.1.332).
fn arguments(inputs: &Inputs<'_>, worktree: Option<&str>) -> Vec<OsString> {
    let call = inputs.call;
    let mut args: Vec<OsString> = ["-p", "--output-format", "json"].map(OsString::from).into();
    let mut flag = |name: &str, value: &str| args.push(format!("--{name}={value}").into());
    flag("session-id", inputs.session.as_str());
    flag("agent", inputs.agent.as_str());
    if let Some(model) = inputs.model {
        flag("model", model);
    }
    if let Some(effort) = &call.effort {
        flag("effort", effort);
    }
    flag("permission-mode", call.permission_mode.word());
    if let Some(schema) = inputs.schema {
        flag("json-schema", schema);
    }
    if let Some(name) = worktree {
        flag("worktree", name);
    }
    args.extend(inputs.inherited.iter().cloned());
    // A subagent of this version has no Agent tool; a session of its own has, unless it is taken away. Where the user
    // lets cells have cells, it is meant to have it.
    if inputs.version == Some(NO_NESTED_AGENTS) && !inputs.takes_cells {
        args.push("--disallowedTools=Agent".into());
    }
    args
}

/// The call's prompt as the child must get it to see the same text as a subagent in the parent's process would.
///
/// A `/` as the very first character makes it a command of the client's own that no model sees; a line break before it
/// arrives with it and makes it text (2.1.156 to 2.1.332).
fn prompt(inputs: &Inputs<'_>) -> String {
    let text = &inputs.call.prompt;
    let elsewhere = inputs
        .call_cwd
        .filter(|cwd| *cwd != inputs.project && inputs.call.isolation == Isolation::None)
        .and_then(Path::to_str)
        .filter(|cwd| !cwd.contains(char::is_control));
    match elsewhere {
        Some(cwd) => {
            format!("Working folder of this task: {cwd} (the session starts in the project's folder)\n\n{text}")
        }
        None if text.starts_with('/') => format!("\n{text}"),
        None => text.clone(),
    }
}

/// A prompt of `claude -p` is read for `@file` mentions, whose files are put before the model with no permission asked,
/// even from outside the project; a subagent's prompt is not (2.1.156 to 2.1.332). So that a cell gets no more than the
/// subagent would have, the switch for it is set: 2.1.332 has one of its own; older clients only the one for all
/// attachments, which also leaves out the list of skills, so there it is set only for a prompt that needs it.
fn environment(
    mut env: BTreeMap<OsString, OsString>,
    prompt: &str,
    knows_mention_switch: bool,
) -> BTreeMap<OsString, OsString> {
    let mut switch = |name: &str| env.insert(name.into(), "1".into());
    switch("CLAUDE_CODE_DISABLE_FILE_MENTIONS");
    switch("CLAUDE_CODE_DISABLE_ULTRATHINK");
    if !knows_mention_switch && has_mention(prompt) {
        switch("CLAUDE_CODE_DISABLE_ATTACHMENTS");
    }
    env
}

/// Whether a client would take something in `prompt` for a file mention: `@` at the start or after white space.
fn has_mention(prompt: &str) -> bool {
    let mut before = ' ';
    prompt.chars().any(|c| {
        let mention = c == '@' && before.is_whitespace();
        before = c;
        mention
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Map, json};

    use super::*;
    use crate::protocol::PermissionMode;

    const LIMITS: Limits = Limits {
        run: Duration::from_secs(300),
        grace: Duration::from_secs(5),
        output_bytes: 64 * 1024 * 1024,
    };

    fn call(prompt: &str) -> AgentCall {
        AgentCall {
            tool_use_id: "toolu_1".parse().unwrap(),
            description: "d".into(),
            prompt: prompt.into(),
            agent_type: "judge".parse().unwrap(),
            model: None,
            effort: Some("low".into()),
            isolation: Isolation::None,
            input: Map::from_iter([("prompt".to_owned(), json!(prompt))]),
            depth: 1,
            permission_mode: PermissionMode::Plan,
        }
    }

    fn planned(call: &AgentCall, change: impl FnOnce(&mut Inputs<'_>)) -> CellPlan {
        let cell_id: CellId = "cell-0190f3a0-0000-7000-8000-000000000000".parse().unwrap();
        let session: SessionId = "11111111-2222-4333-8444-555555555555".parse().unwrap();
        let mut inputs = Inputs {
            call,
            agent: &call.agent_type,
            cell: &cell_id,
            session: &session,
            program: "/opt/claude".into(),
            project: "/work".into(),
            call_cwd: Some(Path::new("/work")),
            inherited: vec!["--add-dir=/x".into()],
            model: Some("haiku"),
            schema: None,
            env: BTreeMap::new(),
            version: None,
            takes_cells: false,
            limits: LIMITS,
        };
        change(&mut inputs);
        plan(inputs)
    }

    fn text(plan: &CellPlan) -> &str {
        std::str::from_utf8(&plan.prompt).unwrap()
    }

    #[test]
    fn the_arguments_are_the_calls_and_the_parents() {
        let plan = planned(&call("p"), |_| {});
        let expected = [
            "-p",
            "--output-format",
            "json",
            "--session-id=11111111-2222-4333-8444-555555555555",
            "--agent=judge",
            "--model=haiku",
            "--effort=low",
            "--permission-mode=plan",
            "--add-dir=/x",
        ];
        assert_eq!(plan.spawn.args, expected.map(OsString::from));
        assert_eq!((plan.spawn.cwd.to_str(), plan.worktree), (Some("/work"), None));
    }

    #[test]
    fn nothing_is_passed_for_what_was_not_asked() {
        let mut bare = call("p");
        bare.effort = None;
        let plan = planned(&bare, |inputs| inputs.model = None);
        let given = |name: &str| {
            plan.spawn
                .args
                .iter()
                .any(|arg| arg.to_string_lossy().starts_with(name))
        };
        for name in ["--model", "--effort", "--json-schema", "--worktree"] {
            assert!(!given(name), "{name}");
        }
    }

    #[test]
    fn a_cell_of_a_client_without_nested_agents_has_none_either() {
        let gone = |change: fn(&mut Inputs<'_>)| {
            planned(&call("p"), change)
                .spawn
                .args
                .contains(&"--disallowedTools=Agent".into())
        };
        assert!(gone(|inputs| inputs.version = Some(NO_NESTED_AGENTS)));
        assert!(!gone(
            |inputs| (inputs.version, inputs.takes_cells) = (Some(NO_NESTED_AGENTS), true)
        ));
        assert!(!gone(|inputs| inputs.version = Some(MENTION_SWITCH)));
    }

    #[test]
    fn a_worktree_has_the_cells_name_and_no_folder_line() {
        let mut call = call("p");
        call.isolation = Isolation::Worktree;
        let plan = planned(&call, |inputs| inputs.call_cwd = Some(Path::new("/work/sub")));
        assert_eq!(
            plan.worktree.as_deref(),
            Some("cell-0190f3a0-0000-7000-8000-000000000000")
        );
        assert!(
            plan.spawn
                .args
                .contains(&"--worktree=cell-0190f3a0-0000-7000-8000-000000000000".into())
        );
        assert_eq!(text(&plan), "p");
    }

    #[test]
    fn a_prompt_reaches_the_child_as_text() {
        for (prompt, expected) in [
            ("p", "p"),
            ("/compact", "\n/compact"),
            (" /x", " /x"),
            ("\r\np ", "\r\np "),
        ] {
            assert_eq!(text(&planned(&call(prompt), |_| {})), expected);
        }
    }

    #[test]
    fn another_folder_of_the_call_is_named_first() {
        let plan = planned(&call("/p"), |inputs| inputs.call_cwd = Some(Path::new("/work/sub")));
        let (first, rest) = text(&plan).split_once("\n\n").unwrap();
        assert!(first.contains("/work/sub"));
        assert_eq!(rest, "/p");
        let hostile = planned(&call("p"), |inputs| inputs.call_cwd = Some(Path::new("/work/a\nb")));
        assert_eq!(text(&hostile), "p");
    }

    #[test]
    fn file_mentions_are_switched_off_as_narrowly_as_the_client_allows() {
        let attachments = OsString::from("CLAUDE_CODE_DISABLE_ATTACHMENTS");
        for (prompt, old_client_needs_it) in [
            ("p", false),
            ("a@b.c", false),
            ("`@x`", false),
            ("@x", true),
            ("see @/etc/passwd", true),
            ("a\n@b", true),
        ] {
            let old = planned(&call(prompt), |_| {});
            assert_eq!(
                old.spawn.env.contains_key(&attachments),
                old_client_needs_it,
                "{prompt}"
            );
            let new = planned(&call(prompt), |inputs| inputs.version = Some(MENTION_SWITCH));
            assert!(!new.spawn.env.contains_key(&attachments));
            assert!(
                new.spawn
                    .env
                    .contains_key(&OsString::from("CLAUDE_CODE_DISABLE_FILE_MENTIONS"))
            );
        }
    }
}
