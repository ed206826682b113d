use std::cell::RefCell;

use proptest::prelude::*;
use serde_json::json;

use super::Evidence::{Absent, Launched, Mentioned};
use super::*;

fn found(text: &str, id: &str) -> Evidence {
    let whole = search_in(&mut text.as_bytes(), &[id], CHUNK).unwrap()[0];
    for chunk in [1, 2, 7] {
        assert_eq!(
            search_in(&mut text.as_bytes(), &[id], chunk).unwrap()[0],
            whole,
            "{chunk} {text}"
        );
    }
    whole
}

#[test]
fn an_id_counts_as_a_whole_word_only() {
    for (text, expected) in [
        ("b1", Mentioned),
        (" b1", Mentioned),
        ("b1\n", Mentioned),
        ("/tasks/b1.output", Mentioned),
        ("\"b1\"", Mentioned),
        ("\u{e9}b1\u{e9}", Mentioned),
        ("", Absent),
        ("b", Absent),
        ("b12", Absent),
        ("ab1", Absent),
        ("b1_", Absent),
        ("-b1", Absent),
        ("b1b1", Absent),
        ("xb1 b1x b1", Mentioned),
        ("\"backgroundTaskId\":\"b1\"", Launched),
        ("\"backgroundTaskId\": \"b1\"", Launched),
        ("\\\"backgroundTaskId\\\":\\\"b1\\\"", Mentioned),
        ("\"backgroundTaskId\":\"b12\"", Absent),
        ("Command running in background with ID: b1. Output", Launched),
        ("was moved to the background with ID: b1. Output", Launched),
        ("moved to the background (ID: b1). Output", Launched),
        ("manually backgrounded by user with ID: b1. Output", Launched),
        ("No task found with ID: b1", Mentioned),
    ] {
        assert_eq!(found(text, "b1"), expected, "{text}");
    }
}

#[test]
fn recorded_transcripts_show_their_own_launches() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts/background-shells");
    let mut payload = Payload::read(include_bytes!("../../../tests/fixtures/payloads/subagent-stop.json"));
    payload.transcript = Some(dir.join("main.jsonl"));
    for (transcript, own) in [
        ("subagents/agent-abf84d171445a5ea6.jsonl", "bl30d3qt4"),
        ("subagents/agent-a738e72bf0401cbc8.jsonl", "b9xayq9k2"),
    ] {
        payload.agent_transcript = Some(dir.join(transcript));
        let expected = Own {
            count: 1,
            ids: vec![own.to_owned()],
        };
        assert_eq!(own_tasks(&payload), expected);
    }
}

struct Answers {
    elsewhere: Evidence,
    again: Evidence,
    asked: RefCell<Vec<&'static str>>,
}

impl Elsewhere for Answers {
    fn evidence(&self, ids: &[&str]) -> Vec<Evidence> {
        self.asked.borrow_mut().push("elsewhere");
        vec![self.elsewhere; ids.len()]
    }

    fn again(&self, ids: &[&str]) -> Vec<Evidence> {
        self.asked.borrow_mut().push("again");
        vec![self.again; ids.len()]
    }
}

#[test]
fn a_mention_counts_unless_another_transcript_shows_the_launch() {
    for (mine, elsewhere, again, own, asked) in [
        (Launched, Absent, Absent, true, &[][..]),
        (Launched, Launched, Launched, true, &[]),
        (Mentioned, Absent, Absent, true, &["elsewhere"]),
        (Mentioned, Mentioned, Absent, true, &["elsewhere"]),
        (Mentioned, Launched, Absent, false, &["elsewhere"]),
        (Absent, Mentioned, Launched, false, &["elsewhere"]),
        (Absent, Launched, Launched, false, &["elsewhere"]),
        (Absent, Absent, Absent, false, &["elsewhere", "again"]),
        (Absent, Absent, Mentioned, true, &["elsewhere", "again"]),
        (Absent, Absent, Launched, true, &["elsewhere", "again"]),
    ] {
        let answers = Answers {
            elsewhere,
            again,
            asked: RefCell::default(),
        };
        let found = of_the_session(&["b1"], &[mine], &answers);
        assert_eq!(!found.is_empty(), own, "{mine:?} {elsewhere:?} {again:?}");
        assert_eq!(answers.asked.into_inner(), asked, "{mine:?} {elsewhere:?} {again:?}");
    }
}

