//! The one judge of which environment is believed; every reader goes through it.
//!
//! `env` in a repository's `.claude/settings.json` reaches hooks (2.1.156 to 2.1.332), so a checked-out project could
//! switch isolation off, name another binary, or move the user's files. The variables that decide such things count
//! only where they stand in the client's start environment or in the user's own settings, and those that find the
//! user's settings only in the former.
//!
//! Where the start environment cannot be read:
//! - a guard or depth in the hook's own environment is believed: cells without end are the worse harm;
//! - so are the variables that find the user's files, for there is nothing else;
//! - everything else that is judged (`CLAUDE_BIN`, other `SUBCELL_*`, `FULLSEND_OUTPUT_DIR`, the trace context) is
//!   taken as not set, and the user's settings are not consulted, since a repository may have moved them: the client's
//!   own binary, the defaults, the user's state folder and a new trace are what is safe.

mod command;
mod judge;
pub(in crate::config) mod names;
mod read;
mod settings;

pub use judge::{Believed, Origin};
pub use names::{GUARD, is_judged, is_start_only};
pub use read::{Guard, Surroundings};
pub use settings::read_user_settings;

#[cfg(test)]
mod judge_tests;
#[cfg(test)]
mod read_tests;
#[cfg(test)]
pub(in crate::config) mod test_support;
