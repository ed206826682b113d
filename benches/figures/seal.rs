//! What the hook after a call takes, beside the start of a program that does nothing.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::scene::{SUBCELL, hook, payload};
use crate::table::{Row, median};

const ROUNDS: usize = 40;
const WARM_UP: usize = 5;
/// Of the start of a program that does nothing.
const MOST: f64 = 2.0;
/// Or so much above it, in milliseconds.
const OR_ABOVE_MS: f64 = 1.0;

/// The rows of the hook after a call.
pub(crate) fn measure() -> Vec<Row> {
    [("1 KB", 1_000), ("200 KB", 200_000), ("10 MB", 10_000_000)]
        .into_iter()
        .map(|(name, bytes)| row(name, bytes))
        .collect()
}

fn row(name: &str, bytes: usize) -> Row {
    let call = ended_call(bytes);
    let (mut seals, mut floors) = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
    for n in 0..WARM_UP + ROUNDS {
        let (floor, _) = timed(&mut Command::new("/bin/true"));
        let (seal, output) = timed(&mut seal(&call));
        if n == 0 {
            assert_put_in(&output, bytes);
        }
        if n >= WARM_UP {
            floors.push(floor);
            seals.push(seal);
        }
    }
    let (seal, floor) = (median(seals), median(floors));
    let measured = format!(
        "{seal:.2} ms, {:.2} of /bin/true's {floor:.2} ms (median of {ROUNDS})",
        seal / floor
    );
    let row = Row::told(format!("subcell seal, wall, {name} result"), measured);
    if bytes > 1_000 {
        return row;
    }
    row.held_to(
        format!("<= {MOST}, or {OR_ABOVE_MS} ms above it"),
        seal <= MOST * floor || seal <= floor + OR_ABOVE_MS,
    )
}

/// Runs a cell that answers so many bytes, and writes the payload of the call's end.
fn ended_call(bytes: usize) -> PathBuf {
    let id = format!("toolu_seal_{bytes}");
    let mut intercept = hook(&id, &format!("bytes={bytes}"));
    intercept.args(["--delivery", "receipt"]);
    let output = intercept.output().unwrap();
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    let input = reply.pointer("/hookSpecificOutput/updatedInput");
    let input = input.unwrap_or_else(|| panic!("no result: {reply}"));
    let prompt = input.get("prompt");
    let path = payload(&id);
    let mut event: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let fields = event.as_object_mut().unwrap();
    fields.insert("hook_event_name".into(), json!("PostToolUse"));
    fields.insert(
        "tool_response".into(),
        json!({"status": "completed", "prompt": prompt, "agentId": "a1", "agentType": "echo-through",
            "harnessNoteCount": 0, "content": [{"type": "text", "text": "the receipt's line"}], "totalTokens": 1,
            "resolvedModel": "claude-haiku-4-5", "totalDurationMs": 1, "totalToolUseCount": 0, "usage": {}}),
    );
    fields.insert("tool_input".into(), input.clone());
    std::fs::write(&path, event.to_string()).unwrap();
    path
}

fn seal(call: &Path) -> Command {
    let mut seal = Command::new(std::env::var_os(SUBCELL).unwrap());
    seal.arg("seal").stdin(File::open(call).unwrap());
    seal
}

/// Milliseconds from start to end.
fn timed(command: &mut Command) -> (f64, Output) {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let began = Instant::now();
    let output = command.output().unwrap();
    (began.elapsed().as_secs_f64() * 1e3, output)
}

fn assert_put_in(output: &Output, bytes: usize) {
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = reply.pointer("/hookSpecificOutput/updatedToolOutput/content/0/text");
    let text = text.and_then(Value::as_str);
    assert_eq!(
        text.map(str::len),
        Some(bytes),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
