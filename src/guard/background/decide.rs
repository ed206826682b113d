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

/// How the client treats the flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// It counts.
    Counts,
    /// The client runs every subagent in the background and takes the flag out of the call before any hook sees it
    /// (`CLAUDE_CODE_FORK_SUBAGENT`, 2.1.156 and 2.1.332): setting it again changes nothing.
    IsDropped,
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
    /// It is denied, and no call like it can be made a foreground one.
    DenyForced,
    /// It goes on as a foreground call.
    Rewrite,
}

/// Decides. `policy` is asked only where it matters: a call that is right costs no look at the configuration.
pub(super) fn decide(call: &Call<'_>, policy: impl FnOnce() -> (Policy, Flag)) -> Decision {
    match (call.place, call.foreground) {
        (Place::Remote, _) => Decision::DenyRemote,
        (Place::Here, true) => Decision::Pass,
        (Place::Here, false) => match policy() {
            (Policy::BesideIntercept, _) => Decision::Pass,
            (Policy::Deny | Policy::Rewrite, Flag::IsDropped) => Decision::DenyForced,
            (Policy::Deny, Flag::Counts) => Decision::DenyBackground,
            (Policy::Rewrite, Flag::Counts) => Decision::Rewrite,
        },
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
