//! From the arguments to an exit code.

use std::io::IsTerminal;

use clap::Parser;
use clap::error::ErrorKind;

use super::args::{Args, Command};
use super::{emit, guard, guard_liveness, init, intercept, model, replay, run_record, seal, show};
use crate::exit::Exit;

/// Runs the program on the process's own arguments, stdin and stdout.
#[must_use]
pub fn main() -> Exit {
    if guard_liveness::is_hook_form(std::env::args_os().nth(1).as_deref()) {
        return guard_liveness::run_hook_form().unwrap_or_else(|error| usage(&error));
    }
    match Args::try_parse() {
        Ok(args) => run(&args),
        Err(error) => usage(&error),
    }
}

/// clap's own exit code for a wrong command line is 2, which a client takes for "block": it becomes 64.
fn usage(error: &clap::Error) -> Exit {
    // Nowhere is left to report a broken stderr.
    let _ = error.print();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Exit::Done;
    }
    // A hook entry whose subcommand is misspelt was meant for any event; the denial counts for the one that matters and
    // says nothing to the others. A person at a terminal has read the message already.
    let first = std::env::args_os().nth(1);
    let unknown = matches!(
        error.kind(),
        ErrorKind::InvalidSubcommand
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    let at_top = first.as_ref().is_none_or(|name| name != "guard");
    let meant = first.as_ref().is_some_and(|name| name == "intercept");
    if meant || (unknown && at_top && !std::io::stdin().is_terminal()) {
        intercept::deny_for_wrong_entry(error);
    }
    Exit::Usage
}

fn run(args: &Args) -> Exit {
    match &args.command {
        Command::Guard(guard) => guard::run(guard),
        Command::Model(model) => model::run(model),
        Command::RunRecord(args) => run_record::run(args),
        Command::Init(args) => init::init(args),
        Command::Update(args) => init::update(args),
        Command::Uninstall(args) => init::uninstall(args),
        Command::Intercept(args) => intercept::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Seal(args) => seal::run(args),
        Command::Emit(args) => emit::run(args),
        Command::Show(args) => show::run(args),
        Command::Keeper(args) => super::keeper::keep(args),
    }
}
