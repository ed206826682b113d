//! Files that are none, outputs that are none, and transcripts that were made to mislead.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::replay::{Shown, printed, recorded, replay};

const SESSION: &str = "66666666-2222-4333-8444-555555555555";

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

fn prompt(text: &str) -> Value {
    json!({"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": text}})
}

#[test]
fn a_pipe_or_a_device_is_refused_and_never_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("{SESSION}.jsonl"));
    pipe(&path);
    for path in [path.as_path(), Path::new("/dev/zero")] {
        let output = replay(["show"]).arg(path).output().unwrap();
        assert_eq!(output.status.code(), Some(66));
        assert!(String::from_utf8_lossy(&output.stderr).contains("not a regular file"));
    }
}

#[test]
fn pipes_and_rings_of_links_in_a_folder_are_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(format!("{SESSION}.jsonl")), prompt("hello").to_string()).unwrap();
    pipe(&dir.path().join("pipe.jsonl"));
    pipe(&dir.path().join("pipe.json"));
    symlink(dir.path(), dir.path().join("ring")).unwrap();
    symlink("one.jsonl", dir.path().join("one.jsonl")).unwrap();
    let shown = Shown::of(&[dir.path()], &[]);
    assert_eq!(shown.summary["entries"], 1);
    let skipped = shown.summary["skipped"].as_array().unwrap();
    let names: Vec<&str> = skipped.iter().map(|file| file["file"].as_str().unwrap()).collect();
    assert_eq!(names, ["one.jsonl", "pipe.jsonl", "ring"]);
}

#[test]
fn a_page_never_replaces_a_pipe_a_link_or_what_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let (out, link, target) = (
        dir.path().join("out"),
        dir.path().join("link"),
        dir.path().join("target"),
    );
    let run = recorded("echo");
    let page = printed(replay(["html", "-o", "-"]).arg(&run));

    pipe(&out);
    let mut child = replay(["html", "-o"]).args([&out, &run]).spawn().unwrap();
    let mut written = String::new();
    fs::File::open(&out).unwrap().read_to_string(&mut written).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(written, page);
    assert!(fs::metadata(&out).unwrap().file_type().is_fifo());

    fs::write(&target, "old").unwrap();
    symlink(&target, &link).unwrap();
    printed(replay(["html", "-o"]).args([&link, &run]));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), page);

    let transcript = dir.path().join(format!("{SESSION}.jsonl"));
    fs::write(&transcript, prompt("hello").to_string()).unwrap();
    let output = replay(["html", "-o"])
        .args([&transcript, &transcript])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(64));
    assert_eq!(fs::read_to_string(&transcript).unwrap(), prompt("hello").to_string());
}

#[test]
fn a_line_feed_in_a_name_writes_no_line_of_its_own() {
    let forged = "x\n18:50:00.000  user\n    delete everything\n";
    let lines = [
        json!({"type": "assistant", "sessionId": SESSION, "timestamp": forged, "message": {"id": "m", "model": forged,
            "usage": {"output_tokens": 1}, "content": [{"type": "tool_use", "id": forged, "name": forged,
            "input": {"file_path": forged, "old_string": "a", "new_string": "b"}}]}}),
        json!({"type": "user", "sessionId": SESSION, "message": {"content": [{"type": "tool_result", "tool_use_id": "t",
            "content": "x"}]}, "toolUseResult": {"filePath": forged, "structuredPatch": [{"lines": [forged]}]}}),
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("{SESSION}.jsonl"));
    fs::write(&path, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let subagents = dir.path().join(SESSION).join("subagents");
    fs::create_dir_all(&subagents).unwrap();
    fs::write(subagents.join("agent-a1.jsonl"), prompt("hello").to_string()).unwrap();
    let meta = json!({"toolUseId": forged, "agentType": forged, "description": forged});
    fs::write(subagents.join("agent-a1.meta.json"), meta.to_string()).unwrap();
    let text = printed(replay(["show", "--full"]).arg(&path));
    assert!(text.contains("delete everything"));
    assert!(
        !text
            .lines()
            .any(|line| line.starts_with("18:50") || line.trim_start() == "delete everything"),
        "{text}"
    );
}

/// A parser that refuses a field that stands twice, half of a pair or a byte that is no text may not cost the figures.
#[test]
fn what_a_turn_used_counts_wherever_its_line_is_shown() {
    let turn = |id: &str, text: &str| {
        format!(
            r#"{{"type":"assistant","sessionId":"{SESSION}","message":{{"id":"{id}","model":"c","stop_reason":"x","usage":{{"output_tokens":7}},"content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let mut bytes = [
        turn("m1", "plain"),
        turn("m2", "twice").replacen("\"type\"", "\"type\":\"user\",\"type\"", 1),
        turn("m3", "twice").replacen("\"model\"", "\"model\":\"d\",\"model\"", 1),
        turn(r"m\ud83d", "half"),
        turn("m5", "byte ?"),
    ]
    .join("\n")
    .into_bytes();
    let at = bytes.iter().position(|byte| *byte == b'?').unwrap();
    bytes[at] = 0xff;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("{SESSION}.jsonl"));
    fs::write(&path, bytes).unwrap();
    let shown = Shown::of(&[&path], &[]);
    assert_eq!(shown.summary["broken"], 0);
    assert_eq!(shown.summary["totals"]["turns"], 5);
    assert_eq!(shown.summary["totals"]["tokens"]["output"], 35);
}
