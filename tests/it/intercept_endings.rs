//! Every ending of a cell: what the record says, and that no failure reads as a success.

use serde_json::{Value, json};

use crate::hook::{Run, Scene};

const FAILED: &str = "[subcell] The isolated subagent FAILED: there is no result of this task.";

fn ending(scene: &Scene) -> Value {
    scene.record()["state"]["ending"].clone()
}

fn failed(run: &Run, word: &str) {
    let text = run.echoed();
    assert!(text.starts_with(FAILED), "{text}");
    assert!(text.contains(&format!("Cause ({word}): ")), "{text}");
    assert!(text.contains("Record: /"), "{text}");
}

/// A child that prints `result` as its JSON.
fn child(result: &Value) -> Scene {
    raw(&result.to_string())
}

fn raw(output: &str) -> Scene {
    let scene = Scene::new("");
    let file = scene.file("output.json", output);
    scene.start_env("STANDIN", &format!("prints=file from={}", file.display()))
}

fn success() -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "result": "VERDICT 4/5", "num_turns": 1,
        "session_id": "s", "total_cost_usd": 0.25, "modelUsage": {"claude-sonnet-4-5": {"inputTokens": 10,
        "outputTokens": 5, "cacheReadInputTokens": 1, "cacheCreationInputTokens": 2, "costUSD": 0.25}}})
}

fn with(field: &str, value: Value) -> Value {
    let mut result = success();
    result[field] = value;
    result
}

#[test]
fn a_success_is_recorded_with_its_cost() {
    let scene = child(&success());
    let run = scene.run();
    assert_eq!(run.echoed(), "VERDICT 4/5");
    let record = scene.record();
    let state = &record["state"];
    assert_eq!(state["ending"], json!({"kind": "completed"}));
    assert_eq!(
        (&state["cost_usd"], &state["exit_code"], &state["num_turns"]),
        (&json!(0.25), &json!(0), &json!(1))
    );
    assert_eq!(
        state["tokens"],
        json!({"input": 10, "output": 5, "cache_read": 1, "cache_creation": 2})
    );
    assert_eq!(scene.result("toolu_1"), b"VERDICT 4/5");
}

#[test]
fn what_the_child_reports_as_an_error_is_one() {
    for (result, fault, cause) in [
        (with("is_error", json!(true)), "is_error", "VERDICT 4/5"),
        (with("subtype", json!("error_max_turns")), "subtype", "error_max_turns"),
        (with("result", json!(" \n")), "empty_result", "empty result"),
        (with("is_error", Value::Null), "no_verdict", "VERDICT 4/5"),
    ] {
        let scene = child(&result);
        let run = scene.run();
        failed(&run, "child_error");
        assert!(run.echoed().contains(cause), "{}", run.echoed());
        assert_eq!(ending(&scene)["fault"], fault);
        // What was spent is spent.
        assert_eq!(scene.record()["state"]["cost_usd"], 0.25);
    }
}

#[test]
fn a_prompt_that_no_model_saw_is_no_success() {
    let mut swallowed = with("num_turns", json!(0));
    swallowed["modelUsage"] = json!({});
    let scene = child(&swallowed);
    failed(&scene.run(), "child_error");
    assert_eq!(ending(&scene)["fault"], "nothing_ran");
}

#[test]
fn a_child_without_credentials_is_told_apart() {
    let scene = raw(include_str!("../fixtures/results/not-logged-in.json"));
    failed(&scene.run(), "not_logged_in");
    assert_eq!(ending(&scene)["kind"], "not_logged_in");
}

#[test]
fn an_api_error_carries_its_status() {
    let scene = raw(include_str!("../fixtures/results/api-error-400.json"));
    failed(&scene.run(), "child_error");
    assert!(
        ending(&scene)["detail"].as_str().unwrap().contains("400"),
        "{}",
        ending(&scene)
    );
}

#[test]
fn exit_codes_prove_nothing_either_way() {
    let scene = Scene::new("");
    let file = scene.file("output.json", &success().to_string());
    let scene = scene.start_env("STANDIN", &format!("prints=file from={} ends=exit:1", file.display()));
    assert_eq!(scene.run().echoed(), "VERDICT 4/5");
    assert_eq!(scene.record()["state"]["exit_code"], 1);
}

#[test]
fn output_that_is_no_result_fails_by_kind() {
    for (standin, kind) in [
        ("prints=cut-json", "unreadable"),
        ("prints=nothing", "unreadable"),
        ("prints=closed", "unreadable"),
        ("prints=nothing ends=exit:3", "crashed_code"),
        ("prints=cut-json ends=exit:3", "crashed_code"),
        ("prints=nothing ends=signal", "crashed_signal"),
    ] {
        let scene = Scene::new(standin);
        failed(&scene.run(), kind);
        assert_eq!(ending(&scene)["kind"], kind, "{standin}");
    }
}

#[test]
fn the_last_result_of_an_array_counts() {
    let array = json!([{"type": "system"}, {"type": "assistant"}, success()]);
    let scene = child(&array);
    assert_eq!(scene.run().echoed(), "VERDICT 4/5");
}

#[test]
fn a_program_that_is_not_there_could_not_start() {
    let scene = Scene::new("").flags(&["--claude", "/nowhere/claude"]);
    let run = scene.run();
    failed(&run, "could_not_start");
    assert!(run.echoed().contains("/nowhere/claude"), "{}", run.echoed());
}

