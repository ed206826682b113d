//! The isolation end to end: a real parent whose `Agent` calls run in cells, each a real client of its own.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use subcell::base::digest::sha256_hex;

use crate::run::Run;
use crate::scene::{Scene, call};
use crate::settings::shipped_hooks_with_timeout;
use crate::{OLDEST, on_both_versions};

on_both_versions!(
    one_call,
    four_parallel,
    nested,
    nested_cells,
    background_by_default,
    a_failing_child,
    a_child_that_takes_too_long,
    default_permission_mode,
    a_denied_type,
    a_hostile_repository,
    twenty_kilobytes,
    two_hundred_kilobytes,
    an_output_folder,
    a_child_that_leaves_a_process,
    a_hook_timeout_below_ours,
    a_worktree_of_its_own,
    a_prompt_that_a_client_would_take_for_more,
    an_alias_of_the_parents_family,
);

const VERDICT: &str = "VERDICT 4/5 <b>fine</b> & \"quoted\"";

/// What every failed cell's text begins with.
const FAILURE: &str = "[subcell] The isolated subagent FAILED: there is no result of this task.";

/// A scene with our hook, and an echo that repeats what it is given. Cells are sessions of their own, so a rule for one
/// says `main`; a subagent of the parent's that is asked anything else gets "no rule of the script matches".
fn isolating(version: &'static str) -> Scene {
    echoing(Scene::new(version).isolated())
}

/// A scene whose small subagents repeat what they are given.
fn echoing(scene: Scene) -> Scene {
    let echo = json!({"role": "subagent", "prompt_contains": "\nBEGIN-"});
    scene.rule(echo, json!([{"echo": {}}]))
}

/// The same, whose cells answer `JUDGE` with the verdict and their prompt.
fn judging(version: &'static str) -> Scene {
    isolating(version).rule(
        json!({"role": "main", "prompt_contains": "JUDGE"}),
        json!([{"text": format!("{VERDICT} on {{{{prompt}}}}")}]),
    )
}

/// The one record of a run, with the id of its call.
fn only_record(run: &Run) -> (String, Value) {
    let mut records = run.records();
    let (name, record) = records
        .pop_first()
        .unwrap_or_else(|| panic!("there is no record; {run:?}"));
    assert!(records.is_empty(), "there are more records; {run:?}");
    (name.trim_end_matches(".json").to_owned(), record)
}

/// Fails unless the record is of a cell that completed in a session of its own with this result, which is on disk.
fn assert_completed(run: &Run, record: &Value, result: &str) {
    let end = &record["state"];
    assert_eq!(
        (&end["kind"], &end["ending"]["kind"]),
        (&json!("ended"), &json!("completed")),
        "{run:?}"
    );
    assert_eq!(record["parent_session"], run.parent(), "{run:?}");
    let session = record["child_session"].as_str().unwrap();
    assert_ne!(session, run.parent());
    let requests = run.requests_of(session);
    assert!(!requests.is_empty(), "the cell asked the model nothing; {run:?}");
    assert!(
        !run.transcript(session).is_empty(),
        "the cell has no transcript; {run:?}"
    );
    let bytes = fs::read(
        run.path("state/subcell/cells")
            .join(end["result"]["file"].as_str().unwrap()),
    )
    .unwrap();
    assert_eq!(bytes, result.as_bytes(), "{run:?}");
    assert_eq!(end["result"]["sha256"], sha256_hex(result.as_bytes()), "{run:?}");
}

/// Fails unless every line of `text` stands in the result of the call that the parent was given: 2.1.295 and later
/// indent each line.
fn assert_delivered(run: &Run, call: &str, text: &str) {
    let results = run.tool_results();
    let lines: BTreeSet<&str> = results[call].lines().map(str::trim).collect();
    let missing: Vec<&str> = text.lines().filter(|line| !lines.contains(line.trim())).collect();
    assert!(missing.is_empty(), "{missing:?} did not reach the parent; {run:?}");
}

