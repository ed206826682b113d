//! Replay: a model that answers from a script, so that the real client can be run at no cost, and transcripts that can
//! be read: found ([`sources`]), put into one tree ([`timeline`]), and shown in a terminal or as a page.

pub(crate) mod inert;
pub mod model;
pub mod page;
pub mod sources;
pub mod terminal;
pub mod timeline;
