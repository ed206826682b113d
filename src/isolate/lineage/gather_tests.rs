use std::time::Duration;

use serde_json::json;

use super::*;
use crate::isolate::lineage::echo::ECHO_DEFINITION;
use crate::isolate::lineage::rules::RuleSource;
use crate::protocol::settings::Scope;
use crate::protocol::version::{ClientVersion, V2_1_156, V2_1_332};

/// A user's and a project's folders, and a client that was started in the project.
struct World {
    root: tempfile::TempDir,
    line: Vec<OsString>,
    env: Vec<(&'static str, &'static str)>,
    version: ClientVersion,
}

impl World {
    fn new(line: &[&str]) -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["config/agents", "project/.claude/agents", "project/.git"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        Self {
            root,
            line: line.iter().map(OsString::from).collect(),
            env: Vec::new(),
            version: V2_1_332,
        }
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.root.path().join(path), text).unwrap();
    }

    fn gather(&self, input: &Value, change: impl FnOnce(&mut Call<'_>)) -> Lineage {
        let path = |name: &str| self.root.path().join(name);
        let (project, config, transcript) = (path("project"), path("config"), path("session.jsonl"));
        let mut call = Call {
            tool: "Agent",
            input: input.as_object().unwrap(),
            tool_use_id: "toolu_0000_0",
            caller_id: None,
            caller_type: None,
            transcript: Some(&transcript),
        };
        change(&mut call);
        let env = |name: &str| {
            let found = self.env.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let around = Surroundings {
            command_line: &self.line,
            versions: Versions {
                parent: Some(self.version),
                cell: Some(self.version),
            },
            start: &project,
            config: Some(&config),
            home: Some(self.root.path()),
            managed: &path("etc"),
            env: &env,
            // Later than every file that a test writes.
            started: SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(32_503_680_000)),
            limits: &[],
            transcript_wait: Deadline::after(Duration::ZERO),
        };
        gather(&around, call)
    }

    fn model(&self, input: &Value) -> (Option<String>, ModelSource) {
        let choice = self.gather(input, |_| {}).model;
        (choice.pass, choice.source)
    }
}

fn agent(name: &str, more: &str) -> String {
    format!("---\nname: {name}\ndescription: d\n{more}\n---\nbody\n")
}

#[test]
fn a_plain_call_inherits_and_is_allowed() {
    let world = World::new(&[
        "claude",
        "-p",
        "--settings",
        "{}",
        "--add-dir",
        "x",
        "--model",
        "sonnet",
    ]);
    let lineage = world.gather(&json!({"prompt": "p"}), |_| {});
    let added = format!("--add-dir={}", world.root.path().join("project/x").display());
    assert_eq!(lineage.inherited.unwrap().arguments, ["--settings={}", &added]);
    assert_eq!(lineage.rules, RuleVerdict::Allowed);
    assert!(matches!(lineage.agent, AgentMatch::Found(found) if found.definition.name == "general-purpose"));
    assert_eq!(lineage.echo, EchoAvailability::NotFound);
    assert_eq!(lineage.model.pass.as_deref(), Some("sonnet"));
}

#[test]
fn a_rule_of_any_scope_is_judged_for_the_original_type() {
    let world = World::new(&["claude", "-p"]);
    world.write(
        "project/.claude/settings.local.json",
        r#"{"permissions":{"deny":["Task(judge)"]}}"#,
    );
    world.write("config/agents/j.md", agent("judge", ""));
    let expected = RuleVerdict::Denied {
        rule: "Task(judge)".into(),
        by: RuleSource::Scope(Scope::Local),
    };
    for spelling in ["judge", "Judge"] {
        let lineage = world.gather(&json!({"subagent_type": spelling}), |_| {});
        assert_eq!(lineage.rules, expected, "{spelling}");
    }
    let hidden = World::new(&["claude", "-p", "--setting-sources", "user"]);
    hidden.write(
        "project/.claude/settings.local.json",
        r#"{"permissions":{"deny":["Task(judge)"]}}"#,
    );
    let lineage = hidden.gather(&json!({"subagent_type": "judge"}), |_| {});
    assert_eq!(
        (lineage.rules, lineage.agent),
        (RuleVerdict::Allowed, AgentMatch::NotFound)
    );
}

