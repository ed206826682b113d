//! The command line: arguments, stdin and stdout, exit codes.

mod args;
mod command;
mod guard;
mod guard_bash;
mod intercept;
mod keeper;
mod model;
mod runtime;

pub use command::main;
