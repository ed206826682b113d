//! Settings of the client: hooks that log, our own hook, and how two settings become one.

use std::path::Path;

use serde_json::{Value, json};

/// The events that are logged: all that a run with subagents has.
const EVENTS: [&str; 9] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "SessionStart",
    "SessionEnd",
];

/// Keeps payload and environment of each hook call in a file of its own, named by the time of the call.
const LOG: &str = r#"f="$1/$(date +%s%N)-$$" && cat >"$f.new" && env -0 >"$f.env" && mv "$f.new" "$f.json""#;

/// Hooks that write every event's payload into `folder`.
pub(crate) fn logging_hooks(folder: &Path) -> Value {
    let entry = json!([{"hooks": [
        {"type": "command", "command": "/bin/sh", "args": ["-c", LOG, "log", folder], "timeout": 30},
    ]}]);
    json!({"hooks": EVENTS.iter().map(|event| ((*event).to_owned(), entry.clone())).collect::<serde_json::Map<_, _>>()})
}

/// The hooks that are shipped, with the freshly built binary: receipt and seal.
pub(crate) fn shipped_hooks() -> Value {
    with_the_built_binary(include_str!("../../config/claude-hooks.json"))
}

/// Those for fullsend: the echo alone.
pub(crate) fn fullsend_hooks() -> Value {
    with_the_built_binary(include_str!("../../config/claude-hooks-fullsend.json"))
}

/// `seal` as it is shipped, without `intercept`.
pub(crate) fn seal_hook() -> Value {
    json!({"hooks": {"PostToolUse": shipped_hooks()["hooks"]["PostToolUse"]}})
}

/// `intercept` as it is shipped, with this delivery, without `seal`.
pub(crate) fn intercept_hook(delivery: &str) -> Value {
    let mut entry = shipped_hooks()["hooks"]["PreToolUse"].clone();
    entry[0]["hooks"][0]["args"] = json!(["intercept", "--delivery", delivery]);
    json!({"hooks": {"PreToolUse": entry}})
}

fn with_the_built_binary(shipped: &str) -> Value {
    let named = "\"command\": \"subcell\"";
    assert!(
        shipped.contains(named),
        "the shipped settings name the program in another way"
    );
    let built = format!("\"command\": {}", Value::from(env!("CARGO_BIN_EXE_subcell")));
    serde_json::from_str(&shipped.replace(named, &built)).unwrap()
}

/// `more` laid over `base`: objects by key, arrays one after the other, else what `more` says.
pub(crate) fn merge(base: &mut Value, more: Value) {
    match (base, more) {
        (Value::Object(base), Value::Object(more)) => {
            for (key, value) in more {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (Value::Array(base), Value::Array(more)) => base.extend(more),
        (base, more) => *base = more,
    }
}

/// The hooks that are shipped, with another timeout, in seconds.
pub(crate) fn shipped_hooks_with_timeout(seconds: u64) -> Value {
    let mut hooks = shipped_hooks();
    hooks["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = seconds.into();
    hooks
}