#[test]
fn the_deadline_ends_the_tree_before_the_clients_does() {
    let scene = Scene::new("wait=forever on-term=ignore family=daemon").flags(&["--timeout", "1"]);
    failed(&scene.run(), "timed_out");
    assert_eq!(ending(&scene), json!({"kind": "timed_out", "limit_ms": 1000}));
}

#[test]
fn a_stop_signal_ends_the_tree_and_leaves_a_record() {
    for signal in [
        rustix::process::Signal::TERM,
        rustix::process::Signal::INT,
        rustix::process::Signal::HUP,
    ] {
        let scene = Scene::new("wait=forever on-term=ignore family=session");
        let running = scene.start();
        let pid = rustix::process::Pid::from_raw(running.pid()).unwrap();
        crate::hook::wait_until(|| {
            let records = scene.records();
            records
                .get("toolu_1")
                .filter(|record| record["keeper_process"].is_object())
                .map(|_| ())
        });
        rustix::process::kill_process(pid, signal).unwrap();
        let run = running.wait();
        failed(&run, "interrupted");
        assert_eq!(
            ending(&scene),
            json!({"kind": "interrupted", "signal": signal.as_raw()})
        );
    }
}

#[test]
fn a_killed_hook_leaves_a_finished_record_and_nothing_running() {
    let scene = Scene::new("wait=forever on-term=ignore family=daemon");
    let running = scene.start();
    let pid = rustix::process::Pid::from_raw(running.pid()).unwrap();
    let opening = crate::hook::wait_until(|| {
        scene
            .records()
            .remove("toolu_1")
            .filter(|record| record["keeper_process"].is_object())
    });
    assert!(opening["child_session"].is_string());
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let ended = crate::hook::wait_until(|| {
        scene
            .records()
            .remove("toolu_1")
            .filter(|record| record["state"]["kind"] == "ended")
    });
    assert_eq!(ended["state"]["ending"], json!({"kind": "interrupted", "signal": 9}));
    crate::inspect::wait_for_end(i32::try_from(opening["keeper_process"]["pid"].as_i64().unwrap()).unwrap());
    running.wait();
}

#[test]
fn a_client_that_is_killed_takes_its_cells_along() {
    let scene = Scene::new("wait=forever on-term=ignore family=session");
    let running = scene.start();
    crate::hook::wait_until(|| {
        scene
            .records()
            .remove("toolu_1")
            .filter(|record| record["keeper_process"].is_object())
    });
    running.kill_parent();
    let ended = crate::hook::wait_until(|| {
        scene
            .records()
            .remove("toolu_1")
            .filter(|record| record["state"]["kind"] == "ended")
    });
    assert_eq!(ended["state"]["ending"], json!({"kind": "interrupted", "signal": 1}));
    crate::inspect::wait_for_end(i32::try_from(ended["keeper_process"]["pid"].as_i64().unwrap()).unwrap());
    crate::inspect::wait_for_end(i32::try_from(ended["hook_process"]["pid"].as_i64().unwrap()).unwrap());
}

#[test]
fn policies_for_a_failed_cell() {
    let scene = Scene::new("prints=nothing ends=exit:3").flags(&["--on-failure", "deny"]);
    let run = scene.run();
    assert!(run.denied().starts_with(FAILED));
    assert_eq!(scene.record()["delivery"]["mode"], "deny");

    let scene = Scene::new("prints=nothing ends=exit:3").flags(&["--on-failure", "builtin"]);
    let run = scene.run();
    assert_eq!(run.reply.as_ref().unwrap().get("hookSpecificOutput"), None);
    assert!(run.message().contains("crashed_code"), "{}", run.message());
    assert_eq!(scene.record()["delivery"]["mode"], "none");
    assert_eq!(ending(&scene)["kind"], "crashed_code");
}

#[test]
fn a_schema_that_was_not_met_is_a_failure_and_one_that_was_is_the_result() {
    let configured = |result: Value| {
        let scene = child(&result);
        let schema = scene.file("schema.json", "{\"type\": \"object\"}");
        let text = format!("[agent.judge]\njson_schema = \"{}\"\n", schema.display());
        scene.file(".config/subcell/subcell.toml", &text);
        scene.agent("judge");
        scene.input("subagent_type", json!("judge"))
    };
    let scene = configured(success());
    failed(&scene.run(), "child_error");
    assert_eq!(ending(&scene)["fault"], "no_structured_output");

    let scene = configured(with("structured_output", json!({"score": 4})));
    assert_eq!(scene.run().echoed(), "{\"score\":4}");
    assert_eq!(scene.result("toolu_1"), b"{\"score\":4}");
}

#[test]
fn too_much_output_is_a_clear_failure() {
    let scene = Scene::new("prints=flood-stdout bytes=70000000");
    failed(&scene.run(), "too_much_output");
    assert_eq!(
        ending(&scene),
        json!({"kind": "too_much_output", "limit_bytes": 64 * 1024 * 1024})
    );
}

#[test]
fn what_a_completed_cell_left_running_is_ended_and_named() {
    let scene = child(&success());
    let standin = format!(
        "prints=file from={} family=daemon",
        scene.home.path().join("output.json").display()
    );
    let scene = scene.start_env("STANDIN", &standin);
    let run = scene.run();
    assert_eq!(run.echoed(), "VERDICT 4/5");
    assert!(run.message().contains("left"), "{}", run.message());
    assert!(scene.record()["state"]["leaked_count"].as_u64().unwrap() >= 1);
}
