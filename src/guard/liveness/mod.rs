//! `subcell guard liveness`: a subagent's turn does not end while something that it started still runs.
//!
//! `SubagentStop`: exit 2 with the reason on stderr, which the subagent reads as its next instruction (2.1.156 to
//! 2.1.332). Two things hold a turn: a launch record in the scratch directory (`<key>.run`, one line `pid=<n>
//! run=<key>`) whose process runs, or that does not parse; and a background shell that the subagent started
//! (`background_tasks`, from 2.1.145 on).
//!
//! What is otherwise than where the contract is from, and why:
//! - in a cell the main session does the work, and what it leaves running dies with it, so there `Stop` is guarded too;
//! - a subagent that hands a cell's result back is never refused: the client would put a notice before the result;
//! - one turn's end is refused at most so many times for one cause, so that a stuck task cannot hold a session for ever;
//! - zombies are not alive, and a record may say when its process started, so that a pid that was used again is no
//!   process of it;
//! - links, pipes and folders in the scratch directory stand for nothing, and every read has a limit;
//! - a scratch directory that is not there is reported once a session;
//! - a task that a transcript only mentions is not the session's own where another one shows its launch;
//! - a refusal asks for the whole report again;
//! - a mistyped hook name or option is exit 64, which refuses nobody.

mod decide;
mod echo;
mod knob_file;
mod knobs;
pub mod launch;
mod log;
mod memory;
mod ownership;
mod payload;
mod reading;
pub mod record_line;
mod refusal;
mod run;
pub mod scratch;
mod settings;
#[cfg(test)]
mod testing;
mod token;

pub use knobs::{HOOK, KnobSources, Knobs};
pub use run::{Call, defect, repository, run};
pub use settings::{MAX_REFUSALS, Settings};
