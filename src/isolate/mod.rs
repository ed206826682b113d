//! The cell: takes an Agent call out of the parent's process, runs it, records it, and hands its result back.

mod books;
pub mod deliver;
mod dry_run;
pub mod echo;
pub mod intercept;
mod join;
pub mod lineage;
pub mod outcome;
pub mod plan;
mod prepare;
pub mod program;
mod records;
mod run;
mod schema;
mod work;
mod worktree;

pub use books::end_orphan;
pub use dry_run::dry_run;
pub use run::{Firing, ignores, project_folder, run};
