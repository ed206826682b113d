//! A builder over the real `subcell intercept`: a stand-in parent with a start environment of its own, a stand-in
//! client, a clean home, everything marked.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use wait_timeout::ChildExt;

use crate::inspect::{PATIENCE, marked};

pub(crate) const SESSION: &str = "7ac3eec2-10f1-4614-9470-ad45c7c6de2a";

/// A hook call to be.
pub(crate) struct Scene {
    pub(crate) home: TempDir,
    /// What the client was started with.
    start_env: BTreeMap<String, String>,
    /// What a settings file's `env` changes for the hook; `None` removes.
    hook_env: BTreeMap<String, Option<String>>,
    parent_args: Vec<String>,
    hook: Vec<String>,
    payload: Value,
    mark: String,
}

impl Scene {
    pub(crate) fn new(standin: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mark = format!("{}", uuid::Uuid::new_v4());
        let project = home.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let start_env = BTreeMap::from([
            ("HOME".to_owned(), text(home.path())),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            ("STANDIN".to_owned(), standin.to_owned()),
            ("TEST_MARK".to_owned(), mark.clone()),
        ]);
        let hook_env = BTreeMap::from([("CLAUDE_PROJECT_DIR".to_owned(), Some(text(&project)))]);
        let standin = env!("CARGO_BIN_EXE_subcell-standin");
        Self {
            start_env,
            hook_env,
            parent_args: vec!["--model".into(), "claude-sonnet-4-5".into()],
            hook: [env!("CARGO_BIN_EXE_subcell"), "intercept", "--claude", standin]
                .map(str::to_owned)
                .into(),
            payload: json!({
                "session_id": SESSION,
                "transcript_path": home.path().join("transcript.jsonl"),
                "cwd": project,
                "permission_mode": "default",
                "hook_event_name": "PreToolUse",
                "tool_name": "Agent",
                "tool_input": {"description": "judge", "prompt": "EVALUATE-X", "subagent_type": "general-purpose"},
                "tool_use_id": "toolu_1",
            }),
            mark,
            home,
        }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    pub(crate) fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Defines the agent `name` for the user.
    pub(crate) fn agent(&self, name: &str) {
        let text = format!("---\nname: {name}\ndescription: an agent\n---\nDo it.\n");
        self.file(&format!(".claude/agents/{name}.md"), &text);
    }

    pub(crate) fn start_env(mut self, name: &str, value: &str) -> Self {
        self.start_env.insert(name.into(), value.into());
        self
    }

    pub(crate) fn hook_env(mut self, name: &str, value: Option<&str>) -> Self {
        self.hook_env.insert(name.into(), value.map(str::to_owned));
        self
    }

    pub(crate) fn parent_args(mut self, args: &[&str]) -> Self {
        self.parent_args = args.iter().map(|arg| (*arg).to_owned()).collect();
        self
    }

    /// Adds flags; `--claude` replaces the stand-in.
    pub(crate) fn flags(mut self, flags: &[&str]) -> Self {
        if flags.contains(&"--claude") {
            self.hook.truncate(2);
        }
        self.hook.extend(flags.iter().map(|flag| (*flag).to_owned()));
        self
    }

    /// Replaces the hook's whole command line.
    pub(crate) fn hook(mut self, words: &[&str]) -> Self {
        self.hook = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    pub(crate) fn input(mut self, field: &str, value: Value) -> Self {
        self.payload["tool_input"][field] = value;
        self
    }

    pub(crate) fn payload(mut self, field: &str, value: Value) -> Self {
        self.payload[field] = value;
        self
    }

    pub(crate) fn run(&self) -> Run {
        self.run_on(self.payload.to_string().as_bytes())
    }

    /// Starts the hook of the same call under another id.
    pub(crate) fn start_as(&self, id: &str) -> Running {
        let mut payload = self.payload.clone();
        payload["tool_use_id"] = id.into();
        self.start_on(payload.to_string().as_bytes())
    }

    pub(crate) fn run_on(&self, stdin: &[u8]) -> Run {
        self.start_on(stdin).wait()
    }

    /// What `--dry-run` prints.
    pub(crate) fn dry_run(&self) -> String {
        let running = self.start();
        let output = running.parent.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn start(&self) -> Running {
        self.start_on(self.payload.to_string().as_bytes())
    }

    /// Starts a hook whose stdin stays open and empty.
    pub(crate) fn start_unfed(&self) -> Running {
        let (mut running, pipe) = self.start_parent();
        running.stdin = Some(pipe);
        running
    }

    fn start_on(&self, stdin: &[u8]) -> Running {
        let (running, mut pipe) = self.start_parent();
        let bytes = stdin.to_vec();
        // Another thread: a hook that does not read must not stop the test.
        std::thread::spawn(move || pipe.write_all(&bytes));
        running
    }

    fn start_parent(&self) -> (Running, ChildStdin) {
        let pid_file = self.home.path().join(format!("pid-{}", uuid::Uuid::new_v4()));
        let script = json!({"hook": self.hook, "env": self.hook_env, "pid_file": pid_file});
        let mut parent = Command::new(env!("CARGO_BIN_EXE_subcell-parent"))
            .args(&self.parent_args)
            .env_clear()
            .envs(&self.start_env)
            .env("STANDIN_PARENT", script.to_string())
            .current_dir(self.project())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let pipe = parent.stdin.take().unwrap();
        let running = Running {
            parent,
            stdin: None,
            pid_file,
            mark: format!("TEST_MARK={}", self.mark),
        };
        (running, pipe)
    }

    pub(crate) fn cells(&self) -> PathBuf {
        self.home.path().join(".local/state/subcell/cells")
    }

    pub(crate) fn records_in(folder: &Path) -> BTreeMap<String, Value> {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return BTreeMap::new();
        };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
            .map(|path| {
                let record = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                (path.file_stem().unwrap().to_str().unwrap().to_owned(), record)
            })
            .collect()
    }

    pub(crate) fn records(&self) -> BTreeMap<String, Value> {
        Self::records_in(&self.cells())
    }

    pub(crate) fn record(&self) -> Value {
        let records = self.records();
        assert_eq!(records.len(), 1, "{records:#?}");
        records.into_values().next().unwrap()
    }

    pub(crate) fn result(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.cells().join(format!("{name}.result"))).unwrap()
    }
}

/// A hook at work.
pub(crate) struct Running {
    parent: Child,
    /// Held open where a hook is to wait for its input.
    stdin: Option<ChildStdin>,
    pid_file: PathBuf,
    mark: String,
}

impl Running {
    /// The hook's pid, once it runs.
    pub(crate) fn pid(&self) -> i32 {
        wait_until(|| std::fs::read_to_string(&self.pid_file).ok())
            .parse()
            .unwrap()
    }

