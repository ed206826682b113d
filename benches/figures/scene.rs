//! A user's home and project, and the hook as the client calls it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Names the binary that is measured, in a part's environment.
pub(crate) const SUBCELL: &str = "FIGURES_SUBCELL";

/// The stand-in child, of the same build as this program.
pub(crate) const STANDIN: &str = env!("CARGO_BIN_EXE_subcell-standin");

/// A prompt of 1 KB.
pub(crate) fn prompt() -> String {
    "Judge it. ".repeat(102)
}

/// What a user of Subcell has at least: both shipped agents, settings of his own and of the project.
pub(crate) fn furnish(home: &Path) {
    let write = |path: &str, text: &str| {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let agents = [
        ("echo-through", include_str!("../../agents/echo-through.md")),
        ("judge-parent", include_str!("../../agents/judge-parent.md")),
    ];
    for (name, text) in agents {
        write(&format!(".claude/agents/{name}.md"), text);
    }
    write(".claude/settings.json", include_str!("../../config/claude-hooks.json"));
    write(
        "project/.claude/settings.json",
        r#"{"permissions": {"allow": ["Read"]}}"#,
    );
    std::fs::create_dir_all(home.join("output")).unwrap();
}

/// The home of this part.
pub(crate) fn home() -> PathBuf {
    std::env::var_os("HOME").unwrap().into()
}

/// Writes the payload of the call `id` to a file, which can be a hook's stdin.
pub(crate) fn payload(id: &str) -> PathBuf {
    let project = home().join("project");
    let payload = json!({
        "session_id": "7ac3eec2-10f1-4614-9470-ad45c7c6de2a",
        "transcript_path": home().join("transcript.jsonl"),
        "cwd": project,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Agent",
        "tool_input": {"description": "judge", "prompt": prompt(), "subagent_type": "general-purpose"},
        "tool_use_id": id,
    });
    let path = home().join(format!("{id}.payload"));
    std::fs::write(&path, payload.to_string()).unwrap();
    path
}

/// The hook of one call, ready to be started.
pub(crate) fn hook(id: &str, standin: &str) -> Command {
    let mut hook = Command::new(std::env::var_os(SUBCELL).unwrap());
    hook.args(["intercept", "--claude", STANDIN])
        .env("CLAUDE_PROJECT_DIR", home().join("project"))
        .env("STANDIN", standin)
        .stdin(File::open(payload(id)).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    hook
}

/// Checks that a hook handed a result back, and gives the prompt that it wrote.
pub(crate) fn handed_back(output: &std::process::Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the hook failed: {stderr}");
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    let prompt = reply.pointer("/hookSpecificOutput/updatedInput/prompt");
    let prompt = prompt.and_then(Value::as_str);
    let prompt = prompt.unwrap_or_else(|| panic!("no result: {reply}"));
    assert!(!prompt.contains("FAILED"), "the cell failed: {prompt}");
    prompt.to_owned()
}
