//! The bash guard on the real client: what a subagent is refused, and that it reads why.

use serde_json::{Value, json};

use crate::on_both_versions;
use crate::run::Run;
use crate::scene::{Scene, call};

on_both_versions!(
    a_subagents_background_work_and_agents_are_denied_and_texts_pass,
    a_background_flag_of_a_subagent_is_denied,
);

fn guarded(version: &'static str) -> Scene {
    let hook = json!({
        "type": "command", "command": env!("CARGO_BIN_EXE_subcell"), "args": ["guard", "bash"],
        "timeout": 30, "onFailure": "block",
    });
    Scene::new(version)
        .git()
        .parent_calls(&[call("SHELL")])
        .settings(json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}))
}

fn bash(command: &str, in_background: bool) -> Value {
    json!([{"tool_use": {"name": "Bash", "input": {
        "command": command, "description": "Work", "run_in_background": in_background,
    }}}])
}

/// What the subagent does once a tool's result holds `told`.
fn once(told: &str) -> Value {
    json!({"role": "subagent", "tool_result_contains": told})
}

/// What the model was asked with, each time.
fn messages(run: &Run) -> Vec<String> {
    let requests = run.sessions().into_iter().flat_map(|session| run.requests_of(session));
    requests
        .map(|request| request["request"]["messages"].to_string())
        .collect()
}

fn a_subagents_background_work_and_agents_are_denied_and_texts_pass(version: &'static str) {
    // The newest client refuses a long `sleep` by itself, so that the guard's word would not be seen.
    let server = if version == crate::OLDEST {
        "sleep 300 &"
    } else {
        "python3 -m http.server 8123 &"
    };
    let commit = format!(
        "git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m \"{server} and claude -p 'task'\" \
         && echo COMMITTED"
    );
    let run = guarded(version)
        .rule(json!({"role": "subagent", "nth": 1}), bash(server, false))
        .rule(once("COMMITTED"), json!([{"text": "WHOLE-REPORT"}]))
        .rule(once("agents.started"), bash(&commit, false))
        .rule(once("background.ampersand"), bash("claude -p 'task'", false))
        .rule(json!({"role": "subagent"}), json!([{"text": "NOT-TOLD"}]))
        .run();
    run.assert_ended_well();
    assert!(
        run.text().contains("WHOLE-REPORT") && !run.text().contains("NOT-TOLD"),
        "{run:?}"
    );
    let read = messages(&run);
    for reason in ["background.ampersand", "subcell run-record", "agents.started"] {
        assert!(
            read.iter().any(|messages| messages.contains(reason)),
            "{reason}: {run:?}"
        );
    }
}

fn a_background_flag_of_a_subagent_is_denied(version: &'static str) {
    let run = guarded(version)
        .rule(
            json!({"role": "subagent", "nth": 1}),
            bash("until [ -e never ]; do sleep 0.1; done", true),
        )
        .rule(once("background.parameter"), json!([{"text": "WHOLE-REPORT"}]))
        .rule(json!({"role": "subagent"}), json!([{"text": "NOT-TOLD"}]))
        .run();
    run.assert_ended_well();
    assert!(run.text().contains("WHOLE-REPORT"), "{run:?}");
}
