//! The hook as a client calls it: what passes, what is believed, what is recorded.

use serde_json::{Value, json};

use crate::hook::{SESSION, Scene};

/// A cell that has already been, as a guard value.
const OUR_GUARD: &str = "cell-0190f3a0-0000-7000-8000-000000000000";

fn isolated(scene: &Scene) {
    let run = scene.run();
    run.updated();
    assert_eq!(scene.record()["state"]["kind"], "ended");
}

fn silent(scene: &Scene) {
    let run = scene.run();
    assert_eq!((run.code, &run.reply, run.stderr.as_str()), (Some(0), &None, ""));
    assert!(scene.records().is_empty());
}

fn passed(scene: &Scene, kind: &str) {
    let run = scene.run();
    assert_eq!(run.code, Some(0));
    assert_eq!(run.reply.as_ref().unwrap().get("hookSpecificOutput"), None, "{run:?}");
    assert!(run.message().contains("built-in subagent runs"), "{}", run.message());
    let record = scene.record();
    assert_eq!(record["state"]["kind"], "passed_through");
    assert_eq!(record["state"]["reason"]["kind"], kind);
}

#[test]
fn another_tool_and_a_foreign_guard_are_silent() {
    silent(&Scene::new("").payload("tool_name", json!("Bash")));
    silent(&Scene::new("").start_env("FULLSEND_HOOK_SPAWNED", "1"));
    isolated(&Scene::new("").payload("tool_name", json!("Task")));
}

#[test]
fn an_old_style_task_call_gives_the_same_answer_and_record() {
    let (new, old) = (Scene::new(""), Scene::new("").payload("tool_name", json!("Task")));
    let (new_run, old_run) = (new.run(), old.run());
    assert_eq!(new_run.echoed(), old_run.echoed());
    let shape = |scene: &Scene| {
        let record = scene.record();
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        (
            names(&record),
            names(&record["state"]),
            record["agent_type"].clone(),
            record["asked"]["model"].clone(),
        )
    };
    assert_eq!(shape(&new), shape(&old));
}

#[test]
fn a_call_that_left_the_flag_out_is_made_a_foreground_one() {
    for given in [Value::Null, json!(true), json!("false")] {
        let run = Scene::new("").input("run_in_background", given).run();
        assert_eq!(run.updated()["run_in_background"], false);
    }
}

#[test]
fn the_caller_inside_the_parents_process_is_named() {
    let scene = Scene::new("")
        .payload("agent_id", json!("a3e672b49ea3496a9"))
        .payload("agent_type", json!("Explore"));
    scene.run().updated();
    assert_eq!(scene.record()["caller_agent"], "a3e672b49ea3496a9");
}

#[test]
fn our_guard_passes_at_the_deepest_level_and_not_above_it() {
    let nested = || {
        Scene::new("")
            .start_env("FULLSEND_HOOK_SPAWNED", OUR_GUARD)
            .start_env("SUBCELL_DEPTH", "1")
    };
    passed(&nested(), "max_depth");
    let deeper = nested().flags(&["--max-depth", "2"]);
    isolated(&deeper);
    assert_eq!(deeper.record()["depth"], 2);
}

#[test]
fn calls_that_cannot_be_cells_pass_with_a_record() {
    passed(&Scene::new("").input("prompt", json!("  ")), "empty_prompt");
    passed(&Scene::new("").input("subagent_type", json!("fork")), "fork");
    passed(&Scene::new("").input("prompt", json!(["x"])), "malformed");
    passed(
        &Scene::new("").flags(&["--require-sandbox", "/nowhere/sandbox"]),
        "no_sandbox",
    );
    let denied = Scene::new("")
        .input("subagent_type", json!("fork"))
        .flags(&["--on-pass", "deny"]);
    assert!(denied.run().denied().contains("on_pass"));
    assert_eq!(denied.record()["state"]["kind"], "refused");
}

#[test]
fn remote_isolation_is_denied() {
    let scene = Scene::new("").input("isolation", json!("remote"));
    assert!(scene.run().denied().contains("remote"));
    assert_eq!(scene.record()["state"]["kind"], "refused");
}

#[test]
fn input_that_is_no_event_never_breaks_the_client() {
    for bytes in [
        &b""[..],
        b"nonsense",
        b"[1]",
        b"{\"hook_event_name\":\"PreToolUse\"}",
        b"\xff\xfe",
    ] {
        let run = Scene::new("").run_on(bytes);
        assert_eq!(run.code, Some(0));
        assert!(run.message().contains("without a cell"), "{run:?}");
        assert!(run.stderr.starts_with("subcell intercept: "), "{run:?}");
        let strict = Scene::new("").flags(&["--on-pass", "deny"]).run_on(bytes);
        assert!(!strict.denied().is_empty());
    }
}

