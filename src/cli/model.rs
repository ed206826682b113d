//! `subcell model`: the scripted model as a process.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use super::runtime;
use crate::base::chain::Chain;
use crate::exit::Exit;
use crate::replay::model::{LoopbackAddr, ModelError, RequestLog, Script, ScriptError, Server};

/// Answers the Messages API on loopback from a script, so that the real client runs without an account.
///
/// Point the client at it with `ANTHROPIC_BASE_URL`. The first line on stdout is that URL, printed once it listens. It
/// ends on TERM or INT. Example: `subcell model --script scripts/demo-model.json`
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// The address to listen on, loopback only; port 0 lets the system choose.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    listen: LoopbackAddr,
    /// The script: a JSON file of rules.
    #[arg(long, value_name = "FILE")]
    script: PathBuf,
    /// Adds each request to FILE, as a line of JSON, without credentials.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Writes the port to FILE once it listens.
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,
}

/// Why the model did not start, or ended by itself.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("open the request log {}", .0.display())]
    Log(PathBuf, #[source] io::Error),
    #[error("write the port to {}", .0.display())]
    PortFile(PathBuf, #[source] io::Error),
    #[error("write to stdout")]
    Stdout(#[source] io::Error),
    #[error("start the runtime")]
    Runtime(#[source] io::Error),
}

impl Failure {
    fn exit(&self) -> Exit {
        match self {
            Self::Script(ScriptError::Read { source, .. } | ScriptError::File { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Exit::NoInput
            }
            Self::Script(ScriptError::Wrong { .. }) => Exit::BadInput,
            Self::Script(ScriptError::Read { .. } | ScriptError::File { .. })
            | Self::Model(_)
            | Self::Log(..)
            | Self::PortFile(..)
            | Self::Stdout(_)
            | Self::Runtime(_) => Exit::Io,
        }
    }
}

/// Runs the model until it is told to end.
pub(crate) fn run(args: &ModelArgs) -> Exit {
    match serve(args) {
        Ok(()) => Exit::Done,
        Err(failure) => {
            // Nowhere is left to report a broken stderr.
            let _ = writeln!(io::stderr(), "subcell model: {}", Chain(&failure));
            failure.exit()
        }
    }
}

fn serve(args: &ModelArgs) -> Result<(), Failure> {
    let script = Script::load(&args.script)?;
    let log = match &args.log {
        Some(path) => RequestLog::append(path).map_err(|source| Failure::Log(path.clone(), source))?,
        None => RequestLog::off(),
    };
    let runtime = runtime::current_thread().map_err(Failure::Runtime)?;
    runtime.block_on(async {
        // Before anybody is told the address: from then on a signal may come.
        let mut term = signal(SignalKind::terminate()).map_err(Failure::Runtime)?;
        let mut int = signal(SignalKind::interrupt()).map_err(Failure::Runtime)?;
        let server = Server::bind(args.listen, script, log).await?;
        announce(server.address(), args.port_file.as_deref())?;
        let told_to_end = async {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
        };
        Ok(server.run_until(told_to_end).await?)
    })
}

/// Tells where the model listens, whole or not at all: a reader of the port file never sees half a number.
fn announce(address: SocketAddr, port_file: Option<&Path>) -> Result<(), Failure> {
    if let Some(path) = port_file {
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".new");
        let written = fs::write(&unfinished, format!("{}\n", address.port()));
        written
            .and_then(|()| fs::rename(&unfinished, path))
            .map_err(|source| Failure::PortFile(path.to_owned(), source))?;
    }
    let mut stdout = io::stdout();
    writeln!(stdout, "http://{address}")
        .and_then(|()| stdout.flush())
        .map_err(Failure::Stdout)
}
