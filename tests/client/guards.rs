//! The guards on the real client.

use std::fs;

use serde_json::{Value, json};

use crate::on_both_versions;
use crate::run::Run;
use crate::scene::{Scene, call};

on_both_versions!(
    a_shell_left_behind_holds_its_subagent,
    siblings_are_held_by_their_own_shells_alone,
    a_live_record_holds_a_subagent_and_never_an_echo,
    a_cells_main_session_is_held,
    a_background_call_is_denied,
    a_background_call_is_made_a_foreground_one,
    a_denial_beats_a_rewriting_hook_and_the_last_rewrite_wins,
    beside_intercept_every_call_becomes_a_cell,
    what_overrides_the_flag,
);

const SUBCELL: &str = env!("CARGO_BIN_EXE_subcell");

/// A scene with the liveness guard on an event, and its knob file, scratch directory and log.
fn guarded(scene: Scene, event: &str) -> Scene {
    let (scratch, log) = (scene.path("scratch"), scene.path("stop.log"));
    fs::create_dir(&scratch).unwrap();
    let knobs = format!(
        "GATE_SDK_TMP_DIR = {}\nDELEGATION_KIT_STOP_LOG = {}\n",
        scratch.display(),
        log.display()
    );
    let args = json!(["--hook", "subagent-stop-liveness", "--knobs", scene.path("k.knobs")]);
    let hook = json!({"type": "command", "command": SUBCELL, "args": args, "timeout": 30});
    scene
        .file("k.knobs", &knobs)
        .settings(json!({"hooks": {event: [{"hooks": [hook]}]}}))
}

fn bash(command: &str, in_background: bool) -> Value {
    json!([{"tool_use": {"name": "Bash", "input": {
        "command": command, "description": "Work", "run_in_background": in_background,
    }}}])
}

/// Rules by which whoever is asked `task` starts a shell that runs until `go-TASK` is there, and tries to end its turn;
/// after a refusal it does `meanwhile`, lets the shell end, waits for that, and reports.
fn leaving(scene: Scene, role: &str, task: &str, meanwhile: &str) -> Scene {
    let when = |more: Value| {
        let mut when = json!({"role": role, "prompt_contains": task});
        for (name, value) in more.as_object().unwrap() {
            when[name] = value.clone();
        }
        when
    };
    let until = |file: &str| format!("until [ -e {file}-{task} ]; do sleep 0.05; done");
    let leave = format!("touch started-{task}; {}; touch done-{task}", until("go"));
    let wait = format!("{meanwhile}; touch go-{task}; {}; echo WAITED", until("done"));
    scene
        .rule(when(json!({"nth": 1})), bash(&leave, true))
        .rule(when(json!({"last_contains": "turn-end refused"})), bash(&wait, false))
        .rule(
            when(json!({"tool_result_contains": "WAITED"})),
            json!([{"text": format!("WHOLE-REPORT of {task}")}]),
        )
        .rule(when(json!({})), json!([{"text": format!("TOO-EARLY of {task}")}]))
}

/// The lines of the guard's log.
fn log(run: &Run) -> Vec<String> {
    let text = fs::read_to_string(run.path("stop.log")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn lines<'a>(log: &'a [String], parts: &[&str]) -> Vec<&'a str> {
    let holds = |line: &&String| parts.iter().all(|part| line.contains(part));
    log.iter().filter(holds).map(String::as_str).collect()
}

fn a_shell_left_behind_holds_its_subagent(version: &'static str) {
    let scene = guarded(Scene::new(version), "SubagentStop").parent_calls(&[call("LEAVE")]);
    let run = leaving(scene, "subagent", "LEAVE", ":").run();
    run.assert_ended_well();
    assert!(
        run.text().contains("WHOLE-REPORT of LEAVE") && !run.text().contains("TOO-EARLY"),
        "{run:?}"
    );
    let log = log(&run);
    assert!(
        log[0].contains("decision=refuse  held=task  pardon=-  tasks=1/1"),
        "{log:?} {run:?}"
    );
    assert!(
        log.last()
            .unwrap()
            .contains("decision=allow  held=-  pardon=-  tasks=0/"),
        "{log:?}"
    );
    let ends = run.payloads("SubagentStop");
    assert_eq!((ends.len(), log.len()), (log.len(), ends.len()), "{log:?}");
    assert_eq!(ends[1]["stop_hook_active"], true, "{run:?}");
}

