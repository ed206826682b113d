//! `subcell guard liveness` and `subcell --hook subagent-stop-liveness` as a client calls them.

use serde_json::{Value, json};

use crate::hook::{Run, SESSION, Scene};

const SUBCELL: &str = env!("CARGO_BIN_EXE_subcell");
const CELL: &str = "cell-0190f3a0-0000-7000-8000-000000000000";

/// A scene whose knob file names a scratch directory and a log in the home folder.
fn scene(form: &[&str]) -> Scene {
    scene_with(form, "")
}

fn scene_with(form: &[&str], knobs: &str) -> Scene {
    let scene = Scene::new("");
    let home = scene.home.path().display().to_string();
    let text = format!("GATE_SDK_TMP_DIR = {home}/s\nDELEGATION_KIT_STOP_LOG = {home}/stop.log\n{knobs}");
    let file = scene.file("k.knobs", &text);
    std::fs::create_dir(scene.home.path().join("s")).unwrap();
    let words: Vec<&str> = [SUBCELL].iter().chain(form).copied().collect();
    let words: Vec<String> = words
        .iter()
        .map(|word| word.replace("KNOBS", file.to_str().unwrap()))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    scene
        .hook(&words)
        .payload("hook_event_name", json!("SubagentStop"))
        .payload("agent_id", json!("a1"))
        .payload("agent_type", json!("general-purpose"))
        .payload("stop_hook_active", json!(false))
        .payload("background_tasks", json!([]))
}

const GUARD: &[&str] = &["guard", "liveness", "--knobs", "KNOBS"];
const PAGE: &[&str] = &["--hook", "subagent-stop-liveness", "--knobs", "KNOBS"];

/// A record of this test's process, which runs.
fn live_record(scene: &Scene) {
    scene.file("s/build.run", &format!("pid={} run=build\n", std::process::id()));
}

fn shell() -> Value {
    json!([{"id": "b1", "type": "shell", "status": "running", "command": "sleep 9"}])
}

fn allowed(run: &Run) {
    assert_eq!(
        (run.code, &run.reply, run.stderr.as_str()),
        (Some(0), &None, ""),
        "{run:?}"
    );
}

fn refused(run: &Run) {
    assert_eq!((run.code, &run.reply), (Some(2), &None), "{run:?}");
    assert!(run.stderr.contains("turn-end refused"), "{run:?}");
}

