//! `subcell guard background` as a client calls it.

use serde_json::{Value, json};

use crate::hook::Scene;

const SUBCELL: &str = env!("CARGO_BIN_EXE_subcell");

fn guard(flags: &[&str]) -> Scene {
    let words: Vec<&str> = [SUBCELL, "guard", "background"].iter().chain(flags).copied().collect();
    Scene::new("").hook(&words)
}

fn user_config(scene: &Scene, text: &str) {
    scene.file(".config/subcell/subcell.toml", text);
}

fn is_silent(scene: &Scene) {
    let run = scene.run();
    assert_eq!((run.code, &run.reply, run.stderr.as_str()), (Some(0), &None, ""));
}

#[test]
fn the_flag_decides() {
    assert!(guard(&[]).run().denied().contains("\"run_in_background\": false"));
    assert!(
        guard(&[])
            .input("run_in_background", json!(true))
            .run()
            .denied()
            .contains("Why:")
    );
    is_silent(&guard(&[]).input("run_in_background", json!(false)));
    is_silent(&guard(&[]).payload("tool_name", json!("Bash")));
    let remote = guard(&[])
        .input("run_in_background", json!(false))
        .input("isolation", json!("remote"));
    assert!(remote.run().denied().contains("remote"));
}

#[test]
fn rewriting_hands_the_whole_input_back() {
    let run = guard(&["--mode", "rewrite"]).input("model", json!("haiku")).run();
    let expected = json!({"description": "judge", "prompt": "EVALUATE-X", "subagent_type": "general-purpose",
        "model": "haiku", "run_in_background": false});
    assert_eq!(run.updated(), &expected);
    assert!(run.decision().get("permissionDecision").is_none());
    let remote = guard(&["--mode", "rewrite"]).input("isolation", json!("remote"));
    assert!(remote.run().denied().contains("remote"));
}

#[test]
fn where_the_client_drops_the_flag_a_call_is_denied_and_not_rewritten() {
    for flags in [&[][..], &["--mode", "rewrite"]] {
        let run = guard(flags).start_env("CLAUDE_CODE_FORK_SUBAGENT", "1").run();
        assert!(run.denied().contains("CLAUDE_CODE_FORK_SUBAGENT"), "{run:?}");
    }
}

#[test]
fn beside_intercept_only_remote_is_denied() {
    is_silent(&guard(&["--beside-intercept"]));
    is_silent(&guard(&["--beside-intercept"]).input("run_in_background", json!(true)));
    let remote = guard(&["--beside-intercept"]).input("isolation", json!("remote"));
    assert!(remote.run().denied().contains("remote"));
}

#[test]
fn the_users_configuration_stands_in_for_flags_and_a_projects_does_not() {
    let scene = guard(&[]);
    user_config(&scene, "[guard.background]\nmode = \"rewrite\"\n");
    assert_eq!(scene.run().updated()["run_in_background"], Value::Bool(false));
    let flagged = guard(&["--mode", "deny"]);
    user_config(&flagged, "[guard.background]\nmode = \"rewrite\"\n");
    flagged.run().denied();
    let project = guard(&[]);
    project.file("project/.subcell.toml", "[guard.background]\nbeside_intercept = true\n");
    project.run().denied();
    // A repository can move the user's folders for a hook of 2.1.156.
    let moved = guard(&[]);
    let evil = moved.project().join("config");
    moved.file(
        "project/config/subcell/subcell.toml",
        "[guard.background]\nbeside_intercept = true\n",
    );
    moved.hook_env("XDG_CONFIG_HOME", evil.to_str()).run().denied();
}

#[test]
fn a_configuration_that_cannot_be_used_denies_and_says_so() {
    let scene = guard(&[]);
    user_config(&scene, "[guard.background]\nmode = \"off\"\n");
    let run = scene.run();
    run.denied();
    assert!(run.message().contains("subcell.toml:2"), "{}", run.message());
}

#[test]
fn malformed_input_says_nothing_on_stdout() {
    for bytes in [&b""[..], b"{", b"[]", b"\xff"] {
        let run = guard(&[]).run_on(bytes);
        assert_eq!((run.code, &run.reply), (Some(0), &None));
        assert!(run.stderr.starts_with("subcell guard background: ") && run.stderr.lines().count() == 1);
    }
}

#[test]
fn a_wrong_command_line_is_64_and_blocks_nobody() {
    for flags in [
        &["--mode", "off"][..],
        &["--nope"],
        &["--mode", "rewrite", "--beside-intercept"],
    ] {
        let run = guard(flags).run();
        assert_eq!((run.code, &run.reply), (Some(64), &None), "{flags:?}");
    }
}

#[test]
fn the_shipped_entries_name_guards_that_there_are() {
    let shipped = [
        include_str!("../../config/guard-background.json"),
        include_str!("../../config/guard-liveness.json"),
    ];
    let mut seen = Vec::new();
    for text in shipped {
        let settings: Value = serde_json::from_str(text).unwrap();
        for (event, groups) in settings["hooks"].as_object().unwrap() {
            let hook = &groups[0]["hooks"][0];
            let args: Vec<&str> = hook["args"]
                .as_array()
                .unwrap()
                .iter()
                .map(|arg| arg.as_str().unwrap())
                .collect();
            assert_eq!((&hook["command"], &hook["timeout"]), (&json!("subcell"), &json!(30)));
            let run = Scene::new("")
                .hook(&[&[SUBCELL][..], &args].concat())
                .payload("hook_event_name", json!(event))
                .run();
            assert_eq!(run.code, Some(0), "{run:?}");
            seen.push((
                event.clone(),
                groups[0]["matcher"].clone(),
                hook["onFailure"].clone(),
                args[1].to_owned(),
            ));
        }
    }
    let entry =
        |event: &str, matcher, on_failure, guard: &str| (event.to_owned(), matcher, on_failure, guard.to_owned());
    let expected = [
        entry("PreToolUse", json!("Agent|Task"), json!("block"), "background"),
        entry("SubagentStop", Value::Null, Value::Null, "liveness"),
        entry("Stop", Value::Null, Value::Null, "liveness"),
    ];
    assert_eq!(seen, expected);
}
