//! The cells of this user for people: which there are, how one is ended, and how old records go.

mod clean;
mod list;
mod stop;

pub use clean::{Cleaned, Keep, clean};
pub use list::{Life, Row, list, render};
pub use stop::{Stopping, stop};
