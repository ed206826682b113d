//! Budgets with the real client.

use serde_json::{Value, json};

use crate::on_all_versions;
use crate::run::Run;
use crate::scene::{Scene, call};

on_all_versions!(a_cell_that_costs_too_much, a_session_that_has_spent_its_budget);

/// Cells that run a command before they answer: a request of theirs costs some cents, by its size.
fn costly(version: &'static str) -> Scene {
    let judge = |done: bool| json!({"role": "main", "prompt_contains": "JUDGE", "has_tool_result": done});
    let command = json!({"command": "true", "description": "Do nothing"});
    Scene::new(version)
        .isolated()
        .rule(
            json!({"role": "subagent", "prompt_contains": "\nBEGIN-"}),
            json!([{"echo": {}}]),
        )
        .rule(judge(false), json!([{"tool_use": {"name": "Bash", "input": command}}]))
        .rule(judge(true), json!([{"text": "VERDICT 4/5"}]))
}

fn kinds(run: &Run) -> Vec<String> {
    let word = |record: &Value| {
        let state = &record["state"];
        let word = state["ending"]["kind"].as_str().or(state["kind"].as_str());
        word.unwrap().to_owned()
    };
    let mut kinds: Vec<String> = run.records().values().map(word).collect();
    kinds.sort_unstable();
    kinds
}

fn a_cell_that_costs_too_much(version: &'static str) {
    let run = costly(version)
        .parent_calls(&[call("JUDGE")])
        .env("SUBCELL_MAX_CELL_COST_USD", "0.001")
        .run();
    run.assert_ended_well();
    assert_eq!(kinds(&run), ["over_budget"], "{run:?}");
    let records = run.records();
    let record = records.values().next().unwrap();
    assert!(record["state"]["cost_usd"].as_f64().unwrap() > 0.001, "{run:?}");
    // It was stopped after its first answer.
    let cell = record["child_session"].as_str().unwrap();
    assert_eq!(run.requests_of(cell).len(), 1, "{run:?}");
    assert!(run.text().contains("Cause (over_budget)"), "{run:?}");
}

/// Ten calls in one message, and a budget for nine.
fn a_session_that_has_spent_its_budget(version: &'static str) {
    let calls: Vec<Value> = (0..10).map(|n| call(&format!("JUDGE {n}"))).collect();
    let run = costly(version)
        .parent_calls(&calls)
        .env("SUBCELL_MAX_CELL_COST_USD", "0.5")
        .env("SUBCELL_MAX_COST_USD", "4.5")
        .run();
    run.assert_ended_well();
    let mut expected = vec!["completed"; 9];
    expected.push("refused");
    assert_eq!(kinds(&run), expected, "{run:?}");
    let told = run.tool_results();
    let denied = told.values().filter(|text| text.contains("max_cost_usd allows $4.50"));
    assert_eq!(denied.count(), 1, "{run:?}");
}
