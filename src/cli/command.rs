//! From the arguments to an exit code.

use clap::Parser;
use clap::error::ErrorKind;

use super::args::{Args, Command};
use super::{guard, intercept, model};
use crate::exit::Exit;

/// Runs the program on the process's own arguments, stdin and stdout.
#[must_use]
pub fn main() -> Exit {
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
        Exit::Done
    } else {
        Exit::Usage
    }
}

fn run(args: &Args) -> Exit {
    match &args.command {
        Command::Guard(args) => guard::run(args),
        Command::Model(model) => model::run(model),
        Command::Intercept(args) => intercept::run(args),
        Command::Keeper(args) => super::keeper::keep(args),
    }
}
