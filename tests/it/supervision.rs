//! Supervision beyond the matrix: starts that fail, lost keepers, sizes, how fast a stop is, what a client inherits.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use subcell::base::digest::sha256_hex;
use subcell::process::{Ending, KeeperLoss, ProcessIdentity, Report, StopSignal, Stream};

use crate::inspect::wait_for_end;
use crate::supervised::{Outcome, Setup, timed};

fn outcome(setup: &Setup) -> Outcome {
    setup.start().outcome()
}

fn failure(setup: &Setup) -> (String, Option<i32>) {
    let ending = outcome(setup).report.ending;
    let Ending::NotStarted { failure } = ending else {
        panic!("{ending:?}");
    };
    (failure.tried, failure.os_error)
}

#[test]
fn a_start_that_fails_names_what_was_missing() {
    let mut setup = Setup::new("");
    setup.program = "/nowhere/claude".into();
    assert_eq!(failure(&setup), ("start /nowhere/claude".into(), Some(2)));
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain").display().to_string();
    std::fs::write(&plain, "no program").unwrap();
    setup.program.clone_from(&plain);
    assert_eq!(failure(&setup), (format!("start {plain}"), Some(13)));
    setup.cwd = Some("/nowhere".into());
    assert_eq!(failure(&setup), ("enter /nowhere".into(), Some(2)));
    setup.cwd = Some(plain.clone().into());
    assert_eq!(failure(&setup), (format!("enter {plain}"), Some(20)));
    let mut setup = Setup::new("");
    setup.keeper = "/nowhere/subcell".into();
    assert_eq!(failure(&setup), ("start the keeper /nowhere/subcell".into(), Some(2)));
}

#[test]
fn a_lost_keeper_is_told_and_its_tree_is_ended_by_the_hook() {
    for family in ["none", "session", "daemon"] {
        let mut running = Setup::new(&format!("family={family} on-term=ignore wait=meet")).start();
        running.meet(if family == "none" { 1 } else { 2 });
        let keeper = running.keeper();
        kill_process(Pid::from_raw(keeper.pid).unwrap(), Signal::KILL).unwrap();
        let ending = Ending::KeeperLost {
            loss: KeeperLoss::Killed { signal: 9 },
        };
        assert_eq!(running.outcome().report.ending, ending, "{family}");
    }
}

#[test]
fn a_keeper_that_stopped_is_given_up_when_the_hook_is_told_to_stop() {
    let mut running = Setup::new("family=daemon on-term=ignore wait=meet").start();
    running.meet(2);
    let keeper = running.keeper();
    kill_process(Pid::from_raw(keeper.pid).unwrap(), Signal::STOP).unwrap();
    running.signal_hook(Signal::TERM);
    let ending = Ending::Interrupted {
        signal: StopSignal::Term,
    };
    assert_eq!(running.outcome().report.ending, ending);
}

#[test]
fn a_keeper_that_does_not_keep_its_deadlines_is_killed() {
    let mut setup = Setup::new("family=session on-term=ignore wait=meet");
    setup.run = Duration::from_secs(4);
    let mut running = setup.start();
    running.meet(2);
    let keeper = running.keeper();
    kill_process(Pid::from_raw(keeper.pid).unwrap(), Signal::STOP).unwrap();
    let loss = KeeperLoss::Unresponsive;
    assert_eq!(running.outcome().report.ending, Ending::KeeperLost { loss });
}

/// The client kills a hook about 1.4 s after TERM (2.1.332). The least of some tries, since other tests share the
/// processors.
#[test]
fn a_stop_is_over_within_a_second_however_stubborn_the_tree() {
    let once = || {
        let mut setup = Setup::new("family=daemon on-term=ignore wait=meet");
        setup.grace = Duration::from_secs(20);
        let mut running = setup.start();
        running.meet(2);
        running.signal_hook(Signal::TERM);
        timed(|| running.outcome()).1
    };
    let fastest = (0..5).map(|_| once()).find(|time| *time < Duration::from_secs(1));
    assert!(fastest.is_some());
}

#[test]
fn a_stop_is_passed_on_to_the_keeper_which_still_reports() {
    for (signal, stop) in [
        (Signal::TERM, StopSignal::Term),
        (Signal::INT, StopSignal::Int),
        (Signal::HUP, StopSignal::Hup),
    ] {
        let mut running = Setup::new("prints=flood-stderr bytes=600 wait=meet").start();
        running.meet(1);
        running.signal_hook(signal);
        let report = running.outcome().report;
        assert_eq!(report.ending, Ending::Interrupted { signal: stop });
        // Only a keeper knows these.
        assert!(report.client_pid.is_some());
        assert_eq!(report.stderr_tail.len(), 600);
    }
}

/// The shell stands for the hook, and a file for the pipe that nobody reads any more.
#[test]
fn a_keeper_that_outlives_its_hook_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let line = "\"$0\" keeper --hook $$ --run-ms 60000 --grace-ms 100 --output-bytes 1000 --cwd / --scratch . \\
        -- /bin/sh -c 'echo started; exec sleep 60' 2>report & echo $!; wait";
    let mut hook = Command::new("/bin/sh")
        .args(["-c", line, env!("CARGO_BIN_EXE_subcell")])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(hook.stdout.take().unwrap()).lines();
    let mut said = [lines.next().unwrap().unwrap(), lines.next().unwrap().unwrap()];
    said.sort_unstable();
    assert_eq!(said[1], "started");
    hook.kill().unwrap();
    hook.wait().unwrap();
    wait_for_end(said[0].parse().unwrap());
    let report: Report = serde_json::from_slice(&std::fs::read(folder.path().join("report")).unwrap()).unwrap();
    assert_eq!(report.ending, Ending::HookGone);
    assert_eq!(ProcessIdentity::of(report.client_pid.unwrap()), None);
}