#[test]
fn the_sessions_agent_limits_its_calls_and_gives_its_model() {
    let world = World::new(&["claude", "-p", "--agent", "lead"]);
    world.write(
        "config/agents/lead.md",
        agent("lead", "tools: Agent(judge), Read\nmodel: opus"),
    );
    world.write("config/agents/judge.md", agent("judge", ""));
    world.write("config/agents/echo-through.md", ECHO_DEFINITION);
    let lineage = world.gather(&json!({"subagent_type": "judge"}), |_| {});
    assert_eq!(lineage.rules, RuleVerdict::Allowed);
    assert_eq!(
        lineage.model,
        ModelChoice {
            pass: Some("opus".into()),
            source: ModelSource::ParentAgent
        }
    );
    assert!(matches!(
        lineage.echo,
        EchoAvailability::Refused(RuleVerdict::Denied { .. })
    ));
    let other = world.gather(&json!({}), |_| {});
    assert!(matches!(other.rules, RuleVerdict::Denied { by: RuleSource::Agent(name), .. } if name == "lead"));
    // It binds the calls of the session's subagents too; a subagent's own definition binds nothing.
    let nested = |world: &World| {
        let by_subagent = |call: &mut Call<'_>| {
            call.caller_id = Some("a1");
            call.caller_type = Some("lead");
        };
        world.gather(&json!({}), by_subagent).rules
    };
    assert!(matches!(nested(&world), RuleVerdict::Denied { .. }));
    let unlimited = World::new(&["claude", "-p"]);
    unlimited.write("config/agents/lead.md", agent("lead", "tools: Agent(judge)"));
    assert_eq!(nested(&unlimited), RuleVerdict::Allowed);
}

#[test]
fn limits_of_an_agent_that_is_not_found_are_unknown_where_something_could_not_be_read() {
    let world = World::new(&["claude", "--agent", "chief"]);
    let unknown = |world: &World| world.gather(&json!({"prompt": "p"}), |_| {}).unknown_limits;
    assert_eq!(unknown(&world), None);
    let file = "project/.claude/agents/x.md";
    world.write(file, "---\nname: \"chief\n---\n");
    assert_eq!(unknown(&world), Some(world.root.path().join(file)));
    world.write("config/agents/chief.md", agent("chief", ""));
    assert_eq!(unknown(&world), None);
}

