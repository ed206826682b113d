//! The bash guard against bash itself, and against whatever can be typed.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::too_many_lines,
    clippy::format_collect,
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

/// Whether the guard read the whole command.
fn reads(command: &str) -> bool {
    !judge(command)
        .facts
        .iter()
        .any(|fact| matches!(fact, Fact::Unread { .. }))
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
    let start = Instant::now();
    let decision = judge(command);
    let took = start.elapsed();
    // Without optimization everything takes some twenty times as long.
    let limit = Duration::from_millis(if cfg!(debug_assertions) { 2_000 } else { 50 });
    println!("{name:<24} {took:>12.3?} {:?}", decision.verdict);
    assert!(took < limit, "{name} took {took:?}");
    decision
}

#[test]
fn hostile_commands_are_decided_in_time_and_none_passes() {
    let megabyte = 1 << 20;
    let openers = [
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
    for opener in openers {
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
    let lines = [
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
        (
            "functions that double",
            (0..64)
                .map(|n| format!("f{n}() {{ f{m}; f{m}; }}\n", m = n + 1))
                .collect::<String>()
                + "f0",
        ),
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
    ];
    for (name, command) in lines {
        timed(name, &command);
    }
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
fn variations_of_every_family_are_judged_right() {
    let rows = read_labelled(VARIATIONS).unwrap();
    let wrong: Vec<String> = rows
        .iter()
        .filter(|row| (judge(&row.command).verdict != Verdict::Pass) != row.refuse)
        .map(|row| format!("{} refuse={} {:?}", row.id, row.refuse, row.command))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
