//! The command line's shape.

use clap::{Parser, Subcommand};

use super::guard::GuardArgs;
use super::intercept::InterceptArgs;
use super::keeper::KeeperArgs;
use super::model::ModelArgs;

/// Gives each subagent of Claude Code a supervised process of its own.
#[derive(Debug, Parser)]
#[command(name = "subcell", version, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Intercept(InterceptArgs),
    Guard(GuardArgs),
    Model(ModelArgs),
    /// Keep one client to its end (started by a hook).
    #[command(hide = true)]
    Keeper(KeeperArgs),
}