fn one_call(version: &'static str) {
    let run = judging(version).parent_calls(&[call("JUDGE")]).run();
    run.assert_ended_well();
    let (id, record) = only_record(&run);
    let result = format!("{VERDICT} on JUDGE");
    assert_completed(&run, &record, &result);
    assert_delivered(&run, &id, &result);

    let session = record["child_session"].as_str().unwrap();
    assert_eq!(run.sessions(), [run.parent(), session], "{run:?}");
    // Neither call nor definition names a model: the cell has the parent's, not the account's default.
    let request = run.requests_of(session)[0];
    assert_eq!(request["request"]["model"], "claude-sonnet-4-5", "{run:?}");
    let end = &record["state"];
    assert_eq!(
        end["tokens"]["input"],
        request["bytes"].as_u64().unwrap() / 4,
        "{run:?}"
    );
    assert_eq!(end["tokens"]["output"], result.len() / 4, "{run:?}");
    assert!(end["cost_usd"].as_f64().unwrap() > 0.0, "{run:?}");

    // The echo: the cheap agent, in the parent's process, with no tool that it could use.
    let echoes: Vec<_> = run
        .requests
        .iter()
        .filter(|request| !request["agent"].is_null())
        .collect();
    assert_eq!(echoes.len(), 1, "{run:?}");
    assert!(
        echoes[0]["request"]["model"].as_str().unwrap().contains("haiku"),
        "{run:?}"
    );
    assert_eq!(
        echoes[0]["request"]["tools"].as_array().map_or(0, Vec::len),
        0,
        "{run:?}"
    );
    let started = run.payloads("SubagentStart");
    assert_eq!(
        (started.len(), &started[0]["agent_type"]),
        (1, &json!("echo-through")),
        "{run:?}"
    );
}

fn four_parallel(version: &'static str) {
    let run = judging(version)
        .parent_calls(&["JUDGE 1", "JUDGE 2", "JUDGE 3", "JUDGE 4"].map(call))
        .run();
    run.assert_ended_well();
    let records = run.records();
    assert_eq!((records.len(), run.sessions().len()), (4, 5), "{run:?}");
    let mut prompts = BTreeSet::new();
    for payload in run.payloads("PreToolUse") {
        let id = payload["tool_use_id"].as_str().unwrap();
        let prompt = payload["tool_input"]["prompt"].as_str().unwrap();
        let result = format!("{VERDICT} on {prompt}");
        assert_completed(&run, &records[&format!("{id}.json")], &result);
        assert_delivered(&run, id, &result);
        prompts.insert(prompt);
    }
    assert_eq!(prompts.len(), 4, "{run:?}");
}

/// A cell that itself calls `Agent` once and hands on what it gets.
fn nesting(version: &'static str) -> Scene {
    let outer = |has_tool_result: bool| json!({"role": "main", "prompt_contains": "OUTER", "has_tool_result": has_tool_result});
    isolating(version)
        .rule(
            outer(false),
            json!([{"tool_use": {"name": "Agent", "input": call("JUDGE")}}]),
        )
        .rule(outer(true), json!([{"text": "OUTER\n{{tool_result}}"}]))
        .rule(json!({"prompt_contains": "JUDGE"}), json!([{"text": VERDICT}]))
        .parent_calls(&[call("OUTER")])
}

/// The records of the parent's call and of the cell's.
fn outer_and_inner(run: &Run) -> [Value; 2] {
    let (outer, inner): (Vec<_>, Vec<_>) = run
        .records()
        .into_values()
        .partition(|record| record["parent_session"] == run.parent());
    assert_eq!((outer.len(), inner.len()), (1, 1), "{run:?}");
    assert_eq!(inner[0]["parent_session"], outer[0]["child_session"], "{run:?}");
    [outer, inner].map(|mut one| one.remove(0))
}

