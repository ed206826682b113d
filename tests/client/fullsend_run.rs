//! A whole run in fullsend's manner, with the real client against the scripted model: staged folder, files copied,
//! environment, the client's command line, iterations, extraction, validation, redaction and post script.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use wait_timeout::ChildExt;

use crate::fullsend::check::{Harness, load};
use crate::fullsend::redact::redact_folder;
use crate::fullsend::sandbox::{Host, Sandbox, run_script};
use crate::namespace::Namespace;
use crate::{NEWEST, clients};

macro_rules! on_fullsends_versions {
    ($($flow:ident),+ $(,)?) => {
        mod newest { $(#[test] fn $flow() { super::$flow(crate::NEWEST); })+ }
        mod oldest { $(#[test] fn $flow() { super::$flow(crate::OLDEST); })+ }
        mod v2_1_226 { $(#[test] fn $flow() { super::$flow(crate::BETWEEN[0]); })+ }
    };
}
on_fullsends_versions!(
    one_judge,
    a_panel_of_nine_and_a_tenth,
    a_verdict_against_its_schema,
    a_hook_that_is_not_there,
    a_second_iteration,
);

/// What the parent is asked by fullsend.
const TASK: &str = "Run the agent task";

/// A run to be.
struct Stage {
    version: &'static str,
    home: tempfile::TempDir,
    rules: Vec<Value>,
    agent: &'static str,
    iterations: usize,
}

/// A run that has ended.
struct Ended {
    home: tempfile::TempDir,
    validation: Output,
    post: Option<Output>,
    requests: Vec<Value>,
    iterations: usize,
}

impl Stage {
    fn new(version: &'static str, agent: &'static str) -> Self {
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

    fn path(&self, relative: &str) -> PathBuf {
        self.home.path().join(relative)
    }

    fn rule(mut self, when: Value, blocks: Value) -> Self {
        self.rules.push(json!({"when": when, "answer": {"blocks": blocks}}));
        self
    }

    /// The parent writes the topic and calls these agents in one message, writes the rest in the next, and ends.
    fn parent(self, calls: &[Value]) -> Self {
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
    fn judging(self, verdict: &Value) -> Self {
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
    fn run(self) -> Ended {
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
                env.push(("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
                // Relative to fullsend's folder, not to the script's.
                let iteration = format!("run/iteration-{}/output", self.iterations);
                env.push(("FULLSEND_VALIDATED_ITERATION_DIR", &iteration));
                run_script(&self.path("fullsend").join(script), &self.path("run"), &env)
            });
        let requests = fs::read_to_string(self.path("requests.jsonl")).unwrap();
        Ended {
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

    fn iterate(&self, namespace: &Namespace, harness: &Harness, sandbox: &Sandbox, n: usize) {
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

impl Ended {
    fn iteration(&self, relative: &str) -> PathBuf {
        self.home
            .path()
            .join(format!("run/iteration-{}", self.iterations))
            .join(relative)
    }

    fn output(&self, name: &str) -> String {
        fs::read_to_string(self.iteration("output").join(name)).unwrap_or_default()
    }

    fn told(&self) -> String {
        String::from_utf8_lossy(&self.validation.stdout).into_owned()
    }

    fn records(&self) -> Vec<Value> {
        let entries = fs::read_dir(self.iteration("output/.subcell/cells"))
            .into_iter()
            .flatten()
            .flatten();
        let paths = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"));
        paths
            .map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
            .collect()
    }

    fn of_kind(&self, kind: &str) -> Vec<Value> {
        let word = |record: &Value| {
            record["state"]["ending"]["kind"]
                .as_str()
                .or(record["state"]["kind"].as_str())
                == Some(kind)
        };
        self.records().into_iter().filter(word).collect()
    }

    fn transcripts(&self) -> usize {
        fs::read_dir(self.iteration("transcripts")).unwrap().count()
    }

    fn assert_complete(&self) {
        assert!(
            self.validation.status.success(),
            "{}; {:#?}; {}",
            self.told(),
            self.records(),
            self.output("evaluation.md")
        );
        let post = self.post.as_ref().unwrap();
        assert!(post.status.success(), "{post:?}");
        // The sum over the records, also after the redaction.
        let costs: Value = serde_json::from_str(&self.output(".spawned-cost.json")).unwrap();
        let sum: f64 = self
            .records()
            .iter()
            .filter_map(|record| record["state"]["cost_usd"].as_f64())
            .sum();
        assert!(
            (costs["total_cost_usd"].as_f64().unwrap() - sum).abs() < 1e-9 && sum > 0.0,
            "{costs}"
        );
    }
}

fn verdict() -> Value {
    json!({"scores": [{"criterion": "accuracy", "score": 4, "reason": "sk-true"}], "unread": [], "change": "add a figure"})
}

fn judge(prompt: &str) -> Value {
    json!({"description": "judge", "prompt": format!("JUDGE {prompt}"), "subagent_type": "judge", "run_in_background": false})
}

fn one_judge(version: &'static str) {
    let run = Stage::new(version, "judge-parent")
        .judging(&verdict())
        .parent(&[judge("one")])
        .run();
    run.assert_complete();
    let records = run.of_kind("completed");
    assert_eq!((records.len(), run.records().len()), (1, 1));
    // Parent, cell and echo.
    assert_eq!(run.transcripts(), 3);
    assert!(
        run.output("evaluation.md").contains("add a figure"),
        "{}",
        run.output("evaluation.md")
    );
    assert!(!run.output("topic.md").is_empty() && !run.output("summary.md").is_empty());
    assert_eq!(records[0]["asked"]["cost_limit"], json!({"usd": 0.5, "of": "cell"}));
    // fullsend's hooks ran in the parent and in the cell.
    let ran = fs::read_to_string(run.home.path().join("box/sandbox/workspace/.security/ran")).unwrap();
    let clients: std::collections::BTreeSet<&str> = ran.lines().collect();
    assert!(clients.len() >= 2, "{ran}");
}

/// Three models, background asked for, an Explore agent among them; the budget is for nine.
fn a_panel_of_nine_and_a_tenth(version: &'static str) {
    let mut calls: Vec<Value> = (0..9)
        .map(|n| {
            let mut call = judge(&format!("{n}"));
            call["model"] = ["haiku", "sonnet", "opus"][n % 3].into();
            call["run_in_background"] = (n % 2 == 0).into();
            call
        })
        .collect();
    calls[4]["subagent_type"] = "Explore".into();
    calls.push(judge("the tenth"));
    let run = Stage::new(version, "judge-panel")
        .judging(&verdict())
        .parent(&calls)
        .run();
    run.assert_complete();
    assert_eq!(
        (run.of_kind("completed").len(), run.of_kind("refused").len()),
        (9, 1),
        "{:#?}",
        run.records()
    );
    let reason = run.of_kind("refused")[0]["state"]["reason"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(reason.contains("max_cells allows 9"), "{reason}");
    assert!(
        run.output("evaluation.md").contains("max_cells allows 9"),
        "{}",
        run.output("evaluation.md")
    );
    // The parent, nine cells, nine echoes.
    assert_eq!(run.transcripts(), 19);
    for family in ["haiku", "sonnet", "opus"] {
        let of_family = run
            .of_kind("completed")
            .into_iter()
            .filter(|record| record["state"]["model_used"].as_str().unwrap().contains(family));
        assert!(of_family.count() >= 2, "{family}");
    }
}

/// A judge that never meets its schema, and one that meets it with a score outside of it.
fn a_verdict_against_its_schema(version: &'static str) {
    let wrong = json!({"scores": [{"criterion": "accuracy", "score": 11, "reason": "more than all"}], "unread": [], "change": "none"});
    let run = Stage::new(version, "judge-parent")
        .judging(&wrong)
        .parent(&[judge("one")])
        .run();
    let records = run.records();
    assert_eq!(records.len(), 1);
    assert_ne!(records[0]["state"]["ending"]["kind"], "completed", "{records:#?}");
    assert!(!run.validation.status.success());
    assert!(
        run.told().contains("holds a failed cell, not a judgement"),
        "{}",
        run.told()
    );
    assert!(run.told().contains("nothing ran in isolation"), "{}", run.told());
}

/// A run bit that `expand` took: 2.1.332 blocks the call, older clients run it un-isolated, and both are told.
fn a_hook_that_is_not_there(version: &'static str) {
    let stage = Stage::new(version, "judge-parent");
    let harness = stage.path("fullsend/harness/judge-parent.yaml");
    let text = fs::read_to_string(&harness).unwrap();
    let dest = "dest: /sandbox/workspace/bin/subcell";
    fs::write(&harness, text.replacen(dest, &format!("{dest}\n    expand: true"), 1)).unwrap();
    let run = stage
        .rule(
            json!({"role": "subagent", "prompt_contains": "JUDGE"}),
            json!([{"text": "UNISOLATED"}]),
        )
        .judging(&verdict())
        .parent(&[judge("one")])
        .run();
    assert!(run.records().is_empty());
    assert!(run.told().contains("nothing ran in isolation"), "{}", run.told());
    assert_eq!(
        run.output("evaluation.md").contains("UNISOLATED"),
        version != NEWEST,
        "{}",
        run.output("evaluation.md")
    );
}

/// The records of the first iteration are still there in the second, each once.
fn a_second_iteration(version: &'static str) {
    let mut stage = Stage::new(version, "judge-parent");
    stage.iterations = 2;
    let run = stage.judging(&verdict()).parent(&[judge("one")]).run();
    run.assert_complete();
    let sessions: std::collections::BTreeSet<String> = run
        .records()
        .iter()
        .map(|record| record["child_session"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((run.records().len(), sessions.len()), (2, 2));
    assert!(!run.requests.is_empty());
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