    /// Kills the stand-in for the client, which cannot tell its hook.
    pub(crate) fn kill_parent(mut self) {
        self.parent.kill().unwrap();
        self.parent.wait().unwrap();
    }

    /// Waits for the hook, after which nothing of the scene is left running.
    pub(crate) fn wait(self) -> Run {
        let mark = self.mark.clone();
        let run = self.wait_beside_others();
        let left = marked(&mark);
        assert!(left.is_empty(), "left running: {left:?}");
        run
    }

    /// Waits for the hook alone.
    pub(crate) fn wait_beside_others(self) -> Run {
        let mut parent = self.parent;
        let _held = self.stdin;
        let (stdout, stderr) = (parent.stdout.take().unwrap(), parent.stderr.take().unwrap());
        let read = |mut pipe: Box<dyn std::io::Read + Send>| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                pipe.read_to_end(&mut bytes).unwrap();
                bytes
            })
        };
        let (stdout, stderr) = (read(Box::new(stdout)), read(Box::new(stderr)));
        let status = parent
            .wait_timeout(PATIENCE)
            .unwrap()
            .unwrap_or_else(|| panic!("the hook did not end"));
        let stdout = String::from_utf8(stdout.join().unwrap()).unwrap();
        Run {
            code: status.code(),
            reply: (!stdout.is_empty()).then(|| serde_json::from_str(&stdout).unwrap()),
            stderr: String::from_utf8(stderr.join().unwrap()).unwrap(),
        }
    }
}

/// Asks again and again until there is an answer.
pub(crate) fn wait_until<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let until = std::time::Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(std::time::Instant::now() < until, "waited in vain");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// What came of a hook call.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) reply: Option<Value>,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn decision(&self) -> &Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.reply.as_ref().unwrap_or_else(|| panic!("no decision: {self:?}"))["hookSpecificOutput"]
    }

    pub(crate) fn updated(&self) -> &Value {
        let updated = &self.decision()["updatedInput"];
        assert!(updated.is_object(), "{self:?}");
        updated
    }

    /// What stands between the marks of the rewritten prompt.
    pub(crate) fn echoed(&self) -> String {
        let prompt = self.updated()["prompt"].as_str().unwrap();
        let (_, rest) = prompt.split_once("\nBEGIN-").unwrap();
        let (mark, rest) = rest.split_once('\n').unwrap();
        let (data, after) = rest.rsplit_once(&format!("\nEND-{mark}")).unwrap();
        assert_eq!(after, "");
        data.to_owned()
    }

    pub(crate) fn denied(&self) -> &str {
        assert_eq!(self.decision()["permissionDecision"], "deny", "{self:?}");
        self.decision()["permissionDecisionReason"].as_str().unwrap()
    }

    pub(crate) fn message(&self) -> &str {
        self.reply
            .as_ref()
            .and_then(|reply| reply["systemMessage"].as_str())
            .unwrap_or_default()
    }
}
