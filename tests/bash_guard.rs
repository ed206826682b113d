//! The bash guard against bash itself, and against whatever can be typed.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test ends at its first wrong value, and asks bash by starting it"
)]

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use subcell::guard::bash::{
    Caller, Decision, Fact, Ground, LiveRecords, Policy, Question, Verdict, decide, read_labelled,
};

const COMMANDS: &str = include_str!("fixtures/bash/commands.tsv");
const VARIATIONS: &str = include_str!("fixtures/bash/variations.tsv");
/// Commands that were written and labelled before the guard was asked, over all families and look-alikes of them.
const FRESH: &str = include_str!("fixtures/bash/fresh.tsv");
/// Written by somebody who tried to get past the rules without having read them.
const ADVERSARIAL: &str = include_str!("fixtures/bash/adversarial.tsv");

fn ground() -> Ground {
    Ground {
        cwd: "/home/dev/project".to_owned(),
        project: "/home/dev/project".to_owned(),
        home: Some("/home/dev".to_owned()),
        protected: Vec::new(),
    }
}

fn judge(command: &str) -> Decision {
    let ground = ground();
    let caller = Caller {
        confined: true,
        answerable: false,
    };
    let question = Question {
        command,
        in_background: false,
        caller,
        ground: &ground,
        records: &LiveRecords,
        today: None,
    };
    decide(&question, &Policy::default())
}

/// Whether the guard read the whole command. Programs in its texts are not asked about: `bash -n` does not read them, and
/// their failures stand at a place of their own text.
fn reads(command: &str) -> bool {
    let facts = judge(command).facts;
    let whole = |fact: &Fact| matches!(fact, Fact::Unread { failure, span } if span.end == command.len() && failure.at == span.start);
    !facts.last().is_some_and(whole)
}

/// Whether `bash -n` takes the command, without running any of it.
fn bash_takes(command: &str) -> bool {
    let mut bash = Command::new("bash")
        .args(["--norc", "-O", "extglob", "-n"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    bash.stdin.take().unwrap().write_all(command.as_bytes()).unwrap();
    bash.wait().unwrap().success()
}

/// A small generator of numbers, so that every run judges the same mutations.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound.max(1)
    }
}

const PIECES: [&str; 30] = [
    "'",
    "\"",
    "`",
    "$(",
    ")",
    "(",
    "{ ",
    "}",
    ";",
    "&",
    "|",
    "&&",
    "||",
    "<<E\n",
    "<",
    ">",
    "\n",
    "\\",
    "#",
    "$",
    "${x",
    "if ",
    "fi",
    "do",
    "done",
    " ",
    "[[ ",
    "]]",
    "((",
    "case x in ",
];

fn mutated(command: &str, numbers: &mut Numbers) -> String {
    let mut chars: Vec<char> = command.chars().collect();
    for _ in 0..=numbers.below(2) {
        let at = numbers.below(chars.len() + 1);
        match numbers.below(3) {
            0 if at < chars.len() => {
                chars.remove(at);
            }
            1 if at < chars.len() => chars.truncate(at),
            _ => {
                let piece = PIECES.get(numbers.below(PIECES.len())).copied().unwrap_or(" ");
                chars.splice(at..at, piece.chars());
            }
        }
    }
    chars.into_iter().collect()
}

#[test]
fn what_bash_reads_is_read_and_what_it_refuses_is_refused() {
    let rows = read_labelled(COMMANDS).unwrap();
    for row in &rows {
        assert!(reads(&row.command), "{}: {:?}", row.id, row.command);
    }
    let mut numbers = Numbers(20_261_130);
    let mut differ = Vec::new();
    let mut total = 0;
    for row in rows.iter().cycle().take(1_500) {
        let command = mutated(&row.command, &mut numbers);
        if command.contains('\0') {
            continue;
        }
        total += 1;
        let (ours, bash) = (reads(&command), bash_takes(&command));
        if ours != bash {
            differ.push(format!("{} ours {ours} bash {bash}: {command:?}", row.id));
        }
    }
    // What bash takes and we do not is refused by us: harmless, and rare. What we take and bash does not would not run.
    let refused = differ.iter().filter(|line| line.contains("ours false")).count();
    println!(
        "{} of {total} differ, {refused} of them refused by us\n{}",
        differ.len(),
        differ.join("\n")
    );
    assert!(
        refused * 200 <= total,
        "{refused} of {total} refused that bash takes:\n{}",
        differ.join("\n")
    );
    assert!(
        differ.len() * 50 <= total,
        "{} of {total} differ:\n{}",
        differ.len(),
        differ.join("\n")
    );
}

