//! What settings, repository, environment and the call itself change about a cell.

use std::fs;

use serde_json::{Value, json};

use crate::cells::{VERDICT, assert_completed, assert_delivered, isolating, judging, only_record};
use crate::on_both_versions;
use crate::scene::call;

on_both_versions!(
    default_permission_mode,
    a_denied_type,
    a_hostile_repository,
    an_output_folder,
    a_worktree_of_its_own,
    a_prompt_that_a_client_would_take_for_more,
    an_alias_of_the_parents_family,
);

fn default_permission_mode(version: &'static str) {
    let touch = json!({"command": "touch made", "description": "Make a file"});
    let judge = |done: bool| json!({"role": "main", "prompt_contains": "JUDGE", "has_tool_result": done});
    let run = isolating(version)
        .rule(judge(false), json!([{"tool_use": {"name": "Bash", "input": touch}}]))
        .rule(judge(true), json!([{"text": VERDICT}]))
        .parent_calls(&[call("JUDGE")])
        .mode(&["--permission-mode", "default"])
        .run();
    run.assert_ended_well();
    let (id, record) = only_record(&run);
    assert_completed(&run, &record, VERDICT);
    assert_delivered(&run, &id, VERDICT);
    let end = &record["state"];
    assert_eq!(
        (&end["denied_count"], &end["denied_tools"]),
        (&json!(1), &json!(["Bash"])),
        "{run:?}"
    );
    assert!(!run.path("work/made").exists(), "{run:?}");
}

fn a_denied_type(version: &'static str) {
    let run = judging(version)
        .parent_calls(&[call("JUDGE")])
        .settings(json!({"permissions": {"deny": ["Agent(general-purpose)"]}}))
        .run();
    run.assert_ended_well();
    let (id, record) = only_record(&run);
    assert_eq!(record["state"]["kind"], "refused", "{run:?}");
    assert_eq!(run.sessions(), [run.parent()], "{run:?}");
    assert_eq!(run.payloads("SubagentStart").len(), 0, "{run:?}");
    assert!(!run.tool_results()[&id].contains("VERDICT"), "{run:?}");
}

fn a_hostile_repository(version: &'static str) {
    let elsewhere = "/nonexistent-by-repository";
    let run = judging(version)
        .parent_calls(&[call("JUDGE")])
        .project_env(&[
            ("FULLSEND_HOOK_SPAWNED", "1"),
            ("SUBCELL_DEPTH", "9"),
            ("CLAUDE_BIN", "/bin/false"),
            ("FULLSEND_OUTPUT_DIR", elsewhere),
            ("HOME", elsewhere),
            ("XDG_CONFIG_HOME", elsewhere),
            ("XDG_STATE_HOME", elsewhere),
            ("CLAUDE_CONFIG_DIR", elsewhere),
            ("CLAUDE_PID", "1"),
        ])
        .run();
    run.assert_ended_well();
    // The record is where the user's own environment puts it, and the cell ran.
    let (id, record) = only_record(&run);
    let result = format!("{VERDICT} on JUDGE");
    assert_completed(&run, &record, &result);
    assert_delivered(&run, &id, &result);
    let ignored = record["ignored_environment"].to_string();
    for name in ["FULLSEND_HOOK_SPAWNED", "CLAUDE_BIN", "FULLSEND_OUTPUT_DIR"] {
        assert!(ignored.contains(name), "{name} is not named in {ignored}");
    }
    // The cell has the user's folders as well, or it would not have found its configuration.
    let cell = record["child_session"].as_str().unwrap();
    assert!(!run.transcript(cell).is_empty(), "{run:?}");
}

fn an_output_folder(version: &'static str) {
    let scene = judging(version).parent_calls(&["JUDGE 1", "JUDGE 2"].map(call));
    let output = scene.path("output");
    fs::create_dir(&output).unwrap();
    let run = scene.env("FULLSEND_OUTPUT_DIR", output.to_str().unwrap()).run();
    run.assert_ended_well();
    assert_eq!(run.records().len(), 0, "{run:?}");
    let records: Vec<Value> = fs::read_dir(output.join(".subcell/cells"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
        .collect();
    let cost: f64 = records
        .iter()
        .map(|record| record["state"]["cost_usd"].as_f64().unwrap())
        .sum();
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(output.join(".spawned-cost.json")).unwrap()).unwrap();
    assert_eq!(records.len(), 2, "{run:?}");
    assert!(
        (summary["total_cost_usd"].as_f64().unwrap() - cost).abs() < 1e-9,
        "{summary}"
    );
}

fn a_worktree_of_its_own(version: &'static str) {
    let mut input = call("JUDGE");
    input["isolation"] = "worktree".into();
    let run = judging(version).git().parent_calls(&[input]).run();
    run.assert_ended_well();
    let (id, record) = only_record(&run);
    let result = format!("{VERDICT} on JUDGE");
    assert_completed(&run, &record, &result);
    assert_delivered(&run, &id, &result);
    let worktree = &record["state"]["worktree"];
    assert_eq!(worktree["kept"], false, "{run:?}");
    assert!(!fs::exists(worktree["folder"].as_str().unwrap()).unwrap(), "{run:?}");
    // The echo has none either.
    let left: Vec<_> = fs::read_dir(run.path("work/.claude/worktrees"))
        .into_iter()
        .flatten()
        .collect();
    assert!(left.is_empty(), "{left:?}; {run:?}");
    assert!(!record["state"]["child_transcript"].is_null(), "{run:?}");
}

/// As a prompt of `claude -p` these would be a command of the client's own, and a file read with no permission asked.
fn a_prompt_that_a_client_would_take_for_more(version: &'static str) {
    for (prompt, must_not_be_read) in [("/compact JUDGE", false), ("JUDGE @hidden/note.txt", true)] {
        let run = judging(version)
            .file("hidden/note.txt", "THE-HIDDEN-NOTE")
            .parent_calls(&[call(&prompt.replace("@hidden", "@../hidden"))])
            .run();
        run.assert_ended_well();
        let (_, record) = only_record(&run);
        assert_eq!(record["state"]["ending"]["kind"], "completed", "{run:?}");
        let asked = run.requests_of(record["child_session"].as_str().unwrap());
        let text = asked[0]["request"]["messages"].to_string();
        assert!(text.contains(&prompt.replace("@hidden", "@../hidden")), "{run:?}");
        assert!(!must_not_be_read || !text.contains("THE-HIDDEN-NOTE"), "{run:?}");
    }
}

/// In the parent's process "sonnet" would keep the parent's own sonnet.
fn an_alias_of_the_parents_family(version: &'static str) {
    let mut input = call("JUDGE");
    input["model"] = "sonnet".into();
    let run = judging(version).parent_calls(&[input]).run();
    run.assert_ended_well();
    let (_, record) = only_record(&run);
    assert_eq!(record["asked"]["model_source"], "call", "{run:?}");
    let own = run.requests_of(run.parent())[0]["request"]["model"].clone();
    let cell = run.requests_of(record["child_session"].as_str().unwrap())[0]["request"]["model"].clone();
    assert_eq!(cell, own, "{run:?}");
}
