//! `subcell run-record`: runs a long command under a launch record.
//!
//! The record is there from the command's start to its end, so that the liveness guard, people and other sessions see
//! that it runs. A shell line cannot do that well: it records its own pid, or forgets the record when it is killed.

mod books;
mod key;
mod place;
mod record;
mod run;

pub use books::{Entry, list, prune};
pub use key::{Key, KeyError};
pub use place::{Place, scratch};
pub use record::{LaunchError, RunRecord};
pub use run::{Ended, Order, Output, Started, keep, run};
