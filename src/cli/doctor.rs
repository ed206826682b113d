//! `subcell doctor`: whether subagent calls would really be isolated here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Parser as _;

use super::args::{Args, Command};
use super::{doctor_live, hook_io};
use crate::base::{Deadline, UnixNanos};
use crate::config::{
    Believed, ConfigError, Environment, Flags, LiveProc, OnFailure, Profile, StartEnv, Surroundings,
};
use crate::exit::Exit;
use crate::isolate::lineage::{self, EchoAvailability};
use crate::ledger::places::usual_folders;
use crate::process::Signals;
use crate::protocol::command_line::ParentFlags;
use crate::protocol::command_line::inherit::Versions;
use crate::protocol::version::ClientVersion;
use crate::setup::Work;
use crate::setup::doctor::facts::{ClientFacts, Program};
use crate::setup::doctor::{Echo, Evidence, Facts, Meaning, Place, Report, Verdict, client_on_path, gather};

/// Says whether subagent calls are really isolated here, and proves it
///
/// Reads every scope of the client's settings, the configuration and what is around them; changes nothing. Exit code 0:
/// isolated; 1: isolated, with warnings; 2: not isolated. Example: `subcell doctor --live -- --settings ci.json`
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Run the real client once, in a copy of the configuration, against a scripted model on loopback
    #[arg(long)]
    live: bool,
    /// Look at sessions that are started in this folder [default: the current one]; may be repeated
    #[arg(long, value_name = "DIR")]
    cwd: Vec<PathBuf>,
    /// The client's program [default: `claude` on the PATH]
    #[arg(long, value_name = "PATH")]
    client: Option<PathBuf>,
    /// The options that you start the client with, after `--`
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<OsString>,
}

/// What is the same for every folder.
struct Around {
    believed: Believed,
    /// The environment that clients are started in.
    env: Environment,
    /// The client's command line, the program first.
    command_line: Vec<OsString>,
    options_known: bool,
    client: Option<PathBuf>,
    version: Option<ClientVersion>,
    signals: Signals,
}

/// Looks, and says what it found.
pub(crate) fn run(args: &DoctorArgs) -> Exit {
    let signals = match Signals::install() {
        Ok(signals) => signals,
        Err(error) => {
            hook_io::complain("doctor", &format!("install the signal handlers: {error}"));
            return Exit::Internal;
        }
    };
    let around = around(args, signals);
    let mut reports = Vec::new();
    for folder in folders(args) {
        match folder {
            Ok(folder) => reports.push(examine(args, &around, &folder)),
            Err(problem) => {
                hook_io::complain("doctor", &problem);
                return Exit::NoInput;
            }
        }
    }
    tell(args.json, &reports)
}

fn folders(args: &DoctorArgs) -> Vec<Result<PathBuf, String>> {
    let named = if args.cwd.is_empty() {
        vec![PathBuf::from(".")]
    } else {
        args.cwd.clone()
    };
    let absolute = |folder: PathBuf| {
        let found = folder.canonicalize().map_err(|error| error.to_string());
        let found = found.and_then(|found| {
            found
                .is_dir()
                .then_some(found)
                .ok_or_else(|| "it is no folder".to_owned())
        });
        found.map_err(|why| format!("{}: {why}", folder.display()))
    };
    named.into_iter().map(absolute).collect()
}

fn around(args: &DoctorArgs, signals: Signals) -> Around {
    let seen = Surroundings::look_as_command(&LiveProc);
    let below = seen.environment.get("CLAUDECODE").is_some();
    let running = seen.client.ok().filter(|_| below);
    let env = match running.as_ref().map(|client| &client.start_env) {
        Some(StartEnv::Known(env)) => env.clone(),
        Some(StartEnv::Unreadable(_)) | None => seen.environment,
    };
    let own_exe = running.as_ref().and_then(|client| client.exe.clone());
    let client = args
        .client
        .clone()
        .or(own_exe)
        .or_else(|| client_on_path(env.get("PATH")));
    // The name on the PATH is a link to the program that says its version.
    let real = client.as_deref().and_then(|path| path.canonicalize().ok());
    let version = real
        .as_deref()
        .and_then(|path| ClientVersion::of_executable(path).or_else(|| asked_version(path, &signals)));
    let given = !args.options.is_empty();
    let command_line = match running {
        Some(running) if !given => running.cmdline,
        Some(_) | None => std::iter::once(OsString::from("claude"))
            .chain(args.options.iter().cloned())
            .collect(),
    };
    Around {
        believed: seen.believed,
        options_known: given || below,
        env,
        command_line,
        client: real.or(client),
        version,
        signals,
    }
}

/// What the client's own `--version` prints, where no file beside it tells.
fn asked_version(path: &Path, signals: &Signals) -> Option<ClientVersion> {
    let helper = crate::process::Helper {
        program: path.to_owned(),
        args: vec!["--version".into()],
        env: [
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("HOME".into(), "/nonexistent".into()),
        ]
        .into(),
        cwd: PathBuf::from("/"),
        output_bytes: 4096,
    };
    let output = crate::process::run_bounded(&helper, Deadline::after(Duration::from_secs(10)), signals).ok()?;
    String::from_utf8(output.stdout).ok()?.parse().ok()
}

