//! `subcell install` and `uninstall` on the files of a user.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Home(TempDir);

const SETTINGS: &str = ".claude/settings.json";
const AGENT: &str = ".claude/agents/echo-through.md";

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        Self(home)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_subcell"));
        command.env_clear().env("HOME", self.0.path()).args(words);
        command.current_dir(self.path("project")).stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    fn done(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What was complained of, by a run that failed with this code and changed nothing.
    fn refused(&self, words: &[&str], code: i32) -> String {
        let before = self.snapshot();
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {output:?}");
        assert_eq!(self.snapshot(), before, "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Every file but our own notes.
    fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.path(".claude"), self.path("project")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    found.push((entry.path(), fs::read(entry.path()).unwrap_or_default()));
                }
            }
        }
        found.sort();
        found
    }

    fn settings(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }
}

/// `event args…` of every entry of ours, in order.
fn ours(settings: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        for hook in groups
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|group| group["hooks"].as_array().unwrap())
        {
            if hook["command"] == env!("CARGO_BIN_EXE_subcell") {
                let args: Vec<&str> = hook["args"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|arg| arg.as_str().unwrap())
                    .collect();
                found.push(format!("{event} {}", args.join(" ")));
            }
        }
    }
    found
}

#[test]
fn an_installation_and_its_removal_leave_what_was_there() {
    let text = "{\n\t\"model\": \"opus\",   \"n\": 1e2,\n\t\"hooks\": {\"Stop\": []}\n}";
    for before in [Some(text), Some("{}"), Some(""), None] {
        let home = Home::new();
        if let Some(text) = before {
            home.write(SETTINGS, text);
        }
        home.done(&["install", "--isolate", "--guards", "liveness,bash,background"]);
        let installed = home.read(SETTINGS);
        assert_eq!(ours(&home.settings(SETTINGS)).len(), 6, "{installed}");
        assert!(home.path(AGENT).exists());
        home.done(&["install", "--isolate", "--guards", "liveness,bash,background"]);
        assert_eq!(home.read(SETTINGS), installed);
        home.done(&["uninstall", "--user"]);
        assert_eq!(fs::read_to_string(home.path(SETTINGS)).ok().as_deref(), before);
        assert!(!home.path(AGENT).exists());
        assert_eq!(home.run(&["uninstall"]).status.code(), Some(66));
    }
}

