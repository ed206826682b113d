//! `subcell guard background`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::ValueEnum;

use super::guard::{deliver, read_payload};
use crate::base::chain::Chain;
use crate::config::{Environment, Flags, LiveProc, Profile, Surroundings};
use crate::exit::Exit;
use crate::guard::background::{self, Chosen, Policy};

/// The hook on `Agent` and `Task` that keeps subagents in the foreground
///
/// Reads a `PreToolUse` payload on stdin. Only the boolean `run_in_background: false` passes, and never
/// `isolation: "remote"`. The exit code is 0; the decision is in the JSON on stdout.
///
/// Example: `subcell guard background --mode rewrite < payload.json`
#[derive(Debug, clap::Args)]
pub(crate) struct BackgroundArgs {
    /// What becomes of a call that is not a foreground one [default: deny]
    #[arg(long, value_enum)]
    mode: Option<Mode>,
    /// Deny only `isolation: "remote"`: `subcell intercept` on the same event makes every call a foreground one
    #[arg(long, conflicts_with = "mode")]
    beside_intercept: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    /// It is denied, and told what to call instead
    Deny,
    /// It goes on with `run_in_background: false`
    Rewrite,
}

impl BackgroundArgs {
    fn chosen(&self) -> Chosen {
        let policy = match (self.beside_intercept, self.mode) {
            (true, _) => Some(Policy::BesideIntercept),
            (false, Some(Mode::Deny)) => Some(Policy::Deny),
            (false, Some(Mode::Rewrite)) => Some(Policy::Rewrite),
            (false, None) => None,
        };
        Chosen { policy }
    }
}

/// Runs the guard.
pub(crate) fn run(args: &BackgroundArgs) -> Exit {
    let decided = catch_unwind(AssertUnwindSafe(|| {
        background::answer(&read_payload(), || {
            args.chosen().told(&Environment::of_this_process(), user_profile)
        })
    }));
    deliver(&decided.unwrap_or_else(|_| background::defect()))
}

/// The user's configuration; the guards take nothing from a project's.
pub(super) fn user_profile() -> Result<Profile, String> {
    profile_of(&Surroundings::look(&LiveProc))
}

/// The same, where it is known already who called.
pub(super) fn profile_of(around: &Surroundings) -> Result<Profile, String> {
    Profile::load(&around.believed, None, &Flags::default()).map_err(|error| Chain(&error).to_string())
}
