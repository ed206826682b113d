//! `subcell emit` over the records of whole runs: hundreds, lost ones, fullsend's layout and its post script.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::collector::Collector;
use crate::emit_scene::{Scene, TRACE, cell_span, code, record, stderr, stdout};
use crate::wire::{self, Any};

#[test]
fn five_hundred_large_records_go_in_little_memory_and_none_is_lost() {
    let mut collector = Collector::start(&[]);
    let mut scene = Scene::new();
    scene.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    for n in 0..500 {
        let mut record = record(n);
        record["notes"] = json!(["x".repeat(200 * 1024)]);
        scene.put("state/cells", &record);
    }
    // 100 MB of records, in an address space of 96 MB.
    let script = format!(
        "ulimit -v 98304; exec {} emit {} --strict",
        env!("CARGO_BIN_EXE_subcell"),
        scene.path("state").display()
    );
    let output = scene.command(Path::new("/bin/sh"), &["-c", &script]).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let ids: std::collections::BTreeSet<String> = collector
        .requests()
        .iter()
        .flat_map(|request| wire::spans(&request.body))
        .filter(|span| span.name == "spawned_agent")
        .map(|span| span.span_id)
        .collect();
    assert_eq!(ids.len(), 500);
    assert!((0..500).all(|n| scene.export("state/cells", n) == "sent"));
    let output = scene.emit_state(&["--strict"]);
    assert!(stdout(&output).contains("500 sent before"), "{}", stdout(&output));
}

#[test]
fn lost_and_failed_cells_are_errors_and_a_broken_record_is_told() {
    let mut collector = Collector::start(&[]);
    let mut scene = Scene::new();
    scene.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    let mut lost = record(0);
    lost["state"] = json!({"kind": "running"});
    // The highest pid there can be, of another boot: the machine was lost.
    lost["hook_process"] = json!({"pid": 4_194_303, "start_ticks": 1, "boot_id": "another"});
    let mut failed = record(1);
    failed["state"]["ending"] = json!({"kind": "timed_out", "limit_ms": 300_000});
    scene.put("state/cells", &lost);
    scene.put("state/cells", &failed);
    std::fs::write(scene.path("state/cells/toolu_broken.json"), "{\"format\": 1").unwrap();
    let output = scene.emit_state(&[]);
    assert_eq!(code(&output), 0);
    assert!(stderr(&output).contains("toolu_broken.json"), "{}", stderr(&output));
    let spans = wire::spans(&collector.next().body);
    let found: Vec<_> = spans
        .iter()
        .filter(|span| span.name == "spawned_agent")
        .map(|span| (span.status.0, span.attributes["error.type"].clone()))
        .collect();
    assert_eq!(
        found,
        [(2, Any::Text("lost".into())), (2, Any::Text("timed_out".into()))]
    );
    assert!(spans[0].status.1.contains("nobody recorded"));
    assert_eq!(code(&scene.emit_state(&["--strict"])), 1);
}

#[test]
fn prompts_and_results_are_sent_only_when_asked_for() {
    for (args, asked) in [(&["--strict"][..], false), (&["--strict", "--content"], true)] {
        let mut collector = Collector::start(&[]);
        let mut scene = Scene::new();
        scene.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
        let mut record = record(0);
        record["state"]["result"] = json!({"file": "toolu_0000.result", "bytes": 7, "sha256": "x", "utf8": true});
        scene.put("state/cells", &record);
        let key = format!("sk-ant-api03-{}", "A1b2C3d4".repeat(12));
        std::fs::write(scene.path("state/cells/toolu_0000.result"), format!("VERDICT {key}")).unwrap();
        let transcript = scene.path(".claude/projects/p/child-0.jsonl");
        std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        let line = json!({"type": "user", "message": {"role": "user", "content": "EVALUATE-X"}});
        std::fs::write(transcript, format!("{line}\n")).unwrap();
        let output = scene.emit_state(args);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let body = collector.next().body;
        let text = String::from_utf8_lossy(&body);
        assert_eq!((text.contains("VERDICT"), text.contains("EVALUATE-X")), (asked, asked));
        assert!(!text.contains(&key));
        if asked {
            let spans = wire::spans(&body);
            let Any::Text(messages) = &cell_span(&spans).attributes["gen_ai.input.messages"] else {
                panic!()
            };
            let messages: Value = serde_json::from_str(messages).unwrap();
            assert_eq!(
                messages,
                json!([{"role": "user", "parts": [{"type": "text", "content": "EVALUATE-X"}]}])
            );
        }
    }
}

/// A fullsend run of two iterations below `out/agent-x`: the first one's record reappears in the second.
fn fullsend_run(scene: &Scene) -> PathBuf {
    let mut first = record(0);
    first["trace"]["parent_span_id"] = Value::Null;
    let mut second = record(1);
    second["trace"]["parent_span_id"] = Value::Null;
    scene.put("out/agent-x/iteration-1/output/.subcell/cells", &first);
    scene.put("out/agent-x/iteration-2/output/.subcell/cells", &first);
    scene.put("out/agent-x/iteration-2/output/.subcell/cells", &second);
    scene.path("out/agent-x")
}

fn post_script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/post-emit-cost")
}

