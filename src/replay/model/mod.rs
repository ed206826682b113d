//! A scripted Messages API on loopback: the real client, pointed at it by `ANTHROPIC_BASE_URL`, runs without an account.
//!
//! A request is read into `Facts`, the [`Script`]'s first rule that matches them is turned into a `Reply`, and `wire`
//! writes that as the API would. Only [`Server`] and [`RequestLog`] do I/O after the start.

mod address;
mod answer;
mod echo;
mod error;
mod facts;
mod http;
mod log;
mod numbering;
mod rule;
mod script;
mod server;
mod template;
mod wire;

pub use address::{LoopbackAddr, NotLoopback};
pub use error::ModelError;
pub use log::RequestLog;
pub use script::{Script, ScriptError};
pub use server::Server;