#[test]
fn input_that_is_no_event_is_refused_where_the_configuration_says_so() {
    let scene = Scene::new("");
    scene.file(".config/subcell/subcell.toml", "[intercept]\non_pass = \"deny\"\n");
    assert!(scene.run_on(b"nonsense").denied().contains("not a JSON object"));
    let scene = Scene::new("").start_env("SUBCELL_ON_PASS", "deny");
    assert!(scene.run_on(b"").denied().contains("not a JSON object"));
    // A repository cannot have its calls refused or let through.
    let scene = Scene::new("").hook_env("SUBCELL_ON_PASS", Some("deny"));
    assert!(scene.run_on(b"").message().contains("without a cell"));
}

#[test]
fn a_stop_signal_ends_the_wait_for_input() {
    let scene = Scene::new("");
    let running = scene.start_unfed();
    let pid = rustix::process::Pid::from_raw(running.pid()).unwrap();
    crate::inspect::wait_for_handler(pid.as_raw_pid(), rustix::process::Signal::TERM);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let run = running.wait();
    assert!(run.denied().contains("signal 15"), "{run:?}");
    assert!(scene.records().is_empty());
}

#[test]
fn a_hook_entry_with_a_misspelt_subcommand_refuses_the_call() {
    let program = env!("CARGO_BIN_EXE_subcell");
    for hook in [&[program, "interceptt"][..], &[program]] {
        let run = Scene::new("").hook(hook).run();
        assert_eq!(run.code, Some(64), "{run:?}");
        let decision = &run.reply.as_ref().unwrap()["hookSpecificOutput"];
        assert_eq!(decision["permissionDecision"], "deny", "{run:?}");
    }
}

#[test]
fn a_wrong_hook_entry_refuses_the_call_and_says_so() {
    // clap's own code would be 2, which has a meaning of its own for a client.
    for flags in [
        &["--no-such-flag"][..],
        &["--timeout", "soon"],
        &["--delivery", "pigeon"],
    ] {
        let run = Scene::new("").flags(flags).run();
        assert_eq!(run.code, Some(64), "{run:?}");
        let decision = &run.reply.as_ref().unwrap()["hookSpecificOutput"];
        assert_eq!(decision["permissionDecision"], "deny");
        assert!(
            decision["permissionDecisionReason"]
                .as_str()
                .unwrap()
                .contains(flags[0]),
            "{run:?}"
        );
        assert!(run.stderr.contains("error:"), "{run:?}");
    }
}

