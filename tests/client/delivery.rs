//! How a result reaches the parent: by receipt and seal, by echo, by denial, and beside other people's hooks.
//!
//! The cells' client is a script that answers at once: what is tried here is the parent's client.

use std::fs;

use serde_json::{Value, json};

use crate::frame;
use crate::nasty;
use crate::on_all_versions;
use crate::run::Run;
use crate::scene::{Scene, call};
use crate::settings::{intercept_hook, seal_hook, shipped_hooks};

on_all_versions!(
    nasty_results,
    an_echo_that_is_not_faithful,
    a_receipt_without_seal,
    a_denial_that_carries_the_result,
    a_rewrite_by_another_hook,
    a_denial_by_another_hook,
    another_rewriter_of_the_output,
);

const VERDICT: &str = "VERDICT 4/5 <b>fine</b> & \"quoted\"\n  indented";

/// Calls in one message.
const AT_ONCE: usize = 15;

/// The cells' client: the first line of the prompt names the file of its result.
const CELL: &str = "#!/bin/sh\nread -r name\nexec cat \"${0%/*}/$name.json\"\n";

/// A scene with these hooks of ours, whose cells answer a call for `NAME` with the text of that name.
fn answering(version: &'static str, hooks: Value, answers: &[(&str, &str)]) -> Scene {
    let scene = Scene::new(version)
        .settings(hooks)
        .echo_agent()
        .program("cells/claude", CELL);
    let client = scene.path("cells/claude");
    let scene = scene.env("SUBCELL_CLAUDE", client.to_str().unwrap());
    answers.iter().fold(scene, |scene, (name, text)| {
        let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": text, "num_turns": 1,
            "session_id": "s", "total_cost_usd": 0.01, "modelUsage": {"m": {"inputTokens": 3, "outputTokens": 1}}});
        scene.file(&format!("cells/{name}.json"), &result.to_string())
    })
}

fn echoing(scene: Scene) -> Scene {
    let echo = json!({"role": "subagent", "prompt_contains": "\nBEGIN-"});
    scene.rule(echo, json!([{"echo": {}}]))
}

