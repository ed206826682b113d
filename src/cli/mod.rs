//! The command line: arguments, stdin and stdout, exit codes.

mod args;
mod cells;
mod command;
mod config;
mod doctor;
mod doctor_inside;
mod doctor_live;
mod emit;
mod generate;
mod guard;
mod guard_background;
mod guard_bash;
mod guard_liveness;
mod hook_io;
mod init;
mod install;
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
mod trace;

pub use command::main;
