//! `subcell replay show` on recorded runs and on files that are wrong in every way.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::replay::{RUNS, Shown, printed, recorded, replay, transcripts};

const SESSION: &str = "33333333-2222-4333-8444-555555555555";

fn close(a: &Value, b: f64) -> bool {
    (a.as_f64().unwrap() - b).abs() < 1e-9
}

/// A session's file with these lines.
fn write_session(folder: &Path, session: &str, lines: &[Value]) -> std::path::PathBuf {
    let path = folder.join(format!("{session}.jsonl"));
    let mut file = File::create(&path).unwrap();
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
    path
}

fn said(id: &str, text: &str, usage: &Value, stop: Option<&str>) -> Value {
    json!({"type": "assistant", "sessionId": SESSION, "timestamp": "2026-11-30T18:50:00.000Z",
        "message": {"id": id, "role": "assistant", "model": "claude-x", "usage": usage, "stop_reason": stop,
                    "content": [{"type": "text", "text": text}]}})
}

#[test]
fn every_entry_of_every_recorded_run_is_shown_and_the_totals_are_the_clients() {
    for run in RUNS {
        let folder = recorded(run);
        let shown = Shown::of(&[&folder], &[]);
        assert_eq!(shown.lines(), transcripts(&folder), "{run}");
        assert_eq!(shown.summary["broken"], 0, "{run}");
        // Another reading of the client's own results: one for each session that has one.
        let result: Value = serde_json::from_slice(&fs::read(folder.join("result.json")).unwrap()).unwrap();
        let mut cost = result["total_cost_usd"].as_f64().unwrap();
        let session = shown.session("session", result["session_id"].as_str().unwrap());
        assert!(close(&session["totals"]["client"]["cost_usd"], cost), "{run}");
        assert_eq!(session["totals"]["client"]["agrees"], true, "{run}");
        let mut models = result["modelUsage"].as_object().unwrap().clone();
        if let Ok(costs) = fs::read(folder.join("spawned-cost.json")) {
            let costs: Value = serde_json::from_slice(&costs).unwrap();
            cost += costs["total_cost_usd"].as_f64().unwrap();
            let usage = &costs["usage"];
            models.insert(
                costs["model"].as_str().unwrap().to_owned(),
                json!({"inputTokens": usage["input_tokens"], "outputTokens": usage["output_tokens"], "costUSD": costs["total_cost_usd"]}),
            );
        }
        assert!(close(&shown.summary["totals"]["cost_usd"], cost), "{run}");
        assert_eq!(shown.summary["totals"]["at_least"], false, "{run}");
        for (model, usage) in models {
            let ours = &shown.summary["totals"]["models"][&model];
            assert_eq!(ours["tokens"]["input"], usage["inputTokens"], "{run} {model}");
            assert_eq!(ours["tokens"]["output"], usage["outputTokens"], "{run} {model}");
            assert!(
                close(&ours["cost_usd"], usage["costUSD"].as_f64().unwrap()),
                "{run} {model}"
            );
        }
    }
}

#[test]
fn parent_cell_and_echo_are_one_tree_under_the_call() {
    let shown = Shown::of(&[&recorded("echo")], &[]);
    let kinds: Vec<(&str, u64, &str)> = shown
        .sessions
        .iter()
        .map(|view| {
            let word = |name: &str| view[name].as_str().unwrap();
            (word("what"), view["depth"].as_u64().unwrap(), word("joined_by"))
        })
        .collect();
    assert_eq!(
        kinds,
        [
            ("session", 0, "nothing"),
            ("cell", 1, "prompt"),
            ("echo", 1, "tool_use_id")
        ]
    );
    for view in &shown.sessions[1..] {
        assert_eq!(view["call"], "toolu_0000_0");
    }
    // The call comes right before what it started.
    let cell = shown.sessions[1]["index"].as_u64().unwrap();
    let first = shown.events.iter().position(|(session, _)| *session == cell).unwrap();
    assert_eq!(shown.events[first - 1].1["tool_use_id"], "toolu_0000_0");
    assert_eq!(shown.events[first - 1].1["role"], "call");
}

#[test]
fn a_subagent_of_a_subagent_is_under_its_own_call() {
    let shown = Shown::of(&[&recorded("agent-nested-with-bash")], &[]);
    let inner = shown.session("agent", "a3e672b49ea3496a9");
    assert_eq!(
        (&inner["depth"], &inner["call"]),
        (&json!(2), &json!("toolu_inner_agent"))
    );
    let outer = shown.session("agent", "ae584172ac672675c");
    assert_eq!(
        (&outer["depth"], &outer["call"]),
        (&json!(1), &json!("toolu_main_agent"))
    );
}

