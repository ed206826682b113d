//! What a hook takes beside its child: the hook, the child alone and the same flow in Python, in turn.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::scene::{STANDIN, handed_back, home, hook, payload, prompt};
use crate::table::{Row, median};

const ROUNDS: usize = 60;
const WARM_UP: usize = 5;
const MOST_MS: f64 = 6.0;
const MOST_OF_PYTHON: f64 = 1.0 / 6.0;

/// The flow that the hook replaces, as one would write it down in Python: the payload in, one child, its prompt and its
/// answer, one file, the decision out.
const PYTHON: &str = r#"import json
import subprocess
import sys

call = json.load(sys.stdin)
child = subprocess.Popen([sys.argv[1], "-p", "--output-format=json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
out, _ = child.communicate(call["tool_input"]["prompt"].encode())
result = json.loads(out)
with open(sys.argv[2], "w") as record:
    json.dump(result, record)
updated = dict(call["tool_input"], prompt=result["result"], run_in_background=False)
print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": updated}}))
"#;

/// The wall time of a run, and the processor time of everything that it started; in milliseconds.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    cpu: f64,
}

fn cost(run: impl FnOnce()) -> Cost {
    let (before, began) = (cpu_of_children(), Instant::now());
    run();
    let wall = began.elapsed();
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    Cost {
        wall: millis(wall),
        cpu: millis(cpu_of_children().saturating_sub(before)),
    }
}

/// User and system time of all ended descendants: every process of a hook's tree is waited for by the one above it.
fn cpu_of_children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let micros = (usage.user_time() + usage.system_time()).num_microseconds();
    Duration::from_micros(micros.unsigned_abs())
}

/// One of each, in turn.
struct Round {
    hook: Cost,
    child: Cost,
    python: Cost,
    child_again: Cost,
    floor: Cost,
}

/// The rows of the hook's overhead.
pub(crate) fn measure() -> Vec<Row> {
    let flow = Flow::new();
    let mut rounds = Vec::with_capacity(ROUNDS);
    for n in 0..WARM_UP + ROUNDS {
        let round = flow.round(n);
        if n >= WARM_UP {
            rounds.push(round);
        }
    }
    rows(&rounds, &flow.python_version())
}

fn rows(rounds: &[Round], version: &str) -> Vec<Row> {
    let of = |what: &dyn Fn(&Round) -> f64| median(rounds.iter().map(what).collect());
    let mut rows = Vec::new();
    for (unit, pick) in [
        ("wall", (|cost: Cost| cost.wall) as fn(Cost) -> f64),
        ("user+sys", |cost: Cost| cost.cpu),
    ] {
        let hook = of(&|round| pick(round.hook) - pick(round.child));
        let python = of(&|round| pick(round.python) - pick(round.child_again));
        let (whole, child) = (of(&|round| pick(round.hook)), of(&|round| pick(round.child)));
        let measured = format!("{hook:.2} ms ({whole:.2} less the child's {child:.2}; median of {ROUNDS})");
        rows.push(
            Row::told(format!("hook overhead, {unit}"), measured)
                .held_to(format!("<= {MOST_MS} ms"), hook <= MOST_MS),
        );
        let share = hook / python;
        let measured = format!("1/{:.1} (Python {version}: {python:.2} ms)", 1.0 / share);
        rows.push(
            Row::told(format!("of the same flow in Python, {unit}"), measured)
                .held_to("<= 1/6", share <= MOST_OF_PYTHON),
        );
    }
    let floor = format!(
        "{:.2} ms wall, {:.2} ms user+sys",
        of(&|r| r.floor.wall),
        of(&|r| r.floor.cpu)
    );
    rows.push(Row::told("start and end of /bin/true", floor));
    rows
}

struct Flow {
    python: PathBuf,
    script: PathBuf,
    prompt: PathBuf,
}

impl Flow {
    fn new() -> Self {
        let file = |name: &str, text: &str| {
            let path = home().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        // The interpreter itself: what is on the PATH may be a script of a version manager, which takes far longer.
        let which = Command::new("python3")
            .args(["-c", "import sys; print(sys.executable)"])
            .output()
            .unwrap_or_else(|error| panic!("python3 is needed for the comparison: {error}"));
        Self {
            python: String::from_utf8(which.stdout).unwrap().trim_end().into(),
            script: file("flow.py", PYTHON),
            prompt: file("prompt", &prompt()),
        }
    }

    fn python_version(&self) -> String {
        let output = Command::new(&self.python).arg("--version").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.trim().trim_start_matches("Python ").to_owned()
    }

    fn round(&self, n: usize) -> Round {
        let id = format!("toolu_{n}");
        let mut hook = hook(&id, "");
        let mut python = self.python(&payload(&id));
        Round {
            hook: cost(|| drop(handed_back(&hook.output().unwrap()))),
            child: self.child(),
            python: cost(|| drop(handed_back(&python.output().unwrap()))),
            child_again: self.child(),
            floor: cost(|| done(&Command::new("/bin/true").output().unwrap())),
        }
    }

    fn child(&self) -> Cost {
        let mut child = Command::new(STANDIN);
        child
            .args(["-p", "--output-format=json"])
            .stdin(File::open(&self.prompt).unwrap());
        child.stderr(Stdio::piped());
        cost(|| done(&child.output().unwrap()))
    }

    fn python(&self, payload: &Path) -> Command {
        let mut python = Command::new(&self.python);
        python.arg(&self.script).arg(STANDIN).arg(home().join("record"));
        python.stdin(File::open(payload).unwrap()).stderr(Stdio::piped());
        python
    }
}

fn done(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}
