//! The command line: arguments, stdin and stdout, exit codes.

mod args;
mod command;
mod keeper;

pub use command::main;
