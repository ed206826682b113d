//! The decision: pure.

use super::call::{Call, Place};

/// What is done with a call that does not ask for the foreground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// It is denied, with what to call instead.
    Deny,
    /// It goes on with `run_in_background: false`.
    Rewrite,
    /// It goes on: `subcell intercept` is on the same event and makes it a foreground one.
    BesideIntercept,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// It goes on as it is.
    Pass,
    /// It is denied: remote isolation.
    DenyRemote,
    /// It is denied: not a foreground call.
    DenyBackground,
    /// It goes on as a foreground call.
    Rewrite,
}

/// Decides. `policy` is asked only where it matters: a call that is right costs no look at the configuration.
pub(super) fn decide(call: &Call<'_>, policy: impl FnOnce() -> Policy) -> Decision {
    match (call.place, call.foreground) {
        (Place::Remote, _) => Decision::DenyRemote,
        (Place::Here, true) => Decision::Pass,
        (Place::Here, false) => match policy() {
            Policy::Deny => Decision::DenyBackground,
            Policy::Rewrite => Decision::Rewrite,
            Policy::BesideIntercept => Decision::Pass,
        },
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