fn siblings_are_held_by_their_own_shells_alone(version: &'static str) {
    // The first is let go while the shell of the second still runs, which waits for just that.
    let log_file = |scene: &Scene| scene.path("stop.log").to_str().unwrap().to_owned();
    let scene = guarded(Scene::new(version), "SubagentStop").parent_calls(&["FIRST", "SECOND"].map(call));
    let first = format!(
        "until [ $(grep -c decision=refuse '{0}') -ge 2 ]; do sleep 0.05; done",
        log_file(&scene)
    );
    let second = format!(
        "until grep -q decision=allow '{0}'; do sleep 0.05; done",
        log_file(&scene)
    );
    let scene = leaving(scene, "subagent", "FIRST", &first);
    let run = leaving(scene, "subagent", "SECOND", &second).run();
    run.assert_ended_well();
    for task in ["FIRST", "SECOND"] {
        assert!(run.text().contains(&format!("WHOLE-REPORT of {task}")), "{run:?}");
    }
    let log = log(&run);
    assert!(lines(&log, &["decision=refuse", "tasks=1/"]).len() >= 2, "{log:?}");
    assert!(lines(&log, &["tasks=2/"]).is_empty(), "{log:?}");
    let allowed = lines(&log, &["decision=allow"]);
    assert_eq!(allowed.len(), 2, "{log:?}");
    assert!(allowed[0].contains("tasks=0/1"), "{log:?}");
}

fn a_live_record_holds_a_subagent_and_never_an_echo(version: &'static str) {
    let record = format!("pid={} run=build\n", std::process::id());
    let plain = guarded(Scene::new(version), "SubagentStop").file("scratch/build.run", &record);
    let delete = format!("rm '{}' && echo REMOVED", plain.path("scratch/build.run").display());
    let run = plain
        .parent_calls(&[call("JUDGE")])
        .rule(
            json!({"role": "subagent", "last_contains": "turn-end refused"}),
            bash(&delete, false),
        )
        .rule(json!({"role": "subagent"}), json!([{"text": "VERDICT"}]))
        .run();
    run.assert_ended_well();
    let log_lines = log(&run);
    assert_eq!(log_lines.len(), 2, "{log_lines:?} {run:?}");
    assert!(
        log_lines[0].contains("verdict=red") && log_lines[0].contains("decision=refuse"),
        "{log_lines:?}"
    );
    assert!(
        log_lines[1].contains("verdict=green") && log_lines[1].contains("decision=allow"),
        "{log_lines:?}"
    );

    let echo = json!({"role": "subagent", "prompt_contains": "\nBEGIN-"});
    let run = guarded(Scene::new(version).isolated(), "SubagentStop")
        .file("scratch/build.run", &record)
        .rule(echo, json!([{"echo": {}}]))
        .rule(
            json!({"role": "main", "prompt_contains": "JUDGE"}),
            json!([{"text": "VERDICT"}]),
        )
        .parent_calls(&[call("JUDGE")])
        .run();
    run.assert_ended_well();
    assert!(run.text().contains("VERDICT"), "{run:?}");
    let log_lines = log(&run);
    assert_eq!(log_lines.len(), 1, "{log_lines:?} {run:?}");
    assert!(
        log_lines[0].contains("verdict=red") && log_lines[0].contains("pardon=echo"),
        "{log_lines:?} {run:?}"
    );
}

fn a_cells_main_session_is_held(version: &'static str) {
    let echo = json!({"role": "subagent", "prompt_contains": "\nBEGIN-"});
    let scene = guarded(Scene::new(version).isolated(), "Stop").rule(echo, json!([{"echo": {}}]));
    let scene = scene.parent_calls(&[call("LEAVE")]);
    let run = leaving(scene, "main", "LEAVE", ":").run();
    run.assert_ended_well();
    assert!(
        run.text().contains("WHOLE-REPORT of LEAVE") && !run.text().contains("TOO-EARLY"),
        "{run:?}"
    );
    let log = log(&run);
    let of_parent = format!("session={}", run.parent());
    let parents = lines(&log, &[&of_parent]);
    assert!(
        !parents.is_empty() && parents.iter().all(|line| line.contains("decision=allow")),
        "{log:?} {run:?}"
    );
    let cells: Vec<_> = log.iter().filter(|line| !line.contains(&of_parent)).collect();
    assert!(
        cells[0].contains("event=Stop") && cells[0].contains("decision=refuse  held=task"),
        "{log:?} {run:?}"
    );
    assert!(cells.last().unwrap().contains("decision=allow"), "{log:?}");
}

/// A scene with the background guard and subagents that answer.
fn background(version: &'static str, flags: &[&str]) -> Scene {
    background_on(Scene::new(version), flags)
}

fn background_on(scene: Scene, flags: &[&str]) -> Scene {
    let args: Vec<&str> = ["guard", "background"].iter().chain(flags).copied().collect();
    let hook = json!({"type": "command", "command": SUBCELL, "args": args, "timeout": 30, "onFailure": "block"});
    scene
        .rule(json!({"role": "subagent"}), json!([{"text": "VERDICT on {{prompt}}"}]))
        .settings(json!({"hooks": {"PreToolUse": [{"matcher": "Agent|Task", "hooks": [hook]}]}}))
}

fn flagged(prompt: &str, flag: &Value) -> Value {
    let mut input = call(prompt);
    input["run_in_background"] = flag.clone();
    input
}

fn statuses(run: &Run) -> Vec<&Value> {
    run.payloads("PostToolUse")
        .iter()
        .map(|payload| &payload["tool_response"]["status"])
        .collect()
}

