//! Which row a program has.

use super::super::super::facts::Run;
use super::row::Wrapper;
use super::system::SYSTEM;
use super::tools::TOOLS;

/// The wrapper that `run` is, if it is one.
pub(crate) fn wrapper_of(run: &Run) -> Option<&'static Wrapper> {
    SYSTEM.iter().chain(TOOLS).find(|wrapper| wrapper.takes(run))
}
