//! `subcell run-record`, `init`, `update` and `uninstall`, as a person or a session calls them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::hook::wait_until;
use crate::inspect::wait_for_end;

const CELL: &str = "cell-0190f3a0-0000-7000-8000-000000000000";

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_subcell"));
        command
            .args(words)
            .env_clear()
            .env("HOME", self.0.path())
            .env("PATH", "/usr/bin:/bin");
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        read(self.command(words).output().unwrap())
    }

    /// The value of a line `key: value` of a detached command's announcement.
    fn detach(&self, words: &[&str]) -> impl Fn(&str) -> String + use<> {
        let (code, said, complaint) = self.run(words);
        assert_eq!((code, complaint.as_str()), (0, ""), "{said}");
        move |key| {
            let lines = said.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            lines.unwrap().split(' ').next().unwrap().to_owned()
        }
    }

    fn records(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.at("s")).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names
            .filter(|name| Path::new(name).extension().is_some_and(|end| end == "run"))
            .collect()
    }
}

fn read(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_command_is_on_record_while_it_runs_and_its_code_is_handed_on() {
    let home = Home::new();
    let line = "cat s/k.run; exit 7";
    let (code, said, complaint) = home.run(&["run-record", "--dir", "s", "--key", "k", "--", "sh", "-c", line]);
    assert_eq!((code, complaint.as_str()), (7, ""));
    let first = said.lines().next().unwrap();
    assert!(first.starts_with("pid=") && first.ends_with(" run=k"), "{said}");
    assert!(home.records().is_empty());
    let (code, ..) = home.run(&["run-record", "--dir", "s", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(code, 137);
    assert!(home.records().is_empty());
}

#[test]
fn a_stop_signal_reaches_the_command() {
    let home = Home::new();
    let line = "trap 'exit 9' TERM; : >ready; while :; do sleep 0.01; done";
    let mut child = home
        .command(&["run-record", "--dir", "s", "--", "sh", "-c", line])
        .spawn()
        .unwrap();
    wait_until(|| home.at("ready").exists().then_some(()));
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(9));
    assert!(home.records().is_empty());
}

#[test]
fn a_detached_command_runs_on_and_leaves_its_output_and_its_end() {
    let home = Home::new();
    let line = "echo out; echo err >&2; while [ ! -e go ]; do sleep 0.01; done; exit 3";
    let said = home.detach(&[
        "run-record",
        "--detach",
        "--dir",
        "s",
        "--key",
        "job",
        "--",
        "sh",
        "-c",
        line,
    ]);
    assert_eq!(home.records(), ["job.run"]);
    let (code, listed, _) = home.run(&["run-record", "--list", "--dir", "s"]);
    assert!(
        code == 0 && listed.starts_with("live ") && listed.contains(&format!("pid={}", said("pid"))),
        "{listed}"
    );
    let (code, _, complaint) = home.run(&["run-record", "--dir", "s", "--key", "job", "--", "true"]);
    assert!(code == 1 && complaint.contains("job.run"), "{complaint}");
    std::fs::write(home.at("go"), "").unwrap();
    wait_until(|| home.records().is_empty().then_some(()));
    assert_eq!(std::fs::read_to_string(said("output")).unwrap(), "out\nerr\n");
    assert_eq!(std::fs::read_to_string(said("exit")).unwrap(), "exit=3\n");
}

#[test]
fn the_record_of_a_killed_keeper_is_dead_once_its_command_is_and_can_be_pruned() {
    let home = Home::new();
    let said = home.detach(&[
        "run-record",
        "--detach",
        "--dir",
        "s",
        "--key",
        "job",
        "--",
        "sleep",
        "300",
    ]);
    let pid: i32 = said("pid").parse().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let keeper: i32 = status
        .rsplit_once(") ")
        .unwrap()
        .1
        .split(' ')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    let kill = |pid| {
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(pid).unwrap(),
            rustix::process::Signal::KILL,
        )
    };
    kill(keeper).unwrap();
    wait_for_end(keeper);
    assert!(home.run(&["run-record", "--list", "--dir", "s"]).1.starts_with("live "));
    kill(pid).unwrap();
    wait_for_end(pid);
    assert!(home.run(&["run-record", "--list", "--dir", "s"]).1.starts_with("dead "));
    let (code, pruned, _) = home.run(&["run-record", "--prune", "--dir", "s"]);
    assert!(code == 0 && pruned.contains("job.run"), "{pruned}");
    assert!(home.records().is_empty());
}

#[test]
fn in_a_cell_a_command_is_waited_for() {
    let home = Home::new();
    let words = [
        "run-record",
        "--detach",
        "--dir",
        "s",
        "--",
        "sh",
        "-c",
        "echo done; exit 4",
    ];
    let output = home
        .command(&words)
        .env("FULLSEND_HOOK_SPAWNED", CELL)
        .output()
        .unwrap();
    let (code, said, complaint) = read(output);
    assert_eq!((code, said.as_str()), (4, "done\n"));
    assert!(complaint.contains("in a cell"), "{complaint}");
}

#[test]
fn what_cannot_be_run_is_named() {
    let home = Home::new();
    for (words, code, says) in [
        (
            &["run-record", "--dir", "s", "--", "/nowhere/program"][..],
            127,
            "/nowhere/program",
        ),
        (
            &[
                "run-record",
                "--dir",
                "s",
                "--detach",
                "--",
                "no-such-program-of-anybody",
            ],
            127,
            "no-such-program",
        ),
        (&["run-record", "--dir", "s", "--", "/"], 126, "start"),
        (&["run-record", "--", "true"], 78, "GATE_SDK_TMP_DIR"),
        (&["run-record", "--dir", "s"], 64, "COMMAND"),
        (&["run-record", "--dir", "s", "--key", "../k", "--", "true"], 64, "key"),
        (&["run-record", "--list", "--", "true"], 64, "--list"),
        (&["run-record", "--dir", "/proc/none", "--", "true"], 74, "/proc/none"),
    ] {
        let (found, _, complaint) = home.run(words);
        assert_eq!(found, code, "{words:?}: {complaint}");
        assert!(complaint.contains(says), "{words:?}: {complaint}");
    }
    assert!(home.records().is_empty());
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
