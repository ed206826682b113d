//! Processes: how a cell's client is started, watched, ended to its last descendant, and how many run at once.
//!
//! ```text
//!   hook ──starts──▶ keeper ──starts──▶ client ──▶ whatever it starts, in any session
//!     ▲                │  own session, child-subreaper, death signal from the hook
//!     └── report pipe ─┘  ends and reaps everything below it, then reports
//! ```

mod bounded;
mod children;
mod ending;
mod identity;
pub mod keeper;
pub mod launch;
mod memory;
mod orders;
mod proc_table;
mod report;
mod signals;
mod slot_folder;
mod slots;
mod spawn_plan;
mod stop;
mod supervise;
mod terminal;
mod terminate;

pub use crate::base::ProcessIdentity;
pub use bounded::{BoundedError, Helper, HelperOutput, run_bounded};
pub use ending::{Ending, KeeperLoss, StartFailure, Stream};
pub use identity::{Presence, presence, started_at};
pub use orders::Orders;
pub use report::{Leftover, Report};
pub use signals::{Signals, StopSignal};
pub use slot_folder::SlotError;
pub use slots::{Slot, Slots};
pub use spawn_plan::{Limits, SpawnPlan};
pub use stop::{Stopped, stop};
pub use supervise::{Finished, OWN_EXECUTABLE, Site, SuperviseError, supervise};
pub use terminal::terminal_columns;