/// As fullsend runs a post script: in the run's folder, its span as TRACEPARENT, stdin closed, no arguments.
fn post(scene: &Scene, run: &Path, validated: &str) -> Output {
    scene
        .command(&post_script(), &[])
        .current_dir(run)
        .env("TRACEPARENT", "00-11111111111111111111111111111111-2222222222222222-01")
        .env("REPO_DIR", "/repo")
        .env("FULLSEND_VALIDATED_ITERATION_DIR", validated)
        .env("SUBCELL_BIN", env!("CARGO_BIN_EXE_subcell"))
        .output()
        .unwrap()
}

#[test]
fn a_post_script_puts_every_iterations_cells_into_the_runs_trace_once() {
    for relative in [true, false] {
        let mut collector = Collector::start(&[]);
        let mut scene = Scene::new();
        scene.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
        let run = fullsend_run(&scene);
        let validated = if relative {
            "out/agent-x/iteration-2/output".to_owned()
        } else {
            run.join("iteration-2/output").to_str().unwrap().to_owned()
        };
        let output = post(&scene, &run, &validated);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(
            stdout(&output).starts_with("2 cells sent"),
            "{}{}",
            stdout(&output),
            stderr(&output)
        );
        let spans = wire::spans(&collector.next().body);
        let cells: Vec<_> = spans.iter().filter(|span| span.name == "spawned_agent").collect();
        for (n, cell) in cells.iter().enumerate() {
            assert_eq!(
                (cell.trace_id.as_str(), cell.parent.as_str()),
                ("1".repeat(32).as_str(), "2222222222222222")
            );
            assert_eq!(cell.span_id, format!("{:016x}", n + 1));
            assert_eq!(cell.links, [(TRACE.to_owned(), cell.span_id.clone())]);
        }
        assert_eq!(cells.len(), 2);
        for (folder, n) in [("iteration-1", 0), ("iteration-2", 0), ("iteration-2", 1)] {
            let folder = format!("out/agent-x/{folder}/output/.subcell/cells");
            assert_eq!(scene.export(&folder, n), "sent", "{folder} {n}");
        }
        let output = post(&scene, &run, &validated);
        assert!(stdout(&output).contains("2 sent before"), "{}", stdout(&output));
        assert!(collector.requests().is_empty());
    }
}

#[test]
fn a_post_script_fails_no_run_unless_it_is_strict() {
    let mut scene = Scene::new();
    scene.set("OTEL_EXPORTER_OTLP_ENDPOINT", "nonsense");
    let run = fullsend_run(&scene);
    assert_eq!(code(&post(&scene, &run, "")), 0);
    scene.set("SUBCELL_EMIT_STRICT", "1");
    assert_eq!(code(&post(&scene, &run, "")), 1);
    // Without the program nothing can be sent.
    let bare = |program: &str, strict: &str| {
        let mut command = scene.command(&post_script(), &[]);
        let output = command
            .current_dir(&run)
            .env("SUBCELL_BIN", program)
            .env("SUBCELL_EMIT_STRICT", strict)
            .output();
        output.unwrap()
    };
    let missing = "/nonexistent";
    assert_eq!((code(&bare(missing, "")), code(&bare(missing, "1"))), (0, 1));
    assert!(stderr(&bare(missing, "")).contains(missing));
    // What is there may be no program, or end with any code.
    for program in ["/bin", "/bin/false"] {
        assert_eq!(code(&bare(program, "")), 0, "{program}");
        assert_ne!(code(&bare(program, "1")), 0, "{program}");
        assert!(
            stderr(&bare(program, "")).contains("spans may not be sent"),
            "{program}"
        );
    }
}

#[test]
fn an_unsampled_trace_is_not_sent() {
    let mut collector = Collector::start(&[]);
    let scene = Scene::with_cell(&collector.url());
    let mut unsampled = record(0);
    unsampled["trace"]["sampled"] = json!(false);
    scene.put("state/cells", &unsampled);
    let output = scene.emit_state(&["--strict"]);
    assert!(
        code(&output) == 0 && stdout(&output).contains("1 of a trace that is not sampled"),
        "{}",
        stdout(&output)
    );
    assert!(collector.requests().is_empty());
}

#[test]
fn a_post_script_finds_the_program_that_the_harness_uploads() {
    let mut collector = Collector::start(&[]);
    let mut scene = Scene::new();
    scene.set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url());
    let run = fullsend_run(&scene);
    for folder in ["fullsend/scripts", "fullsend/bin"] {
        std::fs::create_dir_all(scene.path(folder)).unwrap();
    }
    let script = scene.path("fullsend/scripts/post-emit-cost");
    std::fs::copy(post_script(), &script).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_subcell"), scene.path("fullsend/bin/subcell")).unwrap();
    let shell = scene
        .command(Path::new("/bin/sh"), &[script.to_str().unwrap()])
        .current_dir(&run)
        .output();
    let output = shell.unwrap();
    assert!(stdout(&output).starts_with("2 cells sent"), "{}", stderr(&output));
    // Without a TRACEPARENT of its own the spans are roots in the traces that the children were given.
    let spans = wire::spans(&collector.next().body);
    let cell = cell_span(&spans);
    assert_eq!((cell.trace_id.as_str(), cell.parent.as_str()), (TRACE, ""));
    assert!(cell.links.is_empty());
}
