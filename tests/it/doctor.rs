//! `subcell doctor`: a good set-up, and what is broken in others. Each is real files and a real run of the binary; the
//! client is a stand-in whose version stands in the `package.json` beside it.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const SUBCELL: &str = env!("CARGO_BIN_EXE_subcell");
/// What depends on the machine that the tests run on.
const OF_THE_MACHINE: [&str; 4] = ["state-volatile", "state-on-network", "disk-low", "disk-full"];

/// A good set-up, to be broken.
struct Setup {
    dir: tempfile::TempDir,
    settings: Value,
    env: Vec<(&'static str, Option<String>)>,
    options: Vec<String>,
    folder: &'static str,
}

impl Setup {
    fn good() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let shipped = include_str!("../../config/claude-hooks.json");
        let built = shipped.replace("\"command\": \"subcell\"", &format!("\"command\": {}", json!(SUBCELL)));
        let setup = Self {
            dir,
            settings: serde_json::from_str(&built).unwrap(),
            env: Vec::new(),
            options: Vec::new(),
            folder: "work",
        };
        setup.file("work/README", "");
        setup.file(
            "config/agents/echo-through.md",
            include_str!("../../agents/echo-through.md"),
        );
        setup.client("2.1.332");
        setup
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn program(&self, path: &str, text: &str) {
        self.file(path, text);
        std::fs::set_permissions(self.at(path), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn client(&self, version: &str) {
        self.program("bin/claude", "#!/bin/sh\n");
        let package = json!({"name": "@anthropic-ai/claude-code", "version": version});
        self.file("bin/package.json", &package.to_string());
    }

    /// The entry of `intercept`.
    fn entry(&mut self) -> &mut Value {
        &mut self.settings["hooks"]["PreToolUse"][0]["hooks"][0]
    }

    fn env(&mut self, name: &'static str, value: &str) {
        self.env.push((name, Some(value.to_owned())));
    }

    fn options(&mut self, options: &[&str]) {
        self.options = options.iter().map(|option| (*option).to_owned()).collect();
    }

    fn project(&self, settings: &Value) {
        self.file("work/.claude/settings.json", &settings.to_string());
    }

    /// The exit code, and the report.
    fn examine(&self) -> (i32, Value) {
        if !self.settings.is_null() {
            self.file("config/settings.json", &self.settings.to_string());
        }
        let mut doctor = Command::new(SUBCELL);
        doctor.args(["doctor", "--json", "--"]).args(&self.options).env_clear();
        doctor.env("PATH", format!("{}:/usr/bin:/bin", self.at("bin").display()));
        for (name, folder) in [
            ("HOME", "home"),
            ("CLAUDE_CONFIG_DIR", "config"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CONFIG_HOME", "xdg"),
        ] {
            doctor.env(name, self.at(folder));
        }
        doctor.env("ANTHROPIC_API_KEY", "not-a-real-key").env("IS_SANDBOX", "1");
        for (name, value) in &self.env {
            match value {
                Some(value) => doctor.env(name, value),
                None => doctor.env_remove(name),
            };
        }
        let output = doctor
            .current_dir(self.at(self.folder))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut reports: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code().unwrap(), reports.remove(0))
    }

    /// What is found, those of the machine aside: id and severity.
    fn findings(&self) -> Vec<(String, String)> {
        let (code, report) = self.examine();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let found = report["findings"].as_array().unwrap();
        for finding in found {
            for part in ["what", "why", "fix"] {
                assert!(!text(&finding[part]).is_empty(), "{finding}");
            }
        }
        let found: Vec<(String, String)> = found
            .iter()
            .map(|finding| (text(&finding["id"]), text(&finding["severity"])))
            .collect();
        let worst = if found.iter().any(|(_, severity)| severity == "broken") {
            2
        } else {
            i32::from(!found.is_empty())
        };
        assert_eq!(code, worst, "{report}");
        found
            .into_iter()
            .filter(|(id, _)| !OF_THE_MACHINE.contains(&id.as_str()))
            .collect()
    }
}

#[test]
fn nothing_is_said_of_a_good_one() {
    assert_eq!(Setup::good().findings(), []);
    // As it is shipped, by the bare name, with the binary on the PATH; and by echo alone.
    for shipped in [
        include_str!("../../config/claude-hooks.json"),
        include_str!("../../config/claude-hooks-fullsend.json"),
    ] {
        let mut setup = Setup::good();
        setup.settings = serde_json::from_str(shipped).unwrap();
        std::os::unix::fs::symlink(SUBCELL, setup.at("bin/subcell")).unwrap();
        assert_eq!(setup.findings(), []);
    }
    // In the project's settings, in local ones, and in a file that is given.
    for place in [
        "work/.claude/settings.json",
        "work/.claude/settings.local.json",
        "given.json",
    ] {
        let mut setup = Setup::good();
        let settings = std::mem::take(&mut setup.settings);
        setup.file(place, &settings.to_string());
        if place == "given.json" {
            setup.options(&["--settings", "../given.json"]);
        }
        assert_eq!(setup.findings(), [], "{place}");
    }
}

#[test]
fn a_look_leaves_nothing_behind() {
    let setup = Setup::good();
    setup.examine();
    assert!(!setup.at("state").exists() && !setup.at("home").exists());
}

type Case = (&'static str, &'static str, fn(&mut Setup));

/// What is broken, the finding, and whether it leaves calls isolated.
const BROKEN: &[Case] = &[
    ("hook-missing", "broken", |s| s.settings = json!({})),
    ("hook-missing", "broken", |s| {
        let settings = std::mem::take(&mut s.settings);
        s.file("config/settings.local.json", &settings.to_string());
    }),
    ("wrong-scope", "warning", |s| {
        s.file("config/settings.local.json", &s.settings.to_string());
    }),
    ("wrong-scope", "warning", |s| {
        s.file("home/.claude/settings.json", &s.settings.to_string());
    }),
    ("wrong-scope", "warning", |s| {
        s.project(&s.settings);
        s.file("work/sub/x", "");
        s.folder = "work/sub";
    }),
    ("scope-left-out", "warning", |s| {
        s.options(&["--setting-sources", "project"]);
    }),
    ("settings-dropped", "warning", |s| {
        s.file("work/.claude/settings.json", "// mine\n{}");
    }),
    ("settings-dropped", "warning", |s| s.entry()["timeout"] = json!("400")),
    ("settings-dropped", "warning", |s| {
        s.settings["permissions"] = json!("none");
    }),
    ("settings-dropped", "warning", |s| {
        s.options(&["--settings", "gone.json"]);
    }),
    ("settings-given-twice", "warning", |s| {
        s.options(&["--settings", "{}", "--settings", "{}"]);
    }),
    ("hooks-disabled", "broken", |s| {
        s.settings["disableAllHooks"] = json!(true);
    }),
    ("hooks-disabled", "broken", |s| {
        s.project(&json!({"disableAllHooks": true}));
    }),
    ("hooks-disabled", "broken", |s| {
        s.options(&["--managed-settings", r#"{"disableAllHooks":true}"#]);
    }),
    ("managed-hooks-only", "broken", |s| {
        s.options(&["--managed-settings", r#"{"allowManagedHooksOnly":true}"#]);
    }),
    ("simple-mode", "broken", |s| s.env("CLAUDE_CODE_SIMPLE", "1")),
    ("simple-mode", "broken", |s| {
        s.settings["env"] = json!({"CLAUDE_CODE_SIMPLE": "1"});
    }),
    ("simple-mode", "broken", |s| {
        s.client("2.1.156");
        s.project(&json!({"env": {"CLAUDE_CODE_SIMPLE": "1"}}));
    }),
    ("hooks-off-by-option", "broken", |s| s.options(&["--bare"])),
    ("hooks-off-by-option", "broken", |s| s.options(&["--safe-mode"])),
    ("agent-tool-off", "broken", |s| s.options(&["--tools", "Bash,Read"])),
    ("agent-tool-off", "broken", |s| {
        s.options(&["--disallowedTools", "Task"]);
    }),
    ("agent-denied", "broken", |s| {
        s.settings["permissions"] = json!({"deny": ["Agent(*)"]});
    }),
    ("repository-env", "warning", |s| {
        s.project(&json!({"env": {"FULLSEND_HOOK_SPAWNED": "1"}}));
    }),
    ("repository-env", "warning", |s| {
        s.project(&json!({"env": {"LD_PRELOAD": "/x.so"}}));
    }),
    ("config-dir-in-settings", "broken", |s| {
        s.settings["env"] = json!({"CLAUDE_CONFIG_DIR": "/x"});
    }),
    ("fork-mode", "warning", |s| s.env("CLAUDE_CODE_FORK_SUBAGENT", "1")),
    ("fork-mode", "warning", |s| {
        s.project(&json!({"env": {"CLAUDE_CODE_FORK_SUBAGENT": "true"}}));
    }),
    ("matcher-misses-agent", "broken", |s| {
        s.settings["hooks"]["PreToolUse"][0]["matcher"] = json!("agent|task");
    }),
    ("matcher-one-name", "warning", |s| {
        s.settings["hooks"]["PreToolUse"][0]["matcher"] = json!("Task");
    }),
    ("hook-timeout-low", "broken", |s| s.entry()["timeout"] = json!(60)),
    ("hook-timeout-low", "broken", |s| {
        s.file("xdg/subcell/subcell.toml", "[intercept]\ntimeout_s = 900\n");
    }),
    ("hook-timeout-low", "broken", |s| {
        s.entry()["args"] = json!(["intercept", "--timeout", "360"]);
    }),
    ("fails-open", "warning", |s| {
        s.entry().as_object_mut().unwrap().remove("onFailure");
    }),
    ("hook-path-gone", "broken", |s| {
        s.entry()["command"] = json!("/nowhere/subcell");
    }),
    ("hook-path-gone", "broken", |s| s.entry()["command"] = json!("subcell")),
    ("hook-path-gone", "broken", |s| {
        std::os::unix::fs::symlink(SUBCELL, s.at("bin/subcell")).unwrap();
        s.entry()["command"] = json!("subcell");
        s.settings["env"] = json!({"PATH": "/usr/bin"});
    }),
    ("hook-not-executable", "broken", |s| {
        s.file("plain/subcell", "");
        s.entry()["command"] = json!(s.at("plain/subcell"));
    }),
    ("hook-path-unexpanded", "broken", |s| {
        s.entry()["command"] = json!("~/.local/bin/subcell");
    }),
    ("hook-path-relative", "warning", |s| {
        s.program("work/tools/subcell", "#!/bin/sh\n");
        s.entry()["command"] = json!("./tools/subcell");
    }),
    ("hook-path-by-repository", "broken", |s| {
        std::os::unix::fs::symlink(SUBCELL, s.at("bin/subcell")).unwrap();
        s.entry()["command"] = json!("subcell");
        s.project(&json!({"env": {"PATH": s.at("bin")}}));
    }),
    ("hook-other-version", "warning", |s| {
        s.program("old/subcell", "#!/bin/sh\necho subcell 0.0.1\n");
        s.entry()["command"] = json!(s.at("old/subcell"));
    }),
    ("hook-arguments-wrong", "broken", |s| {
        s.entry()["args"] = json!(["intercept", "--delivry", "echo"]);
    }),
    ("hook-async", "broken", |s| s.entry()["async"] = json!(true)),
    ("hook-conditional", "broken", |s| {
        s.entry()["if"] = json!("Agent(reviewer)");
    }),
    ("installed-twice", "warning", |s| {
        let mut other = s.settings.clone();
        other["hooks"]["PreToolUse"][0]["hooks"][0]["args"] = json!(["intercept"]);
        s.project(&other);
    }),
    ("racing-hook", "warning", |s| {
        let rival = json!({"matcher": "*", "hooks": [{"type": "command", "command": "/x/rewrite.py", "timeout": 5}]});
        s.settings["hooks"]["PreToolUse"].as_array_mut().unwrap().push(rival);
    }),
    ("racing-seal", "warning", |s| {
        let rival = json!({"matcher": "Agent", "hooks": [{"type": "command", "command": "/x/redact.py"}]});
        s.project(&json!({"hooks": {"PostToolUse": [rival]}}));
    }),
    ("seal-missing", "broken", |s| {
        s.settings["hooks"].as_object_mut().unwrap().remove("PostToolUse");
    }),
    ("fails-over-to-builtin", "warning", |s| {
        s.entry()["args"] = json!(["intercept", "--on-failure", "builtin"]);
    }),
    ("sandbox-missing", "broken", |s| {
        s.entry()["args"] = json!(["intercept", "--require-sandbox", "/nowhere"]);
    }),
    ("client-missing", "broken", |s| s.env("PATH", "/nowhere")),
    ("client-old", "warning", |s| s.client("2.1.226")),
    ("client-too-old", "broken", |s| s.client("2.1.99")),
    ("client-untried", "warning", |s| s.client("2.2.0")),
    ("client-version-unknown", "warning", |s| {
        std::fs::remove_file(s.at("bin/package.json")).unwrap();
    }),
    ("child-client-gone", "broken", |s| {
        s.env("SUBCELL_CLAUDE", "/nowhere/claude");
    }),
    ("credentials-scrubbed", "broken", |s| {
        s.env("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB", "1");
    }),
    ("not-logged-in", "broken", |s| s.env.push(("ANTHROPIC_API_KEY", None))),
    ("echo-agent-missing", "warning", |s| {
        std::fs::remove_file(s.at("config/agents/echo-through.md")).unwrap();
    }),
    ("echo-agent-doubtful", "warning", |s| {
        s.file(
            "work/.claude/agents/mine.md",
            "---\nname: echo-through\ndescription: other\n---\nDo as you like.\n",
        );
    }),
    ("echo-agent-refused", "warning", |s| {
        s.settings["permissions"] = json!({"deny": ["Agent(echo-through)"]});
    }),
    ("config-wrong", "broken", |s| {
        s.file("xdg/subcell/subcell.toml", "[intercept]\ntimeout_s = \"long\"\n");
    }),
    ("config-wrong", "broken", |s| {
        s.file("xdg/subcell/subcell.toml", "[intercept]\ntimeuot_s = 3\n");
    }),
    ("config-ignored", "warning", |s| {
        s.file("work/.subcell.toml", "[intercept]\non_failure = \"builtin\"\n");
    }),
    ("config-ignored", "warning", |s| s.env("SUBCELL_TIMEOUT", "3")),
    ("guard-set", "broken", |s| s.env("FULLSEND_HOOK_SPAWNED", "1")),
    ("guard-set", "broken", |s| s.env("SUBCELL_DEPTH", "1")),
    ("state-unwritable", "broken", |s| {
        s.file("state", "a file where the folder should be");
    }),
    ("records-unreadable", "warning", |s| {
        s.file("state/subcell/cells/toolu_x.json", "{");
    }),
];

#[test]
fn each_broken_set_up_is_found() {
    for (index, (id, severity, breaks)) in BROKEN.iter().enumerate() {
        let mut setup = Setup::good();
        breaks(&mut setup);
        let found = setup.findings();
        let expected = ((*id).to_owned(), (*severity).to_owned());
        assert!(found.contains(&expected), "case {index}, {id}: {found:?}");
    }
    let mut ids: Vec<&str> = BROKEN.iter().map(|(id, _, _)| *id).collect();
    ids.dedup();
    assert!(ids.len() >= 25, "{}", ids.len());
}

#[test]
fn what_a_repository_cannot_do_is_not_said() {
    for env in [
        json!({"CLAUDE_CODE_SIMPLE": "1"}),
        json!({"CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1"}),
    ] {
        let setup = Setup::good();
        setup.project(&json!({"env": env}));
        assert_eq!(setup.findings(), [], "{env}");
    }
    let mut setup = Setup::good();
    setup.settings["disableAllHooks"] = json!(true);
    setup.project(&json!({"disableAllHooks": false}));
    assert_eq!(setup.findings(), []);
}

#[test]
fn a_collector_that_does_not_listen_is_found() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let setup = Setup::good();
    let text = format!("[telemetry]\nendpoint = \"http://127.0.0.1:{port}/v1/traces\"\n");
    setup.file("xdg/subcell/subcell.toml", &text);
    let ids = || setup.findings().into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert!(!ids().contains(&"telemetry-unreachable".to_owned()));
    drop(listener);
    assert!(ids().contains(&"telemetry-unreachable".to_owned()));
}

#[test]
fn several_folders_are_looked_at_and_a_missing_one_is_an_error() {
    let setup = Setup::good();
    let doctor = |folders: [&str; 2]| {
        let mut doctor = Command::new(SUBCELL);
        doctor.args(["doctor", "--cwd", folders[0], "--cwd", folders[1]]);
        doctor.env_clear().current_dir(setup.dir.path()).output().unwrap()
    };
    let output = doctor(["work", "config"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("subagent calls are NOT isolated").count(), 2, "{text}");
    assert_eq!(output.status.code(), Some(2));
    let output = doctor(["work", "gone"]);
    assert_eq!(output.status.code(), Some(66));
    assert!(String::from_utf8(output.stderr).unwrap().contains("gone: "));
}
