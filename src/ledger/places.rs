//! Where records are kept: in an output folder (`FULLSEND_OUTPUT_DIR`) or in a state folder.

use std::path::PathBuf;

use crate::config::Believed;

/// Below an output folder.
pub const IN_OUTPUT: &str = ".subcell/cells";
/// Below a state folder.
pub const IN_STATE: &str = "cells";

/// The folders in which a hook that is started here keeps and finds records, the one that it writes to first.
#[must_use]
pub fn usual_folders(believed: &Believed) -> Vec<PathBuf> {
    let output = believed.output_dir().map(|dir| dir.join(IN_OUTPUT));
    output.into_iter().chain(state_folder(believed)).collect()
}

/// That of the user's state folder.
#[must_use]
pub fn state_folder(believed: &Believed) -> Option<PathBuf> {
    believed.state_dir().map(|dir| dir.join(IN_STATE))
}
