//! What the replay tests share: the program in an environment of its own, and its lines of JSON.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The recorded runs, each with the client's own result.
pub(crate) const RUNS: [&str; 6] = [
    "agent-background-by-default",
    "agent-foreground",
    "agent-nested-with-bash",
    "agents-parallel",
    "echo",
    "subagents-leave-background-shells",
];

pub(crate) fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/replay")
        .join(name)
}

/// `subcell replay` in a clean environment.
pub(crate) fn replay<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_subcell"));
    command
        .env_clear()
        .current_dir("/")
        .arg("replay")
        .args(args)
        .stdin(Stdio::null());
    command
}

/// What it printed; it has to succeed.
pub(crate) fn printed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    assert_eq!(String::from_utf8_lossy(&stderr), "");
    String::from_utf8(stdout).unwrap()
}

/// What `show --json` says of paths.
pub(crate) struct Shown {
    pub(crate) sessions: Vec<Value>,
    pub(crate) events: Vec<(u64, Value)>,
    pub(crate) summary: Value,
}

impl Shown {
    pub(crate) fn of(paths: &[&Path], more: &[&str]) -> Self {
        let mut command = replay(["show", "--json"]);
        let text = printed(command.args(paths).args(more));
        let mut shown = Self {
            sessions: Vec::new(),
            events: Vec::new(),
            summary: Value::Null,
        };
        for line in text.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            match row["kind"].as_str().unwrap() {
                "session" => shown.sessions.push(row["session"].clone()),
                "event" => shown
                    .events
                    .push((row["session"].as_u64().unwrap(), row["event"].clone())),
                "summary" => shown.summary = row["summary"].clone(),
                "start" | "end" => {}
                other => panic!("a line of kind {other}"),
            }
        }
        shown
    }

    /// The session with a field of a value.
    pub(crate) fn session(&self, field: &str, value: &str) -> &Value {
        self.sessions.iter().find(|session| session[field] == value).unwrap()
    }

    /// The lines of each file that have an event.
    pub(crate) fn lines(&self) -> BTreeMap<String, Vec<u64>> {
        let mut lines: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for (session, event) in &self.events {
            let session = self.sessions.iter().find(|view| view["index"] == *session).unwrap();
            let of_file = lines.entry(session["file"].as_str().unwrap().to_owned()).or_default();
            of_file.push(event["line"].as_u64().unwrap());
        }
        for of_file in lines.values_mut() {
            of_file.dedup();
        }
        lines
    }
}

/// Every transcript below a folder, by its name below it, with the numbers of its lines.
pub(crate) fn transcripts(folder: &Path) -> BTreeMap<String, Vec<u64>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                let count = fs::read_to_string(&path).unwrap().split_terminator('\n').count() as u64;
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, (1..=count).collect());
            }
        }
    }
    found
}
