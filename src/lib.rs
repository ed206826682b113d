//! Subcell gives each subagent of Claude Code a process of its own, a cell.
//!
//! ```text
//!   L6  cli ───────────────── arguments, stdin and stdout, exit codes, the only runtime constructor
//!   L5  isolate guard replay setup    use cases; siblings never import each other
//!   L4  trace ─────────────── records as spans, for the use cases above
//!   L3  process ledger telemetry      effects; siblings never import each other
//!   L2  config ────────────── which environment is believed; defaults < user < project < environment < flag
//!   L1  protocol ──────────── wire types: hook payload and reply, child result, transcript line, agent file
//!   L0  base ──────────────── ids, clock, deadline, error chain, redaction
//! ```
//! Imports point down only; `tests/it/layers.rs` reads the `use crate::` lines and fails on any other.

pub mod base;
pub mod cli;
pub mod config;
pub mod exit;
pub mod guard;
pub mod isolate;
pub mod ledger;
pub mod process;
pub mod protocol;
pub mod replay;
pub mod setup;
pub mod telemetry;
pub mod trace;
