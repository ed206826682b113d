//! The bash guard's reader beside brush-parser, and random commands against the clock.
//!
//! `oracle brush FILE.tsv COUNT`: the labelled commands and COUNT mutations of them, read by both; differences are listed.
//! `oracle random COUNT`: COUNT random commands; the slowest decision and the time for all.
//!
//! brush-parser can take its process down or allocate without end, so it runs in a child with limits of its own. What it
//! dies of is counted and left out.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use subcell::guard::bash::{
    Caller, Decision, Fact, Ground, LiveRecords, Policy, Question, Verdict, decide, read_labelled,
};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["child"] => child(),
        ["brush", file, count] => return beside_brush(file, count.parse().expect("a count")),
        ["random", count] => return random(count.parse().expect("a count")),
        _ => {
            eprintln!("usage: oracle brush FILE.tsv COUNT | oracle random COUNT");
            return ExitCode::from(64);
        }
    }
    ExitCode::SUCCESS
}

fn judge(command: &str) -> Decision {
    let ground = Ground {
        cwd: "/w/p".to_owned(),
        project: "/w/p".to_owned(),
        home: Some("/home/dev".to_owned()),
        protected: Vec::new(),
    };
    let caller = Caller { confined: true, answerable: false };
    let question =
        Question { command, in_background: false, caller, ground: &ground, records: &LiveRecords, today: None };
    decide(&question, &Policy::default())
}

fn reads(command: &str) -> bool {
    let facts = judge(command).facts;
    let whole =
        |fact: &Fact| matches!(fact, Fact::Unread { failure, span } if span.end == command.len() && failure.at == span.start);
    !facts.last().is_some_and(whole)
}

fn brush_takes(command: &str) -> bool {
    let options = brush_parser::ParserOptions { enable_extended_globbing: true, ..Default::default() };
    let mut parser = brush_parser::Parser::new(command.as_bytes(), &options);
    parser.parse_program().is_ok()
}

/// Answers each JSON text on a line with `true` or `false`.
fn child() {
    for line in std::io::stdin().lock().lines() {
        let command: String = serde_json::from_str(&line.expect("a line")).expect("a JSON text");
        println!("{}", brush_takes(&command));
    }
}

struct Brush {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Brush {
    fn start() -> Self {
        let own = std::env::current_exe().expect("the own path");
        let mut child = Command::new("sh")
            .args(["-c", "ulimit -v 1000000; ulimit -t 60; exec \"$0\" child"])
            .arg(own)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("start the child");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, answers }
    }

    /// What brush says; `None` where it dies of the command.
    fn takes(&mut self, command: &str) -> Option<bool> {
        let line = serde_json::to_string(command).expect("a JSON text") + "\n";
        let sent = self.child.stdin.as_mut().is_some_and(|pipe| pipe.write_all(line.as_bytes()).is_ok());
        let mut answer = String::new();
        if sent && self.answers.read_line(&mut answer).is_ok_and(|length| length > 0) {
            return answer.trim().parse().ok();
        }
        let _ = self.child.wait();
        *self = Self::start();
        None
    }
}

fn beside_brush(file: &str, count: usize) -> ExitCode {
    let rows = read_labelled(&std::fs::read_to_string(file).expect("a file")).expect("labelled commands");
    let mut numbers = Numbers(20_261_201);
    let plain = rows.iter().map(|row| row.command.clone());
    let mutations: Vec<String> = rows.iter().cycle().take(count).map(|row| mutated(&row.command, &mut numbers)).collect();
    let (mut total, mut deaths, mut refused, mut taken) = (0, 0, 0, 0);
    let mut brush = Brush::start();
    for command in plain.chain(mutations) {
        total += 1;
        match (reads(&command), brush.takes(&command)) {
            (_, None) => deaths += 1,
            (true, Some(false)) => {
                taken += 1;
                println!("only we read     {command:?}");
            }
            (false, Some(true)) => {
                refused += 1;
                println!("only brush reads {command:?}");
            }
            (true, Some(true)) | (false, Some(false)) => {}
        }
    }
    println!("{total} commands: {refused} read by brush alone, {taken} by us alone, brush died of {deaths}");
    // brush wants here-documents and continued lines to be ended; bash, and we, take the end of the text.
    if refused * 100 > total || taken * 20 > total { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn random(count: usize) -> ExitCode {
    let mut numbers = Numbers(20_261_202);
    let (mut slowest, mut of) = (Duration::ZERO, String::new());
    let (mut denied, start) = (0, Instant::now());
    for _ in 0..count {
        let command: String = (0..numbers.below(60)).map(|_| piece(&mut numbers)).collect();
        let begin = Instant::now();
        denied += usize::from(judge(&command).verdict == Verdict::Deny);
        // Other work on the machine only adds to a time: a slow one is taken again.
        let mut took = begin.elapsed();
        for _ in 0..3 {
            if took < Duration::from_millis(10) {
                break;
            }
            let begin = Instant::now();
            judge(&command);
            took = took.min(begin.elapsed());
        }
        if took > slowest {
            (slowest, of) = (took, command);
        }
    }
    println!("{count} commands in {:.1?}, {denied} denied; the slowest took {slowest:.2?}: {of:?}", start.elapsed());
    if slowest > Duration::from_millis(50) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

const PIECES: &[&str] = &[
    "'", "\"", "`", "$(", ")", "(", "{ ", "}", ";", "&", "|", "&&", "||", "<<E\n", "<", ">", "\n", "\\", "#", "$", "${x",
    "if ", "fi", "do", "done", " ", "[[ ", "]]", "((", "case x in ", "rm ", "-rf ", "/ ", "git ", "x=", "$x ", "eval ",
    "bash -c ", "find ", "xargs ", "sed ", "E\n", "{a,b} ", "* ", "~ ", "for x in ", "in ", "then ", "esac ", "wait ",
    "trap ", "f() ", "! ", "time ", "python3 -c ", "awk ", "ssh h ", "${x//a/b}", "${!x}", "$'\\x", "$((1", "a ", "b ",
];

fn piece(numbers: &mut Numbers) -> String {
    match numbers.below(12) {
        0 => char::from_u32(u32::try_from(numbers.below(0x11_0000)).unwrap_or(0)).unwrap_or('\u{F0000}').to_string(),
        1 => char::from(u8::try_from(numbers.below(128)).unwrap_or(b' ')).to_string(),
        _ => PIECES[numbers.below(PIECES.len())].to_owned(),
    }
}

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
                let piece = PIECES[numbers.below(30)];
                chars.splice(at..at, piece.chars());
            }
        }
    }
    chars.into_iter().collect()
}
