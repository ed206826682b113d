//! The record of every cell: one file a cell, written whole and renamed into place, so that hooks that run at the same
//! time meet nowhere else.

pub mod budget;
pub mod cost_file;
pub mod ending;
mod error;
pub(crate) mod files;
pub mod find;
mod name;
pub mod places;
pub mod record;
pub mod store;
#[cfg(test)]
pub(crate) mod testing;

pub use budget::Budget;
pub use ending::{ChildFault, Ending};
pub use error::LedgerError;
pub use find::Stored;
pub use name::RecordName;
pub use record::{End, PassReason, Record, State};
pub use store::{Claim, Store};
