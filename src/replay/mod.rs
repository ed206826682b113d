//! Replay: a model that answers from a script, so that the real client can be run at no cost.

pub mod model;
