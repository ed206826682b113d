//! The cell: takes an Agent call out of the parent's process, runs it, records it, and hands its result back.

mod at_once;
mod books;
pub mod deliver;
mod dry_run;
pub mod echo;
pub mod handover;
pub mod intercept;
mod join;
mod limits;
pub mod lineage;
pub mod outcome;
pub mod plan;
mod prepare;
pub mod program;
mod provider;
mod records;
pub mod result_text;
mod run;
mod schema;
pub mod seal;
mod seal_hook;
pub mod show;
mod timed;
mod work;
mod worktree;

pub use books::end_orphan;
pub use dry_run::dry_run;
pub use run::{Firing, ignores, project_folder, run};
pub use seal_hook::{is_not_to_seal, run_seal};
