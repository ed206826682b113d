//! The command line's shape.

use clap::{Parser, Subcommand};

use super::cells::{GcArgs, LsArgs, StopArgs};
use super::config::ConfigCommand;
use super::doctor::DoctorArgs;
use super::doctor_inside::DoctorLiveArgs;
use super::emit::EmitArgs;
use super::generate::{CompletionsArgs, ManArgs};
use super::guard::GuardCommand;
use super::init::{InitArgs, UninstallArgs, UpdateArgs};
use super::install::InstallArgs;
use super::intercept::InterceptArgs;
use super::keeper::KeeperArgs;
use super::model::ModelArgs;
use super::replay::ReplayArgs;
use super::run_record::RunRecordArgs;
use super::seal::SealArgs;
use super::show::ShowArgs;
use super::trace::TraceArgs;

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
    Trace(TraceArgs),
    Emit(EmitArgs),
    Ls(LsArgs),
    Stop(StopArgs),
    Gc(GcArgs),
    Model(ModelArgs),
    Replay(ReplayArgs),
    RunRecord(RunRecordArgs),
    Install(InstallArgs),
    /// What the program goes by.
    #[command(subcommand)]
    Config(ConfigCommand),
    Init(InitArgs),
    Update(UpdateArgs),
    Uninstall(UninstallArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
    Doctor(DoctorArgs),
    #[command(hide = true)]
    DoctorLive(DoctorLiveArgs),
    /// Keep one client to its end (started by a hook).
    #[command(hide = true)]
    Keeper(KeeperArgs),
}
