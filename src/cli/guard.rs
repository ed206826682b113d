//! `subcell guard`: hooks that refuse.

use crate::exit::Exit;

use super::guard_bash::{self, BashArgs};

/// Refuse what would undo isolation (started by the client, as hooks).
#[derive(Debug, clap::Args)]
pub(crate) struct GuardArgs {
    #[command(subcommand)]
    guard: Guard,
}

#[derive(Debug, clap::Subcommand)]
enum Guard {
    Bash(BashArgs),
}

pub(crate) fn run(args: &GuardArgs) -> Exit {
    match &args.guard {
        Guard::Bash(args) => guard_bash::run(args),
    }
}
