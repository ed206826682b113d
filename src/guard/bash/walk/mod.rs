//! The walk: follows a command as bash would, without running it, and writes down what it does as facts.
//!
//! Variables, directories, functions, pipes and files written on the way are followed as far as their values are known;
//! what is not known is marked (see [`super::marks`]) and never guessed.

mod background;
mod brace;
mod builtin;
mod code;
mod code_variable;
mod compound;
mod connect;
mod container;
mod dispatch;
mod expand;
mod list;
mod make;
mod option;
mod output;
mod param;
mod processes;
mod redirect;
mod runner;
mod search;
mod simple;
mod state;
mod touch;
mod variable;
mod wrapper;
mod wrappers;

pub(crate) use option::{Options, Valued, has_long, has_short, valued_of_git};
pub(crate) use simple::quote;
pub(crate) use state::{Input, Walk, walk};
