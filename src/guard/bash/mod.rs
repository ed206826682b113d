//! The bash guard: what a subagent may do in a shell.
//!
//! ```text
//!   text ──read──> syntax ──walk──> facts ──rules──> findings ──policy──> decision
//! ```
//! A reader of our own ([`read`]) makes a tree of the command; the walk follows it as bash would (quoting, variables,
//! functions, pipes, wrappers, programs in programs) and writes facts; rules are tables over facts. Everything up to
//! the decision is a pure function of the command, the directories and the policy, bounded in steps and in depth.

mod budget;
mod call;
mod explain;
mod facts;
mod inline;
mod labelled;
mod marks;
mod paths;
mod policy;
mod read;
mod reason;
mod record;
mod rules;
mod setting;
mod syntax;
mod verdict;
mod walk;

pub use call::{BashCall, read_call};
pub use explain::explain;
pub use facts::{Action, Assigned, Call, CallKind, Fact, Foreign, Job, JobKind, Mount, Place, Query, Run, Touch};
pub use labelled::{Labelled, LabelledError, Score, read_labelled};
pub use paths::{Ground, Site};
pub use policy::{Allow, Day, ExtraRule, Family, Policy, Reach, Severity};
pub use read::{Failure, Unread};
pub use reason::{log_line, reason};
pub use record::{LiveRecords, Records};
pub use rules::{Rule, rules};
pub use setting::{Setting, read_setting};
pub use syntax::Span;
pub use verdict::{Caller, Decision, Finding, Question, Verdict, decide};