fn examine(args: &DoctorArgs, around: &Around, folder: &Path) -> Report {
    let flags = ParentFlags::parse(&around.command_line);
    let profile = Profile::load(&around.believed, Some(folder), &Flags::default());
    let meaning = |arguments: &[String]| meaning(around, folder, arguments);
    let records = usual_folders(&around.believed);
    let facts = gather(&Place {
        folder,
        believed: &around.believed,
        env: &around.env,
        flags: (&flags, around.options_known),
        managed: Path::new(lineage::gather::MANAGED_FOLDER),
        client: client(around, profile.as_ref()),
        echo: echo(around, folder),
        profile: profile.as_ref(),
        meaning: &meaning,
        records: records.first().map(PathBuf::as_path),
        signals: &around.signals,
    });
    let live = args.live.then(|| live(around, &facts));
    Report::new(&facts, live)
}

fn client(around: &Around, profile: Result<&Profile, &ConfigError>) -> ClientFacts {
    let configured = profile.ok().and_then(|profile| profile.intercept.claude.as_ref());
    let missing = configured
        .map(|claude| &claude.value)
        .filter(|path| path.is_absolute() && !path.is_file());
    ClientFacts {
        path: around.client.clone().filter(|path| path.is_file()),
        version: around.version,
        missing_child: missing.cloned(),
    }
}

/// What the arguments of a hook of ours come to.
fn meaning(around: &Around, folder: &Path, arguments: &[String]) -> Result<Meaning, String> {
    // The form that `subcell init` prints.
    if arguments.first().is_some_and(|first| first == "--hook") {
        return Ok(Meaning::default());
    }
    let words = std::iter::once("subcell").chain(arguments.iter().map(String::as_str));
    let args = Args::try_parse_from(words).map_err(|error| first_line(&error.to_string()))?;
    let Command::Intercept(intercept) = args.command else {
        return Ok(Meaning::default());
    };
    let profile =
        Profile::load(&around.believed, Some(folder), &intercept.flags()).map_err(|error| error.to_string())?;
    let settings = profile.intercept;
    let sandbox = settings.require_sandbox.map(|sandbox| sandbox.value);
    Ok(Meaning {
        run: settings.timeout.value,
        wait: settings.slot_wait.value,
        delivery: Some(settings.delivery.value),
        missing_sandbox: sandbox.filter(|path| !path.is_dir()),
        falls_back: settings.on_failure.value == OnFailure::Builtin,
    })
}

fn first_line(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned()
}

/// Whether a session that is started now finds the echo agent and may start it, as the hook itself judges it.
fn echo(around: &Around, folder: &Path) -> Echo {
    let input = serde_json::Map::new();
    let env = |name: &str| around.env.get(name).and_then(|value| value.to_str()).map(str::to_owned);
    let config = around.believed.client_config_dir();
    let lineage = lineage::gather(
        &lineage::Surroundings {
            command_line: &around.command_line,
            versions: Versions {
                parent: around.version,
                cell: around.version,
            },
            start: folder,
            config: config.as_deref(),
            home: around.believed.home(),
            managed: Path::new(lineage::gather::MANAGED_FOLDER),
            env: &env,
            started: SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(UnixNanos::now().as_nanos())),
            limits: &[],
            transcript_wait: Deadline::after(Duration::ZERO),
        },
        lineage::Call {
            tool: "Agent",
            input: &input,
            tool_use_id: "none",
            caller_id: None,
            caller_type: None,
            transcript: None,
        },
    );
    match lineage.echo {
        EchoAvailability::Available(_) => Echo::Available,
        EchoAvailability::NotFound => Echo::NotFound,
        EchoAvailability::Foreign { path }
        | EchoAvailability::TooNew { path }
        | EchoAvailability::Unread { path } => Echo::Doubtful(path),
        EchoAvailability::Refused(verdict) => Echo::Refused(rule(&verdict)),
    }
}

fn rule(verdict: &lineage::RuleVerdict) -> String {
    match verdict {
        lineage::RuleVerdict::Denied { rule, .. } => format!("deny {rule}"),
        lineage::RuleVerdict::Ask { rule, .. } => format!("ask {rule}"),
        lineage::RuleVerdict::Allowed => String::new(),
    }
}

fn live(around: &Around, facts: &Facts) -> Evidence {
    let Some(client) = facts.client.path.as_deref() else {
        return doctor_live::not_run("there is no client to run");
    };
    let relative = facts
        .live(Work::Intercept)
        .any(|hook| matches!(hook.program, Program::Found { relative: true, .. }));
    if relative {
        return doctor_live::not_run("the hook is found from this folder alone, and the run is made in another");
    }
    doctor_live::run(&doctor_live::Stage {
        client,
        folder: &facts.folder,
        believed: &around.believed,
        env: &around.env,
        command_line: &around.command_line,
        signals: &around.signals,
    })
    .unwrap_or_else(|problem| doctor_live::not_run(&problem))
}

fn tell(json: bool, reports: &[Report]) -> Exit {
    let text = if json {
        match serde_json::to_string_pretty(reports) {
            Ok(text) => text + "\n",
            Err(_) => return Exit::Internal,
        }
    } else {
        reports.iter().map(Report::text).collect::<Vec<_>>().join("\n")
    };
    let printed = hook_io::print(&text);
    if printed != Exit::Done {
        return printed;
    }
    match reports.iter().map(|report| report.verdict).max() {
        None | Some(Verdict::Isolated) => Exit::Done,
        Some(Verdict::IsolatedWithWarnings) => Exit::Negative,
        Some(Verdict::NotIsolated) => Exit::Refused,
    }
}
