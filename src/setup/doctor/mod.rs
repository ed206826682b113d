//! Says whether a subagent call in a folder would really be isolated: facts are gathered, judged purely, and printed.

mod check_around;
mod check_hooks;
mod check_settings;
mod documents;
pub mod facts;
mod finding;
mod gather;
pub mod live;
mod program;
mod report;
mod state;

pub use facts::{Echo, Facts, Meaning};
pub use finding::{Finding, Severity};
pub use gather::{Place, client_on_path, gather};
pub use live::{Evidence, Stage, Traces};
pub use report::{Report, Verdict, check};

#[cfg(test)]
mod judged_tests;
