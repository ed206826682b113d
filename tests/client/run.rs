//! What a run of the real client left: its result, its hooks' payloads, the model's requests, records, transcripts.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// How the parent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// With this code.
    Code(i32),
    /// By a signal.
    Signal,
    /// Not in time.
    Late,
}

/// A run that has ended.
pub(crate) struct Run {
    dir: tempfile::TempDir,
    /// How the parent ended.
    pub(crate) exit: Exit,
    /// The result that the parent printed; null where it is not JSON.
    pub(crate) result: Value,
    /// The payloads of all hook calls, in order.
    pub(crate) hooks: Vec<Hook>,
    /// The model's request log, in order.
    pub(crate) requests: Vec<Value>,
    /// The command lines of the processes that the run left behind.
    pub(crate) left: Vec<String>,
}

/// One call of a hook.
pub(crate) struct Hook {
    /// What it got on stdin.
    pub(crate) payload: Value,
    /// Its environment.
    pub(crate) environment: BTreeMap<String, String>,
}

impl Run {
    pub(crate) fn read(dir: tempfile::TempDir, exit: Exit, left: Vec<String>) -> Self {
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap_or_default();
        let requests = read("requests.jsonl");
        Self {
            exit,
            result: serde_json::from_str(&read("result.json")).unwrap_or_default(),
            hooks: hooks(&dir.path().join("hooks")),
            requests: requests
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
            left,
            dir,
        }
    }

    /// A path in the run's folder.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    /// Fails unless the parent ended well and nothing of the run is left.
    pub(crate) fn assert_ended_well(&self) {
        assert_eq!(self.exit, Exit::Code(0), "{self:?}");
        assert_eq!(
            (&self.result["subtype"], &self.result["is_error"]),
            (&"success".into(), &false.into()),
            "{self:?}"
        );
        assert_eq!(self.left, [] as [String; 0], "processes are left; {self:?}");
    }

    /// The parent's last words.
    pub(crate) fn text(&self) -> &str {
        self.result["result"].as_str().unwrap_or_default()
    }

    /// The parent's session id.
    pub(crate) fn parent(&self) -> &str {
        self.result["session_id"].as_str().unwrap_or_default()
    }

    /// The payloads of one event.
    pub(crate) fn payloads(&self, event: &str) -> Vec<&Value> {
        let all = self.hooks.iter().map(|hook| &hook.payload);
        all.filter(|payload| payload["hook_event_name"] == event).collect()
    }

    /// The sessions that asked the model, in the order of their first request, each once.
    pub(crate) fn sessions(&self) -> Vec<&str> {
        let mut sessions = Vec::new();
        for session in self.requests.iter().filter_map(|request| request["session"].as_str()) {
            if !sessions.contains(&session) {
                sessions.push(session);
            }
        }
        sessions
    }

    /// The requests of one session, its subagents' included.
    pub(crate) fn requests_of(&self, session: &str) -> Vec<&Value> {
        self.requests
            .iter()
            .filter(|request| request["session"] == session)
            .collect()
    }

    /// What each tool call of the parent was answered with, by the call's id, as the model was told.
    pub(crate) fn tool_results(&self) -> BTreeMap<String, String> {
        let mut own = self
            .requests_of(self.parent())
            .into_iter()
            .filter(|request| request["agent"].is_null());
        let Some(last) = own.next_back() else {
            return BTreeMap::new();
        };
        let messages = last["request"]["messages"].as_array().into_iter().flatten();
        let blocks = messages.flat_map(|message| message["content"].as_array().into_iter().flatten());
        blocks
            .filter(|block| block["type"] == "tool_result")
            .map(|block| {
                (
                    block["tool_use_id"].as_str().unwrap().to_owned(),
                    text_of(&block["content"]),
                )
            })
            .collect()
    }

    /// The cells' records, by file name.
    pub(crate) fn records(&self) -> BTreeMap<String, Value> {
        let names = names(&self.path("state/subcell/cells"), ".json");
        let read = |path: &PathBuf| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        names.into_iter().map(|(name, path)| (name, read(&path))).collect()
    }

    /// The lines of a session's transcript, the project folder's or a worktree's; empty where there is none.
    pub(crate) fn transcript(&self, session: &str) -> Vec<Value> {
        let projects = fs::read_dir(self.path("config/projects"))
            .into_iter()
            .flatten()
            .flatten();
        let files = projects.map(|project| project.path().join(format!("{session}.jsonl")));
        let text = files
            .into_iter()
            .find_map(|file| fs::read_to_string(file).ok())
            .unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A content that is a text, or the texts of its blocks one after the other.
pub(crate) fn text_of(content: &Value) -> String {
    let blocks = content
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|block| block["text"].as_str());
    content
        .as_str()
        .map_or_else(|| blocks.collect::<Vec<_>>().join("\n"), str::to_owned)
}

/// The files of a folder whose names end so, by name; none where there is no such folder.
fn names(folder: &Path, ending: &str) -> BTreeMap<String, PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
    named.filter(|(name, _)| name.ends_with(ending)).collect()
}

fn hooks(folder: &Path) -> Vec<Hook> {
    let read = |path: PathBuf| Hook {
        payload: serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap(),
        environment: fs::read_to_string(path.with_extension("env"))
            .unwrap()
            .split('\0')
            .filter_map(|variable| variable.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
    };
    names(folder, ".json").into_values().map(read).collect()
}

/// What a failed test needs to be understood, without the requests' long texts.
impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = |text: &str| text.chars().take(1500).collect::<String>();
        writeln!(f, "exit {:?}, left {:?}", self.exit, self.left)?;
        writeln!(f, "result: {}", cut(&self.result.to_string()))?;
        writeln!(
            f,
            "stderr: {}",
            cut(&fs::read_to_string(self.path("stderr.txt")).unwrap_or_default())
        )?;
        for hook in &self.hooks {
            writeln!(f, "hook: {}", cut(&hook.payload.to_string()))?;
        }
        for request in &self.requests {
            let messages = request["request"]["messages"].as_array();
            let last = messages.and_then(|all| all.last()).unwrap_or(&Value::Null).to_string();
            let tail: String = last.chars().skip(last.chars().count().saturating_sub(400)).collect();
            writeln!(
                f,
                "request {} of {} {} answered by {}: …{tail}",
                request["n"], request["session"], request["agent"], request["answered_by"],
            )?;
        }
        for (name, record) in self.records() {
            writeln!(f, "record {name}: {}", cut(&record.to_string()))?;
        }
        Ok(())
    }
}