fn a_background_call_is_denied(version: &'static str) {
    let run = background(version, &[])
        .parent_calls(&[flagged("JUDGE", &json!(true)), call("OTHER")])
        .run();
    run.assert_ended_well();
    let results = run.tool_results();
    let said: Vec<_> = results
        .values()
        .filter(|result| result.contains("every subagent runs in the foreground"))
        .collect();
    assert!(
        said.len() == 1 && said[0].contains("\"run_in_background\": false"),
        "{results:?} {run:?}"
    );
    assert_eq!(statuses(&run), ["completed"], "{run:?}");
    assert!(run.text().contains("VERDICT on OTHER"), "{run:?}");
}

fn a_background_call_is_made_a_foreground_one(version: &'static str) {
    let mut absent = call("ABSENT");
    absent.as_object_mut().unwrap().remove("run_in_background");
    let run = background(version, &["--mode", "rewrite"])
        .parent_calls(&[flagged("JUDGE", &json!(true)), absent])
        .run();
    run.assert_ended_well();
    assert_eq!(statuses(&run), ["completed", "completed"], "{run:?}");
    assert!(
        run.text().contains("VERDICT on JUDGE") && run.text().contains("VERDICT on ABSENT"),
        "{run:?}"
    );
}

/// A hook that rewrites the prompt once `wait` is true.
fn rewriting(prompt: &str, wait: &str) -> Value {
    let input = json!({"description": "judge", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": false});
    let reply = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": input}});
    let line = format!("cat >/dev/null; {wait}; printf '%s' \"$1\"");
    let hook = json!({"type": "command", "command": "/bin/sh", "args": ["-c", line, "rewrite", reply.to_string()], "timeout": 30});
    json!({"hooks": {"PreToolUse": [{"matcher": "Agent", "hooks": [hook]}]}})
}

fn a_denial_beats_a_rewriting_hook_and_the_last_rewrite_wins(version: &'static str) {
    let slow = "sleep 1; touch rewritten";
    let denied = background(version, &[])
        .settings(rewriting("FROM-HOOK", slow))
        .parent_calls(&[flagged("JUDGE", &json!(true))])
        .run();
    denied.assert_ended_well();
    assert!(
        denied.text().contains("every subagent runs in the foreground"),
        "{denied:?}"
    );
    // The other hook was not stopped: the client waited for its work, and dropped it.
    assert!(
        denied.path("work/rewritten").exists() && statuses(&denied).is_empty(),
        "{denied:?}"
    );

    let rewritten = background(version, &["--mode", "rewrite"])
        .settings(rewriting("FROM-HOOK", slow))
        .parent_calls(&[flagged("JUDGE", &json!(true))])
        .run();
    rewritten.assert_ended_well();
    assert!(rewritten.text().contains("VERDICT on FROM-HOOK"), "{rewritten:?}");
}

fn beside_intercept_every_call_becomes_a_cell(version: &'static str) {
    let echo = json!({"role": "subagent", "prompt_contains": "\nBEGIN-"});
    let scene = Scene::new(version).isolated().rule(echo, json!([{"echo": {}}])).rule(
        json!({"role": "main", "prompt_contains": "JUDGE"}),
        json!([{"text": "VERDICT"}]),
    );
    let run = background_on(scene, &["--beside-intercept"])
        .parent_calls(&[flagged("JUDGE", &json!(true))])
        .run();
    run.assert_ended_well();
    assert_eq!(
        (statuses(&run), run.records().len()),
        (vec![&json!("completed")], 1),
        "{run:?}"
    );
    assert!(run.text().contains("VERDICT"), "{run:?}");
}

fn what_overrides_the_flag(version: &'static str) {
    let agent = "---\nname: pinned\ndescription: Judges\nbackground: true\n---\nYou judge.\n";
    let mut pinned = call("JUDGE");
    pinned["subagent_type"] = "pinned".into();
    let run = background(version, &[])
        .file("work/.claude/agents/pinned.md", agent)
        .parent_calls(&[pinned])
        .run();
    run.assert_ended_well();
    // The guard let the call pass, and the definition won.
    assert_eq!(statuses(&run), ["async_launched"], "{run:?}");

    // The flag is taken out of the call, so that a rewritten one would run in the background too.
    let forced = background(version, &["--mode", "rewrite"])
        .env("CLAUDE_CODE_FORK_SUBAGENT", "1")
        .parent_calls(&[call("JUDGE")])
        .run();
    forced.assert_ended_well();
    assert!(
        forced.payloads("PreToolUse")[0]["tool_input"]
            .get("run_in_background")
            .is_none(),
        "{forced:?}"
    );
    assert!(
        statuses(&forced).is_empty() && forced.text().contains("CLAUDE_CODE_FORK_SUBAGENT"),
        "{forced:?}"
    );

    let disabled = Scene::new(version)
        .rule(json!({"role": "subagent"}), json!([{"text": "VERDICT"}]))
        .env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1")
        .parent_calls(&[flagged("JUDGE", &json!(true))])
        .run();
    disabled.assert_ended_well();
    assert_eq!(statuses(&disabled), ["completed"], "{disabled:?}");
}
