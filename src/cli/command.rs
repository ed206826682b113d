//! From the arguments to an exit code.

use std::io::Write;

use clap::Parser;
use clap::error::ErrorKind;

use super::args::{Args, Command};
use super::model;
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
        Command::Model(model) => model::run(model),
        Command::ExitCodes => {
            let table = "0 done\n1 negative\n2 refused (guard liveness only)\n64 usage\n65 bad input\n66 no input\n70 internal\n74 io\n78 config\n";
            match std::io::stdout().write_all(table.as_bytes()) {
                Ok(()) => Exit::Done,
                Err(_) => Exit::Io,
            }
        }
        Command::Keeper(args) => super::keeper::keep(args),
    }
}
