//! The command line: arguments, stdin and stdout, exit codes.

mod args;
mod command;
mod emit;
mod guard;
mod guard_background;
mod guard_bash;
mod guard_liveness;
mod hook_io;
mod init;
mod intercept;
mod keeper;
mod model;
mod replay;
mod replay_html;
mod replay_show;
mod run_record;
mod runtime;
mod seal;
mod show;

pub use command::main;
