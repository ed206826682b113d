//! Replay: a model that answers from a script, so that the real client can be run at no cost, and transcripts that can
//! be read: found ([`sources`]) and put into one tree ([`timeline`]).

pub mod model;
pub mod sources;
pub mod timeline;
