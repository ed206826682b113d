//! The rules: tables over facts, family by family.

mod agents;
mod background;
mod data;
mod files;
mod git;
mod hooks;
mod infra;
mod privilege;
mod table;
mod tamper;

pub use table::{Rule, rules};
pub(crate) use table::{holds, matches};
