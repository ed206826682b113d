//! The isolation end to end: a real parent whose `Agent` calls run in cells, each a real client of its own.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::cells::{VERDICT, assert_completed, assert_delivered, echoing, isolating, judging, only_record};
use crate::run::Run;
use crate::scene::{Scene, call};
use crate::{OLDEST, on_both_versions};

on_both_versions!(
    one_call,
    four_parallel,
    nested,
    nested_cells,
    background_by_default,
    twenty_kilobytes,
    two_hundred_kilobytes,
);

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
