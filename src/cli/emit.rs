//! `subcell emit`: the spans of a run, sent to a collector.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::base::chain::Chain;
use crate::base::redact::Redactor;
use crate::config::{Flags, LiveProc, Problem, Profile, Source, Sourced, Surroundings};
use crate::exit::Exit;
use crate::ledger::Record;
use crate::telemetry::settings::resolve;
use crate::telemetry::{Exporter, Failure, Proxy, Raw, Sent, Settings, Span, Target, from_environment, from_room};
use crate::trace::emit::Ways;
use crate::trace::{Content, Folder, Order, Tally, emit, folders};

/// Sends a span for every cell of a run to an OpenTelemetry collector
///
/// Where it goes is said by the `OTEL_*` variables, else by `[telemetry]` of the user's subcell.toml. Without DIR it reads the
/// iterations of the fullsend run in the current folder, else the user's own records. A failure is told on stderr and the
/// records wait for another try; the exit code is 0 all the same, but for `--strict`. Example: `subcell emit
/// /tmp/fullsend/agent-judge-1-2`
#[derive(Debug, clap::Args)]
pub(crate) struct EmitArgs {
    /// A run's folder, a `FULLSEND_OUTPUT_DIR`, a state folder or a folder of records
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// End with 1 where something that should be sent is not
    #[arg(long)]
    strict: bool,
    /// Send here: the collector's base URL, to which /v1/traces is added
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// How long all of it may take, retries included
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    budget: u64,
    /// Send prompts and results too, redacted and cut to 32768 characters each
    #[arg(long)]
    content: bool,
    /// Read this file in place of the user's subcell.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Sends what waits.
pub(crate) fn run(args: &EmitArgs) -> Exit {
    let done = match decide(args) {
        Ok(done) => done,
        Err(problems) => {
            complain_of(&problems);
            complain("nothing was sent; the records wait");
            false
        }
    };
    if args.strict && !done {
        Exit::Negative
    } else {
        Exit::Done
    }
}

fn complain(problem: &str) {
    super::hook_io::complain("emit", problem);
}

fn complain_of(problems: &[String]) {
    for problem in problems {
        complain(problem);
    }
}

/// Whether everything that should be sent is.
fn decide(args: &EmitArgs) -> Result<bool, Vec<String>> {
    let around = Surroundings::look_as_command(&LiveProc);
    let profile = profile(args, &around)?;
    let (target, warnings) = resolve(raw(args, &around, &profile)).map_err(|problems| lines(&problems))?;
    complain_of(&lines(&warnings));
    let settings = match target {
        Target::To(settings) => settings,
        Target::Off { by } => {
            say(&format!("nothing is sent: switched off by {by}\n"));
            return Ok(true);
        }
        Target::Nowhere => {
            return Err(vec![
                "no endpoint is named: set OTEL_EXPORTER_OTLP_ENDPOINT, or endpoint in [telemetry] of subcell.toml"
                    .to_owned(),
            ]);
        }
    };
    let folders = wanted(args, &around)?;
    let tally = send(args, &around, &profile, (&settings, &folders))?;
    complain_of(&tally.warnings);
    complain_of(&tally.troubles);
    say(&summary(&tally, &settings));
    Ok(tally.is_complete())
}

fn profile(args: &EmitArgs, around: &Surroundings) -> Result<Profile, Vec<String>> {
    let flags = Flags {
        config: args.config.clone(),
        ..Flags::default()
    };
    Profile::load(&around.believed, None, &flags).map_err(|error| vec![Chain(&error).to_string()])
}

fn lines(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(Problem::to_string).collect()
}

fn raw(args: &EmitArgs, around: &Surroundings, profile: &Profile) -> Raw {
    let flag = Raw {
        endpoint: args.endpoint.clone().map(|value| Sourced {
            value,
            source: Source::Flag("--endpoint"),
        }),
        ..Raw::default()
    };
    let rooms = profile.rooms.telemetry.iter().map(from_room);
    let file = rooms.reduce(Raw::over).unwrap_or_default();
    flag.over(from_environment(&around.environment)).over(file)
}

/// Where the records are. A folder that somebody names has to have some.
fn wanted(args: &EmitArgs, around: &Surroundings) -> Result<Vec<Folder>, Vec<String>> {
    if let Some(dir) = &args.dir {
        let found = folders::in_dir(dir);
        if found.is_empty() {
            return Err(vec![format!(
                "{} is no folder of records and holds none",
                dir.display()
            )]);
        }
        return Ok(found);
    }
    let validated = around
        .environment
        .get("FULLSEND_VALIDATED_ITERATION_DIR")
        .map(Path::new);
    let cwd = std::env::current_dir().map_err(|error| {
        vec![format!(
            "find the current folder: {error}; name the run's folder, or go to one"
        )]
    })?;
    let run = folders::of_post_script(&cwd, validated);
    if !run.is_empty() {
        return Ok(run);
    }
    let usual = crate::ledger::places::usual_folders(&around.believed);
    Ok(usual.into_iter().map(Folder::here).collect())
}

fn send(
    args: &EmitArgs,
    around: &Surroundings,
    profile: &Profile,
    (settings, folders): (&Settings, &[Folder]),
) -> Result<Tally, Vec<String>> {
    let exporter =
        Exporter::new(settings, Proxy::AsEnvironmentSays).map_err(|error| vec![Chain(&error).to_string()])?;
    let content = args.content.then(|| content(around, profile));
    let order = Order {
        folders,
        ours: around.believed.trace_context(),
        content: content.as_ref(),
        budget: Duration::from_secs(args.budget),
        timeout: settings.timeout,
    };
    let send = |spans: &[Span], within: Duration| -> Result<Sent, Failure> { exporter.send(spans, within) };
    let is_lost = |record: &Record| record.is_lost(crate::base::ProcessIdentity::is_alive);
    Ok(emit(
        &order,
        &Ways {
            send: &send,
            wait: &wait,
            is_lost: &is_lost,
        },
    ))
}

fn content(around: &Surroundings, profile: &Profile) -> Content {
    let patterns = profile.redact_patterns.iter().map(|pattern| pattern.value.as_str());
    Content {
        // The configuration has checked the patterns; should one still not do, the built-in kinds are masked all the same.
        redactor: Redactor::with_patterns(patterns).unwrap_or_else(|_| Redactor::builtin()),
        client_config: around.believed.client_config_dir(),
    }
}

/// Nothing wakes this thread, so that it waits for the whole pause, and no longer than the budget that allowed it.
fn wait(pause: Duration) {
    std::thread::park_timeout(pause);
}

fn summary(tally: &Tally, settings: &Settings) -> String {
    let mut text = format!("{} sent to {}", cells(tally.sent), settings.shown_endpoint());
    for (count, what) in [
        (tally.waiting, "not sent, waiting for another try"),
        (tally.before, "sent before"),
        (tally.running, "still running"),
        (tally.unsampled, "of a trace that is not sampled"),
        (tally.without_cell, "without a cell"),
        (tally.broken, "unreadable"),
    ] {
        if count > 0 {
            // Writing to a String cannot fail.
            let _ = write!(text, "; {count} {what}");
        }
    }
    text + "\n"
}

fn cells(count: usize) -> String {
    if count == 1 {
        "1 cell".to_owned()
    } else {
        format!("{count} cells")
    }
}

fn say(text: &str) {
    // Who does not read it does not need to know.
    let _ = io::stdout().write_all(text.as_bytes());
}