/// The ids of the parent's calls by the prompt that each was made with.
fn id_of(run: &Run, prompt: &str) -> String {
    let calls = run.payloads("PreToolUse");
    let call = calls
        .into_iter()
        .find(|payload| payload["tool_input"]["prompt"] == prompt);
    call.unwrap_or_else(|| panic!("no call for {prompt}; {run:?}"))["tool_use_id"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn delivery(run: &Run, id: &str) -> Value {
    run.records()[&format!("{id}.json")]["delivery"].clone()
}

fn mode_and_outcome(run: &Run, id: &str) -> [String; 2] {
    let delivery = delivery(run, id);
    ["mode", "outcome"].map(|field| delivery[field].as_str().unwrap().to_owned())
}

/// The text that the client took for the call's output, as its transcript keeps it.
fn output_of(run: &Run, id: &str) -> String {
    let lines = run.transcript(run.parent());
    let is_result = |line: &&Value| {
        let mut blocks = line["message"]["content"].as_array().into_iter().flatten();
        blocks.any(|block| block["type"] == "tool_result" && block["tool_use_id"] == id)
    };
    let line = lines
        .iter()
        .find(is_result)
        .unwrap_or_else(|| panic!("{id} has no result; {run:?}"));
    let content = &line["toolUseResult"]["content"];
    content[0]["text"].as_str().unwrap_or_default().to_owned()
}

fn nasty_results(version: &'static str) {
    let results = nasty::results();
    assert!(results.len() >= 40);
    // The client runs so many subagents at a time: of more calls in one message it refuses some.
    for part in results.chunks(AT_ONCE) {
        let named: Vec<(String, &str)> = part
            .iter()
            .enumerate()
            .map(|(n, (_, text))| (format!("NASTY-{n:02}"), text.as_str()))
            .collect();
        let answers: Vec<(&str, &str)> = named.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        let calls: Vec<Value> = answers.iter().map(|(name, _)| call(name)).collect();
        let run = echoing(answering(version, shipped_hooks(), &answers))
            .parent_calls(&calls)
            .run();
        run.assert_ended_well();
        assert_eq!(run.records().len(), part.len(), "{run:?}");
        for ((what, text), (name, _)) in part.iter().zip(&named) {
            let id = id_of(&run, name);
            let given = &run.tool_results()[&id];
            assert_eq!(mode_and_outcome(&run, &id), ["receipt", "sealed"], "{what}: {given}");
            let stored = fs::read(run.path(&format!("state/subcell/cells/{id}.result"))).unwrap();
            assert_eq!(stored, text.as_bytes(), "{what}");
            assert!(output_of(&run, &id) == *text, "{what}: the client has another output");
            frame::assert_holds(version, given, text, what);
        }
    }
}

fn an_echo_that_is_not_faithful(version: &'static str) {
    let told = ["FAITHFUL", "PARAPHRASE", "TRUNCATE", "REFUSE"];
    let texts = told.map(|name| format!("{name}: {VERDICT}"));
    let answers: Vec<(&str, &str)> = told.into_iter().zip(texts.iter().map(String::as_str)).collect();
    let mut hooks = intercept_hook("echo");
    crate::settings::merge(&mut hooks, seal_hook());
    // Where another hook may rewrite, nothing is repaired: the one that logs is for every tool.
    let scene = answering(version, hooks, &answers).without_logging("PostToolUse");
    let asked = |name: &str| json!({"role": "subagent", "prompt_contains": format!("{name}: VERDICT")});
    let scene = scene
        .rule(asked("PARAPHRASE"), json!([{"echo": {"as": "paraphrase"}}]))
        .rule(asked("TRUNCATE"), json!([{"echo": {"as": {"truncate": 15}}}]))
        .rule(asked("REFUSE"), json!([{"text": "I cannot repeat that."}]));
    let run = echoing(scene).parent_calls(&told.map(call)).run();
    run.assert_ended_well();
    for (name, text) in answers {
        let id = id_of(&run, name);
        let outcome = if name == "FAITHFUL" { "faithful" } else { "repaired" };
        assert_eq!(mode_and_outcome(&run, &id), ["echo", outcome], "{name}; {run:?}");
        frame::assert_holds(version, &run.tool_results()[&id], text, name);
    }
}

fn a_receipt_without_seal(version: &'static str) {
    let scene = answering(version, intercept_hook("receipt"), &[("JUDGE", VERDICT)]);
    let run = echoing(scene).parent_calls(&[call("JUDGE")]).run();
    run.assert_ended_well();
    let id = id_of(&run, "JUDGE");
    assert_eq!(mode_and_outcome(&run, &id), ["receipt", "none"], "{run:?}");
    let file = run.path(&format!("state/subcell/cells/{id}.result"));
    let given = &run.tool_results()[&id];
    assert!(
        given.contains(file.to_str().unwrap()) && !given.contains("VERDICT"),
        "{given}"
    );
}

fn a_denial_that_carries_the_result(version: &'static str) {
    let long = "a line of a result\n".repeat(2600);
    let scene = answering(version, intercept_hook("deny"), &[("JUDGE", VERDICT), ("LONG", &long)]);
    let run = scene.parent_calls(&["JUDGE", "LONG"].map(call)).run();
    run.assert_ended_well();
    for (name, text) in [("JUDGE", VERDICT), ("LONG", &long)] {
        let id = id_of(&run, name);
        assert_eq!(mode_and_outcome(&run, &id), ["deny", "none"], "{run:?}");
        let given = &run.tool_results()[&id];
        assert!(
            given.contains("[subcell] No error: ") && given.contains(text.trim_end()),
            "{run:?}"
        );
    }
    assert!(
        run.payloads("SubagentStart").is_empty() && run.payloads("PostToolUse").is_empty(),
        "{run:?}"
    );
}

/// A hook entry that runs this shell script.
fn script_hook(event: &str, script: &str, place: &str) -> Value {
    let hook =
        json!({"type": "command", "command": "/bin/sh", "args": ["-c", script, "other", place], "timeout": 60});
    json!({"hooks": {event: [{"matcher": "Agent", "hooks": [hook]}]}})
}

/// Waits until the cells of the folder $1 have a record of a delivery; ours prints its answer next.
const AFTER_OURS: &str =
    r#"until grep -q '"mode": "receipt"' "$1"/*.json 2>/dev/null; do sleep 0.05; done; sleep 1; "#;

fn a_rewrite_by_another_hook(version: &'static str) {
    let scene = answering(version, shipped_hooks(), &[("JUDGE", VERDICT)]);
    let input = json!({"description": "d", "prompt": "OTHER", "subagent_type": "general-purpose", "run_in_background": false});
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": input}});
    let script = format!("{AFTER_OURS}echo '{answer}'");
    let cells = scene.path("state/subcell/cells");
    let run = scene
        .settings(script_hook("PreToolUse", &script, cells.to_str().unwrap()))
        .rule(
            json!({"role": "subagent", "prompt_contains": "OTHER"}),
            json!([{"text": "THE OTHER ONE"}]),
        )
        .parent_calls(&[call("JUDGE")])
        .run();
    run.assert_ended_well();
    let id = id_of(&run, "JUDGE");
    assert_eq!(mode_and_outcome(&run, &id), ["receipt", "rewrite_lost"], "{run:?}");
    let given = &run.tool_results()[&id];
    assert!(given.contains("THE OTHER ONE") && !given.contains("VERDICT"), "{given}");
}

fn a_denial_by_another_hook(version: &'static str) {
    let scene = answering(version, shipped_hooks(), &[("JUDGE", VERDICT)]);
    let decision =
        json!({"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "NOT TODAY"});
    let script = format!("{AFTER_OURS}echo '{}'", json!({"hookSpecificOutput": decision}));
    let cells = scene.path("state/subcell/cells");
    let run = scene
        .settings(script_hook("PreToolUse", &script, cells.to_str().unwrap()))
        .parent_calls(&[call("JUDGE")])
        .run();
    run.assert_ended_well();
    let id = id_of(&run, "JUDGE");
    assert_eq!(mode_and_outcome(&run, &id), ["receipt", "none"], "{run:?}");
    assert!(run.tool_results()[&id].contains("NOT TODAY"), "{run:?}");
    assert!(run.payloads("PostToolUse").is_empty(), "{run:?}");
}

/// Rewrites the output that stands in the payload, once ours has put in the result.
const REWRITER: &str = r#"until grep -q '"outcome": "\(sealed\|faithful\|unfaithful\)"' "$1"/*.json 2>/dev/null; do sleep 0.05; done
sleep 1
node -e '
  const payload = JSON.parse(require("fs").readFileSync(0, "utf8"));
  const output = Object.fromEntries(Object.entries(payload.tool_response).filter(([name]) => !name.startsWith("harness")));
  output.content = [{ type: "text", text: "REDACTED BY ANOTHER" }];
  const specific = { hookEventName: "PostToolUse", updatedToolOutput: output };
  console.log(JSON.stringify({ hookSpecificOutput: specific }));
'"#;

fn another_rewriter_of_the_output(version: &'static str) {
    for (delivery_flag, expected) in [("receipt", ["receipt", "sealed"]), ("auto", ["echo", "faithful"])] {
        let mut hooks = intercept_hook(delivery_flag);
        crate::settings::merge(&mut hooks, seal_hook());
        let scene = answering(version, hooks, &[("JUDGE", VERDICT)]);
        let cells = scene.path("state/subcell/cells");
        let scene = scene.settings(script_hook("PostToolUse", REWRITER, cells.to_str().unwrap()));
        let run = echoing(scene.without_logging("PostToolUse"))
            .parent_calls(&[call("JUDGE")])
            .run();
        run.assert_ended_well();
        let id = id_of(&run, "JUDGE");
        assert_eq!(mode_and_outcome(&run, &id), expected, "{run:?}");
        assert_eq!(delivery(&run, &id)["rivals"], json!(["sh cells"]), "{run:?}");
        assert!(run.tool_results()[&id].contains("REDACTED BY ANOTHER"), "{run:?}");
    }
}
