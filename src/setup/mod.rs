//! Installs what a user can have alone: one guard, for one user, without a repository.

mod block;
pub mod doctor;
mod install;
mod manifest;
mod places;
mod remove;

pub use block::block;
pub use install::{Install, SetupError, install};
pub use places::{GUARD, Places};
pub use remove::remove;
