//! `subcell run-record`, as a person or a session calls it.

use crate::guard_commands::{Home, read};
use crate::hook::wait_until;
use crate::inspect::wait_for_end;

const CELL: &str = "cell-0190f3a0-0000-7000-8000-000000000000";

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
    // Until it has begun it dies with its keeper.
    let name = || std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
    wait_until(|| (name() == "sleep\n").then_some(()));
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

#[test]
fn what_lies_in_the_place_of_an_output_is_neither_followed_nor_waited_for() {
    let home = Home::new();
    let victim = home.at("victim");
    std::fs::write(&victim, "precious").unwrap();
    std::fs::create_dir(home.at("s")).unwrap();
    for ending in ["out", "exit"] {
        std::os::unix::fs::symlink(&victim, home.at(&format!("s/link.{ending}"))).unwrap();
        let pipe = home.at(&format!("s/pipe.{ending}"));
        rustix::fs::mkfifoat(rustix::fs::CWD, pipe, rustix::fs::Mode::RWXU).unwrap();
    }
    for key in ["link", "pipe"] {
        let said = home.detach(&[
            "run-record",
            "--detach",
            "--dir",
            "s",
            "--key",
            key,
            "--",
            "echo",
            "said",
        ]);
        wait_until(|| home.records().is_empty().then_some(()));
        assert_eq!(std::fs::read_to_string(said("output")).unwrap(), "said\n", "{key}");
        assert_eq!(std::fs::read_to_string(said("exit")).unwrap(), "exit=0\n", "{key}");
    }
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    // What the user names is opened as any program opens it.
    let named = home.at("named");
    std::os::unix::fs::symlink(&victim, &named).unwrap();
    let words = [
        "run-record",
        "--dir",
        "s",
        "--output",
        named.to_str().unwrap(),
        "--",
        "echo",
        "new",
    ];
    assert_eq!(home.run(&words).0, 0);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "new\n");
}

#[test]
fn a_record_that_was_replaced_by_a_pipe_holds_nobody() {
    let home = Home::new();
    let line = "rm s/k.run; mkfifo s/k.run; exit 4";
    let mut child = home
        .command(&["run-record", "--dir", "s", "--key", "k", "--", "sh", "-c", line])
        .spawn()
        .unwrap();
    let ended = wait_timeout::ChildExt::wait_timeout(&mut child, crate::inspect::PATIENCE).unwrap();
    if ended.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(ended.and_then(|status| status.code()), Some(4));
    assert_eq!(home.records(), ["k.run"]);
}
