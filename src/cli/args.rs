//! The command line's shape.

use clap::{Parser, Subcommand};

use super::emit::EmitArgs;
use super::guard::GuardCommand;
use super::init::{InitArgs, UninstallArgs, UpdateArgs};
use super::intercept::InterceptArgs;
use super::keeper::KeeperArgs;
use super::model::ModelArgs;
use super::replay::ReplayArgs;
use super::run_record::RunRecordArgs;
use super::seal::SealArgs;
use super::show::ShowArgs;

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
    /// Hooks that stand alone, with or without isolation.
    #[command(subcommand)]
    Guard(GuardCommand),
    Seal(SealArgs),
    Show(ShowArgs),
    Emit(EmitArgs),
    Model(ModelArgs),
    Replay(ReplayArgs),
    RunRecord(RunRecordArgs),
    Init(InitArgs),
    Update(UpdateArgs),
    Uninstall(UninstallArgs),
    /// Keep one client to its end (started by a hook).
    #[command(hide = true)]
    Keeper(KeeperArgs),
}
