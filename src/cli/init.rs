//! `subcell init`, `update` and `uninstall`: one guard, for one user.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;

use super::install;
use crate::base::chain::Chain;
use crate::config::{LiveProc, Surroundings};
use crate::exit::Exit;
use crate::setup::{self, Install, Places, SetupError};

/// A guard that can be installed alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Guard {
    /// Holds a subagent's turn while something that it started still runs
    #[value(name = setup::GUARD)]
    SubagentStopLiveness,
}

/// Installs one guard for this user, alone, and prints the settings entry for it
///
/// Needs no repository and writes into none; the client's settings are yours to change.
/// Example: `subcell init --user subagent-stop-liveness`
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// The guard to install
    #[arg(long, value_name = "GUARD", required = true)]
    user: Guard,
    /// Print the plan and the settings entry, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Replace a knob file that was edited
    #[arg(long)]
    force: bool,
}

/// Places this version of the binary for an installed guard, and prints the settings entry again
///
/// Example: `subcell update --user`
#[derive(Debug, clap::Args)]
pub(crate) struct UpdateArgs {
    /// The guard to update [default: the one that is installed]
    #[arg(long, value_name = "GUARD", required = true, num_args = 0..=1, default_missing_value = setup::GUARD)]
    user: Guard,
    /// Print the plan and the settings entry, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Replace a knob file that was edited
    #[arg(long)]
    force: bool,
}

/// Takes the hooks out of the client's settings again, and nothing else
///
/// With the name of a guard after --user it removes what `subcell init` placed; the guard's logs and launch records stay.
///
/// Examples: `subcell uninstall`, `subcell uninstall --settings ci.json --dry-run`
#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    /// Out of your own settings [default]; with a GUARD: remove what `subcell init` placed for it
    #[arg(long, value_name = "GUARD", num_args = 0..=1, conflicts_with_all = ["project", "settings"])]
    #[expect(clippy::option_option, reason = "the flag may stand alone or with a value")]
    user: Option<Option<Guard>>,
    /// Out of .claude/settings.json of this folder
    #[arg(long, conflicts_with = "settings")]
    project: bool,
    /// Out of this file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Print what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Remove a knob file that was edited too
    #[arg(long, requires = "user")]
    force: bool,
}

/// Installs.
pub(crate) fn init(args: &InitArgs) -> Exit {
    let Guard::SubagentStopLiveness = args.user;
    let how = Install {
        dry_run: args.dry_run,
        force: args.force,
        update: false,
    };
    finish("init", |places| {
        setup::install(places, how).map(|told| told + &setup::block(places))
    })
}

/// Updates.
pub(crate) fn update(args: &UpdateArgs) -> Exit {
    let Guard::SubagentStopLiveness = args.user;
    let how = Install {
        dry_run: args.dry_run,
        force: args.force,
        update: true,
    };
    finish("update", |places| {
        setup::install(places, how).map(|told| told + &setup::block(places))
    })
}

/// Removes.
pub(crate) fn uninstall(args: &UninstallArgs) -> Exit {
    match args.user {
        Some(Some(Guard::SubagentStopLiveness)) => {
            finish("uninstall", |places| setup::remove(places, args.dry_run, args.force))
        }
        Some(None) | None => install::uninstall(&install::scope(args.project, args.settings.as_ref()), args.dry_run),
    }
}

fn finish(command: &str, act: impl FnOnce(&Places) -> Result<String, SetupError>) -> Exit {
    let tell = |what: &str| {
        // Nowhere is left to report a broken stderr.
        let _ = writeln!(io::stderr(), "subcell {command}: {what}");
    };
    let around = Surroundings::look_as_command(&LiveProc);
    let Some(places) = Places::of(&around.believed) else {
        tell(
            "there is no folder of yours to install into: set HOME to an absolute path, and CLAUDE_CONFIG_DIR too where it is set",
        );
        return Exit::Config;
    };
    match act(&places) {
        Ok(told) => super::hook_io::print(&told),
        Err(error) => {
            tell(&Chain(&error).to_string());
            match error {
                SetupError::NotInstalled(_) => Exit::NoInput,
                SetupError::Path(_) => Exit::Config,
                SetupError::Io { .. } => Exit::Io,
            }
        }
    }
}
