//! A network namespace with loopback alone, held by the scripted model that runs in it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, geteuid, kill_process, pidfd_open};

/// Everything that runs in it ends when this is dropped.
pub(crate) struct Namespace {
    model: Child,
    /// What `/proc/PID/ns/net` of every process in it points at.
    name: PathBuf,
    _held: File,
    /// `http://127.0.0.1:PORT`.
    pub(crate) url: String,
}

/// Where the collector listens: a namespace of its own has every port free.
pub(crate) const COLLECTOR: &str = "http://127.0.0.1:4318";

/// A collector, told to end when this is dropped.
pub(crate) struct Collector(Child);

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}

/// A process, and how it was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pid: Pid,
    pub(crate) command: String,
}

impl Namespace {
    /// Starts the scripted model in a namespace of its own, and waits until it listens.
    pub(crate) fn start(script: &Path, log: &Path) -> Self {
        let mut unshare = Command::new("unshare");
        // Who is not root may make a network namespace in a user namespace only.
        unshare.arg(if geteuid().is_root() { "-n" } else { "-rn" });
        unshare.args([
            "sh",
            "-c",
            r#"ip link set lo up && exec "$@""#,
            "sh",
            env!("CARGO_BIN_EXE_subcell"),
            "model",
        ]);
        unshare
            .args(["--listen", "127.0.0.1:0", "--script"])
            .arg(script)
            .arg("--log")
            .arg(log);
        let mut model = unshare
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start unshare");
        let url = first_line(&mut model).unwrap_or_else(|| panic!("the model did not start: {:?}", model.wait()));
        let name = namespace_of(Pid::from_child(&model)).expect("the model runs");
        // Held open, the namespace stays: a later one would get its name, and lose its processes to what ends this one's.
        let held = File::open(format!("/proc/{}/ns/net", model.id())).expect("the model runs");
        Self {
            model,
            name,
            _held: held,
            url,
        }
    }

    /// A command that runs `program` in the namespace.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut nsenter = Command::new("nsenter");
        nsenter.arg("--net").arg(format!("--target={}", self.model.id()));
        if !geteuid().is_root() {
            nsenter.args(["--user", "--preserve-credentials"]);
        }
        nsenter.arg("--").arg(program);
        nsenter
    }

    /// Starts a collector that writes what it is sent to `file`, and waits until it listens.
    pub(crate) fn collector(&self, file: &Path) -> Collector {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/client/collector.mjs");
        let mut node = self.command(Path::new("node"));
        node.arg(script).arg(file).arg("4318");
        let mut node = node
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start node");
        let url = first_line(&mut node);
        assert_eq!(
            url.as_deref(),
            Some(COLLECTOR),
            "the collector did not start: {:?}",
            node.try_wait()
        );
        Collector(node)
    }

    /// The processes in the namespace, the model aside: also those that left their session, their group or their parent.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let pids = fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
        pids.filter(|pid| *pid != Pid::from_child(&self.model) && namespace_of(*pid).as_ref() == Some(&self.name))
            .map(|pid| Process {
                pid,
                command: command_of(pid),
            })
            .collect()
    }

    /// Waits until the namespace is empty, the model aside; gives what is still there when `limit` has passed.
    pub(crate) fn processes_left_after(&self, limit: Duration) -> Vec<Process> {
        let end = Instant::now() + limit;
        loop {
            let left = self.processes();
            let Some(first) = left.first() else { return left };
            if !ends_before(first.pid, end) {
                return self.processes();
            }
        }
    }

    /// Ends the model as its user would, and gives its exit code.
    pub(crate) fn end_model(&mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.model), Signal::TERM).unwrap();
        self.model.wait().unwrap().code()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // A killed parent may start nothing more, but what it had started may: until nothing is found.
        for _ in 0..100 {
            let left = self.processes();
            for process in &left {
                let _ = kill_process(process.pid, Signal::KILL);
                ends_before(process.pid, Instant::now() + Duration::from_secs(1));
            }
            if left.is_empty() {
                break;
            }
        }
        let _ = self.model.kill();
        let _ = self.model.wait();
    }
}

/// The first line that a process prints; none where it ends, or is silent for 20 s.
fn first_line(process: &mut Child) -> Option<String> {
    let stdout = process.stdout.take().expect("stdout is a pipe");
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        // Nobody listens any more where the wait was over first.
        let _ = tell.send(read.is_ok_and(|bytes| bytes > 0).then(|| line.trim_end().to_owned()));
    });
    told.recv_timeout(Duration::from_secs(20)).ok().flatten()
}

fn namespace_of(pid: Pid) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

fn command_of(pid: Pid) -> String {
    let raw = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = raw.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    words.join(" ").chars().take(300).collect()
}

/// Waits until a process has ended; false where it still runs at `end`.
fn ends_before(pid: Pid, end: Instant) -> bool {
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
        return true;
    };
    let left = Timespec::try_from(end.saturating_duration_since(Instant::now())).unwrap();
    poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&left)).is_ok_and(|ready| ready > 0)
}