/// A second TERM means "at once" to many programs, and without the first nobody could clean up. What the client starts
/// only then has until the client is gone; the client's pause is there for a wrong TERM to come in it.
#[test]
fn everything_gets_one_term_and_the_time_to_heed_it() {
    let mut setup = shell(
        r#"member() { setsid sh -c "trap 'echo $1 >&2; exit' TERM; echo > ready; sleep 60 & wait" & read x < ready; }
        mkfifo ready
        member early
        trap 'member late; sleep 0.3; echo client >&2; exit 0' TERM
        head -c 2000 /dev/zero
        sleep 60 & wait"#,
    );
    setup.output_bytes = 1000;
    setup.grace = Duration::from_secs(20);
    let (outcome, time) = timed(|| outcome(&setup));
    let stream = Stream::Stdout;
    assert_eq!(outcome.report.ending, Ending::TooMuchOutput { stream });
    let tail = &outcome.report.stderr_tail;
    let count = |word| tail.lines().filter(|line| *line == word).count();
    let counts = ["early", "client", "late"].map(count);
    assert_eq!(counts, [1, 1, 1], "{tail}");
    assert!(tail.find("client") < tail.find("late"), "{tail}");
    assert!(time < setup.grace);
}

#[test]
fn a_prompt_of_10_mb_arrives_whole() {
    let mut setup = Setup::new("prints=echo");
    setup.prompt_bytes = 10_000_000;
    let Outcome { report, stdout, .. } = outcome(&setup);
    assert_eq!(report.ending, Ending::Exited { code: 0 });
    let told = format!("10000000 {}", sha256_hex(&vec![b'p'; 10_000_000]));
    assert!(stdout.contains(&told), "{stdout}");
}

#[test]
fn results_of_every_size_arrive_whole() {
    for bytes in [1_000, 65_536, 10_000_000, 50_000_000] {
        let Outcome {
            report, stdout_bytes, ..
        } = outcome(&Setup::new(&format!("bytes={bytes}")));
        assert_eq!(report.ending, Ending::Exited { code: 0 });
        // The result's text, and the few hundred bytes of JSON around it.
        assert!((bytes..bytes + 1_000).contains(&stdout_bytes), "{stdout_bytes}");
    }
}

#[test]
fn the_tail_of_stderr_is_in_the_report() {
    let report = outcome(&Setup::new("prints=flood-stderr bytes=600000")).report;
    assert_eq!(report.stderr_tail.len(), 64 * 1024);
    assert!(report.stderr_tail.ends_with("flood\nflood\n"));
}

/// Runs a shell line as the client.
fn shell(line: &str) -> Setup {
    let mut setup = Setup::new("");
    setup.program = "/bin/sh".into();
    setup.args = vec!["-c".into(), line.into()];
    setup
}

/// The signals of a mask in `/proc/PID/status`.
fn has(status: &str, mask: &str, signal: Signal) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix(mask)).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
}

#[test]
fn a_client_inherits_no_ignored_or_blocked_signal_of_ours() {
    // A hook whose own parent ignores CHLD, TERM and HUP: those stay ignored over exec, and CHLD ignored means that no
    // child can be waited for.
    let mut setup = shell("grep ^Sig /proc/self/status");
    setup.under = vec![
        "/bin/sh".into(),
        "-c".into(),
        "trap '' CHLD TERM HUP; exec \"$@\"".into(),
        "sh".into(),
    ];
    let Outcome { report, stdout, .. } = outcome(&setup);
    assert_eq!(report.ending, Ending::Exited { code: 0 });
    for signal in [Signal::PIPE, Signal::CHILD, Signal::TERM, Signal::HUP, Signal::INT] {
        assert!(!has(&stdout, "SigIgn:", signal), "{signal:?} is ignored: {stdout}");
        assert!(!has(&stdout, "SigBlk:", signal), "{signal:?} is blocked: {stdout}");
    }
}

#[test]
fn a_client_has_just_the_environment_and_folder_of_its_plan_and_no_descriptor_of_ours() {
    let line = "pwd; env | cut -d= -f1 | sort | tr '\\n' ' '; echo; ls /proc/self/fd";
    let Outcome { stdout, .. } = outcome(&shell(line));
    let mut lines = stdout.lines();
    assert!(Path::new(lines.next().unwrap()).is_absolute());
    // `PWD` is the shell's own.
    assert_eq!(lines.next().unwrap(), "HOME PATH PWD STANDIN SUBCELL_TEST_MARK ");
    // What a child of this test has, if whoever started the test left descriptors open.
    let plain = Command::new("/bin/sh")
        .args(["-c", "ls /proc/self/fd"])
        .output()
        .unwrap();
    assert_eq!(
        lines.collect::<Vec<_>>(),
        String::from_utf8(plain.stdout).unwrap().lines().collect::<Vec<_>>()
    );
}

#[test]
fn a_keeper_whose_hook_is_gone_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let witness = folder.path().join("ran");
    let output = Command::new(env!("CARGO_BIN_EXE_subcell"))
        .args([
            "keeper",
            "--hook",
            "1",
            "--run-ms",
            "1000",
            "--grace-ms",
            "10",
            "--output-bytes",
            "1000",
            "--cwd",
            "/",
            "--scratch",
        ])
        .args([folder.path(), Path::new("--"), Path::new("/usr/bin/touch"), &witness])
        .output()
        .unwrap();
    let report: Report = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(report.ending, Ending::HookGone);
    assert!(!witness.exists());
}
