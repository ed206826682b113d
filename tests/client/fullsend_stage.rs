//! A run in fullsend's manner: the staged folder, the copied files, the environment, the client's command line, iterations,
//! extraction, validation, redaction and post script.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use wait_timeout::ChildExt;

use crate::clients;
use crate::fullsend::check::{Harness, load};
use crate::fullsend::redact::redact_folder;
use crate::fullsend::sandbox::{Host, Sandbox, run_script};
use crate::fullsend_ended::{Ended, RUN_SPAN, TRACE, collector, spans};
use crate::namespace::Namespace;

/// What the parent is asked by fullsend.
pub(crate) const TASK: &str = "Run the agent task";

/// A run to be.
pub(crate) struct Stage {
    pub(crate) version: &'static str,
    pub(crate) home: tempfile::TempDir,
    pub(crate) rules: Vec<Value>,
    pub(crate) agent: &'static str,
    pub(crate) iterations: usize,
}

impl Stage {
    pub(crate) fn new(version: &'static str, agent: &'static str) -> Self {
        let home = tempfile::Builder::new().prefix("subcell-fullsend-").tempdir().unwrap();
        let stage = Self {
            version,
            home,
            rules: Vec::new(),
            agent,
            iterations: 1,
        };
        // The built binary is larger than what fullsend copies; this stands in for it at its place.
        let binary = stage.path("built");
        fs::write(
            &binary,
            format!("#!/bin/sh\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_subcell")),
        )
        .unwrap();
        fs::set_permissions(&binary, Permissions::from_mode(0o755)).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/stage-fullsend.sh");
        let output = Command::new(script)
            .arg(stage.path("fullsend"))
            .arg("--binary")
            .arg(binary)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        if agent != "judge-parent" {
            // As HOW_TO says: a harness of its own, registered beside the first.
            let harness = fs::read_to_string(stage.path("fullsend/harness/judge-parent.yaml")).unwrap();
            let own = harness.replace("agents/judge-parent.md", &format!("agents/{agent}.md"));
            fs::write(stage.path(&format!("fullsend/harness/{agent}.yaml")), own).unwrap();
            let mut config = fs::read_to_string(stage.path("fullsend/config.yaml")).unwrap();
            config = format!("{config}  - source: harness/{agent}.yaml\n");
            fs::write(stage.path("fullsend/config.yaml"), config).unwrap();
        }
        stage
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.home.path().join(relative)
    }

    pub(crate) fn rule(mut self, when: Value, blocks: Value) -> Self {
        self.rules.push(json!({"when": when, "answer": {"blocks": blocks}}));
        self
    }

    /// The parent writes the topic and calls these agents in one message, writes the rest in the next, and ends.
    pub(crate) fn parent(self, calls: &[Value]) -> Self {
        let write = |command: &str| json!({"tool_use": {"name": "Bash", "input": {"command": command, "description": "Write"}}});
        let mut first = vec![write("echo Tides follow the moon. > \"$FULLSEND_OUTPUT_DIR/topic.md\"")];
        first.extend(
            calls
                .iter()
                .map(|input| json!({"tool_use": {"name": "Agent", "input": input}})),
        );
        let evaluation = self.path("box/sandbox/workspace/output/evaluation.md");
        let rest = json!([
            {"tool_use": {"name": "Write", "input": {"file_path": evaluation, "content": "{{tool_result}}"}}},
            write("echo Agreed. > \"$FULLSEND_OUTPUT_DIR/summary.md\""),
        ]);
        let nth = |nth: u64| json!({"role": "main", "prompt_contains": TASK, "nth": nth});
        self.rule(nth(1), json!(first))
            .rule(nth(2), rest)
            .rule(json!({"prompt_contains": TASK}), json!([{"text": "DONE"}]))
    }

    /// Judges answer by the schema, an Explore agent with text; a subagent of the parent repeats.
    pub(crate) fn judging(self, verdict: &Value) -> Self {
        let judge = json!({"role": "main", "prompt_contains": "JUDGE", "has_tool": "StructuredOutput", "has_tool_result": false});
        self.rule(
            json!({"role": "subagent", "prompt_contains": "\nBEGIN-"}),
            json!([{"echo": {}}]),
        )
        .rule(
            judge,
            json!([{"tool_use": {"name": "StructuredOutput", "input": verdict}}]),
        )
        .rule(
            json!({"role": "main", "prompt_contains": "JUDGE"}),
            json!([{"text": "JUDGED"}]),
        )
    }

    /// Runs it as `fullsend run` does.
    pub(crate) fn run(self) -> Ended {
        let harness = load(&self.path("fullsend"), self.agent).unwrap();
        let host = Host {
            env: [("ANTHROPIC_API_KEY".to_owned(), "not-a-real-key".to_owned())].into(),
        };
        let sandbox = Sandbox::assemble(&self.path("box"), &self.path("fullsend"), &harness, &host).unwrap();
        fs::write(self.path("script.json"), json!({"rules": self.rules}).to_string()).unwrap();
        let mut namespace = Namespace::start(&self.path("script.json"), &self.path("requests.jsonl"));
        let script = self.path("fullsend").join(harness.validation_script().unwrap());
        let mut validation = None;
        for n in 1..=self.iterations {
            self.iterate(&namespace, &harness, &sandbox, n);
            let found = run_script(
                &script,
                &self.path(&format!("run/iteration-{n}")),
                &[("FULLSEND_RUN_DIR", "run")],
            );
            validation = Some(found);
        }
        assert_eq!(namespace.end_model(), Some(0));
        redact_folder(&self.path("run"));
        let validation = validation.unwrap();
        let (collector, url) = collector(&self.path("spans.jsonl"));
        let post = harness
            .text("post_script")
            .filter(|_| validation.status.success())
            .map(|script| {
                let runner = harness.env("runner");
                let dir = self.path("fullsend").display().to_string();
                let runner: Vec<(String, String)> = runner
                    .into_iter()
                    .map(|(name, value)| (name, value.replace("${FULLSEND_DIR}", &dir)))
                    .collect();
                let mut env: Vec<(&str, &str)> = runner
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .collect();
                let given = format!("00-{TRACE}-{RUN_SPAN}-01");
                env.push(("TRACEPARENT", &given));
                // Relative to fullsend's folder, not to the script's.
                let iteration = format!("run/iteration-{}/output", self.iterations);
                env.push(("FULLSEND_VALIDATED_ITERATION_DIR", &iteration));
                env.push(("OTEL_EXPORTER_OTLP_ENDPOINT", &url));
                env.push(("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"));
                run_script(&self.path("fullsend").join(script), &self.path("run"), &env)
            });
        drop(collector);
        let requests = fs::read_to_string(self.path("requests.jsonl")).unwrap();
        Ended {
            spans: spans(&self.path("spans.jsonl")),
            requests: requests
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
            validation,
            post,
            iterations: self.iterations,
            home: self.home,
        }
    }

    pub(crate) fn iterate(&self, namespace: &Namespace, harness: &Harness, sandbox: &Sandbox, n: usize) {
        let iteration = self.path(&format!("run/iteration-{n}"));
        fs::create_dir_all(&iteration).unwrap();
        let mut client = namespace.command(Path::new("/bin/sh"));
        client
            .arg("-c")
            .arg(command(sandbox, harness, &clients::binary(self.version)))
            .env_clear();
        client
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", sandbox.path("/sandbox"))
            .env("ANTHROPIC_BASE_URL", &namespace.url);
        for name in [
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "DISABLE_AUTOUPDATER",
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
            "IS_SANDBOX",
        ] {
            client.env(name, "1");
        }
        client.stdin(Stdio::null());
        client.stdout(File::create(iteration.join("output.jsonl")).unwrap());
        client.stderr(File::create(iteration.join("stderr.txt")).unwrap());
        let mut client = client.spawn().unwrap();
        let status = client.wait_timeout(std::time::Duration::from_mins(4)).unwrap();
        assert!(
            status.is_some_and(|status| status.success()),
            "{}",
            fs::read_to_string(iteration.join("output.jsonl")).unwrap()
        );
        extract_output(&sandbox.path("/sandbox/workspace/output"), &iteration.join("output"));
        extract_transcripts(
            &sandbox.path("/sandbox/claude-config"),
            &iteration.join("transcripts"),
            &harness.agent,
        );
        // Dotfiles and the transcripts below projects/ stay.
        for entry in fs::read_dir(sandbox.path("/sandbox/workspace/output"))
            .unwrap()
            .flatten()
        {
            if !entry.file_name().to_string_lossy().starts_with('.') {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    }
}

/// Copies the files of the output folder, dotfiles and folders as well, links not.
fn extract_output(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            extract_output(&path, &target);
        } else if kind.is_file() {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Copies every `.jsonl` below the client's folder, under one flat name each.
fn extract_transcripts(from: &Path, to: &Path, agent: &str) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            extract_transcripts(&path, to, agent);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            let name = format!("{agent}-{}", entry.file_name().to_str().unwrap());
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// The script that `sh -c` runs in the sandbox; `claude` is the program there.
fn command(sandbox: &Sandbox, harness: &Harness, claude: &Path) -> String {
    let settings = if harness.has_security() {
        format!(
            "--settings '{}' ",
            sandbox.path("/sandbox/claude-config/hooks.json").display()
        )
    } else {
        String::new()
    };
    let model = harness
        .text("model")
        .map(|model| format!("--model '{model}' "))
        .unwrap_or_default();
    format!(
        "cd {} && . {} && {} --print --verbose --output-format stream-json {settings}{model}--agent '{}' --dangerously-skip-permissions 'Run the agent task'",
        sandbox.path("/sandbox/workspace/repo").display(),
        sandbox.path("/sandbox/workspace/.env").display(),
        claude.display(),
        harness.agent,
    )
}
