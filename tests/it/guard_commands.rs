//! `subcell init`, `update` and `uninstall`, as a person or a session calls them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) struct Home(tempfile::TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_subcell"));
        command
            .args(words)
            .env_clear()
            .env("HOME", self.0.path())
            .env("PATH", "/usr/bin:/bin");
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> (i32, String, String) {
        read(self.command(words).output().unwrap())
    }

    /// The value of a line `key: value` of a detached command's announcement.
    pub(crate) fn detach(&self, words: &[&str]) -> impl Fn(&str) -> String + use<> {
        let (code, said, complaint) = self.run(words);
        assert_eq!((code, complaint.as_str()), (0, ""), "{said}");
        move |key| {
            let lines = said.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            lines.unwrap().split(' ').next().unwrap().to_owned()
        }
    }

    pub(crate) fn records(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.at("s")).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names
            .filter(|name| Path::new(name).extension().is_some_and(|end| end == "run"))
            .collect()
    }
}

pub(crate) fn read(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const KNOBS: &str = ".local/share/subcell/subagent-stop-liveness.knobs";
const BINARY: &str = ".local/share/subcell/bin/subcell";

fn tree(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    let mut found: Vec<String> = entries
        .flat_map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            let below = if entry.path().is_dir() {
                tree(&entry.path())
            } else {
                Vec::new()
            };
            let inner = below
                .into_iter()
                .map(|inner| format!("{name}/{inner}"))
                .collect::<Vec<_>>();
            std::iter::once(name.clone()).chain(inner)
        })
        .collect();
    found.sort();
    found
}

/// The settings entry of a block, and its `launch records:` folder.
fn block(said: &str) -> (Value, String) {
    assert!(
        said.contains("settings:\n") && said.contains("2.1.139") && said.contains("\ntrial: "),
        "{said}"
    );
    let entry = said.lines().find(|line| line.starts_with('{')).unwrap();
    let records = said
        .lines()
        .find_map(|line| line.strip_prefix("launch records: "))
        .unwrap();
    (serde_json::from_str(entry).unwrap(), records.to_owned())
}