#[test]
fn fullsends_flattened_names_give_the_same_tree_without_the_files_beside_them() {
    for run in ["agent-nested-with-bash", "agents-parallel", "echo"] {
        let dir = tempfile::tempdir().unwrap();
        let flat = dir.path().join("iteration-1/transcripts");
        fs::create_dir_all(&flat).unwrap();
        for name in transcripts(&recorded(run)).keys() {
            let base = Path::new(name).file_name().unwrap().to_str().unwrap();
            fs::copy(recorded(run).join(name), flat.join(format!("judge-parent-{base}"))).unwrap();
        }
        let (flat, own) = (Shown::of(&[dir.path()], &[]), Shown::of(&[&recorded(run)], &[]));
        let tree = |shown: &Shown| -> Vec<Value> {
            let of = |view: &Value| {
                json!([
                    view["what"],
                    view["depth"],
                    view["session"],
                    view["agent"],
                    view["call"]
                ])
            };
            shown.sessions.iter().map(of).collect()
        };
        assert_eq!(tree(&flat), tree(&own), "{run}");
        assert_eq!(flat.summary["totals"], own.summary["totals"], "{run}");
    }
}

#[test]
fn a_fork_counts_only_what_it_did_itself() {
    let folder = recorded("fork");
    let both = Shown::of(&[&folder], &[]);
    let fork: Value = serde_json::from_slice(&fs::read(folder.join("fork.json")).unwrap()).unwrap();
    // The fork's own result holds what it copied: 2.1.332 gives the total of both sessions.
    assert!(close(
        &both.summary["totals"]["cost_usd"],
        fork["total_cost_usd"].as_f64().unwrap()
    ));
    let usage = &fork["modelUsage"]["claude-sonnet-4-5"];
    assert_eq!(both.summary["totals"]["tokens"]["input"], usage["inputTokens"]);
    assert!(both.summary["copied"].as_u64().unwrap() > 10);
    // Copied rows of a client that leaves the old session's id in them.
    let dir = tempfile::tempdir().unwrap();
    let mut copied = said(
        "m1",
        "old",
        &json!({"input_tokens": 5, "output_tokens": 7}),
        Some("end_turn"),
    );
    copied["sessionId"] = json!("44444444-2222-4333-8444-555555555555");
    let own = said(
        "m2",
        "new",
        &json!({"input_tokens": 1, "output_tokens": 2}),
        Some("end_turn"),
    );
    let path = write_session(dir.path(), SESSION, &[copied, own]);
    let shown = Shown::of(&[&path], &[]);
    assert_eq!(
        (&shown.summary["copied"], &shown.summary["totals"]["tokens"]["output"]),
        (&json!(1), &json!(2))
    );
}

#[test]
fn usage_that_repeats_counts_once_and_partial_counts_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<Value> = [(1, None), (1, None), (512, Some("end_turn"))]
        .map(|(output, stop)| said("m1", "x", &json!({"input_tokens": 9, "output_tokens": output}), stop))
        .to_vec();
    let whole = Shown::of(
        &[&write_session(dir.path(), SESSION, &rows)],
        &["--price", "claude-x=3"],
    );
    assert_eq!(whole.summary["totals"]["tokens"]["output"], 512);
    assert_eq!(whole.summary["totals"]["turns"], 1);
    assert!(close(&whole.summary["totals"]["cost_usd"], (9.0 + 5.0 * 512.0) * 3e-6));
    assert_eq!(whole.summary["totals"]["at_least"], false);
    // The turn is told once, with what it used in the end.
    let turns: Vec<&Value> = whole
        .events
        .iter()
        .map(|(_, event)| &event["turn"])
        .filter(|turn| !turn.is_null())
        .collect();
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0]["tokens"]["output"], 512);
    let cut = Shown::of(
        &[&write_session(dir.path(), SESSION, &rows[..2])],
        &["--price", "claude-x=3"],
    );
    assert_eq!(cut.summary["totals"]["at_least"], true);
    // Without a price the cost is unknown, which is not 0.
    let unknown = Shown::of(&[&write_session(dir.path(), SESSION, &rows)], &[]);
    assert_eq!(unknown.summary["totals"]["cost_usd"], Value::Null);
}

#[test]
fn subagents_are_found_by_looking_and_one_level_deeper() {
    let dir = tempfile::tempdir().unwrap();
    let path = write_session(
        dir.path(),
        SESSION,
        &[said("m1", "parent", &json!({}), Some("end_turn"))],
    );
    let deep = dir.path().join(SESSION).join("subagents/workflows/w1");
    fs::create_dir_all(&deep).unwrap();
    for (folder, id) in [(deep.parent().unwrap().parent().unwrap(), "a1"), (&deep, "a2")] {
        let mut line = said("m2", "child", &json!({}), Some("end_turn"));
        (line["agentId"], line["isSidechain"]) = (json!(id), json!(true));
        fs::write(folder.join(format!("agent-{id}.jsonl")), format!("{line}\n")).unwrap();
    }
    let session_folder = dir.path().join(SESSION);
    for given in [path.as_path(), &session_folder, dir.path()] {
        let shown = Shown::of(&[given], &[]);
        for id in ["a1", "a2"] {
            let view = shown.session("agent", id);
            assert_eq!(
                (&view["depth"], &view["joined_by"]),
                (&json!(1), &json!("session_id")),
                "{given:?}"
            );
        }
        assert_eq!(shown.sessions.len(), 3);
    }
}