#[test]
fn a_repository_can_neither_switch_it_off_nor_move_it() {
    let evil = tempfile::tempdir().unwrap();
    let evil_path = evil.path().to_str().unwrap();
    let mut scene = Scene::new("");
    let variables = [
        ("FULLSEND_HOOK_SPAWNED", "1"),
        ("SUBCELL_DEPTH", "9"),
        ("SUBCELL_MAX_DEPTH", "0"),
        ("SUBCELL_ON_FAILURE", "builtin"),
        ("CLAUDE_BIN", "/bin/true"),
        ("FULLSEND_OUTPUT_DIR", evil_path),
        ("HOME", evil_path),
        ("XDG_CONFIG_HOME", evil_path),
        ("XDG_STATE_HOME", evil_path),
        ("CLAUDE_CONFIG_DIR", evil_path),
        ("PATH", evil_path),
        ("CLAUDE_PID", "1"),
        ("LD_PRELOAD", "/nowhere/evil.so"),
        ("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ];
    for (name, value) in variables {
        scene = scene.hook_env(name, Some(value));
    }
    isolated(&scene);
    let record = scene.record();
    let ignored: Vec<&str> = record["ignored_environment"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for (name, _) in variables.iter().filter(|(name, _)| !matches!(*name, "CLAUDE_PID")) {
        assert!(ignored.contains(name), "{name} is not in {ignored:?}");
    }
    assert_eq!(record["trace"]["parent_span_id"], Value::Null);
    assert_eq!(
        std::fs::read_dir(evil.path()).unwrap().count(),
        0,
        "something was written where the repository said"
    );
}

#[test]
fn shells_between_client_and_hook_do_not_hide_the_client() {
    let command = format!(
        "{} intercept --claude {}; exit $?",
        env!("CARGO_BIN_EXE_subcell"),
        env!("CARGO_BIN_EXE_subcell-standin")
    );
    let scene = Scene::new("")
        .hook(&["sh", "-c", &command])
        .hook_env("FULLSEND_HOOK_SPAWNED", Some("1"));
    isolated(&scene);
}

#[test]
fn the_start_environment_and_the_users_settings_are_believed() {
    let output = tempfile::tempdir().unwrap();
    let scene = Scene::new("")
        .start_env("FULLSEND_OUTPUT_DIR", output.path().to_str().unwrap())
        .start_env("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    scene.run().updated();
    let records = Scene::records_in(&output.path().join(".subcell/cells"));
    let trace = &records["toolu_1"]["trace"];
    assert_eq!(trace["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(trace["parent_span_id"], "00f067aa0ba902b7");
    let costs: Value =
        serde_json::from_slice(&std::fs::read(output.path().join(".spawned-cost.json")).unwrap()).unwrap();
    assert_eq!(costs["cells"][0]["tool_use_id"], "toolu_1");

    let scene = Scene::new("");
    scene.file(".claude/settings.json", "{\"env\": {\"FULLSEND_HOOK_SPAWNED\": \"1\"}}");
    silent(&scene);
}

#[test]
fn the_record_meets_its_schema_and_the_call() {
    let schema: Value = serde_json::from_str(include_str!("../fixtures/record.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let scenes = [
        Scene::new("family=daemon"),
        Scene::new("prints=nothing ends=exit:3"),
        Scene::new("").input("isolation", json!("remote")),
        Scene::new("").input("prompt", json!("")),
    ];
    for scene in scenes {
        scene.run();
        let record = scene.record();
        let problems: Vec<String> = schema
            .iter_errors(&record)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(problems.is_empty(), "{problems:#?}\n{record:#}");
        assert_eq!(
            (&record["parent_session"], &record["tool_use_id"]),
            (&json!(SESSION), &json!("toolu_1"))
        );
    }
}

#[test]
fn a_second_hook_of_the_same_call_joins_the_cell() {
    let scene = Scene::new("");
    let fifo = scene.home.path().join("go");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let scene = scene.start_env("STANDIN", &format!("wait={}", fifo.display()));
    let first = scene.start();
    crate::hook::wait_until(|| scene.records().contains_key("toolu_1").then_some(()));
    let second = scene.start();
    std::fs::write(&fifo, "go").unwrap();
    let (first, second) = (first.wait_beside_others(), second.wait());
    assert_eq!(first.updated(), second.updated());
    assert_eq!(scene.records().len(), 1);
}

#[test]
fn a_result_that_was_changed_is_not_handed_on_by_a_second_hook() {
    let scene = Scene::new("");
    scene.run();
    assert_eq!(scene.run().echoed(), "rr");
    scene.file(".local/state/subcell/cells/toolu_1.result", "VERDICT 5/5");
    assert!(
        scene
            .run()
            .echoed()
            .starts_with("[subcell] The isolated subagent FAILED")
    );
}

#[test]
fn what_a_model_wrote_is_cut_and_redacted_in_the_record() {
    let secret = format!("sk-ant-api03-{}", "Ab3".repeat(31));
    let scene = Scene::new("")
        .input("description", json!(format!("{}{secret}", "d".repeat(190))))
        .input("model", json!("m".repeat(5 * 1024 * 1024)));
    passed(&scene, "malformed");
    let record = scene.record();
    let description = record["description"].as_str().unwrap();
    assert!(!description.contains("sk-ant"), "{description}");
    assert_eq!(record["asked"]["model"].as_str().unwrap().len(), 200);
}

#[test]
fn a_record_of_another_session_is_not_used() {
    let scene = Scene::new("");
    scene.run();
    let before = scene.record();
    let scene = scene.payload("session_id", json!("another-session"));
    scene.run().updated();
    let records = scene.records();
    assert_eq!(records["toolu_1"], before);
    assert_eq!(records["toolu_1.another-session"]["parent_session"], "another-session");
}

#[test]
fn a_ledger_that_cannot_be_written_changes_no_result() {
    let scene = Scene::new("");
    scene.file(".local/state/subcell", "a file in the way");
    let run = scene.run();
    run.updated();
    assert!(run.message().contains("the record is incomplete"), "{}", run.message());
}

#[test]
fn thirty_hooks_at_once_lose_no_record_and_no_cent() {
    let output = tempfile::tempdir().unwrap();
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": "ok", "num_turns": 1,
        "total_cost_usd": 0.125, "modelUsage": {"m": {"inputTokens": 3, "outputTokens": 1, "costUSD": 0.125}}});
    let scenes: Vec<Scene> = (0..30)
        .map(|n| {
            let scene = Scene::new("");
            let file = scene.file("output.json", &result.to_string());
            scene
                .start_env("STANDIN", &format!("prints=file from={}", file.display()))
                .start_env("FULLSEND_OUTPUT_DIR", output.path().to_str().unwrap())
                .start_env("XDG_STATE_HOME", output.path().join("state").to_str().unwrap())
                .payload("tool_use_id", json!(format!("toolu_{n}")))
        })
        .collect();
    let running: Vec<_> = scenes.iter().map(Scene::start).collect();
    for run in running.into_iter().map(crate::hook::Running::wait) {
        assert_eq!(run.echoed(), "ok");
    }
    assert_eq!(Scene::records_in(&output.path().join(".subcell/cells")).len(), 30);
    let costs: Value =
        serde_json::from_slice(&std::fs::read(output.path().join(".spawned-cost.json")).unwrap()).unwrap();
    assert_eq!(
        (&costs["total_cost_usd"], &costs["usage"]["input_tokens"]),
        (&json!(3.75), &json!(90))
    );
    assert_eq!(costs["cells"].as_array().unwrap().len(), 30);
}

#[test]
fn the_parents_limits_bind_the_cell() {
    let scene = Scene::new("").parent_args(&[
        "--model",
        "claude-sonnet-4-5",
        "--disallowedTools",
        "Bash",
        "Agent(judge)",
    ]);
    let denied = scene.input("subagent_type", json!("judge"));
    assert!(denied.run().denied().contains("judge"));
    assert_eq!(denied.record()["state"]["kind"], "refused");

    let scene = Scene::new("");
    scene.file(
        "project/.claude/settings.json",
        "{\"permissions\": {\"deny\": [\"Task(judge)\"]}}",
    );
    assert!(
        scene
            .input("subagent_type", json!("judge"))
            .run()
            .denied()
            .contains("judge")
    );
}

#[test]
fn a_limit_of_the_session_above_binds_the_calls_of_its_cells() {
    let limited = |asked: &str| {
        let scene = Scene::new("").parent_args(&["--model", "m", "--agent", "lead"]);
        scene.file(
            ".claude/agents/lead.md",
            "---\nname: lead\ndescription: d\ntools: Agent(judge), Read\n---\nLead.\n",
        );
        scene.agent("judge");
        scene
            .input("subagent_type", json!(asked))
            .payload("agent_type", json!("lead"))
    };
    assert!(limited("general-purpose").run().denied().contains("judge"));
    let shown = limited("judge").flags(&["--dry-run"]).dry_run();
    let handed = shown
        .lines()
        .find_map(|line| line.strip_prefix("environment set: SUBCELL_AGENT_LIMITS="))
        .unwrap();

    let nested = |asked: &str| {
        Scene::new("")
            .start_env("FULLSEND_HOOK_SPAWNED", OUR_GUARD)
            .start_env("SUBCELL_AGENT_LIMITS", handed)
            .input("subagent_type", json!(asked))
    };
    assert!(
        nested("general-purpose")
            .run()
            .denied()
            .contains("Available agents: judge")
    );
    passed(&nested("judge"), "max_depth");
}

#[test]
fn a_dry_run_shows_the_child_and_starts_nothing() {
    let scene = Scene::new("")
        .start_env("ANTHROPIC_API_KEY", "sk-ant-a-very-secret-key-0123456789")
        .parent_args(&["--model", "claude-sonnet-4-5", "--add-dir", "lib", "--settings=x.json"])
        .flags(&["--dry-run"]);
    let shown = scene.dry_run();
    for line in [
        "argument: --agent=general-purpose",
        "argument: --model=claude-sonnet-4-5",
        "argument: --permission-mode=default",
        &format!("argument: --add-dir={}", scene.project().join("lib").display()),
        &format!("argument: --settings={}", scene.project().join("x.json").display()),
        "environment kept: ANTHROPIC_API_KEY",
        "run deadline: 300 s",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line:?} is not in\n{shown}");
    }
    assert!(!shown.contains("very-secret"));
    assert!(shown.contains("environment set: FULLSEND_HOOK_SPAWNED=cell-"));
    assert!(scene.records().is_empty());
}