fn nested(version: &'static str) {
    let run = nesting(version).run();
    run.assert_ended_well();
    if version == OLDEST {
        // Subagents of this version have no Agent tool, so a cell has none either.
        let records = run.records();
        assert_eq!((records.len(), run.sessions().len()), (1, 2), "{run:?}");
        assert!(run.text().contains("No such tool available: Agent"), "{run:?}");
        return;
    }
    let [outer, inner] = outer_and_inner(&run);
    assert_eq!(outer["state"]["ending"]["kind"], "completed", "{run:?}");
    let passed = (&inner["state"]["kind"], &inner["state"]["reason"]["kind"]);
    assert_eq!(passed, (&json!("passed_through"), &json!("max_depth")), "{run:?}");
    assert_eq!(
        (run.sessions().len(), run.text().contains(VERDICT)),
        (2, true),
        "{run:?}"
    );
}

fn nested_cells(version: &'static str) {
    let run = nesting(version).env("SUBCELL_MAX_DEPTH", "2").run();
    run.assert_ended_well();
    let [outer, inner] = outer_and_inner(&run);
    assert_eq!((&outer["depth"], &inner["depth"]), (&json!(1), &json!(2)), "{run:?}");
    assert_eq!(inner["state"]["ending"]["kind"], "completed", "{run:?}");
    assert_eq!(
        (run.sessions().len(), run.text().contains(VERDICT)),
        (3, true),
        "{run:?}"
    );
}

fn background_by_default(version: &'static str) {
    let input = json!({"description": "judge", "prompt": "JUDGE", "subagent_type": "general-purpose"});
    let run = judging(version).parent_calls(&[input]).run();
    run.assert_ended_well();
    let (id, record) = only_record(&run);
    let result = format!("{VERDICT} on JUDGE");
    assert_completed(&run, &record, &result);
    // In the answer to the call itself, not in a later notification.
    assert_delivered(&run, &id, &result);
    assert_eq!(
        run.payloads("PostToolUse")[0]["tool_response"]["status"],
        "completed",
        "{run:?}"
    );
}

/// Fails unless the one call failed in this way and the parent was told so, and nothing else.
fn assert_reported(run: &Run, ending: &str) -> Value {
    run.assert_ended_well();
    let (id, record) = only_record(run);
    assert_eq!(record["state"]["ending"]["kind"], ending, "{run:?}");
    assert_delivered(run, &id, FAILURE);
    assert!(
        run.tool_results()[&id].contains(&format!("Cause ({ending})")),
        "{run:?}"
    );
    record
}

fn a_failing_child(version: &'static str) {
    let error = json!({"status": 400, "type": "invalid_request_error", "message": "scripted"});
    let rule = json!({"when": {"role": "main", "prompt_contains": "JUDGE"}, "answer": {"error": error}});
    let run = isolating(version).raw_rule(rule).parent_calls(&[call("JUDGE")]).run();
    let record = assert_reported(&run, "child_error");
    assert_eq!(record["state"]["ending"]["fault"], "is_error", "{run:?}");
}

fn a_child_that_takes_too_long(version: &'static str) {
    let rule = json!({"when": {"role": "main", "prompt_contains": "JUDGE"}, "answer": "hang"});
    let run = isolating(version)
        .raw_rule(rule)
        .parent_calls(&[call("JUDGE")])
        .env("SUBCELL_TIMEOUT_S", "4")
        .deadline(Duration::from_mins(1))
        .run();
    let record = assert_reported(&run, "timed_out");
    assert_eq!(record["state"]["ending"]["limit_ms"], 4000, "{run:?}");
}

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