fn timed(name: &str, command: &str) -> Decision {
    // Without optimization everything takes some twenty times as long.
    let limit = Duration::from_millis(if cfg!(debug_assertions) { 4_000 } else { 50 });
    let mut least = Duration::MAX;
    let mut decision = None;
    // Other work on the machine only ever adds to a measurement: the least of several is the truest.
    for _ in 0..5 {
        let start = Instant::now();
        decision = Some(judge(command));
        least = least.min(start.elapsed());
        if least < limit {
            break;
        }
    }
    let decision = decision.unwrap();
    println!("{name:<28} {least:>12.3?} {:?}", decision.verdict);
    assert!(least < limit, "{name} took {least:?}");
    decision
}

/// Signs that open something, each repeated to a megabyte.
const OPENERS: &[&str] = &[
    "(",
    "{ ",
    "$(",
    "${",
    "`",
    "\"",
    "'",
    "((",
    "$((",
    "[[ ",
    "if ",
    "while ",
    "case x in ",
    "for x in ",
    "<(",
    "$[",
    "${x:-",
    "f() {",
    "!(",
    "a=(",
    "\"$(",
    "\"${x:-",
    "x[",
    "<<E$[",
    "<<E\t$[",
    "<<a <<b ",
    "{a,",
    "case x in a) ",
    "select x in ",
    "coproc ",
    "function f ",
    "$(<<E ",
    "eval ",
    "until ",
    "|",
    "&",
    ";;",
    "\\",
    "esac ",
    "`\\`",
    "{1..",
    "[",
    "$'",
    "@(",
];

#[test]
fn hostile_commands_are_decided_in_time_and_none_passes() {
    let megabyte = 1 << 20;
    for opener in OPENERS.iter().copied() {
        let text = opener.repeat(megabyte / opener.len());
        timed(&format!("1 MB of {opener:?}"), &text);
        let with = format!("{text}\nrm -rf /");
        let decision = timed("… and a deletion", &with);
        let harmless = matches!(
            opener,
            "<<a <<b " | "{a," | "eval " | "\\" | "[" | "x[" | "{1.." | "esac " | "coproc "
        );
        assert!(
            harmless || decision.verdict == Verdict::Deny,
            "{opener:?} lets a deletion pass"
        );
    }
}

#[test]
fn large_commands_are_decided_in_time() {
    for (name, command) in large().into_iter().chain(large_programs()) {
        timed(name, &command);
    }
}

fn doubling_functions() -> String {
    let lines: Vec<String> = (0..64)
        .map(|n| format!("f{n}() {{ f{m}; f{m}; }}\n", m = n + 1))
        .collect();
    lines.concat() + "f0"
}

fn large() -> Vec<(&'static str, String)> {
    vec![
        ("10 000 pipes", "cat |".repeat(10_000) + " cat"),
        ("1 MB of words", "a ".repeat(500_000)),
        ("1 MB of commands", "ls;".repeat(350_000)),
        ("1 MB of assignments", "a=b;".repeat(260_000)),
        ("1 MB of quotes", "'a'".repeat(350_000)),
        ("1 MB of substitutions", "$(a)".repeat(260_000)),
        ("1 MB of backquotes", "`a`".repeat(350_000)),
        ("1 MB of jobs", "a&".repeat(500_000)),
        ("1 MB of here-documents", "cat <<E\nx\nE\n".repeat(80_000)),
        (
            "1 MB in one here-document",
            format!("cat <<E\n{}\nE\n", "line of text\n".repeat(80_000)),
        ),
        ("1 MB in quotes", format!("echo '{}'", "x ".repeat(500_000))),
        ("functions that double", doubling_functions()),
        (
            "variables that double",
            "x=aaaaaaaa;".to_owned() + &"x=$x$x;".repeat(64) + "echo $x",
        ),
        ("braces that double", "echo ".to_owned() + &"{a,b}".repeat(64)),
        (
            "loops in loops",
            "for a in 1 2 3 4 5 6 7 8; do ".repeat(40) + "x" + &"; done".repeat(40),
        ),
        ("evals in evals", "eval ".repeat(40) + "ls"),
        (
            "300 substitutions deep",
            "$(".repeat(300) + "rm -rf /" + &")".repeat(300),
        ),
        ("a pattern of stars", format!("rm {}", "*".repeat(100_000))),
        ("a long path", format!("rm -rf {}", "a/".repeat(500_000))),
    ]
}