#[test]
fn the_model_is_found_where_the_issue_says() {
    let mut world = World::new(&["claude", "-p"]);
    world.write("config/agents/own.md", agent("own", "model: haiku"));
    assert_eq!(world.model(&json!({})), (None, ModelSource::Unknown));
    world.write(
        "session.jsonl",
        include_bytes!("../../../tests/fixtures/transcripts/parent.jsonl"),
    );
    let transcript = (Some("claude-sonnet-4-5".to_owned()), ModelSource::Transcript);
    assert_eq!(world.model(&json!({})), transcript);
    world.env.push(("CLAUDE_CODE_USE_BEDROCK", "1"));
    assert_eq!(world.model(&json!({})), (None, ModelSource::Unknown));
    world.write("config/settings.json", r#"{"model":"opus"}"#);
    assert_eq!(world.model(&json!({})), (Some("opus".into()), ModelSource::Settings));
    world.env.push(("ANTHROPIC_MODEL", "start"));
    assert_eq!(world.model(&json!({})), (Some("start".into()), ModelSource::Variable));
    world.write("config/settings.json", r#"{"env":{"ANTHROPIC_MODEL":"own"}}"#);
    assert_eq!(world.model(&json!({})), (Some("own".into()), ModelSource::Variable));
    assert_eq!(
        world.model(&json!({"subagent_type": "own"})),
        (None, ModelSource::Definition)
    );
    let call = json!({"subagent_type": "own", "model": "sonnet"});
    assert_eq!(world.model(&call), (Some("sonnet".into()), ModelSource::Call));
}

#[test]
fn explore_in_156_has_its_own_model() {
    let mut world = World::new(&["claude", "--model", "opus"]);
    assert_eq!(
        world.model(&json!({"subagent_type": "Explore"})).0.as_deref(),
        Some("opus")
    );
    world.version = V2_1_156;
    assert_eq!(
        world.model(&json!({"subagent_type": "Explore"})),
        (None, ModelSource::Definition)
    );
}

#[test]
fn a_calling_subagents_model_is_read_in_its_own_transcript() {
    let world = World::new(&["claude", "--model", "opus"]);
    std::fs::create_dir_all(world.root.path().join("session/subagents")).unwrap();
    let own = include_bytes!("../../../tests/fixtures/transcripts/subagent.jsonl");
    world.write("session/subagents/agent-ae584172ac672675c.jsonl", own);
    let lineage = world.gather(&json!({}), |call| {
        call.caller_id = Some("ae584172ac672675c");
        call.caller_type = Some("general-purpose");
        call.tool_use_id = "toolu_inner_agent";
    });
    let expected = ModelChoice {
        pass: Some("claude-sonnet-4-5".into()),
        source: ModelSource::Transcript,
    };
    assert_eq!(lineage.model, expected);
}

#[test]
fn the_echo_agent_of_a_project_must_be_the_shipped_one() {
    let world = World::new(&["claude"]);
    world.write("project/.claude/agents/e.md", agent("echo-through", ""));
    assert!(matches!(
        world.gather(&json!({}), |_| {}).echo,
        EchoAvailability::Foreign { .. }
    ));
    world.write("project/.claude/agents/e.md", ECHO_DEFINITION);
    assert_eq!(
        world.gather(&json!({}), |_| {}).echo,
        EchoAvailability::Available("echo-through")
    );
}

#[test]
fn the_echo_agent_of_our_plugin_is_found_under_its_longer_name() {
    let world = World::new(&["claude", "--plugin-dir", "../plugin"]);
    for folder in ["plugin/.claude-plugin", "plugin/agents"] {
        std::fs::create_dir_all(world.root.path().join(folder)).unwrap();
    }
    world.write("plugin/.claude-plugin/plugin.json", r#"{"name": "subcell"}"#);
    world.write("plugin/agents/e.md", ECHO_DEFINITION);
    let echo = || world.gather(&json!({}), |_| {}).echo;
    assert_eq!(echo().agent(), Some("subcell:echo-through"));
    world.write("plugin/agents/e.md", agent("echo-through", ""));
    assert!(matches!(echo(), EchoAvailability::Foreign { .. }));
    world.write("config/agents/e.md", ECHO_DEFINITION);
    assert_eq!(echo().agent(), Some("echo-through"));
}

#[test]
fn a_repository_cannot_slip_in_an_agent_that_hands_results_back() {
    // The client reads each of these and runs the project's agent in place of the user's (2.1.332).
    let front = agent("echo-through", "");
    let latin = [front.as_bytes(), b"\xff"].concat();
    let large = [front.as_bytes(), &vec![b'x'; 400_000]].concat();
    let too_large = [front.as_bytes(), &vec![b'x'; 5 * 1024 * 1024]].concat();
    for (path, bytes) in [
        ("x.md", &latin),
        ("x.md", &large),
        ("x.md", &too_large),
        ("1/2/3/4/5/6/7/8/9/10/x.md", &front.into_bytes()),
    ] {
        let world = World::new(&["claude"]);
        world.write("config/agents/e.md", ECHO_DEFINITION);
        let echo = || world.gather(&json!({"prompt": "p"}), |_| {}).echo;
        assert_eq!(echo(), EchoAvailability::Available("echo-through"));
        let path = format!("project/.claude/agents/{path}");
        let file = world.root.path().join(&path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        world.write(&path, bytes);
        let found = echo();
        assert!(
            matches!(&found, EchoAvailability::Foreign { path } | EchoAvailability::Unread { path } if *path == file),
            "{found:?}"
        );
    }
}

#[test]
fn the_echo_is_judged_as_the_client_will_judge_it() {
    let world = World::new(&["claude", "--disallowedTools", "Agent(run_in_background:false)"]);
    world.write("config/agents/e.md", ECHO_DEFINITION);
    let lineage = world.gather(&json!({"run_in_background": true}), |_| {});
    assert_eq!(lineage.rules, RuleVerdict::Allowed);
    assert!(matches!(
        lineage.echo,
        EchoAvailability::Refused(RuleVerdict::Denied { .. })
    ));
}

#[test]
fn unreadable_settings_are_reported() {
    let world = World::new(&["claude"]);
    world.write("config/settings.json", "{bad");
    let problems = world.gather(&json!({}), |_| {}).settings_problems;
    assert_eq!(problems.iter().map(|one| one.scope).collect::<Vec<_>>(), [Scope::User]);
}
