//! `subcell trace` as a process: what it finds, and what it prints.

use std::process::Output;

use serde_json::{Value, json};

use crate::emit_scene::{PARENT, Scene, TRACE, record};

fn trace(scene: &Scene, args: &[&str]) -> Output {
    let all: Vec<&str> = std::iter::once("trace").chain(args.iter().copied()).collect();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_subcell"));
    scene.command(program, &all).output().unwrap()
}

fn stdout(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A fullsend run of one iteration with a completed and a lost cell, and the file of its spans.
fn fullsend_run() -> Scene {
    let scene = Scene::new();
    let folder = "run/iteration-1/output/.subcell/cells";
    scene.put(folder, &record(0));
    let mut lost = record(1);
    lost["state"] = json!({"kind": "running"});
    scene.put(folder, &lost);
    let span = json!({
        "traceId": TRACE, "spanId": PARENT, "name": "agent", "kind": 1,
        "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000020000000000",
        "attributes": [
            {"key": "gen_ai.agent.name", "value": {"stringValue": "tri\u{1b}[31mage"}},
            {"key": "fullsend.cost_usd", "value": {"doubleValue": 0.5}},
        ],
    });
    let line = json!({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [span]}]}]});
    std::fs::write(scene.path("run/run-telemetry.jsonl"), format!("{line}\nnot json\n")).unwrap();
    scene
}

#[test]
fn a_fullsend_run_is_drawn_with_its_cells_under_the_agent() {
    let scene = fullsend_run();
    let output = trace(&scene, &["run"]);
    let drawn = stdout(&output);
    let lines: Vec<&str> = drawn.lines().collect();
    assert!(
        lines[0].starts_with(&format!("trace {TRACE} · from 2023-11-14T22:13:20Z · 20.0 s")),
        "{drawn}"
    );
    assert!(lines[1].starts_with("agent tri␛[31mage "), "{drawn}");
    assert!(lines[2].starts_with("├ cell judge "), "{drawn}");
    assert!(lines[2].ends_with(" $0.0125"), "{drawn}");
    assert!(
        drawn.contains(" 1 in, 20 out, 300 from the cache, 4000 to the"),
        "{drawn}"
    );
    assert!(
        drawn.contains("└ cell judge ") && drawn.contains("FAILED its processes are gone"),
        "{drawn}"
    );
    assert!(drawn.contains("\ncells 2 (1 failed) · "), "{drawn}");
    assert!(
        drawn.contains("\ntotal 1 in, 20 out, 300 from the cache, 4000 to the cache · at least $0.5125"),
        "{drawn}"
    );
    assert!(!drawn.contains('\u{1b}'), "a pipe gets no colours");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("run-telemetry.jsonl, line 2"), "{told}");
}

#[test]
fn json_is_one_traces_data_with_fullsends_spans_and_ours() {
    let scene = fullsend_run();
    let text = stdout(&trace(&scene, &["run", "--json"]));
    assert!(!text.contains('\u{1b}'));
    let data: Value = serde_json::from_str(&text).unwrap();
    let resources = data["resourceSpans"].as_array().unwrap();
    assert_eq!(resources.len(), 2);
    let spans = resources[1]["scopeSpans"][0]["spans"].as_array().unwrap();
    let cells: Vec<_> = spans.iter().filter(|span| span["name"] == "spawned_agent").collect();
    assert_eq!(cells.len(), 2);
    for cell in &cells {
        assert_eq!(
            (&cell["traceId"], &cell["parentSpanId"]),
            (&json!(TRACE), &json!(PARENT))
        );
    }
    assert_eq!(cells[0].get("status"), None);
    assert_eq!(cells[1]["status"]["code"], 2);
    // Independent of our writer: the types of the protocol's own crate, which read these rules.
    #[cfg(feature = "telemetry")]
    serde_json::from_str::<opentelemetry_proto::tonic::trace::v1::TracesData>(&text).unwrap();
}

#[test]
fn what_is_not_there_is_named_and_nothing_is_made() {
    let scene = Scene::new();
    for (args, told) in [
        (&["nobody"][..], "\"nobody\" is neither a folder nor the id"),
        (&[][..], "there is no record of a cell"),
        (&["."][..], ". holds no record of a cell"),
    ] {
        let output = trace(&scene, args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(66), "{stderr}");
        assert!(stderr.contains(told), "{stderr}");
        assert!(output.stdout.is_empty());
    }
    assert_eq!(std::fs::read_dir(scene.dir.path()).unwrap().count(), 0);
}

#[test]
fn colours_and_widths_are_as_wanted() {
    let mut scene = fullsend_run();
    assert!(stdout(&trace(&scene, &["run", "--color", "always"])).contains("\u{1b}["));
    scene.set("COLUMNS", "50");
    let narrow = stdout(&trace(&scene, &["run", "--phases"]));
    assert!(narrow.lines().all(|line| line.chars().count() <= 50), "{narrow}");
    assert!(narrow.contains("├ plan") && narrow.contains("└ run"), "{narrow}");
}
