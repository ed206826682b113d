//! Tests of the built programs: what only shows between processes.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends at its first wrong value"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests start processes and are no part of the layers"
)]

mod budget;
mod cells;
mod collector;
mod doctor;
mod documents;
mod emit;
mod emit_run;
mod emit_scene;
#[path = "../common/fullsend/mod.rs"]
mod fullsend;
mod fullsend_contract;
mod guard_background;
mod guard_commands;
mod guard_liveness;
mod hook;
mod hostile_results;
mod inspect;
mod install;
mod intercept;
mod intercept_child;
mod intercept_endings;
mod intercept_telemetry;
mod layers;
mod model;
#[path = "../common/nasty.rs"]
mod nasty;
mod replay;
mod replay_hostile;
mod replay_html;
mod replay_memory;
mod replay_secrets;
mod replay_show;
mod run_record;
mod seal;
mod supervised;
mod supervision;
mod supervision_matrix;
mod trace;
mod wire;
