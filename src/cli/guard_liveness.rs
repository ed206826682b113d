//! `subcell guard liveness`, and the form of it that a settings entry of the hook's own page uses.

use std::ffi::OsStr;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use clap::Parser;

use super::guard::{deliver, read_payload};
use super::guard_background::profile_of;
use crate::config::{LiveProc, Surroundings};
use crate::exit::Exit;
use crate::guard::liveness::{self, Call, HOOK, Settings};

/// The hook on `SubagentStop` that holds a turn while something of it still runs
///
/// Reads the payload on stdin. Exit 2 refuses the turn's end, with the reason on stderr; exit 0 allows it. In a cell it
/// also guards `Stop`.
///
/// Example: `subcell guard liveness --observe < payload.json`
#[derive(Debug, clap::Args)]
pub(crate) struct LivenessArgs {
    /// The knob file; without one the knobs of the repository apply
    #[arg(long, value_name = "FILE")]
    knobs: Option<PathBuf>,
    /// Refuse nothing; log what would be refused
    #[arg(long)]
    observe: bool,
    /// How often in a row one cause may refuse one turn's end [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_refusals: Option<u32>,
}

/// `subcell --hook NAME …`.
#[derive(Debug, Parser)]
#[command(name = "subcell", disable_help_subcommand = true)]
struct HookForm {
    /// The hook: `subagent-stop-liveness`
    #[arg(long, value_name = "NAME")]
    hook: String,
    #[command(flatten)]
    args: LivenessArgs,
}

/// Whether the command line is of the form `subcell --hook …`.
pub(super) fn is_hook_form(first: Option<&OsStr>) -> bool {
    first.is_some_and(|word| word == "--hook" || word.as_encoded_bytes().starts_with(b"--hook="))
}

/// Runs that form. A name that is no hook of ours is exit 64: exit 2 would refuse every turn's end.
pub(super) fn run_hook_form() -> Result<Exit, clap::Error> {
    let form = HookForm::try_parse()?;
    if form.hook == HOOK {
        return Ok(run(&form.args));
    }
    // Nowhere is left to report a broken stderr.
    let _ = writeln!(
        std::io::stderr(),
        "subcell: there is no hook {:?}, so nothing was checked; the one that --hook takes is {HOOK}",
        form.hook.chars().take(80).collect::<String>()
    );
    Ok(Exit::Usage)
}

/// Runs the guard.
pub(crate) fn run(args: &LivenessArgs) -> Exit {
    let decided = catch_unwind(AssertUnwindSafe(|| {
        let around = Surroundings::look(&LiveProc);
        let payload = read_payload();
        let settings = Settings {
            knobs: args.knobs.clone(),
            max_refusals: args.max_refusals,
        };
        liveness::run(&Call {
            payload: &payload,
            settings: &settings,
            observe: args.observe,
            around: &around,
            cwd: std::env::current_dir().ok().as_deref(),
            profile: &|| profile_of(&around),
        })
    }));
    deliver(&decided.unwrap_or_else(|_| liveness::defect()))
}
