//! Puts our hooks into a settings file of the client, and takes them out again.

mod agent;
mod connect;
mod diff;
mod disconnect;
mod document;
mod elsewhere;
mod error;
mod plan;
mod receipt;
mod scope;
mod settings_file;
mod wanted;

pub use connect::{Connect, connect};
pub use disconnect::disconnect;
pub use elsewhere::Ground;
pub use error::HooksError;
pub(in crate::setup) use plan::MARGIN_S;
pub use plan::{Choice, Part};
pub use scope::{Scope, Target};
