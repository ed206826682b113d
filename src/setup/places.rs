//! Where an installed guard lies.

use std::path::PathBuf;

use crate::config::Believed;

/// The guard that can be installed alone; the same name is used in settings.
pub const GUARD: &str = "subagent-stop-liveness";

/// The paths of an installed guard, all absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The placed binary.
    pub binary: PathBuf,
    /// The knob file.
    pub knobs: PathBuf,
    /// What was installed, so that a later run can tell an edited file.
    pub manifest: PathBuf,
    /// Where launch records go; stays when the guard is removed.
    pub scratch: PathBuf,
    /// The log of firings; stays too.
    pub stop_log: PathBuf,
    /// The client's settings, which are the user's to change.
    pub settings: PathBuf,
}

impl Places {
    /// The places of this user (XDG Base Directory Specification); none where there is no home folder.
    #[must_use]
    pub fn of(believed: &Believed) -> Option<Self> {
        let data = believed.data_dir()?;
        let state = believed.state_dir()?.join("liveness");
        Some(Self {
            binary: data.join("bin/subcell"),
            knobs: data.join(format!("{GUARD}.knobs")),
            manifest: data.join("user-manifest.json"),
            scratch: state.join("scratch"),
            stop_log: state.join(format!("{GUARD}.log")),
            settings: believed.client_config_dir()?.join("settings.json"),
        })
    }

    /// The knob file as it is placed.
    #[must_use]
    pub fn knob_text(&self) -> String {
        format!(
            "# The knobs of the {GUARD} hook. Lines are NAME = value; a `#` starts a comment on a line of its own.\n\
             # DELEGATION_KIT_STOP_WAIT = resume-wait   is for a client that gives a session a new turn when its own\n\
             # background command has ended.\n\
             DELEGATION_KIT_STOP_LOG = {}\n\
             GATE_SDK_TMP_DIR = {}\n",
            self.stop_log.display(),
            self.scratch.display()
        )
    }
}
