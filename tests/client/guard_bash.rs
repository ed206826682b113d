//! The guard on shell commands, on the real client.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::on_both_versions;
use crate::run::{Run, text_of};
use crate::scene::{PARENT, Scene, call};

on_both_versions!(
    a_subagent_is_told_what_it_may_not_do_and_reads_why,
    a_cell_is_held_like_a_subagent_and_the_main_session_is_not,
);

const SUBCELL: &str = env!("CARGO_BIN_EXE_subcell");

/// What neither a subagent nor a cell may do, with a word of the reason that it must read. 2.1.332 itself refuses a long
/// `sleep`, before any hook; the server is what it lets pass.
const REFUSED: [(&str, &str); 4] = [
    ("sleep 300 &", "background."),
    ("python3 -m http.server --bind 127.0.0.1 8123 &", "background."),
    ("claude -p 'go on'", "agents."),
    ("r\\m -rf \"$HOME\"", "destroy."),
];
/// The same words as a text.
const FINE: &str = "git -c user.name=t -c user.email=t@localhost commit --quiet --allow-empty \
                    -m 'never run rm -rf ~, claude -p, or sleep 300 &' && echo COMMITTED";

fn guarded(version: &'static str) -> Scene {
    let hook = json!({"type": "command", "command": SUBCELL, "args": ["guard", "bash"], "timeout": 30, "onFailure": "block"});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
    Scene::new(version).git().settings(settings)
}

/// Rules by which whoever is asked `task` runs these commands, one after the other, and says what each came to.
fn running(scene: Scene, role: &str, task: &str, commands: &[&str]) -> Scene {
    let shell = |command: &&str| json!([{"tool_use": {"name": "Bash", "input": {"command": command, "description": "Work"}}}]);
    let scene = commands.iter().zip(1..).fold(scene, |scene, (command, nth)| {
        scene.rule(
            json!({"role": role, "prompt_contains": task, "nth": nth}),
            shell(command),
        )
    });
    scene.rule(
        json!({"role": role, "prompt_contains": task}),
        json!([{"text": "REPORT"}]),
    )
}

/// Each command that the sessions `of` ran, with what they were told of it.
fn told<'a>(run: &'a Run, of: impl Fn(&Value) -> bool + 'a) -> Vec<(String, String)> {
    let requests = run.requests.iter().filter(|request| of(request));
    let Some(last) = requests.max_by_key(|request| request["request"]["messages"].as_array().map_or(0, Vec::len))
    else {
        return Vec::new();
    };
    let messages = last["request"]["messages"].as_array().into_iter().flatten();
    let blocks: Vec<&Value> = messages
        .flat_map(|message| message["content"].as_array().into_iter().flatten())
        .collect();
    let result = |id: &Value| {
        let mut results = blocks.iter().filter(|block| block["tool_use_id"] == *id);
        results
            .next()
            .map(|block| text_of(&block["content"]))
            .unwrap_or_default()
    };
    let calls = blocks
        .iter()
        .filter(|block| block["type"] == "tool_use" && block["name"] == "Bash");
    calls
        .map(|call| {
            (
                call["input"]["command"].as_str().unwrap().to_owned(),
                result(&call["id"]),
            )
        })
        .collect()
}

fn assert_refused_and_read(told: &[(String, String)], run: &Run) {
    for (command, rule) in REFUSED {
        let (_, answer) = told
            .iter()
            .find(|(ran, _)| ran == command)
            .unwrap_or_else(|| panic!("{command}: {run:?}"));
        let by_client = command.starts_with("sleep") && answer.contains("Blocked: standalone sleep");
        assert!(answer.contains(rule) || by_client, "{command}: {answer}");
    }
    let (_, answer) = told.iter().find(|(ran, _)| ran == FINE).unwrap();
    assert!(answer.contains("COMMITTED"), "{answer}");
}

fn commits(run: &Run) -> String {
    let mut git = Command::new("git");
    git.args(["log", "--format=%s"]).current_dir(run.path("work"));
    String::from_utf8(git.output().unwrap().stdout).unwrap()
}

fn a_subagent_is_told_what_it_may_not_do_and_reads_why(version: &'static str) {
    let commands: Vec<&str> = REFUSED.iter().map(|(command, _)| *command).chain([FINE]).collect();
    let scene = guarded(version)
        .file("home/kept", "")
        .parent_calls(&[call("WORK-TASK")]);
    let run = running(scene, "subagent", "WORK-TASK", &commands).run();
    run.assert_ended_well();
    assert!(run.text().contains("REPORT"), "{run:?}");
    assert_refused_and_read(&told(&run, |request| !request["agent"].is_null()), &run);
    assert!(fs::exists(run.path("home/kept")).unwrap(), "{run:?}");
    assert_eq!(commits(&run).lines().count(), 2, "{run:?}");
}

fn a_cell_is_held_like_a_subagent_and_the_main_session_is_not(version: &'static str) {
    let commands: Vec<&str> = REFUSED.iter().map(|(command, _)| *command).chain([FINE]).collect();
    let echo = json!({"role": "subagent", "prompt_contains": "\nBEGIN-"});
    let scene = guarded(version)
        .isolated()
        .file("home/kept", "")
        .rule(echo, json!([{"echo": {}}]));
    // The parent asks an agent's version, and starts one that is not there: its own commands are a person's matter.
    let shell =
        |command: &str| json!([{"tool_use": {"name": "Bash", "input": {"command": command, "description": "Work"}}}]);
    let scene = scene
        .rule(
            json!({"role": "main", "prompt_contains": PARENT, "nth": 1}),
            shell("no-such-dir/claude -p x; echo TRIED"),
        )
        .rule(
            json!({"prompt_contains": PARENT, "last_contains": "TRIED"}),
            json!([{"tool_use": {"name": "Agent", "input": call("WORK-TASK")}}]),
        )
        .rule(
            json!({"prompt_contains": PARENT}),
            json!([{"text": "PARENT-DONE\n{{tool_result}}"}]),
        );
    let run = running(scene, "main", "WORK-TASK", &commands).run();
    run.assert_ended_well();
    assert!(run.text().contains("REPORT"), "{run:?}");
    let parent = run.parent().to_owned();
    assert_refused_and_read(&told(&run, |request| request["session"] != parent.as_str()), &run);
    assert!(fs::exists(run.path("home/kept")).unwrap(), "{run:?}");
}
