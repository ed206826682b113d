//! `subcell guard background`: a subagent runs in the foreground, and says so.
//!
//! A background subagent outlives the turn that started it and is ended without a trace when its session or its host
//! ends. On current clients background is what a call means that leaves the flag out (2.1.226, 2.1.295, 2.1.332; on
//! 2.1.156 it means foreground), so only a boolean `false` passes. What overrides the flag, whatever a hook says
//! (measured):
//!
//! - an agent whose definition has `background: true` runs in the background also with `false` (2.1.156, 2.1.332);
//! - `CLAUDE_CODE_FORK_SUBAGENT=1` makes every call a background one and takes the flag out of it before a hook sees it
//!   (2.1.156, 2.1.332): such a call is denied here and never rewritten;
//! - `CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1` makes every call a foreground one, `true` included (2.1.156, 2.1.332);
//! - `isolation: "remote"` is a background call always, where an account has it;
//! - `CLAUDE_AUTO_BACKGROUND_TASKS=1` moves a foreground call to the background when it has run for 120 s (read in
//!   2.1.156 and 2.1.332).
//!
//! Of two rewriting hooks on one event the one that ends last wins, and a denial does not stop the other hook's work
//! (2.1.156 to 2.1.332): beside `subcell intercept`, which makes every call a foreground one itself, `remote` is all
//! that is left to deny.

mod answer;
mod call;
mod decide;
mod policy;
mod reason;

pub use answer::{answer, defect};
pub use decide::{Flag, Policy};
pub use policy::{Chosen, Told};
