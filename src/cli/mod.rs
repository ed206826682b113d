//! The command line: arguments, stdin and stdout, exit codes.

mod args;
mod command;

pub use command::main;