#[test]
fn broken_lines_are_counted_and_named_and_the_rest_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let good = said(
        "m1",
        "before\u{2028}and\u{2029}after\u{85}",
        &json!({}),
        Some("end_turn"),
    );
    let path = dir.path().join(format!("{SESSION}.jsonl"));
    let long = format!(
        r#"{{"type":"user","sessionId":"{SESSION}","message":{{"role":"user","content":"{}"}}}}"#,
        "y".repeat(20_000_000)
    );
    let over = format!(r#"{{"x":"{}"}}"#, "z".repeat(33 * 1024 * 1024));
    let half = r#"{"type":"user","message":{"role":"user","content":"half \ud83d"}}"#;
    fs::write(
        &path,
        format!(
            "{good}\n{{not json\n\n{long}\n{over}\n{half}\n{{\"type\":\"from-tomorrow\",\"n\":1}}\n{{\"type\":\"as"
        ),
    )
    .unwrap();
    let shown = Shown::of(&[&path], &[]);
    assert_eq!(shown.lines().values().next().unwrap(), &[1, 2, 4, 5, 6, 7, 8]);
    assert_eq!(shown.summary["broken"], 3);
    let named: Vec<u64> = shown.summary["broken_lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["line"].as_u64().unwrap())
        .collect();
    assert_eq!(named, [2, 5, 8]);
    let text_of = |line: u64| {
        let (_, event) = shown.events.iter().find(|(_, event)| event["line"] == line).unwrap();
        event["parts"][0]["text"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(text_of(1), "before\u{2028}and\u{2029}after\u{85}");
    assert_eq!(text_of(4).len(), 20_000_000);
    assert_eq!(text_of(6), "half \u{fffd}");
    let (_, unknown) = shown.events.iter().find(|(_, event)| event["line"] == 7).unwrap();
    assert_eq!(
        (&unknown["label"], &unknown["parts"][0]["data"]["n"]),
        (&json!("from-tomorrow"), &json!(1))
    );
}

#[test]
fn refusals_errors_diffs_and_thinking_are_told_apart() {
    let shown = Shown::of(&[&recorded("fork")], &[]);
    let of = |role: &str, id: &str| {
        let fits = |event: &&(u64, Value)| {
            event.1["role"] == role && event.1["tool_use_id"] == id && event.1["copied"] == false
        };
        &shown.events.iter().find(fits).unwrap().1
    };
    assert_eq!(of("result", "toolu_bash")["fault"], "refused");
    assert_eq!(of("result", "toolu_read")["fault"], "error");
    assert_eq!(of("result", "toolu_read")["label"], "Read");
    assert_eq!(
        of("call", "toolu_edit")["parts"][0]["diff"]["hunks"][0]["lines"],
        json!(["-two", "+2"])
    );
    let patch = &of("result", "toolu_edit")["parts"][1]["diff"]["hunks"][0];
    assert_eq!(
        patch,
        &json!({"old_start": 1, "new_start": 1, "lines": [" one", "-two", "+2", " three"]})
    );
    assert!(shown.events.iter().any(|(_, event)| event["role"] == "thinking"));
}

#[test]
fn filters_narrow_what_is_shown_and_the_totals_stay() {
    let folder = recorded("agent-nested-with-bash");
    let all = Shown::of(&[&folder], &[]);
    for (filter, fits) in [
        (
            &["--role", "user,thinking"][..],
            (|event| matches!(event["role"].as_str(), Some("user" | "thinking"))) as fn(&Value) -> bool,
        ),
        (&["--role", "tool"], |event| {
            matches!(event["role"].as_str(), Some("call" | "result"))
        }),
        (&["--tool", "Bash"], |event| event["label"] == "Bash"),
    ] {
        let narrowed = Shown::of(&[&folder], filter);
        let expected: Vec<_> = all.events.iter().filter(|(_, event)| fits(event)).cloned().collect();
        assert!(!expected.is_empty());
        assert_eq!(narrowed.events, expected, "{filter:?}");
        assert_eq!(narrowed.summary["totals"], all.summary["totals"]);
        let hidden = narrowed.summary["hidden"].as_u64().unwrap();
        assert_eq!(hidden + expected.len() as u64, all.events.len() as u64);
    }
    let explorer = Shown::of(&[&folder], &["--agent", "Explore"]);
    let inner = all.session("agent", "a3e672b49ea3496a9")["index"].as_u64().unwrap();
    assert!(!explorer.events.is_empty() && explorer.events.iter().all(|(session, _)| *session == inner));
    let late = Shown::of(&[&folder], &["--since", "2026-11-30T18:50:41.200Z"]);
    assert!(
        late.events
            .iter()
            .any(|(_, event)| event["parts"][0]["text"] == "PARENT-DONE")
    );
    assert!(
        late.events
            .iter()
            .all(|(_, event)| event["at"].as_str().is_none_or(|at| at >= "2026-11-30T18:50:41.200Z"))
    );
    assert!(Shown::of(&[&folder], &["--errors"]).events.is_empty());
    assert!(
        Shown::of(&[&recorded("fork")], &["--errors"])
            .events
            .iter()
            .all(|(_, event)| !event["fault"].is_null())
    );
}

#[test]
fn a_terminal_obeys_nothing_of_a_transcript() {
    let dir = tempfile::tempdir().unwrap();
    let hostile = "\u{1b}[2J\u{1b}]0;owned\u{7} \u{9b}31m \rover \u{8} \u{202e}gpj.exe \u{2066}x \u{200b} \u{e0041}";
    let mut line = said("m1", hostile, &json!({}), Some("end_turn"));
    line["timestamp"] = json!("\u{1b}[31mnow");
    line["message"]["model"] = json!("\u{1b}[5mblink");
    let call = json!({"type": "assistant", "sessionId": SESSION, "message": {"id": "m2", "role": "assistant", "content": [
        {"type": "tool_use", "id": "toolu_\u{1b}[1m", "name": "B\u{202e}ash\n\u{1b}c", "input": {"k\u{1b}\u{9b}": hostile}},
        {"type": "tool_use", "id": "e", "name": "Edit", "input": {"file_path": "\u{1b}p", "old_string": "\u{1b}o", "new_string": "\u{202e}n"}}]}});
    let kind = json!({"type": "\u{1b}[31mkind", "sessionId": SESSION});
    let broken = dir.path().join(format!("{SESSION}.jsonl"));
    fs::write(&broken, format!("{line}\n{call}\n{kind}\n\u{1b}[31m{{\n")).unwrap();
    let active = |character: char| {
        (character.is_control() && character != '\n')
            || matches!(character, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    };
    for more in [&[][..], &["--full"], &["--json"]] {
        let text = printed(replay(["show"]).arg(&broken).args(more));
        let found: Vec<char> = text.chars().filter(|character| active(*character)).collect();
        assert_eq!(found, [] as [char; 0], "{more:?}");
        assert!(text.contains("owned"));
    }
    // Where colours are asked for, the only sequences are those of colours.
    let text = printed(replay(["show", "--color", "always"]).arg(&broken));
    for rest in text.split('\u{1b}').skip(1) {
        let sequence = rest.strip_prefix('[').unwrap().split_once('m').unwrap().0;
        assert!(
            sequence.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'),
            "{sequence}"
        );
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let mut show = replay(["show", "--full"])
        .arg(recorded("agents-parallel"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::with_capacity(16, show.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    assert!(first.starts_with("session "), "{first}");
    let ended = show.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr), (Some(0), Vec::new()));
}

#[test]
fn what_cannot_be_read_is_told_with_its_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    for (args, code, says) in [
        (vec!["show", "/no/such/path"], 66, "read /no/such/path"),
        (
            vec!["show", dir.path().to_str().unwrap()],
            66,
            "there is no transcript in",
        ),
        (vec!["show"], 64, "PATH"),
        (vec!["show", ".", "--role", "nobody"], 64, "not one of user"),
        (vec!["show", ".", "--since", "soon"], 64, "not a time"),
        (vec!["show", ".", "--redact", "("], 78, "pattern"),
    ] {
        let ended = replay(&args).output().unwrap();
        let text = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(says), "{args:?}: {text}");
    }
}

#[test]
fn links_in_a_folder_are_not_followed_and_one_that_is_given_is() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let row = |text: &str| said("m1", text, &json!({}), Some("end_turn"));
    write_session(dir.path(), SESSION, &[row("own")]);
    let other = "99999999-2222-4333-8444-555555555555";
    let target = write_session(elsewhere.path(), other, &[row("of somebody else")]);
    let link = dir.path().join(format!("{other}.jsonl"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    std::os::unix::fs::symlink(dir.path(), dir.path().join("circle")).unwrap();
    let shown = Shown::of(&[dir.path()], &[]);
    assert_eq!(shown.sessions.len(), 1);
    assert_eq!(shown.summary["skipped"].as_array().unwrap().len(), 2);
    assert_eq!(Shown::of(&[&link], &[]).events.len(), 1);
}
