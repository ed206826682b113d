//! What was installed: a later run tells by it whether a file was edited.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::base::digest::sha256_hex;
use crate::base::{Links, read_bounded};

const FORMAT: u32 = 1;
const LIMIT: u64 = 64 * 1024;
/// A knob file is some lines.
const KNOBS_LIMIT: u64 = 1 << 20;

/// The record that an installation keeps of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// The format of this file.
    pub(super) format: u32,
    /// The version of subcell that was placed.
    pub(super) version: String,
    /// The guard.
    pub(super) guard: String,
    /// The SHA-256 of the knob file as it was placed.
    pub(super) knobs_sha256: String,
}

impl Manifest {
    pub(super) fn new(guard: &str, knobs: &str) -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            guard: guard.to_owned(),
            knobs_sha256: sha256_hex(knobs.as_bytes()),
        }
    }

    /// The manifest at `path`; none where there is none that this version reads.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let bytes = read_bounded(path, LIMIT, Links::Follow).ok()?;
        serde_json::from_slice(&bytes)
            .ok()
            .filter(|read: &Self| read.format == FORMAT)
    }
}

/// A knob file that may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnobState {
    /// It is not.
    Absent,
    /// It is as it was placed.
    AsPlaced,
    /// Somebody changed it, or nobody knows whether.
    Edited,
}

/// Looks at the knob file: it is as placed where it has the manifest's digest, or the very text that would be placed.
pub(super) fn knob_state(path: &Path, manifest: Option<&Manifest>, text: &str) -> KnobState {
    if path.symlink_metadata().is_err() {
        return KnobState::Absent;
    }
    let Ok(found) = read_bounded(path, KNOBS_LIMIT, Links::Follow) else {
        return KnobState::Edited;
    };
    let placed = manifest.is_some_and(|manifest| sha256_hex(&found) == manifest.knobs_sha256);
    if placed || found == text.as_bytes() {
        KnobState::AsPlaced
    } else {
        KnobState::Edited
    }
}
