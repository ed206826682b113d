//! The part of `subcell doctor --live` that runs inside the namespace: the scripted model on a thread, and the client.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{hook_io, runtime};
use crate::base::chain::Chain;
use crate::config::Environment;
use crate::exit::Exit;
use crate::process::{Ending, Limits, OWN_EXECUTABLE, Signals, Site, SpawnPlan, supervise};
use crate::replay::model::{NotLoopback, RequestLog, Script, Server};

/// A run takes 2 s; a machine under load ten times that.
const RUN: Duration = Duration::from_mins(1);
const START: Duration = Duration::from_secs(5);
const OUTPUT_BYTES: u64 = 64 << 20;

/// The part that runs inside the namespace (started by `doctor --live`)
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorLiveArgs {
    #[arg(long)]
    scratch: PathBuf,
    #[arg(long)]
    client: PathBuf,
    /// Further options of the client.
    #[arg(last = true)]
    options: Vec<OsString>,
}

/// Serves the model and runs the client, inside the namespace.
pub(crate) fn inside(args: &DoctorLiveArgs) -> Exit {
    match serve_and_run(args) {
        Ok(()) => Exit::Done,
        Err(problem) => {
            hook_io::complain("doctor", &problem);
            Exit::Negative
        }
    }
}

fn serve_and_run(args: &DoctorLiveArgs) -> Result<(), String> {
    let signals = Signals::install().map_err(|error| format!("install the signal handlers: {error}"))?;
    let root = args.scratch.clone();
    let (tell, told) = std::sync::mpsc::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = std::thread::spawn(move || serve(&root, &tell, stopped));
    let url = told
        .recv_timeout(START)
        .map_err(|_| "the scripted model did not start".to_owned())??;
    let ran = run_client(args, &url, &signals);
    // A server that has failed by itself is gone already.
    let _ = stop.send(());
    let _ = server.join();
    ran
}

fn serve(
    root: &Path,
    tell: &std::sync::mpsc::Sender<Result<String, String>>,
    stopped: tokio::sync::oneshot::Receiver<()>,
) {
    let prepared = Script::load(&root.join("script.json"))
        .map_err(|error| Chain(&error).to_string())
        .and_then(|script| {
            let log = RequestLog::append(&root.join("requests.jsonl")).map_err(|error| error.to_string())?;
            Ok((
                script,
                log,
                runtime::current_thread().map_err(|error| error.to_string())?,
            ))
        });
    let (script, log, runtime) = match prepared {
        Ok(prepared) => prepared,
        Err(problem) => {
            // Nobody waits any more where the wait was over first.
            let _ = tell.send(Err(problem));
            return;
        }
    };
    runtime.block_on(async {
        let address = "127.0.0.1:0".parse().map_err(|error: NotLoopback| error.to_string());
        let Ok(address) = address else { return };
        match Server::bind(address, script, log).await {
            Ok(server) => {
                let _ = tell.send(Ok(format!("http://{}", server.address())));
                let _ = server.run_until(async { drop(stopped.await) }).await;
            }
            Err(error) => {
                let _ = tell.send(Err(Chain(&error).to_string()));
            }
        }
    });
}

fn run_client(args: &DoctorLiveArgs, url: &str, signals: &Signals) -> Result<(), String> {
    let mut env: BTreeMap<OsString, OsString> = Environment::of_this_process()
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    env.insert("ANTHROPIC_BASE_URL".into(), url.into());
    let mut words: Vec<OsString> = ["-p", "--output-format", "json", "--model", "claude-sonnet-4-5"]
        .map(OsString::from)
        .to_vec();
    words.extend(args.options.iter().cloned());
    let plan = SpawnPlan {
        program: args.client.clone(),
        args: words,
        env,
        cwd: args.scratch.join("work"),
        limits: Limits {
            run: RUN,
            grace: Duration::from_secs(5),
            output_bytes: OUTPUT_BYTES,
        },
    };
    let scratch = args.scratch.join("tmp");
    let site = Site {
        keeper: Path::new(OWN_EXECUTABLE),
        scratch: &scratch,
        signals,
        notice: None,
    };
    let mut finished = supervise(site, &plan, b"SUBCELL-DOCTOR-PARENT: hand the task on", |_| {})
        .map_err(|error| Chain(&error).to_string())?;
    let mut result = Vec::new();
    finished
        .stdout
        .read_to_end(&mut result)
        .map_err(|error| error.to_string())?;
    fs::write(args.scratch.join("result.json"), result).map_err(|error| error.to_string())?;
    let ending = &finished.report.ending;
    if *ending == (Ending::Exited { code: 0 }) {
        return Ok(());
    }
    Err(format!(
        "the client did not end well: {ending:?}; {}",
        finished.report.stderr_tail
    ))
}
