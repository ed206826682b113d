//! Which definition an agent's name stands for, as the client decides it.

pub mod built_in;
pub mod folders;
pub mod plugins;
pub mod scan;
pub mod table;

pub use folders::{AgentPlaces, collect};
pub use table::{Agents, Found, Lookup, Origin};
