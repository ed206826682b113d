//! The client without Subcell: what the isolation relies on, and that the harness sees what happens.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::OLDEST;
use crate::on_both_versions;
use crate::run::{Exit, Run};
use crate::scene::{Scene, call};

on_both_versions!(
    one_call,
    four_parallel,
    nested,
    background_by_default,
    default_mode_denies,
    denied_type,
    what_a_repository_sets_reaches_hooks,
    api_error,
    a_defined_agent_has_its_own_model,
    worktree,
    a_process_left_behind_is_seen,
);

const VERDICT: &str = "VERDICT 4/5 <b>fine</b> & \"quoted\"";

/// A scene whose subagents answer `JUDGE` with the verdict.
fn judging(version: &'static str) -> Scene {
    Scene::new(version).rule(
        json!({"role": "subagent", "prompt_contains": "JUDGE"}),
        json!([{"text": VERDICT}]),
    )
}

fn events(run: &Run) -> Vec<&str> {
    run.hooks
        .iter()
        .filter_map(|hook| hook.payload["hook_event_name"].as_str())
        .collect()
}

fn one_call(version: &'static str) {
    let run = judging(version).parent_calls(&[call("JUDGE")]).run();
    run.assert_ended_well();
    let want = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "SubagentStart",
        "SubagentStop",
        "PostToolUse",
        "Stop",
        "SessionEnd",
    ];
    assert_eq!(events(&run), want, "{run:?}");
    assert!(
        run.text().starts_with("PARENT-DONE") && run.text().contains(VERDICT),
        "{run:?}"
    );
    assert_eq!(run.sessions(), [run.parent()], "{run:?}");

    let payload = run.payloads("PreToolUse")[0];
    assert_eq!(payload["tool_input"], call("JUDGE"));
    let id = payload["tool_use_id"].as_str().unwrap();
    assert!(run.tool_results()[id].contains(VERDICT), "{run:?}");
    let environment = &run.hooks[2].environment;
    assert_eq!(environment["CLAUDE_PROJECT_DIR"], run.path("work").to_str().unwrap());
    assert!(!run.transcript(run.parent()).is_empty());

    // Three requests, each a token for four bytes at least: the cost is that of the tokens that the model reported.
    let input: u64 = run
        .requests
        .iter()
        .map(|request| request["bytes"].as_u64().unwrap() / 4)
        .sum();
    assert_eq!(
        run.result["modelUsage"]["claude-sonnet-4-5"]["inputTokens"], input,
        "{run:?}"
    );
    assert!(run.result["total_cost_usd"].as_f64().unwrap() > 0.0);
}

fn four_parallel(version: &'static str) {
    let run = judging(version)
        .parent_calls(&["JUDGE 1", "JUDGE 2", "JUDGE 3", "JUDGE 4"].map(call))
        .run();
    run.assert_ended_well();
    let ids: BTreeSet<&str> = run
        .payloads("PreToolUse")
        .iter()
        .filter_map(|p| p["tool_use_id"].as_str())
        .collect();
    let results = run.tool_results();
    assert_eq!(ids, results.keys().map(String::as_str).collect(), "{run:?}");
    assert_eq!((ids.len(), run.text().matches(VERDICT).count()), (4, 4), "{run:?}");
}

fn nested(version: &'static str) {
    let outer = json!({"role": "subagent", "prompt_contains": "OUTER", "has_tool_result": false});
    let run = judging(version)
        .rule(outer, json!([{"tool_use": {"name": "Agent", "input": call("JUDGE")}}]))
        .rule(
            json!({"role": "subagent", "prompt_contains": "OUTER"}),
            json!([{"text": "OUTER: {{tool_result}}"}]),
        )
        .parent_calls(&[call("OUTER")])
        .run();
    run.assert_ended_well();
    let payloads = run.payloads("PreToolUse");
    assert_eq!(payloads[0].get("agent_id"), None, "{run:?}");
    if version == OLDEST {
        // Its subagents have no Agent tool, so that no hook is asked either.
        assert!(
            run.text()
                .contains("OUTER: <tool_use_error>Error: No such tool available: Agent"),
            "{run:?}"
        );
        assert_eq!(payloads.len(), 1, "{run:?}");
    } else {
        assert!(
            run.text().contains("OUTER: ") && run.text().contains(VERDICT),
            "{run:?}"
        );
        assert_eq!(
            (payloads.len(), &payloads[1]["agent_type"]),
            (2, &Value::from("general-purpose")),
            "{run:?}"
        );
    }
}

fn background_by_default(version: &'static str) {
    let input = json!({"description": "judge", "prompt": "JUDGE", "subagent_type": "general-purpose"});
    let run = judging(version).parent_calls(&[input]).run();
    run.assert_ended_well();
    let status = &run.payloads("PostToolUse")[0]["tool_response"]["status"];
    // Left out, `run_in_background` means foreground up to some version before 2.1.226.
    let in_background = version != OLDEST;
    assert_eq!(
        status,
        if in_background { "async_launched" } else { "completed" },
        "{run:?}"
    );
    assert_eq!(run.payloads("SubagentStop").len(), 1, "{run:?}");
}