fn large_programs() -> Vec<(&'static str, String)> {
    vec![
        ("1 MB of find", format!("find . {}", "-name a ".repeat(130_000))),
        (
            "1 MB of Python",
            format!("python3 -c '{}'", "os.system(x);".repeat(80_000)),
        ),
        ("1 MB of SQL", format!("psql -c '{}'", "select 1;".repeat(110_000))),
        ("1 MB of sed", format!("sed '{}' f", "s/a/b/;".repeat(140_000))),
        ("1 MB of awk", format!("awk '{}' f", "{print $1}".repeat(100_000))),
        ("1 MB of xargs", format!("echo {} | xargs rm -f", "a ".repeat(500_000))),
        (
            "1 MB of base64",
            format!("base64 -d <<< {} | sh", "QUFB".repeat(250_000)),
        ),
        ("1 MB of if", "if a; then b; fi;".repeat(60_000)),
        ("1 MB of case", format!("case x in {} esac", "a) b;; ".repeat(140_000))),
        ("1 MB of redirections", format!("ls {}", ">a ".repeat(330_000))),
        (
            "1 MB of array",
            format!("a=({}); echo ${{a[@]}} ${{a[@]}}", "x ".repeat(500_000)),
        ),
    ]
}

#[test]
fn a_deletion_behind_a_lot_of_text_is_found() {
    let long = format!("echo '{}'\nrm -rf ~", "x".repeat(300_000));
    assert_eq!(judge(&long).verdict, Verdict::Deny);
    assert_eq!(judge("rm -rf ~\necho $(").verdict, Verdict::Deny);
    let deep = "$(".repeat(300) + "rm -rf /" + &")".repeat(300);
    assert_eq!(judge(&deep).verdict, Verdict::Deny);
}

fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        4 => proptest::sample::select(vec!["rm", "-rf", "/", "git", "x=", "$x", "\"$@\"", "eval", "bash -c", "find", "xargs", "sed", "<<'E'\n", "E\n", "{a,b}", "*", "~", "for x in", "in", "then", "esac", "wait", "&", "trap", "f()", "!", "time", "python3 -c", "awk", "ssh h", "${x//a/b}", "${x%%*}", "${!x}", "$'\\x'", "$((1", "))"]).prop_map(|word| format!("{word} ")),
        1 => "\\PC{0,6}",
        1 => proptest::sample::select(vec!["\u{F0000}", "\u{F0010}", "\u{0}", "é", "\u{10FFFF}", "\t"]).prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(debug_assertions) { 4_000 } else { 100_000 }, ..ProptestConfig::default() })]

    #[test]
    fn any_soup_of_signs_is_decided(command in soup()) {
        judge(&command);
    }

    #[test]
    fn any_text_is_decided(command in any::<String>()) {
        judge(&command);
    }

    #[test]
    fn any_bytes_are_decided(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        judge(&String::from_utf8_lossy(&bytes));
    }

    /// A prefix that bash reads stands for itself: what comes after cannot hide it.
    #[test]
    fn a_deletion_on_a_line_of_its_own_is_never_hidden(rest in soup()) {
        prop_assert_eq!(judge(&format!("rm -rf /\n{rest}")).verdict, Verdict::Deny);
    }

    #[test]
    fn decisions_do_not_depend_on_anything_else(command in soup()) {
        prop_assert_eq!(judge(&command), judge(&command));
    }
}

#[test]
fn variations_of_every_family_and_fresh_commands_are_judged_right() {
    let rows = [VARIATIONS, FRESH, ADVERSARIAL].map(|text| read_labelled(text).unwrap());
    let wrong: Vec<String> = rows
        .iter()
        .flatten()
        .filter(|row| (judge(&row.command).verdict != Verdict::Pass) != row.refuse)
        .map(|row| format!("{} refuse={} {:?}", row.id, row.refuse, row.command))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs the built program as the client runs a hook, in a home of its own.
fn hook(payload: &[u8], args: &[&str]) -> (Option<i32>, String, String) {
    let home = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_subcell"))
        .args(["guard", "bash"])
        .args(args)
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(payload).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn payload(command: &str, agent: bool) -> Vec<u8> {
    let mut event = serde_json::json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/tmp", "permission_mode": "default",
        "tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": command}
    });
    if agent {
        event
            .as_object_mut()
            .unwrap()
            .insert("agent_id".to_owned(), "a1".into());
    }
    event.to_string().into_bytes()
}

