//! A hook without the rest of a hook: supervises the client that its argument (one JSON object) describes and prints
//! the keeper's identity and then the outcome, a line each. For the process tests only.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use subcell::base::digest::sha256_hex;
use subcell::process::{Finished, Limits, Signals, Site, SpawnPlan, supervise};

#[derive(Deserialize)]
struct Job {
    keeper: PathBuf,
    scratch: PathBuf,
    program: PathBuf,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    cwd: PathBuf,
    run_ms: u64,
    grace_ms: u64,
    output_bytes: u64,
    prompt_bytes: usize,
}

fn say(value: &serde_json::Value) {
    let mut out = std::io::stdout();
    // Whoever reads this may be gone on purpose.
    let _ = writeln!(out, "{value}").and_then(|()| out.flush());
}

fn main() -> Result<(), Box<dyn Error>> {
    let job: Job = serde_json::from_str(&std::env::args().nth(1).ok_or("one argument: the job as JSON")?)?;
    let plan = SpawnPlan {
        program: job.program,
        args: job.args.into_iter().map(OsString::from).collect(),
        env: job.env.into_iter().map(|(k, v)| (k.into(), v.into())).collect(),
        cwd: job.cwd,
        limits: Limits {
            run: Duration::from_millis(job.run_ms),
            grace: Duration::from_millis(job.grace_ms),
            output_bytes: job.output_bytes,
        },
    };
    let signals = Signals::install()?;
    let site = Site {
        keeper: &job.keeper,
        scratch: &job.scratch,
        signals: &signals,
        notice: None,
    };
    let prompt = vec![b'p'; job.prompt_bytes];
    let finished = supervise(site, &plan, &prompt, |keeper| {
        say(&serde_json::json!({ "keeper": keeper }));
    })?;
    let Finished {
        report,
        mut stdout,
        stdout_bytes,
    } = finished;
    let mut bytes = Vec::new();
    stdout.read_to_end(&mut bytes)?;
    let sha256 = sha256_hex(&bytes);
    bytes.truncate(4096);
    let start = String::from_utf8_lossy(&bytes);
    say(&serde_json::json!({
        "report": report, "stdout_bytes": stdout_bytes, "stdout_sha256": sha256, "stdout": start
    }));
    Ok(())
}
