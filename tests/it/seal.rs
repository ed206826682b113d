//! The hook after an Agent call, as a client calls it: what `subcell intercept` left is found, put in, and written down.

use std::path::Path;

use serde_json::{Value, json};

use crate::hook::{Run, SESSION, Scene};
use crate::nasty;

const FAILED: &str = "[subcell] The isolated subagent FAILED: there is no result of this task.";

/// A scene whose cell answers `text`.
fn answering(text: &str) -> Scene {
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": text, "num_turns": 1,
        "session_id": "s", "total_cost_usd": 0.25, "modelUsage": {"m": {"inputTokens": 3, "outputTokens": 1}}});
    let scene = Scene::new("");
    let file = scene.file("output.json", &result.to_string());
    scene.start_env("STANDIN", &format!("prints=file from={}", file.display()))
}

/// What a small subagent's `answer` looks like to the hook (2.1.332).
fn response(prompt: &Value, answer: &str) -> Value {
    json!({"status": "completed", "prompt": prompt, "agentId": "a1", "agentType": "echo-through", "harnessNoteCount": 0,
        "content": [{"type": "text", "text": answer}], "totalTokens": 7, "totalToolUseCount": 0, "usage": {}})
}

/// The same scene when the rewritten call has ended with `answer`.
fn after(scene: Scene, intercepted: &Run, answer: &str) -> Scene {
    let input = intercepted.updated().clone();
    let response = response(&input["prompt"], answer);
    scene
        .hook(&[env!("CARGO_BIN_EXE_subcell"), "seal"])
        .payload("hook_event_name", json!("PostToolUse"))
        .payload("tool_input", input)
        .payload("tool_response", response)
}

/// The text that is put in, where the rest of the response is as it came.
fn sealed(run: &Run) -> &str {
    let decision = run.decision();
    assert_eq!(decision["hookEventName"], "PostToolUse", "{run:?}");
    let output = decision["updatedToolOutput"].as_object().unwrap();
    assert_eq!((&output["agentId"], &output["totalTokens"]), (&json!("a1"), &json!(7)));
    assert!(!output.contains_key("harnessNoteCount"), "{run:?}");
    output["content"][0]["text"].as_str().unwrap()
}

fn untouched(run: &Run) -> &str {
    assert_eq!(run.code, Some(0), "{run:?}");
    let reply = run.reply.as_ref();
    assert!(
        reply.is_none_or(|reply| reply.get("hookSpecificOutput").is_none()),
        "{run:?}"
    );
    run.message()
}

fn outcome(scene: &Scene) -> String {
    scene.record()["delivery"]["outcome"].as_str().unwrap().to_owned()
}

