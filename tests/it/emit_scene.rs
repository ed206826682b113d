//! Records on disk and an environment for `subcell emit`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::wire::WireSpan;

pub(crate) const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
pub(crate) const PARENT: &str = "00f067aa0ba902b7";

/// A folder with records, and an environment for `emit`.
pub(crate) struct Scene {
    pub(crate) dir: TempDir,
    pub(crate) env: Vec<(String, String)>,
}

/// The record of a completed cell, as version 1 of the format has it.
pub(crate) fn record(n: usize) -> Value {
    json!({
        "format": 1,
        "cell": format!("cell-0190f3a0-0000-7000-8000-{n:012x}"),
        "parent_session": "parent-1",
        "tool_use_id": format!("toolu_{n:04}"),
        "caller_agent": null,
        "agent_type": "judge",
        "description": "Judge it",
        "depth": 1,
        "child_session": format!("child-{n}"),
        "asked": {"model": "haiku", "model_source": "call", "effort": null, "isolation": null, "prompt_bytes": 3,
                  "prompt_sha256": "0".repeat(64)},
        "started_unix_nano": (1_700_000_000_000_000_000_u64 + n as u64).to_string(),
        "state": {"kind": "ended", "ending": {"kind": "completed"}, "ended_unix_nano": "1700000009000000000",
                  "exit_code": 0, "exit_signal": null, "cost_usd": 0.0125, "num_turns": 2, "duration_ms": 9000,
                  "model_used": "claude-haiku-4-5",
                  "tokens": {"input": 1, "output": 20, "cache_read": 300, "cache_creation": 4000},
                  "models": {}, "denied_count": 0, "denied_tools": [], "terminal_reason": "completed", "result": null,
                  "leaked_count": 0, "leaked_names": [], "child_transcript": null, "worktree": null},
        "delivery": {"mode": "echo", "outcome": "faithful", "agent": null, "cut": false, "mark": null,
                     "rewrite_sha256": null, "rivals": []},
        "trace": {"trace_id": TRACE, "span_id": format!("{:016x}", n + 1), "parent_span_id": PARENT, "sampled": true},
        "export": "none",
        "phases": {"plan": {"start_unix_nano": "1700000000000000000", "end_unix_nano": "1700000000100000000"},
                   "run": {"start_unix_nano": "1700000000200000000", "end_unix_nano": "1700000009000000000"}},
        "parent_transcript": null,
        "client_version": "2.1.332",
        "provider": "anthropic",
        "client_binary": null,
        "ignored_environment": [],
        "notes": [],
        "hook_process": null,
        "keeper_process": null,
    })
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            env: Vec::new(),
        }
    }

    /// With one completed cell, and a collector at `url`.
    pub(crate) fn with_cell(url: &str) -> Self {
        let mut scene = Scene::new();
        scene.put("state/cells", &record(0));
        scene.set("OTEL_EXPORTER_OTLP_ENDPOINT", url);
        scene
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) -> &mut Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn put(&self, folder: &str, record: &Value) {
        let folder = self.path(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let name = format!("{}.json", record["tool_use_id"].as_str().unwrap());
        std::fs::write(folder.join(name), record.to_string()).unwrap();
    }

    pub(crate) fn export(&self, folder: &str, n: usize) -> String {
        let text = std::fs::read_to_string(self.path(folder).join(format!("toolu_{n:04}.json"))).unwrap();
        let record: Value = serde_json::from_str(&text).unwrap();
        record["export"].as_str().unwrap().to_owned()
    }

    pub(crate) fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .env("HOME", self.dir.path())
            .env("PATH", "/usr/bin:/bin")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn emit(&self, args: &[&str]) -> Output {
        let all: Vec<&str> = std::iter::once("emit").chain(args.iter().copied()).collect();
        let program = Path::new(env!("CARGO_BIN_EXE_subcell"));
        self.command(program, &all).output().unwrap()
    }

    pub(crate) fn emit_state(&self, args: &[&str]) -> Output {
        let state = self.path("state");
        let all: Vec<&str> = [state.to_str().unwrap()]
            .into_iter()
            .chain(args.iter().copied())
            .collect();
        self.emit(&all)
    }
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub(crate) fn cell_span(spans: &[WireSpan]) -> &WireSpan {
    spans.iter().find(|span| span.name == "spawned_agent").unwrap()
}
