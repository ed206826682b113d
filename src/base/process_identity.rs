//! The name of one process for good. `process::identity` makes and checks it; records keep it.

use serde::{Deserialize, Serialize};

/// A process that no other is mistaken for: pids are used again, also across boots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its pid, as seen in the pid namespace of the process that wrote this down.
    pub pid: i32,
    /// Clock ticks from boot to its start (field 22 of `/proc/PID/stat`).
    pub start_ticks: u64,
    /// The boot that it belongs to (`/proc/sys/kernel/random/boot_id`); empty where the system does not tell.
    pub boot_id: String,
}