#[test]
fn what_was_changed_after_the_installation_stays() {
    let home = Home::new();
    home.write(SETTINGS, r#"{"hooks": {"Stop": []}, "model": "opus"}"#);
    home.done(&["install"]);
    let mut settings = home.settings(SETTINGS);
    settings["model"] = json!("haiku");
    home.write(SETTINGS, &settings.to_string());
    home.write(AGENT, "mine");
    let told = home.done(&["uninstall"]);
    assert!(told.contains("it was changed"), "{told}");
    assert_eq!(
        home.settings(SETTINGS),
        json!({"hooks": {"Stop": []}, "model": "haiku"})
    );
    assert_eq!(home.read(AGENT), "mine");
}

#[test]
fn a_dry_run_shows_the_change_without_secrets_and_makes_none() {
    let home = Home::new();
    let secret = format!("sk-ant-api03-{}", "Ab3".repeat(30));
    home.write(
        SETTINGS,
        &format!("{{\n  \"env\": {{\"ANTHROPIC_API_KEY\": \"{secret}\"}}\n}}\n"),
    );
    let before = home.snapshot();
    let told = home.done(&["install", "--dry-run"]);
    assert_eq!(home.snapshot(), before);
    assert!(!home.path(".local").exists());
    assert!(
        told.contains("+  \"hooks\": {") && told.contains("would write") && !told.contains(&secret),
        "{told}"
    );
    home.done(&["install"]);
    let before = home.snapshot();
    let told = home.done(&["uninstall", "--dry-run"]);
    assert!(told.contains("-  \"hooks\": {") && !told.contains(&secret), "{told}");
    assert_eq!(home.snapshot(), before);
}

#[test]
fn files_that_cannot_be_changed_safely_are_refused_and_named() {
    let home = Home::new();
    for (text, says) in [("{bad", "is no JSON"), ("{} // mine", "comments"), ("[]", "no object")] {
        home.write(SETTINGS, text);
        let told = home.refused(&["install"], 65);
        assert!(told.contains(SETTINGS) && told.contains(says), "{told}");
    }
    home.write(SETTINGS, "{}");
    fs::set_permissions(home.path(SETTINGS), PermissionsExt::from_mode(0o444)).unwrap();
    assert!(home.refused(&["install"], 74).contains("read-only"));
    home.write("real.json", "{}");
    fs::remove_file(home.path(SETTINGS)).unwrap();
    symlink(home.path("real.json"), home.path(SETTINGS)).unwrap();
    let told = home.refused(&["install"], 74);
    assert!(told.contains("is a link to") && told.contains("--settings"), "{told}");
    assert_eq!(home.read("real.json"), "{}");
}

#[test]
fn scopes_that_would_run_a_hook_twice_are_refused() {
    let home = Home::new();
    home.done(&["install", "--delivery", "receipt"]);
    for scope in [&["--project"][..], &["--settings", "ci.json"]] {
        let words = [&["install", "--delivery", "echo"], scope].concat();
        let told = home.refused(&words, 78);
        assert!(told.contains(SETTINGS) && told.contains("subcell uninstall"), "{told}");
        // The client runs entries that are the same once.
        home.done(&[&["install", "--delivery", "receipt"], scope].concat());
        home.done(&[&["install", "--guards", "background"], scope].concat());
        let path = if scope.len() == 1 {
            "project/.claude/settings.json"
        } else {
            "project/ci.json"
        };
        assert!(ours(&home.settings(path)).contains(&"PreToolUse guard background --beside-intercept".to_owned()));
        home.done(&[&["uninstall"], scope].concat());
        assert!(home.path(AGENT).exists(), "the other scope's agent");
    }
}

#[test]
fn an_agent_is_placed_where_the_client_looks_for_the_scope() {
    for (scope, agent) in [
        (&["--user"][..], AGENT),
        (&["--project"], "project/.claude/agents/echo-through.md"),
        (
            &["--settings", ".claude/settings.local.json"],
            "project/.claude/agents/echo-through.md",
        ),
        (&["--settings", "ci.json"], AGENT),
    ] {
        let home = Home::new();
        if scope.contains(&".claude/settings.local.json") {
            fs::create_dir(home.path("project/.claude")).unwrap();
        }
        home.done(&[&["install"], scope].concat());
        assert_eq!(
            home.read(agent),
            include_str!("../../agents/echo-through.md"),
            "{scope:?}"
        );
        home.done(&[&["uninstall"], scope].concat());
        assert!(!home.path(agent).exists(), "{scope:?}");
    }
}

#[test]
fn another_hook_after_agent_calls_makes_it_echo() {
    let home = Home::new();
    home.write(
        "project/.claude/settings.json",
        r#"{"hooks": {"PostToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "./redact.sh"}]}]}}"#,
    );
    let told = home.done(&["install"]);
    assert!(told.contains("redact.sh"), "{told}");
    assert_eq!(ours(&home.settings(SETTINGS)), ["PreToolUse intercept --delivery echo"]);
}

#[test]
fn a_longer_run_in_the_configuration_makes_the_timeout_longer() {
    let home = Home::new();
    home.write(
        ".config/subcell/subcell.toml",
        "[intercept]\ntimeout_s = 1000\nslot_wait_s = 100\ndelivery = \"deny\"\n",
    );
    home.done(&["install"]);
    let settings = home.settings(SETTINGS);
    assert_eq!(ours(&settings), ["PreToolUse intercept"]);
    let hook = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!((&hook["timeout"], &hook["onFailure"]), (&json!(1140), &json!("block")));
    assert!(!home.path(AGENT).exists());
}

#[test]
fn twenty_installations_at_once_leave_one_valid_file() {
    let home = Home::new();
    home.write(SETTINGS, r#"{"model": "opus"}"#);
    let parts = ["liveness", "bash", "background", "liveness,bash"];
    let running: Vec<_> = (0..20)
        .map(|n| {
            let mut command = home.command(&["install", "--guards", parts[n % parts.len()]]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let settings = home.settings(SETTINGS);
    let mut entries = ours(&settings);
    entries.sort();
    assert_eq!(
        entries,
        [
            "PreToolUse guard background",
            "PreToolUse guard bash",
            "Stop guard liveness",
            "SubagentStop guard liveness",
        ]
    );
    assert_eq!(settings["model"], "opus");
    let names: Vec<_> = fs::read_dir(home.path(".claude"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["settings.json"]);
    home.done(&["uninstall"]);
    assert_eq!(home.read(SETTINGS), r#"{"model": "opus"}"#);
}

#[test]
fn the_guard_that_init_placed_is_still_removed_by_its_name() {
    let home = Home::new();
    home.done(&["init", "--user", "subagent-stop-liveness"]);
    assert!(home.path(".local/share/subcell/bin/subcell").exists());
    home.done(&["uninstall", "--user", "subagent-stop-liveness"]);
    assert!(!home.path(".local/share/subcell/bin/subcell").exists());
}

#[test]
fn the_configuration_is_shown_and_what_a_project_may_not_set_is_an_error() {
    let home = Home::new();
    home.write(
        "project/.subcell.toml",
        "[intercept]\ntimeout_s = 9\nclaude = \"/evil\"\n[guard.liveness]\nmax_refusals = 1\n",
    );
    let output = home.run(&["config", "show", "--json"]);
    assert_eq!(output.status.code(), Some(78));
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["intercept.timeout_s"]["value"], 9);
    assert_eq!(shown["intercept.timeout_s"]["layer"], "project");
    assert_eq!(
        (
            &shown["intercept.claude"]["value"],
            &shown["guard.liveness.max_refusals"]["value"]
        ),
        (&Value::Null, &json!(8))
    );
    let told = String::from_utf8(output.stderr).unwrap();
    for key in ["intercept.claude", "guard.liveness.max_refusals"] {
        let named = |line: &&str| line.contains(key) && line.contains(".config/subcell/subcell.toml");
        assert_eq!(told.lines().filter(named).count(), 1, "{told}");
    }
    fs::remove_file(home.path("project/.subcell.toml")).unwrap();
    home.done(&["config", "show"]);
}

#[test]
fn the_headers_of_the_export_are_shown_by_name_only() {
    let home = Home::new();
    let file = ".config/subcell/subcell.toml";
    for headers in ["{ authorization = \"Bearer hunter2\" }", "\"authorization=hunter2\""] {
        home.write(
            file,
            &format!("[telemetry]\nendpoint = \"http://127.0.0.1:1\"\nheaders = {headers}\n"),
        );
        for args in [
            &["config", "show"][..],
            &["config", "show", "--json"],
            &["emit", "--budget", "1"],
        ] {
            let output = home.run(args);
            let told = [output.stdout, output.stderr].concat();
            let told = String::from_utf8(told).unwrap();
            assert!(told.contains("telemetry.headers") || args[0] == "emit", "{told}");
            assert!(!told.contains("hunter2"), "{told}");
        }
    }
}

#[test]
fn the_plugin_holds_the_same_hooks_and_the_same_agent() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(folder.join(path)).unwrap();
    let plugin = read("config/plugin/hooks/hooks.json").replace("${CLAUDE_PLUGIN_ROOT}/bin/subcell", "subcell");
    assert_eq!(plugin, read("config/claude-hooks.json"));
    assert_eq!(
        read("config/plugin/agents/echo-through.md"),
        read("agents/echo-through.md")
    );
    let manifest: Value = serde_json::from_str(&read("config/plugin/.claude-plugin/plugin.json")).unwrap();
    assert_eq!(
        (&manifest["name"], &manifest["version"]),
        (&json!("subcell"), &json!(env!("CARGO_PKG_VERSION")))
    );
}
