use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use super::*;
use crate::guard::liveness::scratch::NoScratch;

const AT: UnixNanos = UnixNanos::from_nanos(1_764_537_583_999_000_000);

fn reading(verdict: Verdict, keys: &[&str]) -> Reading {
    Reading {
        verdict,
        keys: keys.iter().map(Into::into).collect(),
        holding: Vec::new(),
        no_scratch: None,
    }
}

fn line(payload: &[u8], reading: &Reading, decision: Decision) -> String {
    let payload = Payload::read(payload);
    Firing {
        at: AT,
        payload: &payload,
        reading,
        own_tasks: 1,
        decision,
        repeat: 3,
    }
    .stop_line()
}

/// The time, and the fields by key.
fn fields(line: &str) -> (String, BTreeMap<String, String>) {
    let mut parts = line.strip_suffix('\n').unwrap().split("  ");
    let time = parts.next().unwrap().to_owned();
    let fields = parts.map(|part| part.split_once('=').unwrap());
    (
        time,
        fields.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
    )
}

#[test]
fn a_line_has_every_field_once_as_one_word() {
    let payload = br#"{"session_id":"s 1","hook_event_name":"SubagentStop\n","x  decision=allow":1,"a":2,
        "background_tasks":[{"type":"shell","status":"running"}]}"#;
    let text = line(
        payload,
        &reading(Verdict::Red, &["a b", "z"]),
        Decision::Refuse(Hold::Live),
    );
    assert_eq!(text.lines().count(), 1);
    let (time, fields) = fields(&text);
    // 2025-11-30 21:19:43 by `date -u -d @1764537583`.
    assert_eq!(time, "2025-11-30T21:19:43Z");
    let expected = [
        ("event", "SubagentStop_"),
        ("session", "s_1"),
        ("live", "yes"),
        ("verdict", "red"),
        ("spawn", "-"),
        ("records", "2"),
        ("runs", "a_b,z"),
        ("decision", "refuse"),
        ("held", "record"),
        ("pardon", "-"),
        ("tasks", "1/1"),
        ("repeat", "3"),
        ("scratch", "ok"),
        (
            "keys",
            "a,background_tasks,hook_event_name,session_id,x__decision=allow",
        ),
    ];
    let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(fields, expected.into_iter().collect());
    let order: Vec<&str> = text
        .split("  ")
        .skip(1)
        .map(|part| part.split('=').next().unwrap())
        .collect();
    assert_eq!(
        order[..8],
        [
            "event", "session", "live", "verdict", "spawn", "records", "runs", "decision"
        ]
    );
    assert_eq!(order.last(), Some(&"keys"));
}

#[test]
fn nothing_known_is_a_dash() {
    let mut reading = reading(Verdict::Unstarted("Text file busy (os error 26)".to_owned()), &[]);
    reading.no_scratch = Some(NoScratch::Missing);
    let text = line(b"", &reading, Decision::Pardoned(Pardon::Helper));
    let (_, fields) = fields(&text);
    let value = |key: &str| fields[key].as_str();
    assert_eq!(
        (value("event"), value("session"), value("keys"), value("runs")),
        ("-", "-", "-", "-")
    );
    assert_eq!(
        (value("verdict"), value("spawn")),
        ("unstarted", "Text_file_busy_(os_error_26)")
    );
    assert_eq!(
        (value("decision"), value("pardon"), value("scratch")),
        ("allow", "helper", "missing")
    );
}

#[test]
fn no_value_of_a_payload_but_event_and_session_is_logged() {
    let payload = br#"{"hook_event_name":"SubagentStop","session_id":"s","agent_id":"SECRET","agent_type":"SECRET",
        "agent_transcript_path":"/SECRET","last_assistant_message":"SECRET","background_tasks":[{"id":"SECRET",
        "type":"shell","status":"running","command":"SECRET"}]}"#;
    let text = line(payload, &reading(Verdict::Green, &[]), Decision::Refuse(Hold::Task));
    assert!(!text.contains("SECRET") && text.contains("held=task"), "{text}");
}

#[test]
fn the_observe_line_says_what_would_be() {
    let payload = Payload::default();
    let reading = reading(Verdict::Red, &["k"]);
    let firing = Firing {
        at: AT,
        payload: &payload,
        reading: &reading,
        own_tasks: 0,
        decision: Decision::Refuse(Hold::Live),
        repeat: 0,
    };
    let text = firing.observe_line();
    assert!(
        text.contains("  would=refuse  ") && !text.contains("decision="),
        "{text}"
    );
    assert!(text.contains("  hook=subagent-stop-liveness  "), "{text}");
}

#[test]
fn lines_are_added_and_folders_made() {
    let dir = tempfile::tempdir().unwrap();
    let log = |path: &str| LogFile {
        path: dir.path().join(path),
        within: None,
    };
    append(&log("a/b/log"), "1\n").unwrap();
    append(&log("a/b/log"), "2\n").unwrap();
    assert_eq!(std::fs::read_to_string(dir.path().join("a/b/log")).unwrap(), "1\n2\n");
    assert!(append(&log("a/b/log/c"), "3\n").is_err());
    assert!(append(&log("a"), "3\n").is_err());
}

#[test]
fn links_and_pipes_are_not_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    std::fs::create_dir_all(at("repo")).unwrap();
    std::fs::create_dir(at("outside")).unwrap();
    std::fs::write(at("outside/file"), "").unwrap();
    symlink(at("outside/file"), at("repo/link")).unwrap();
    symlink(at("outside"), at("repo/dir")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("repo/pipe"), rustix::fs::Mode::RWXU).unwrap();
    let inside = |path: &str| LogFile {
        path: at(path),
        within: Some(at("repo")),
    };
    for path in [
        "repo/link",
        "repo/dir/file",
        "repo/dir/new/log",
        "repo/pipe",
        "repo/../outside/file",
    ] {
        assert!(append(&inside(path), "x\n").is_err(), "{path}");
    }
    assert_eq!(std::fs::read_to_string(at("outside/file")).unwrap(), "");
    append(&inside("repo/sub/log"), "x\n").unwrap();
    assert!(at("repo/sub/log").exists() && !at("outside/new").exists());
}