#[test]
fn the_hook_denies_in_json_with_exit_0_and_names_rule_words_and_the_way_out() {
    let (code, out, err) = hook(&payload("sleep 300 &", true), &[]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let reply: serde_json::Value = serde_json::from_str(&out).unwrap();
    let decision = reply.pointer("/hookSpecificOutput/permissionDecision").unwrap();
    assert_eq!(decision, "deny");
    let reason = reply
        .pointer("/hookSpecificOutput/permissionDecisionReason")
        .unwrap()
        .as_str()
        .unwrap();
    for part in ["background.ampersand", "sleep 300 &", "subcell run-record"] {
        assert!(reason.contains(part), "{part} is not in {reason}");
    }
}

#[test]
fn what_is_fine_or_not_for_this_caller_is_answered_with_silence() {
    for (command, agent) in [
        ("git commit -m 'sleep 300 & claude -p'", true),
        ("sleep 300 &", false),
        ("claude -p x", false),
    ] {
        assert_eq!(
            hook(&payload(command, agent), &[]),
            (Some(0), String::new(), String::new()),
            "{command}"
        );
    }
    let (_, out, _) = hook(&payload("rm -rf /", false), &[]);
    assert!(out.contains("destroy.tree"), "{out}");
}

#[test]
fn malformed_input_and_other_tools_get_silence_and_a_line_on_stderr() {
    let read = br#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"command":"rm -rf /"}}"#;
    for input in [
        &b""[..],
        b"{",
        b"[]",
        b"\xff\xfe",
        b"{\"hook_event_name\":\"PreToolUse\"}",
        read,
    ] {
        let (code, out, err) = hook(input, &[]);
        assert_eq!((code, out.as_str()), (Some(0), ""), "{input:?}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}

#[test]
fn observing_logs_the_decision_without_the_command_and_lets_it_pass() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log/guard.jsonl");
    let args = ["--observe", "--log", log.to_str().unwrap()];
    assert_eq!(hook(&payload("TOKEN=hunter2 rm -rf /", true), &args).1, "");
    assert_eq!(hook(&payload("ls", true), &args).1, "");
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(!text.contains("hunter2") && !text.contains("rm -rf"), "{text}");
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let field = |line: usize, name: &str| lines.get(line).unwrap().get(name).unwrap().clone();
    assert_eq!(
        (field(0, "decision"), field(0, "observed"), field(0, "rules")),
        ("deny".into(), true.into(), serde_json::json!(["destroy.tree"]))
    );
    assert_eq!(field(1, "decision"), "pass");
}

#[test]
fn people_get_an_explanation_a_list_of_rules_and_a_test_of_their_own_commands() {
    let (code, out, _) = hook(b"", &["--explain", "c=rm; sudo $c -rf ~"]);
    assert_eq!(code, Some(0));
    for part in [
        "run rm \"-rf\" \"~\" (through sudo)",
        "destroy.tree matches",
        "decision: deny",
    ] {
        assert!(out.contains(part), "{part} is not in {out}");
    }
    let (_, out, _) = hook(b"", &["--rules"]);
    assert!(
        out.lines().count() > 35 && out.contains("background.container (off)"),
        "{out}"
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("own.tsv");
    std::fs::write(
        &file,
        "id\tlabel\tfamily\tcommand\n1\tdeny\trm\t\"rm -rf /\"\n2\tallow\trm\t\"ls\"\n",
    )
    .unwrap();
    assert_eq!(hook(b"", &["--test", file.to_str().unwrap()]).0, Some(0));
    std::fs::write(&file, "id\tlabel\tfamily\tcommand\n1\tallow\trm\t\"rm -rf /\"\n").unwrap();
    let (code, out, _) = hook(b"", &["--test", file.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(out.contains("refused, should pass"), "{out}");
    std::fs::write(&file, "id\n1\tperhaps\n").unwrap();
    assert_eq!(hook(b"", &["--test", file.to_str().unwrap()]).0, Some(65));
    assert_eq!(hook(b"", &["--test", "/nonexistent"]).0, Some(66));
}

#[test]
fn a_user_may_excuse_and_a_project_may_only_tighten() {
    let dir = tempfile::tempdir().unwrap();
    let user = dir.path().join("user.toml");
    let own = "[guard.bash.allow.reset]\nrule = \"destroy.git-work\"\nprogram = \"git\"\nuntil = \"2999-01-01\"\n";
    std::fs::write(&user, own).unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let rules = "[guard.bash]\ndestroy = \"off\"\n[guard.bash.rule.no-make]\nprogram = \"make\"\nwords = [\"deploy\"]\nreason = \"nobody deploys by hand\"\n";
    std::fs::write(project.join(".subcell.toml"), rules).unwrap();
    let judge = |command: &str| {
        let mut event: serde_json::Value = serde_json::from_slice(&payload(command, true)).unwrap();
        event
            .as_object_mut()
            .unwrap()
            .insert("cwd".to_owned(), project.to_str().unwrap().into());
        hook(event.to_string().as_bytes(), &["--config", user.to_str().unwrap()]).1
    };
    assert!(!judge("git reset --hard").contains("deny"));
    assert!(judge("rm -rf /").contains("deny"));
    assert!(judge("make -j4 deploy").contains("nobody deploys by hand"));
    assert!(!judge("make test").contains("deny"));
    std::fs::write(&user, own.replace("2999", "2001")).unwrap();
    assert!(judge("git reset --hard").contains("deny"));
}
