//! Puts transcripts and records into one tree and plays it as a stream of events.
//!
//! Two passes, because a tree cannot be held in memory: the first ([`Tree::build`]) reads every line quickly and keeps
//! what joins files and what a turn used, some hundred bytes a turn; the second ([`play`]) reads the lines again in the
//! order of the tree and hands each event on.

mod event;
mod filter;
mod glance;
mod join;
mod mend;
mod open_calls;
mod placing;
mod play;
mod rates;
mod read;
mod results;
mod scan;
mod screen;
mod screen_data;
mod summary;
mod totals;
mod tree;
mod turns;
mod usage;

#[cfg(test)]
mod mutation_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tree_tests;

pub use event::{Diff, Event, Fault, Hunk, Image, Part, Role, TurnView};
pub use filter::{Filter, RoleWord, Since, SinceError};
pub use join::JoinedBy;
pub use play::{BrokenLine, PlayError, Sink, Summary, play};
pub use rates::Rates;
pub use screen::{Masked, Screen};
pub use totals::{ClientTotals, Totals};
pub use tree::{Kind, SessionView, Tree};
pub use usage::Usage;