#[test]
fn an_installed_guard_guards_by_its_settings_entry() {
    let home = Home::new();
    let (code, said, _) = home.run(&["init", "--user", "subagent-stop-liveness"]);
    assert_eq!(code, 0);
    assert!(
        said.contains(&format!("{}/.claude/settings.json", home.0.path().display())),
        "{said}"
    );
    assert!(!home.at(".claude").exists());
    let (entry, records) = block(&said);
    let hook = &entry["SubagentStop"][0]["hooks"][0];
    assert_eq!(hook["command"].as_str(), home.at(BINARY).to_str());
    let words = |value: &Value| value.as_array().unwrap()[..3].to_vec();
    assert_eq!(words(&hook["args"]), ["--hook", "subagent-stop-liveness", "--knobs"]);
    assert_eq!(home.at(BINARY).metadata().unwrap().permissions().mode() & 0o777, 0o755);

    let args: Vec<&str> = hook["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|arg| arg.as_str().unwrap())
        .collect();
    let fire = || {
        let mut guard = Command::new(hook["command"].as_str().unwrap());
        guard
            .args(&args)
            .env_clear()
            .env("HOME", home.0.path())
            .current_dir("/")
            .stdin(Stdio::null());
        read(guard.output().unwrap())
    };
    assert_eq!(fire(), (0, String::new(), String::new()));
    std::fs::write(
        Path::new(&records).join("k.run"),
        format!("pid={} run=k\n", std::process::id()),
    )
    .unwrap();
    assert_eq!(fire().0, 2);
    // A command goes on record where the installed guard looks.
    let (_, listed, _) = home.run(&["run-record", "--list"]);
    assert!(listed.contains("k.run"), "{listed}");
    let log = std::fs::read_to_string(home.at(".local/state/subcell/liveness/subagent-stop-liveness.log")).unwrap();
    assert_eq!(log.lines().count(), 2);
}

#[test]
fn a_dry_run_writes_nothing() {
    let home = Home::new();
    let (code, said, _) = home.run(&["init", "--user", "subagent-stop-liveness", "--dry-run"]);
    assert!(code == 0 && said.contains("would place "), "{said}");
    block(&said);
    assert_eq!(tree(home.0.path()), [] as [String; 0]);
    home.run(&["init", "--user", "subagent-stop-liveness"]);
    let before = tree(home.0.path());
    let (code, said, _) = home.run(&["uninstall", "--user", "subagent-stop-liveness", "--dry-run"]);
    assert!(code == 0 && said.contains("would remove "), "{said}");
    assert_eq!(tree(home.0.path()), before);
}

#[test]
fn an_edited_knob_file_is_kept_until_forced() {
    let home = Home::new();
    let knobs = || std::fs::read_to_string(home.at(KNOBS)).unwrap();
    let init = &["init", "--user", "subagent-stop-liveness"];
    home.run(init);
    let placed = knobs();
    std::fs::write(
        home.at(KNOBS),
        format!("{placed}DELEGATION_KIT_STOP_WAIT = resume-wait\n"),
    )
    .unwrap();
    for words in [
        &init[..],
        &["update", "--user"],
        &["update", "--user", "subagent-stop-liveness"],
        init,
    ] {
        let (code, said, _) = home.run(words);
        assert!(code == 0 && said.contains("keep ") && said.contains("edited"), "{said}");
        block(&said);
        assert!(knobs().contains("resume-wait"));
    }
    let (_, said, _) = home.run(&["uninstall", "--user", "subagent-stop-liveness"]);
    assert!(
        said.contains("edited") && home.at(KNOBS).exists() && !home.at(BINARY).exists(),
        "{said}"
    );
    home.run(&["init", "--user", "subagent-stop-liveness", "--force"]);
    assert_eq!(knobs(), placed);
}

#[test]
fn removing_keeps_the_evidence_and_reminds_of_the_settings() {
    let home = Home::new();
    let uninstall = &["uninstall", "--user", "subagent-stop-liveness"];
    assert_eq!(home.run(uninstall).0, 66);
    assert_eq!(home.run(&["update", "--user"]).0, 66);
    home.run(&["init", "--user", "subagent-stop-liveness"]);
    std::fs::write(home.at(".local/state/subcell/liveness/scratch/k.run"), "pid=1 run=k\n").unwrap();
    let (code, said, _) = home.run(uninstall);
    assert_eq!(code, 0);
    let reminder = said.lines().last().unwrap();
    assert!(
        reminder.starts_with("settings: ") && reminder.contains("SubagentStop"),
        "{said}"
    );
    assert!(!home.at(".local/share/subcell").exists());
    assert!(home.at(".local/state/subcell/liveness/scratch/k.run").exists());
    assert_eq!(home.run(uninstall).0, 66);
}

#[test]
fn the_name_is_required_and_xdg_folders_are_used() {
    let home = Home::new();
    for words in [
        &["init"][..],
        &["init", "--user"],
        &["init", "--user", "nope"],
        &["uninstall", "--user", "nope"],
        &["update"],
    ] {
        assert_eq!(home.run(words).0, 64, "{words:?}");
    }
    let mut init = home.command(&["init", "--user", "subagent-stop-liveness"]);
    init.env("XDG_DATA_HOME", home.at("d"))
        .env("XDG_STATE_HOME", home.at("st"))
        .env("CLAUDE_CONFIG_DIR", home.at("c"));
    let (code, said, _) = read(init.output().unwrap());
    assert_eq!(code, 0);
    assert!(said.contains(home.at("c/settings.json").to_str().unwrap()), "{said}");
    assert_eq!(block(&said).1, home.at("st/subcell/liveness/scratch").to_str().unwrap());
    assert!(home.at("d/subcell/bin/subcell").exists());
    let mut homeless = home.command(&["init", "--user", "subagent-stop-liveness"]);
    homeless.env_remove("HOME");
    assert_eq!(read(homeless.output().unwrap()).0, 78);
}