fn assert_schema(record: &Value) {
    let schema: Value = serde_json::from_str(include_str!("../fixtures/record.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let problems: Vec<String> = schema.iter_errors(record).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn every_nasty_result_is_put_in_to_the_byte() {
    let results = nasty::results();
    assert!(results.len() >= 40, "{}", results.len());
    for (name, text) in results {
        let scene = answering(&text).flags(&["--delivery", "receipt"]);
        let intercepted = scene.run();
        let line = intercepted.echoed();
        assert!(
            line.starts_with("[subcell] The result of this task is the content of the file /"),
            "{name}: {line}"
        );
        let scene = after(scene, &intercepted, &line);
        let run = scene.run();
        assert_eq!(sealed(&run), text, "{name}");
        assert_eq!(scene.result("toolu_1"), text.as_bytes(), "{name}");
        assert_eq!((run.message(), outcome(&scene).as_str()), ("", "sealed"), "{name}");
    }
}

#[test]
fn bytes_that_are_no_text_are_decoded_once_and_the_record_says_so() {
    let scene = Scene::new("");
    let mut output =
        br#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"modelUsage":{"m":{}},"result":"a"#
            .to_vec();
    output.extend(b"\xff\xfeb\"}");
    let file = scene.home.path().join("output.json");
    std::fs::write(&file, output).unwrap();
    let scene = scene
        .start_env("STANDIN", &format!("prints=file from={}", file.display()))
        .flags(&["--delivery", "receipt"]);
    let intercepted = scene.run();
    let scene = after(scene, &intercepted, "");
    let run = scene.run();
    assert_eq!(sealed(&run), String::from_utf8_lossy(&scene.result("toolu_1")));
    assert_eq!(sealed(&run), "a\u{fffd}\u{fffd}b");
}

#[test]
fn an_echo_is_compared_and_repaired() {
    for (answer, expected) in [
        ("VERDICT 4/5\n  fine", "faithful"),
        ("Here is what it found: VERDICT 4/5 fine", "repaired"),
        ("VERDICT", "repaired"),
        ("I cannot help with that.", "repaired"),
    ] {
        let scene = answering("VERDICT 4/5\n  fine").flags(&["--delivery", "echo"]);
        let intercepted = scene.run();
        let scene = after(scene, &intercepted, answer);
        let run = scene.run();
        if expected == "faithful" {
            assert_eq!(untouched(&run), "");
        } else {
            assert_eq!(sealed(&run), "VERDICT 4/5\n  fine");
        }
        assert_eq!(outcome(&scene), expected);
        assert_schema(&scene.record());
    }
}

#[test]
fn a_failed_cell_stays_one_through_a_receipt() {
    let scene = Scene::new("prints=nothing ends=exit:3").flags(&["--delivery", "receipt"]);
    let intercepted = scene.run();
    let line = intercepted.echoed();
    assert!(
        line.starts_with(FAILED) && line.contains("crashed_code") && !line.contains('\n'),
        "{line}"
    );
    let scene = after(scene, &intercepted, &line);
    let run = scene.run();
    assert!(sealed(&run).starts_with(&format!("{FAILED}\nCause (crashed_code): ")));
    assert_eq!(outcome(&scene), "sealed");
}

#[test]
fn what_is_not_ours_is_left_and_said() {
    let scene = answering("VERDICT").flags(&["--delivery", "receipt"]);
    let intercepted = scene.run();
    let scene = after(scene, &intercepted, "line");
    let prompt = intercepted.updated()["prompt"].clone();

    let other = scene.input("prompt", json!("what another hook made of it"));
    assert!(untouched(&other.run()).contains("another PreToolUse hook"));
    assert_eq!(outcome(&other), "rewrite_lost");
    let scene = other.input("prompt", prompt);

    let scene = scene.payload("tool_response", json!({"status": "async_launched", "agentId": "a"}));
    assert!(untouched(&scene.run()).contains("background"));
    assert_eq!(outcome(&scene), "async_launched");

    let scene = scene.payload("tool_response", json!("text"));
    assert!(!untouched(&scene.run()).is_empty());
    assert_eq!(outcome(&scene), "unknown_shape");
    assert_schema(&scene.record());

    let before = scene.record();
    let scene = scene.payload("session_id", json!("another-session"));
    assert!(untouched(&scene.run()).contains("no record"));
    let scene = scene
        .payload("session_id", json!(SESSION))
        .payload("tool_use_id", json!("toolu_2"));
    assert!(untouched(&scene.run()).contains("no record"));
    assert_eq!(scene.record(), before);
}

#[test]
fn a_redacted_result_is_not_sealed() {
    let scene = answering("the token is 0123456789").flags(&["--delivery", "receipt"]);
    let intercepted = scene.run();
    let result = scene.home.path().join(".local/state/subcell/cells/toolu_1.result");
    std::fs::write(&result, "the token is ****").unwrap();
    let scene = after(scene, &intercepted, "line");
    assert!(untouched(&scene.run()).contains("redacted"));
    assert_eq!(outcome(&scene), "redacted");
    std::fs::remove_file(&result).unwrap();
    assert!(!untouched(&scene.run()).is_empty());
    assert_eq!(outcome(&scene), "result_missing");
}

#[test]
fn other_events_tools_and_guards_are_silent_and_nothing_is_made() {
    let sealing = || {
        Scene::new("")
            .hook(&[env!("CARGO_BIN_EXE_subcell"), "seal"])
            .payload("hook_event_name", json!("PostToolUse"))
            .payload("tool_response", response(&json!("p"), "text"))
    };
    for scene in [
        sealing().payload("hook_event_name", json!("PreToolUse")),
        sealing().payload("tool_name", json!("Bash")),
        sealing().start_env("FULLSEND_HOOK_SPAWNED", "1"),
    ] {
        let run = scene.run();
        assert_eq!((run.code, &run.reply, run.stderr.as_str()), (Some(0), &None, ""));
    }
    let plain = sealing();
    assert!(untouched(&plain.run()).contains("no record"));
    assert!(!plain.home.path().join(".local").exists());
    for bytes in [&b""[..], b"nonsense", b"[1]", b"\xff"] {
        let run = sealing().run_on(bytes);
        assert!(untouched(&run).contains("stays as it is"), "{run:?}");
    }
}

#[test]
fn a_record_in_the_output_folder_is_found_there() {
    let output = tempfile::tempdir().unwrap();
    let scene = answering("VERDICT")
        .start_env("FULLSEND_OUTPUT_DIR", output.path().to_str().unwrap())
        .flags(&["--delivery", "receipt"]);
    let intercepted = scene.run();
    let scene = after(scene, &intercepted, "line");
    assert_eq!(sealed(&scene.run()), "VERDICT");
    let cells = output.path().join(".subcell/cells");
    assert_eq!(Scene::records_in(&cells)["toolu_1"]["delivery"]["outcome"], "sealed");

    let shown = show(&["toolu_1", "--dir", output.path().to_str().unwrap()]);
    assert_eq!(shown.0, Some(0));
    assert!(
        shown.1.ends_with("\nVERDICT\n") && shown.1.contains("receipt; the exact text was put in"),
        "{}",
        shown.1
    );
}

#[test]
fn a_record_is_found_in_either_folder_that_the_user_has() {
    let output = tempfile::tempdir().unwrap();
    let named = output.path().to_str().unwrap();
    let before = answering("VERDICT").flags(&["--delivery", "receipt"]);
    let intercepted = before.run();
    let later = after(before, &intercepted, "line").start_env("FULLSEND_OUTPUT_DIR", named);
    assert_eq!(sealed(&later.run()), "VERDICT");
    assert_eq!(outcome(&later), "sealed");
    assert_eq!(std::fs::read_dir(output.path()).unwrap().count(), 0);
}

#[test]
fn a_result_whose_record_cannot_be_kept_is_echoed_and_no_receipt_is_given() {
    let scene = answering("VERDICT 4/5");
    let go = scene.home.path().join("go");
    rustix::fs::mkfifoat(rustix::fs::CWD, &go, rustix::fs::Mode::RWXU).unwrap();
    let orders = format!(
        "prints=file from={} wait={}",
        scene.home.path().join("output.json").display(),
        go.display()
    );
    let scene = scene.start_env("STANDIN", &orders).flags(&["--delivery", "receipt"]);
    let running = scene.start();
    crate::hook::wait_until(|| {
        let record = scene.records().remove("toolu_1");
        record.filter(|record| record["keeper_process"].is_object())
    });
    let record = scene.home.path().join(".local/state/subcell/cells/toolu_1.json");
    std::fs::write(&record, "{}").unwrap();
    std::fs::write(&go, "go").unwrap();
    let run = running.wait();
    assert_eq!(run.echoed(), "VERDICT 4/5");
    assert!(run.message().contains("the record is incomplete"), "{run:?}");
}

#[test]
fn auto_takes_the_receipt_where_seal_stands_alone_in_the_settings() {
    let seal = r#"{"matcher": "Agent|Task", "hooks": [{"type": "command", "command": "subcell", "args": ["seal"]}]}"#;
    let other = r#"{"matcher": "*", "hooks": [{"type": "command", "command": "python3 /hooks/redact.py"}]}"#;
    for (user, project, mode) in [
        (None, None, "echo"),
        (Some(seal.to_owned()), None, "receipt"),
        (None, Some(seal.to_owned()), "receipt"),
        (Some(format!("{seal}, {other}")), None, "echo"),
        (Some(seal.to_owned()), Some(other.to_owned()), "echo"),
    ] {
        let scene = answering("VERDICT");
        for (path, entries) in [
            (".claude/settings.json", &user),
            ("project/.claude/settings.json", &project),
        ] {
            if let Some(entries) = entries {
                scene.file(path, &format!("{{\"hooks\": {{\"PostToolUse\": [{entries}]}}}}"));
            }
        }
        scene.run().updated();
        let delivery = &scene.record()["delivery"];
        assert_eq!(delivery["mode"], mode, "{user:?} {project:?}");
        let has_other = [&user, &project]
            .into_iter()
            .flatten()
            .any(|entries| entries.contains("redact"));
        let rivals = if has_other {
            json!(["python3 redact.py"])
        } else {
            json!([])
        };
        assert_eq!(delivery["rivals"], rivals);
    }
}

#[test]
fn a_denial_carries_the_result() {
    let scene = answering("VERDICT 4/5").flags(&["--delivery", "deny"]);
    let run = scene.run();
    assert!(run.denied().starts_with("[subcell] No error: ") && run.denied().ends_with("\n\nVERDICT 4/5"));
    assert_eq!(scene.record()["delivery"]["mode"], "deny");
}

/// Exit code and both outputs of `subcell show`.
fn show(args: &[&str]) -> (Option<i32>, String, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_subcell"))
        .arg("show")
        .args(args)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_record_that_cannot_be_read_does_not_drive_the_terminal_either() {
    let dir = tempfile::tempdir().unwrap();
    let forged = json!({"format": 1, "cell": "\u{1b}[2J\u{202e}"});
    let cells = dir.path().join("cells");
    std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700)
        .create(&cells)
        .unwrap();
    std::fs::write(cells.join("toolu_1.json"), forged.to_string()).unwrap();
    let (code, out, err) = show(&["toolu_1", "--dir", dir.path().to_str().unwrap()]);
    assert_eq!((code, out.as_str()), (Some(66), ""));
    let is_harmless = !err.contains(['\u{1b}', '\u{202e}']);
    assert!(
        err.contains("toolu_1.json is no record") && err.contains("[2J") && is_harmless,
        "{err:?}"
    );
}

#[test]
fn what_is_not_there_cannot_be_shown() {
    let empty = tempfile::tempdir().unwrap();
    let (code, out, err) = show(&["toolu_1", "--dir", empty.path().to_str().unwrap()]);
    assert_eq!((code, out.as_str()), (Some(66), ""));
    assert!(err.contains("toolu_1") && err.contains("--dir"), "{err}");
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
    assert!(!Path::new(empty.path()).join(".subcell").exists());
}