struct Session(tempfile::TempDir);

impl Session {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        Self(dir)
    }

    fn own(&self, ids: &serde_json::Value, transcript: Option<&str>) -> Own {
        let shells: Vec<_> = ids
            .as_array()
            .unwrap()
            .iter()
            .map(|id| json!({"type": "shell", "status": "running", "id": id}))
            .collect();
        let mut payload = json!({"background_tasks": shells});
        if let Some(name) = transcript {
            payload["agent_transcript_path"] = json!(self.0.path().join(name));
        }
        own_tasks(&Payload::read(payload.to_string().as_bytes()))
    }
}

#[test]
fn all_shells_count_where_the_transcript_cannot_tell() {
    let session = Session::new(&[("mine.jsonl", "in background with ID: b1.")]);
    let both = json!(["b1", "b2"]);
    for transcript in [None, Some("none.jsonl"), Some(".")] {
        assert_eq!(session.own(&both, transcript).count, 2, "{transcript:?}");
    }
    rustix::fs::mkfifoat(rustix::fs::CWD, session.0.path().join("pipe"), rustix::fs::Mode::RWXU).unwrap();
    assert_eq!(session.own(&both, Some("pipe")).count, 2);
    assert_eq!(
        session.own(&both, Some("mine.jsonl")),
        Own {
            count: 1,
            ids: vec!["b1".to_owned()]
        }
    );
    assert_eq!(session.own(&json!([]), Some("mine.jsonl")), Own::default());
    // An element without a usable id is the session's own.
    assert_eq!(
        session.own(&json!(["", null, 7]), Some("mine.jsonl")),
        Own { count: 3, ids: vec![] }
    );
    assert_eq!(session.own(&json!(["x".repeat(300)]), Some("mine.jsonl")).count, 1);
}

#[test]
fn a_sibling_that_shows_the_launch_keeps_its_task() {
    let session = Session::new(&[
        ("mine.jsonl", "look at b1 and b2"),
        ("other.jsonl", "Command running in background with ID: b1."),
        ("notes.txt", "Command running in background with ID: b2."),
    ]);
    assert_eq!(session.own(&json!(["b1", "b2"]), Some("mine.jsonl")).ids, ["b2"]);
}

#[test]
fn a_launch_that_is_written_late_is_seen() {
    let session = Session::new(&[("mine.jsonl", "{}\n")]);
    let path = session.0.path().join("mine.jsonl");
    // What another thread writes while `again` waits; the reader must find it within its deadline.
    let writer = std::thread::spawn(move || {
        std::thread::park_timeout(Duration::from_millis(40));
        std::fs::write(path, "{}\nrunning in background with ID: b1.\n").unwrap();
    });
    assert_eq!(session.own(&json!(["b1"]), Some("mine.jsonl")).count, 1);
    writer.join().unwrap();
}

#[test]
fn a_long_transcript_is_read_to_its_end() {
    let mut text = "x b1x ".repeat(400_000);
    text.push_str("\"backgroundTaskId\":\"b1\"");
    assert_eq!(
        search_in(&mut text.as_bytes(), &["b1", "b2"], CHUNK).unwrap(),
        [Launched, Absent]
    );
}

proptest! {
    #[test]
    fn pieces_of_any_size_show_what_the_whole_shows(
        text in "([b1 -]|with ID: |background ){0,40}", chunk in 1_usize..30
    ) {
        let whole = search_in(&mut text.as_bytes(), &["b1", "b"], 100_000).unwrap();
        prop_assert_eq!(search_in(&mut text.as_bytes(), &["b1", "b"], chunk).unwrap(), whole);
    }
}
