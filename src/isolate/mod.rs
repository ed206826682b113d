//! Runs a subagent call in a cell of its own.

pub mod lineage;
