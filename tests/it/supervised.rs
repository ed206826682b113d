//! A builder over `subcell-supervise`: the real keeper, a stand-in client, a clean environment, everything marked.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use subcell::base::ProcessIdentity;
use subcell::process::Report;
use tempfile::TempDir;

use crate::inspect::{PATIENCE, marked, ready, wait_for_end};

/// A hook and its client to be.
pub(crate) struct Setup {
    pub(crate) standin: String,
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) run: Duration,
    pub(crate) grace: Duration,
    pub(crate) output_bytes: u64,
    pub(crate) prompt_bytes: usize,
    pub(crate) keeper: String,
    /// Where the client starts, if not in the test's own folder.
    pub(crate) cwd: Option<PathBuf>,
    /// A command that starts the hook, which is appended to it.
    pub(crate) under: Vec<String>,
}

impl Setup {
    pub(crate) fn new(standin: &str) -> Self {
        Self {
            standin: standin.to_owned(),
            program: env!("CARGO_BIN_EXE_subcell-standin").to_owned(),
            args: Vec::new(),
            run: PATIENCE,
            grace: Duration::from_millis(200),
            output_bytes: 64 << 20,
            prompt_bytes: 1000,
            keeper: env!("CARGO_BIN_EXE_subcell").to_owned(),
            cwd: None,
            under: Vec::new(),
        }
    }

    pub(crate) fn start(&self) -> Running {
        let home = tempfile::tempdir().unwrap();
        let mark = format!("SUBCELL_TEST_MARK={}", uuid::Uuid::new_v4());
        let (mark_name, mark_value) = mark.split_once('=').unwrap();
        let socket = home.path().join("meet");
        let meeting = UnixListener::bind(&socket).unwrap();
        let job = json!({
            "keeper": self.keeper,
            "scratch": home.path(),
            "program": self.program,
            "args": self.args,
            "env": {
                "STANDIN": format!("{} meet={}", self.standin, socket.display()),
                mark_name: mark_value,
                "HOME": home.path(),
                "PATH": "/usr/bin:/bin",
            },
            "cwd": self.cwd.as_deref().unwrap_or(home.path()),
            "run_ms": self.run.as_millis(),
            "grace_ms": self.grace.as_millis(),
            "output_bytes": self.output_bytes,
            "prompt_bytes": self.prompt_bytes,
        });
        let mut line = self.under.clone();
        line.extend([env!("CARGO_BIN_EXE_subcell-supervise").to_owned(), job.to_string()]);
        let mut hook = Command::new(&line[0])
            .args(&line[1..])
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(hook.stdout.take().unwrap());
        Running {
            hook,
            lines,
            meeting,
            met: Vec::new(),
            mark,
            _home: home,
        }
    }
}

/// A hook at work.
pub(crate) struct Running {
    hook: Child,
    lines: BufReader<ChildStdout>,
    meeting: UnixListener,
    met: Vec<Met>,
    mark: String,
    _home: TempDir,
}

/// A process of the tree that has joined the meeting.
struct Met {
    role: String,
    pid: i32,
    stream: BufReader<UnixStream>,
}

/// What the hook printed in the end.
#[derive(serde::Deserialize)]
pub(crate) struct Outcome {
    pub(crate) report: Report,
    pub(crate) stdout_bytes: u64,
    pub(crate) stdout_sha256: String,
    /// Its first 4 KiB.
    pub(crate) stdout: String,
}

impl Running {
    /// Waits until `count` processes of the tree have joined.
    pub(crate) fn meet(&mut self, count: usize) {
        while self.met.len() < count {
            assert!(ready(&self.meeting, PATIENCE), "nobody came");
            self.accept();
        }
    }

    /// How many have joined by now.
    pub(crate) fn met(&mut self) -> usize {
        while ready(&self.meeting, Duration::ZERO) {
            self.accept();
        }
        self.met.len()
    }

    fn accept(&mut self) {
        let mut stream = BufReader::new(self.meeting.accept().unwrap().0);
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        // A process that was ended between joining and its line has none.
        if let Some((role, pid)) = line.trim_end().split_once(' ') {
            self.met.push(Met {
                role: role.to_owned(),
                pid: pid.parse().unwrap(),
                stream,
            });
        }
    }

    /// Tells the client to go on.
    pub(crate) fn go(&mut self) {
        let client = self.met.iter_mut().find(|met| met.role == "client").unwrap();
        client.stream.get_mut().write_all(b"\n").unwrap();
    }

    pub(crate) fn signal_hook(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.hook), signal).unwrap();
    }

    /// The keeper, once the hook has told.
    pub(crate) fn keeper(&mut self) -> ProcessIdentity {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        let value: Value = serde_json::from_str(&line).unwrap();
        serde_json::from_value(value["keeper"].clone()).unwrap()
    }

    /// Waits for the hook's end and for what it printed last; nothing of the cell may be left then.
    pub(crate) fn outcome(mut self) -> Outcome {
        let mut text = String::new();
        self.lines.read_to_string(&mut text).unwrap();
        assert!(self.hook.wait().unwrap().success());
        self.assert_all_gone();
        serde_json::from_str(text.lines().last().unwrap()).unwrap()
    }

    /// Kills the hook and waits for its keeper's end; nothing of the cell may be left then.
    pub(crate) fn kill_hook(mut self) {
        let keeper = self.keeper();
        self.signal_hook(Signal::KILL);
        self.hook.wait().unwrap();
        wait_for_end(keeper.pid);
        assert!(!keeper.is_alive());
        self.assert_all_gone();
    }

    fn assert_all_gone(&mut self) {
        assert_eq!(marked(&self.mark), [""; 0]);
        for met in &mut self.met {
            let mut rest = Vec::new();
            // Its end of the stream closed when it ended; a reset is an end too.
            let _ = met.stream.read_to_end(&mut rest);
            assert_eq!(ProcessIdentity::of(met.pid).filter(ProcessIdentity::is_alive), None);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind either: the keeper sees to the rest.
        let _ = self.hook.kill();
        let _ = self.hook.wait();
    }
}

/// How long `work` takes.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = work();
    (value, start.elapsed())
}