/// A cell whose answer is so long; every line of it is another one.
fn long_answer(scene: Scene, lines: usize) -> (Run, String) {
    let numbered: Vec<String> = (0..lines)
        .map(|line| format!("line {line:05} {}\n", "x".repeat(68)))
        .collect();
    let text = numbered.concat();
    let scene = scene.file("long.txt", &text);
    let rule = json!({"role": "main", "prompt_contains": "JUDGE"});
    let run = scene
        .rule(rule, json!([{"file": "long.txt"}]))
        .parent_calls(&[call("JUDGE")])
        .run();
    run.assert_ended_well();
    (run, text)
}

fn twenty_kilobytes(version: &'static str) {
    let (run, text) = long_answer(isolating(version), 250);
    assert_eq!(text.len(), 20_000);
    let (id, record) = only_record(&run);
    assert_completed(&run, &record, &text);
    assert_delivered(&run, &id, &text);
    assert_eq!(record["delivery"]["cut"], false, "{run:?}");
}

fn two_hundred_kilobytes(version: &'static str) {
    let (run, text) = long_answer(echoing(Scene::new(version).isolated_by_echo()), 2500);
    assert_eq!(text.len(), 200_000);
    let (id, record) = only_record(&run);
    assert_completed(&run, &record, &text);
    assert_eq!(record["delivery"]["cut"], true, "{run:?}");
    // 2 KB are 25 lines and a part of another; then where the whole is.
    assert_delivered(&run, &id, &text[..25 * 80]);
    let given = &run.tool_results()[&id];
    let file = run.path("state/subcell/cells").join(format!("{id}.result"));
    assert!(
        given.contains("of 200000 bytes") && given.contains(file.to_str().unwrap()),
        "{run:?}"
    );
    assert!(!given.contains("line 00030"), "{run:?}");
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

fn a_child_that_leaves_a_process(version: &'static str) {
    // In a session of its own, as a daemon is.
    let leave =
        json!({"command": "setsid -f sleep 272 </dev/null >/dev/null 2>&1", "description": "Leave a process"});
    let judge = |done: bool| json!({"role": "main", "prompt_contains": "JUDGE", "has_tool_result": done});
    let run = isolating(version)
        .rule(judge(false), json!([{"tool_use": {"name": "Bash", "input": leave}}]))
        .rule(judge(true), json!([{"text": VERDICT}]))
        .parent_calls(&[call("JUDGE")])
        .run();
    // Nothing is left, which ended_well holds.
    run.assert_ended_well();
    let (id, record) = only_record(&run);
    assert_completed(&run, &record, VERDICT);
    assert_delivered(&run, &id, VERDICT);
    let end = &record["state"];
    assert_eq!(
        (&end["leaked_count"], &end["leaked_names"]),
        (&json!(1), &json!(["sleep"])),
        "{run:?}"
    );
}

/// The client's own timeout ends the hook first: nothing is left running, the record says so, and what the parent gets
/// is no answer of an un-isolated subagent.
fn a_hook_timeout_below_ours(version: &'static str) {
    let hang = json!({"when": {"role": "main", "prompt_contains": "JUDGE"}, "answer": "hang"});
    let echo = json!({"role": "subagent", "prompt_contains": "\nBEGIN-"});
    let run = Scene::new(version)
        .settings(shipped_hooks_with_timeout(3))
        .echo_agent()
        .rule(echo, json!([{"echo": {}}]))
        .raw_rule(hang)
        .parent_calls(&[call("JUDGE")])
        .deadline(Duration::from_mins(1))
        .run();
    let (_, record) = only_record(&run);
    assert_eq!(run.left, [] as [String; 0], "{run:?}");
    if version == OLDEST {
        // It sends SIGKILL at once, to the hook and to everything below it, whatever its session: as a rule nobody is
        // left to end the record, which then reads as lost. It does not know "onFailure" either: the original call runs.
        assert_ne!(record["state"]["ending"]["kind"], "completed", "{run:?}");
    } else {
        assert_eq!(record["state"]["ending"]["kind"], "interrupted", "{run:?}");
        assert!(run.payloads("SubagentStart").is_empty(), "{run:?}");
    }
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
