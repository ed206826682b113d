//! A transcript larger than the memory that may be used.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

const SESSION: &str = "77777777-2222-4333-8444-555555555555";
const MIB: u64 = 1024 * 1024;

/// A session of turns with results of 8 KB, of some `size` bytes; how many lines it has.
fn write_large(path: &Path, size: u64) -> u64 {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let text = "a result that says something, over and over\n".repeat(180);
    let (mut written, mut lines) = (0, 0);
    while written < size {
        let call = json!({"type": "assistant", "uuid": format!("u{lines}"), "sessionId": SESSION, "message": {
            "id": format!("m{lines}"), "role": "assistant", "model": "claude-x", "stop_reason": "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": [{"type": "tool_use", "id": format!("t{lines}"), "name": "Bash", "input": {"command": "ls"}}]}});
        let result = json!({"type": "user", "uuid": format!("v{lines}"), "sessionId": SESSION, "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": format!("t{lines}"), "content": text}]},
            "toolUseResult": {"stdout": text}});
        for line in [call, result] {
            let line = format!("{line}\n");
            file.write_all(line.as_bytes()).unwrap();
            written += line.len() as u64;
            lines += 1;
        }
    }
    lines
}

/// Runs `subcell replay` with an address space of `limit` bytes; what it printed last.
fn within(limit: u64, args: &[&str]) -> String {
    let script = format!("ulimit -v {}; exec \"$0\" replay \"$@\" | tail -n 1", limit / 1024);
    let ended = Command::new("bash")
        .args([
            "-c",
            &format!("set -o pipefail; {script}"),
            env!("CARGO_BIN_EXE_subcell"),
        ])
        .args(args)
        .env("XDG_STATE_HOME", "/nonexistent")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

#[test]
fn memory_does_not_grow_with_a_transcript() {
    let dir = tempfile::tempdir().unwrap();
    let (path, page) = (
        dir.path().join(format!("{SESSION}.jsonl")),
        dir.path().join("page.html"),
    );
    let lines = write_large(&path, 72 * MIB);
    let path = path.to_str().unwrap();
    let last: Value = serde_json::from_str(&within(64 * MIB, &["show", "--json", path])).unwrap();
    assert_eq!(last["summary"]["entries"], lines);
    assert_eq!(last["summary"]["totals"]["turns"], lines / 2);
    within(64 * MIB, &["html", path, "-o", page.to_str().unwrap()]);
    assert!(std::fs::metadata(&page).unwrap().len() > 30 * MIB);
}