fn a_process_left_behind_is_seen(version: &'static str) {
    // In a session of its own, as a daemon is: neither the parent's end nor a group's kill reaches it.
    let leave = json!([{"tool_use": {"name": "Bash", "input": {
        "command": "setsid -f sleep 271 </dev/null >/dev/null 2>&1", "description": "Leave a process",
    }}}]);
    let run = Scene::new(version)
        .rule(json!({"has_tool_result": false}), leave)
        .rule(json!({}), json!([{"text": "LEFT"}]))
        .run();
    assert_eq!(
        (run.text(), run.left.as_slice()),
        ("LEFT", &["sleep 271 ".to_owned()][..]),
        "{run:?}"
    );
}

fn default_mode_denies(version: &'static str) {
    let touch =
        json!([{"tool_use": {"name": "Bash", "input": {"command": "touch made", "description": "Make a file"}}}]);
    let run = Scene::new(version)
        .rule(json!({"has_tool_result": false}), touch)
        .rule(json!({}), json!([{"text": "DONE"}]))
        .mode(&["--permission-mode", "default"])
        .run();
    run.assert_ended_well();
    assert_eq!(run.payloads("PreToolUse")[0]["permission_mode"], "default");
    assert_eq!(run.result["permission_denials"][0]["tool_name"], "Bash", "{run:?}");
    assert!(!run.path("work/made").exists());
}

fn denied_type(version: &'static str) {
    let run = judging(version)
        .parent_calls(&[call("JUDGE")])
        .settings(json!({"permissions": {"deny": ["Agent(general-purpose)"]}}))
        .run();
    run.assert_ended_well();
    assert_eq!(run.payloads("SubagentStart").len(), 0, "{run:?}");
    assert!(!run.text().contains(VERDICT), "{run:?}");
}

fn what_a_repository_sets_reaches_hooks(version: &'static str) {
    let run = judging(version)
        .parent_calls(&[call("JUDGE")])
        .project_env(&[
            ("FULLSEND_HOOK_SPAWNED", "1"),
            ("HOME", "/nonexistent"),
            ("CLAUDE_PID", "1"),
        ])
        .env("FROM_START", "yes")
        .run();
    run.assert_ended_well();
    let environment = &run
        .hooks
        .iter()
        .find(|hook| hook.payload["hook_event_name"] == "PreToolUse")
        .unwrap()
        .environment;
    assert_eq!(
        (
            environment["FULLSEND_HOOK_SPAWNED"].as_str(),
            environment["FROM_START"].as_str()
        ),
        ("1", "yes")
    );
    // The oldest lets a repository replace these; later ones keep them.
    let replaced = (environment["HOME"] == "/nonexistent", environment["CLAUDE_PID"] == "1");
    assert_eq!(replaced, (version == OLDEST, version == OLDEST), "{environment:?}");
}

fn api_error(version: &'static str) {
    // A 400 is not tried again by any client, a 529 not by one that heeds `x-should-retry`. The oldest does not, and
    // goes by the type as well: it tries any `overloaded_error` again for minutes.
    let (status, kind) = if version == OLDEST {
        (400, "invalid_request_error")
    } else {
        (529, "overloaded_error")
    };
    let error = json!({"status": status, "type": kind, "message": "scripted", "retry": false});
    let run = Scene::new(version).raw_rule(json!({"answer": {"error": error}})).run();
    assert_eq!(
        (run.exit, &run.result["is_error"]),
        (Exit::Code(1), &Value::Bool(true)),
        "{run:?}"
    );
    let reason = if version == OLDEST { "completed" } else { "api_error" };
    assert_eq!(run.result["terminal_reason"], reason, "{run:?}");
    assert_eq!(
        (run.result["api_error_status"].as_u64(), run.requests.len()),
        (Some(status), 1),
        "{run:?}"
    );
}

fn a_defined_agent_has_its_own_model(version: &'static str) {
    let agent = "---\nname: judge\ndescription: Judges\nmodel: haiku\ntools: []\n---\nYou judge.\n";
    let mut input = call("JUDGE");
    input["subagent_type"] = "judge".into();
    let run = judging(version)
        .file("work/.claude/agents/other-name.md", agent)
        .parent_calls(&[input])
        .run();
    run.assert_ended_well();
    let models: Vec<_> = run
        .requests
        .iter()
        .map(|request| request["request"]["model"].as_str().unwrap())
        .collect();
    assert_eq!(
        (models.len(), models[0], models[1].contains("haiku")),
        (3, "claude-sonnet-4-5", true),
        "{run:?}"
    );
}

#[test]
#[should_panic(expected = "did not end within")]
fn a_client_that_hangs_fails_its_test() {
    let hang = json!({"answer": "hang"});
    Scene::new(crate::NEWEST)
        .raw_rule(hang)
        .deadline(std::time::Duration::from_secs(4))
        .run();
}

fn worktree(version: &'static str) {
    let mut input = call("JUDGE");
    input["isolation"] = "worktree".into();
    let run = judging(version).parent_calls(&[input]).git().run();
    run.assert_ended_well();
    assert!(run.text().contains(VERDICT), "{run:?}");
    let without = judging(version)
        .parent_calls(&[call("JUDGE")])
        .args(&["--max-turns", "1"])
        .run();
    assert_eq!(without.result["subtype"], "error_max_turns", "{without:?}");
}
