//! Puts our hooks into the client's settings and takes them out again, and installs what a user can have alone: one
//! guard, for one user, without a repository.

mod block;
pub mod doctor;
mod entries;
mod hooks;
mod install;
mod manifest;
mod places;
mod remove;

pub use block::block;
pub use entries::{Form, OurEntry, Work};
pub use hooks::{Choice, Connect, Ground, HooksError, Part, Scope, Target, connect, disconnect};
pub use install::{Install, SetupError, install};
pub use places::{GUARD, Places};
pub use remove::remove;
