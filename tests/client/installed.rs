//! What `subcell install` and the plugin bring, on the real client.

use std::fs;

use serde_json::{Value, json};

use crate::on_all_versions;
use crate::run::Run;
use crate::scene::{Scene, call};

on_all_versions!(
    installed_for_the_user,
    installed_and_removed,
    installed_for_the_project,
    the_plugin_of_a_folder,
    the_plugin_that_was_installed,
);

const VERDICT: &str = "VERDICT 4/5";

/// A parent that calls for a judge: a cell's own session answers with the verdict, and a subagent of the parent's process
/// says that it is one. No hook beside ours runs after the call, so that a receipt is sealed.
fn judging(version: &'static str) -> Scene {
    Scene::new(version)
        .without_logging("PostToolUse")
        .parent_calls(&[call("JUDGE")])
        .rule(
            json!({"role": "main", "prompt_contains": "JUDGE"}),
            json!([{"text": VERDICT}]),
        )
        .rule(
            json!({"role": "subagent", "prompt_contains": "JUDGE"}),
            json!([{"text": "IN-PROCESS"}]),
        )
        .rule(json!({"role": "subagent"}), json!([{"echo": {}}]))
}

fn only_result(run: &Run) -> String {
    let results: Vec<String> = run.tool_results().into_values().collect();
    assert_eq!(results.len(), 1, "{run:?}");
    results[0].clone()
}

/// Fails unless the call ran in a cell and its result was sealed into the answer of this agent.
fn assert_isolated(run: &Run, agent: &str) {
    run.assert_ended_well();
    let record: Vec<Value> = run.records().into_values().collect();
    assert_eq!(record.len(), 1, "{run:?}");
    let (ending, delivery) = (&record[0]["state"]["ending"]["kind"], &record[0]["delivery"]);
    assert_eq!(ending, "completed", "{run:?}");
    assert_eq!(
        (&delivery["mode"], &delivery["outcome"], &delivery["agent"]),
        (&json!("receipt"), &json!("sealed"), &json!(agent)),
        "{:?} {run:?}",
        record[0]["notes"]
    );
    assert!(only_result(run).contains(VERDICT), "{run:?}");
}

fn installed_for_the_user(version: &'static str) {
    let run = judging(version).subcell(&["install", "--isolate"]).run();
    assert_isolated(&run, "echo-through");
}

fn installed_and_removed(version: &'static str) {
    let all = ["install", "--isolate", "--guards", "background,liveness,bash"];
    let run = judging(version).subcell(&all).subcell(&["uninstall"]).run();
    run.assert_ended_well();
    assert!(run.records().is_empty(), "{run:?}");
    assert!(only_result(&run).contains("IN-PROCESS"), "{run:?}");
}

fn installed_for_the_project(version: &'static str) {
    let run = judging(version)
        .subcell(&["install", "--project", "--isolate", "--guards", "background"])
        .run();
    assert_isolated(&run, "echo-through");
}

/// A scene with the plugin as `scripts/plugin.sh` assembles it.
fn with_plugin(version: &'static str) -> Scene {
    let scene = judging(version)
        .file(
            "plugin/.claude-plugin/plugin.json",
            include_str!("../../config/plugin/.claude-plugin/plugin.json"),
        )
        .file(
            "plugin/.claude-plugin/marketplace.json",
            include_str!("../../config/plugin/.claude-plugin/marketplace.json"),
        )
        .file(
            "plugin/hooks/hooks.json",
            include_str!("../../config/plugin/hooks/hooks.json"),
        )
        .file(
            "plugin/agents/echo-through.md",
            include_str!("../../config/plugin/agents/echo-through.md"),
        );
    let bin = scene.path("plugin/bin");
    fs::create_dir(&bin).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_subcell"), bin.join("subcell")).unwrap();
    scene
}

fn the_plugin_of_a_folder(version: &'static str) {
    let scene = with_plugin(version);
    let plugin = scene.path("plugin");
    let run = scene.args(&["--plugin-dir", plugin.to_str().unwrap()]).run();
    assert_isolated(&run, "subcell:echo-through");
}

fn the_plugin_that_was_installed(version: &'static str) {
    let scene = with_plugin(version);
    let plugin = scene.path("plugin");
    let run = scene
        .client(&["plugin", "marketplace", "add", plugin.to_str().unwrap()])
        .client(&["plugin", "install", "subcell@subcell-local"])
        .run();
    assert_isolated(&run, "subcell:echo-through");
}
