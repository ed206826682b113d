//! `subcell ls`, `stop` and `gc` beside hooks at work.

use std::process::{Command, Output};

use serde_json::Value;

use crate::hook::{Scene, wait_until};

fn subcell(scene: &Scene, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_subcell"));
    command.env_clear().env("HOME", scene.home.path());
    command.args(words).current_dir(scene.project()).output().unwrap()
}

fn listed(scene: &Scene, words: &[&str]) -> Vec<Value> {
    let output = subcell(scene, &[&["ls", "--json"], words].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_running_cell_is_listed_stopped_with_its_tree_and_cleaned_only_then() {
    let scene = Scene::new("wait=forever on-term=ignore family=session");
    let running = scene.start();
    wait_until(|| {
        let records = scene.records();
        let keeper = records
            .get("toolu_1")
            .map(|record| record["keeper_process"].is_object());
        keeper.filter(|known| *known)
    });
    let rows = listed(&scene, &["--running"]);
    assert_eq!(
        (rows.len(), &rows[0]["state"], &rows[0]["tool_use_id"]),
        (1, &"running".into(), &"toolu_1".into())
    );

    let kept = subcell(&scene, &["gc", "--older-than", "0", "--max-size", "0"]);
    assert!(
        stdout(&kept).contains("removed 0 records") && scene.records().len() == 1,
        "{kept:?}"
    );

    let stopped = subcell(&scene, &["stop", "toolu_1"]);
    assert_eq!(
        (stopped.status.code(), stdout(&stopped).as_str()),
        (Some(0), "toolu_1 has ended\n"),
        "{stopped:?}"
    );
    // Fails where a process of the cell is still there.
    let run = running.wait();
    assert!(run.echoed().contains("FAILED"), "{run:?}");

    let rows = listed(&scene, &[]);
    assert_eq!(rows[0]["state"], "interrupted");
    assert!(listed(&scene, &["--running"]).is_empty());
    let again = subcell(&scene, &["stop", rows[0]["cell"].as_str().unwrap()]);
    assert_eq!(
        (again.status.code(), stdout(&again).as_str()),
        (Some(0), "toolu_1 does not run: interrupted\n")
    );

    // In the same folder as `ls`, whatever process has called it.
    let shown = subcell(&scene, &["show", "toolu_1"]);
    assert!(stdout(&shown).contains("FAILED (interrupted)"), "{shown:?}");

    let would = subcell(&scene, &["gc", "--older-than", "0", "--dry-run"]);
    assert!(
        stdout(&would).contains("would remove 1 records") && scene.records().len() == 1,
        "{would:?}"
    );
    let done = subcell(&scene, &["gc", "--older-than", "0"]);
    assert!(
        stdout(&done).contains("removed 1 records") && scene.records().is_empty(),
        "{done:?}"
    );
}

#[test]
fn what_a_cell_cost_stands_in_the_table() {
    let scene = Scene::new("");
    scene.run().updated();
    let output = subcell(&scene, &["ls"]);
    let table = stdout(&output);
    let cost = scene.record()["state"]["cost_usd"].as_f64().unwrap();
    assert!(cost > 0.0);
    assert!(
        table.contains("toolu_1  completed  ") && table.contains(&format!("${cost:.4}")),
        "{table}"
    );
    assert!(
        table.ends_with(&format!("1 calls, 0 running, ${cost:.4} known to have been paid\n")),
        "{table}"
    );
}

#[test]
fn an_id_that_nobody_knows_is_told() {
    let scene = Scene::new("");
    let output = subcell(&scene, &["stop", "toolu_nobody"]);
    assert_eq!(output.status.code(), Some(66));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("subcell ls"),
        "{output:?}"
    );
    assert_eq!(listed(&scene, &[]), Vec::<Value>::new());
}
