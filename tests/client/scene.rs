//! What is set up before a run of the real client.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::clients;
use crate::namespace::Namespace;
use crate::run::{Exit, Run};
use crate::settings::{fullsend_hooks, logging_hooks, merge, shipped_hooks};

/// What the parent is asked; rules for it say `"prompt_contains": PARENT`.
pub(crate) const PARENT: &str = "PARENT-TASK";

/// A run to be: a builder whose [`Scene::run`] runs the parent to its end.
pub(crate) struct Scene {
    version: &'static str,
    dir: tempfile::TempDir,
    rules: Vec<Value>,
    settings: Value,
    project_settings: Option<Value>,
    environment: Vec<(String, String)>,
    mode: Vec<String>,
    arguments: Vec<String>,
    deadline: Duration,
    collector: bool,
    /// What the parent gets once a cell asks the model.
    signal: Option<Signal>,
}

impl Scene {
    /// A scene with empty folders, hooks that log, a parent without permission prompts, and no rule yet.
    pub(crate) fn new(version: &'static str) -> Self {
        let dir = tempfile::Builder::new().prefix("subcell-client-").tempdir().unwrap();
        for folder in ["home", "config", "state", "work", "tmp", "hooks"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        Self {
            version,
            settings: logging_hooks(&dir.path().join("hooks")),
            dir,
            rules: Vec::new(),
            project_settings: None,
            environment: Vec::new(),
            mode: vec!["--dangerously-skip-permissions".to_owned()],
            arguments: Vec::new(),
            deadline: Duration::from_mins(2),
            collector: false,
            signal: None,
        }
    }

    /// Adds a rule to the model's script; the first that matches answers.
    pub(crate) fn rule(mut self, when: Value, blocks: Value) -> Self {
        self.rules.push(json!({"when": when, "answer": {"blocks": blocks}}));
        self
    }

    /// Adds a rule that has more than conditions and blocks.
    pub(crate) fn raw_rule(mut self, rule: Value) -> Self {
        self.rules.push(rule);
        self
    }

    /// The parent calls `Agent` with each of these inputs in one message, then says `PARENT-DONE` and the results.
    pub(crate) fn parent_calls(self, inputs: &[Value]) -> Self {
        let calls: Vec<Value> = inputs
            .iter()
            .map(|input| json!({"tool_use": {"name": "Agent", "input": input}}))
            .collect();
        self.rule(
            json!({"prompt_contains": PARENT, "has_tool_result": false}),
            json!(calls),
        )
        .rule(
            json!({"prompt_contains": PARENT}),
            json!([{"text": "PARENT-DONE\n{{tool_result}}"}]),
        )
    }

    /// Lays `settings` over the user's.
    pub(crate) fn settings(mut self, settings: Value) -> Self {
        merge(&mut self.settings, settings);
        self
    }

    /// Leaves the hook out that logs `event`: it is for every tool, and could rewrite an output as well as any.
    pub(crate) fn without_logging(mut self, event: &str) -> Self {
        let entries = self.settings["hooks"][event].as_array_mut().unwrap();
        entries.retain(|entry| entry["hooks"][0]["args"][2] != "log");
        self
    }

    /// Puts our hook into the user's settings and our agent beside them, as they are shipped.
    pub(crate) fn isolated(self) -> Self {
        self.settings(shipped_hooks()).echo_agent()
    }

    /// The same as it is shipped for fullsend: by echo alone.
    pub(crate) fn isolated_by_echo(self) -> Self {
        self.settings(fullsend_hooks()).echo_agent()
    }

    /// Our agent beside the user's settings, as it is shipped.
    pub(crate) fn echo_agent(self) -> Self {
        self.file(
            "config/agents/echo-through.md",
            include_str!("../../agents/echo-through.md"),
        )
    }

    /// Lays `settings` over the project's `.claude/settings.json`.
    pub(crate) fn project_settings(mut self, settings: Value) -> Self {
        merge(self.project_settings.get_or_insert_with(|| json!({})), settings);
        self
    }

    /// The project's settings set these variables, as a repository that is checked out may.
    pub(crate) fn project_env(self, variables: &[(&str, &str)]) -> Self {
        let env: serde_json::Map<_, _> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Value::from(*value)))
            .collect();
        self.project_settings(json!({"env": env}))
    }

    /// Sets a variable in the parent's start environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The parent's arguments that set its permission mode, in place of bypass.
    pub(crate) fn mode(mut self, arguments: &[&str]) -> Self {
        self.mode = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        self
    }

    /// Adds arguments of the parent.
    pub(crate) fn args(mut self, arguments: &[&str]) -> Self {
        self.arguments
            .extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    /// Writes a file, its path relative to the run's folder (`work/…`, `home/…`, `config/…`).
    pub(crate) fn file(self, path: &str, content: &str) -> Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Writes a program, as a file of the run's folder.
    pub(crate) fn program(self, path: &str, content: &str) -> Self {
        let scene = self.file(path, content);
        fs::set_permissions(scene.path(path), PermissionsExt::from_mode(0o755)).unwrap();
        scene
    }

    /// Makes the project a git repository with one commit.
    pub(crate) fn git(self) -> Self {
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.env_clear()
                .env("PATH", path_variable())
                .env("HOME", self.path("home"));
            git.args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
                .args(arguments);
            let output = git.current_dir(self.path("work")).output().expect("start git");
            assert!(
                output.status.success(),
                "git {arguments:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        };
        git(&["init", "--quiet", "--initial-branch=main"]);
        git(&["commit", "--quiet", "--allow-empty", "--message=start"]);
        self
    }

    /// Runs our own program as the user does, in the project, on the files as they are by now.
    pub(crate) fn subcell(mut self, arguments: &[&str]) -> Self {
        self.write();
        let mut command = Command::new(env!("CARGO_BIN_EXE_subcell"));
        self.set_environment(&mut command, "");
        let output = command.args(arguments).current_dir(self.path("work")).output().unwrap();
        assert!(output.status.success(), "subcell {arguments:?}: {output:?}");
        self.read_settings_back();
        self
    }

    /// Runs a command of the client itself, in the project, on the files as they are by now.
    pub(crate) fn client(mut self, arguments: &[&str]) -> Self {
        self.write();
        let mut namespace = Namespace::start(&self.path("script.json"), &self.path("before.jsonl"));
        let mut command = namespace.command(&clients::binary(self.version));
        self.set_environment(&mut command, &namespace.url);
        let output = command.args(arguments).current_dir(self.path("work")).output().unwrap();
        assert!(output.status.success(), "client {arguments:?}: {output:?}");
        namespace.end_model();
        self.read_settings_back();
        self
    }

    fn read_settings_back(&mut self) {
        let settings = fs::read_to_string(self.path("config/settings.json")).unwrap();
        self.settings = serde_json::from_str(&settings).unwrap();
    }

    /// How long the parent may take.
    pub(crate) fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Runs a collector of OTLP in JSON beside the model; what it is sent is in `spans.jsonl`.
    pub(crate) fn collector(mut self) -> Self {
        self.collector = true;
        self
    }

    /// The parent gets this signal as soon as a cell runs.
    pub(crate) fn parent_gets(mut self, signal: Signal) -> Self {
        self.signal = Some(signal);
        self
    }

    /// A path in the run's folder.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    /// Runs the parent to its end, and fails where it is not there in time.
    pub(crate) fn run(self) -> Run {
        self.write();
        let mut namespace = Namespace::start(&self.path("script.json"), &self.path("requests.jsonl"));
        let collector = self.collector.then(|| namespace.collector(&self.path("spans.jsonl")));
        let started = Instant::now();
        let exit = self.run_client(&namespace);
        let took = started.elapsed();
        drop(collector);
        // What the parent leaves is given a moment: its own helpers end after it.
        let left = match exit {
            Exit::Late => namespace.processes(),
            Exit::Code(_) | Exit::Signal => namespace.processes_left_after(Duration::from_secs(2)),
        };
        let left = left.into_iter().map(|process| process.command).collect();
        let model_exit = namespace.end_model();
        drop(namespace);
        let run = Run::read(self.dir, exit, left);
        assert_ne!(
            exit,
            Exit::Late,
            "client {} did not end within {took:?}; {run:?}",
            self.version
        );
        assert_eq!(model_exit, Some(0), "the model was told to end; {run:?}");
        run
    }

    fn write(&self) {
        let write = |path: &str, value: &Value| {
            let path = self.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, value.to_string()).unwrap();
        };
        write("script.json", &json!({"rules": self.rules}));
        write("config/settings.json", &self.settings);
        if let Some(settings) = &self.project_settings {
            write("work/.claude/settings.json", settings);
        }
    }

    /// Runs the parent, and waits for its end as long as it may take.
    fn run_client(&self, namespace: &Namespace) -> Exit {
        let mut client = namespace.command(&clients::binary(self.version));
        client.args(["-p", PARENT, "--output-format", "json", "--model", "claude-sonnet-4-5"]);
        client.args(&self.mode).args(&self.arguments);
        self.set_environment(&mut client, &namespace.url);
        // Regular files: these clients cut what they print into a pipe.
        let output = |name: &str| File::create(self.path(name)).unwrap();
        client
            .stdin(Stdio::null())
            .stdout(output("result.json"))
            .stderr(output("stderr.txt"));
        let mut client = client.current_dir(self.path("work")).spawn().expect("start the client");
        if let Some(signal) = self.signal {
            let asked = || fs::read_to_string(self.path("requests.jsonl")).unwrap_or_default();
            wait_until(self.deadline, || sessions_of(&asked()).len() > 1);
            kill_process(Pid::from_child(&client), signal).unwrap();
        }
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || tell.send(client.wait().unwrap().code().map_or(Exit::Signal, Exit::Code)));
        told.recv_timeout(self.deadline).unwrap_or(Exit::Late)
    }

    fn set_environment(&self, client: &mut Command, url: &str) {
        client.env_clear().env("PATH", path_variable());
        for (name, folder) in [
            ("HOME", "home"),
            ("CLAUDE_CONFIG_DIR", "config"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CONFIG_HOME", "home/.config"),
            ("TMPDIR", "tmp"),
            ("CLAUDE_CODE_TMPDIR", "tmp"),
        ] {
            client.env(name, self.path(folder));
        }
        client
            .env("ANTHROPIC_BASE_URL", url)
            .env("ANTHROPIC_API_KEY", "not-a-real-key")
            .env("TERM", "dumb");
        for name in [
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "DISABLE_AUTOUPDATER",
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
            // Else root may not run it without permission prompts.
            "IS_SANDBOX",
        ] {
            client.env(name, "1");
        }
        client.envs(self.environment.iter().map(|(name, value)| (name, value)));
    }
}

/// The sessions of a request log.
fn sessions_of(log: &str) -> BTreeSet<String> {
    let requests = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    requests
        .filter_map(|request| Some(request["session"].as_str()?.to_owned()))
        .collect()
}

/// Asks again and again until it is so.
fn wait_until(limit: Duration, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + limit;
    while !is_so() {
        assert!(Instant::now() < end, "waited in vain");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

fn path_variable() -> std::ffi::OsString {
    std::env::var_os("PATH").expect("PATH is set")
}

/// The input of an `Agent` call that is waited for.
pub(crate) fn call(prompt: &str) -> Value {
    json!({"description": "judge", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": false})
}