fn log(scene: &Scene) -> Vec<String> {
    let text = std::fs::read_to_string(scene.home.path().join("stop.log")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn both_forms_hold_a_turn_while_a_record_or_a_task_does() {
    for form in [GUARD, PAGE] {
        let scene = scene(form);
        allowed(&scene.run());
        live_record(&scene);
        let run = scene.run();
        refused(&run);
        assert!(
            run.stderr.contains("runs=build") && run.stderr.contains("whole report"),
            "{}",
            run.stderr
        );
        std::fs::remove_file(scene.home.path().join("s/build.run")).unwrap();
        let scene = scene.payload("background_tasks", shell());
        refused(&scene.run());
        let lines = log(&scene);
        assert_eq!(lines.len(), 3);
        assert!(
            lines[2].contains(&format!("session={SESSION}")) && lines[2].contains("held=task  pardon=-  tasks=1/1")
        );
    }
}

#[test]
fn the_subagents_transcript_tells_its_tasks_from_others() {
    let scene = scene(GUARD);
    let mine = scene.file("t/subagents/agent-a1.jsonl", "{}\n");
    let main = scene.file("t.jsonl", "{\"toolUseResult\":{\"backgroundTaskId\":\"b1\"}}\n");
    let scene = scene
        .payload("background_tasks", shell())
        .payload("agent_transcript_path", json!(mine))
        .payload("transcript_path", json!(main));
    allowed(&scene.run());
    scene.file(
        "t/subagents/agent-a1.jsonl",
        "\"Command running in background with ID: b1. Output\"\n",
    );
    refused(&scene.run());
}

#[test]
fn a_program_of_a_knob_answers_for_the_records() {
    for (code, expected) in [(0, 0), (1, 2), (2, 2), (3, 0)] {
        let knobs = format!(
            "DELEGATION_KIT_LIVENESS_CMD[] = sh\nDELEGATION_KIT_LIVENESS_CMD[] = -c\n\
                             DELEGATION_KIT_LIVENESS_CMD[] = exit {code}\n"
        );
        let scene = scene_with(GUARD, &knobs);
        assert_eq!(scene.run().code, Some(expected), "{code}");
    }
    let missing = scene_with(GUARD, "DELEGATION_KIT_LIVENESS_CMD[] = /nowhere/check\n");
    live_record(&missing);
    allowed(&missing.run());
    assert!(log(&missing)[0].contains("verdict=unavailable"));
}

#[test]
fn the_start_environment_overrides_knobs_and_a_repositorys_does_not() {
    let started = scene(GUARD);
    live_record(&started);
    let elsewhere = started.home.path().join("elsewhere").to_str().unwrap().to_owned();
    std::fs::create_dir(&elsewhere).unwrap();
    let started = started.start_env("GATE_SDK_TMP_DIR", &elsewhere);
    allowed(&started.run());

    let evil = scene(GUARD);
    live_record(&evil);
    let evil = evil
        .hook_env("GATE_SDK_TMP_DIR", Some(&elsewhere))
        .hook_env("DELEGATION_KIT_STOP_WAIT", Some("nonsense"))
        .hook_env("DELEGATION_KIT_STOP_LOG", Some("/nowhere/log"));
    refused(&evil.run());
    assert_eq!(log(&evil).len(), 1);
}

#[test]
fn a_cells_main_session_is_held_and_no_other() {
    let stop = || {
        scene(GUARD)
            .payload("hook_event_name", json!("Stop"))
            .payload("background_tasks", shell())
    };
    allowed(&stop().run());
    allowed(&stop().start_env("FULLSEND_HOOK_SPAWNED", "1").run());
    allowed(&stop().hook_env("FULLSEND_HOOK_SPAWNED", Some(CELL)).run());
    refused(&stop().start_env("FULLSEND_HOOK_SPAWNED", CELL).run());
}

#[test]
fn a_stuck_task_holds_a_session_so_many_times_and_no_more() {
    let scene = scene(&[GUARD, &["--max-refusals", "2"]].concat()).payload("background_tasks", shell());
    refused(&scene.run());
    refused(&scene.run());
    let run = scene.run();
    assert_eq!(run.code, Some(0));
    assert!(run.message().contains("refused 2 times"), "{run:?}");
    let configured = self::scene(GUARD).payload("background_tasks", shell());
    configured.file(".config/subcell/subcell.toml", "[guard.liveness]\nmax_refusals = 1\n");
    refused(&configured.run());
    assert_eq!(configured.run().code, Some(0));
}

#[test]
fn on_trial_nothing_is_refused() {
    let form = ["--hook", "subagent-stop-liveness", "--observe", "--knobs", "KNOBS"];
    let scene = scene(&form);
    live_record(&scene);
    allowed(&scene.run());
    assert!(log(&scene).is_empty());
    let observed = std::fs::read_to_string(scene.home.path().join("s/subagent-stop-liveness.observe.log")).unwrap();
    assert!(
        observed.contains("  would=refuse  ") && observed.lines().count() == 1,
        "{observed}"
    );
}

#[test]
fn in_a_repository_the_defaults_apply_and_outside_a_notice_names_the_knob() {
    let scene = Scene::new("")
        .hook(&[SUBCELL, "guard", "liveness"])
        .payload("hook_event_name", json!("SubagentStop"));
    let run = scene.run();
    assert_eq!(run.code, Some(0));
    assert!(run.message().contains("DELEGATION_KIT_STOP_LOG"), "{run:?}");
    std::fs::create_dir(scene.project().join(".git")).unwrap();
    scene.file(
        "project/.tmp/build.run",
        &format!("pid={} run=build\n", std::process::id()),
    );
    refused(&scene.run());
    assert!(scene.project().join(".workflow/subagent-stop-liveness.log").exists());
}

#[test]
fn a_wrong_name_or_option_refuses_nobody() {
    for (form, says) in [
        (
            &["--hook", "subagent-stop-livenes", "--knobs", "KNOBS"][..],
            "subagent-stop-livenes",
        ),
        (&["--hook"], "--hook"),
        (&["--hook", "subagent-stop-liveness", "--nope"], "--nope"),
        (&["--hook", "subagent-stop-liveness", "--knobs"], "--knobs"),
        (&["guard", "livenes"], "livenes"),
        (&["guard", "liveness", "--max-refusals", "0"], "max-refusals"),
    ] {
        let scene = scene(form);
        live_record(&scene);
        let run = scene.run();
        assert_eq!((run.code, &run.reply), (Some(64), &None), "{form:?}");
        assert!(run.stderr.contains(says), "{form:?}: {}", run.stderr);
    }
}

#[test]
fn a_knob_file_that_is_not_there_is_a_notice() {
    let scene = scene(&["guard", "liveness", "--knobs", "/nowhere/k.knobs"]);
    let run = scene.run();
    assert_eq!(run.code, Some(0));
    assert!(run.message().contains("/nowhere/k.knobs"), "{run:?}");
}

#[test]
fn many_at_once_leave_a_whole_line_each() {
    let scene = scene(&[GUARD, &["--max-refusals", "1000"]].concat());
    live_record(&scene);
    let running: Vec<_> = (0..16).map(|_| scene.start()).collect();
    for running in running {
        refused(&running.wait_beside_others());
    }
    let lines = log(&scene);
    assert_eq!(lines.len(), 16);
    assert!(
        lines
            .iter()
            .all(|line| line.contains("  event=SubagentStop  ") && line.contains("  keys=agent_id,"))
    );
}
