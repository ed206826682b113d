//! Removes an installed guard. What it saw, its logs and launch records, stays.

use std::fs;
use std::io;
use std::path::Path;

use super::install::SetupError;
use super::manifest::{KnobState, Manifest, knob_state};
use super::places::{GUARD, Places};

/// Removes the guard, or says what would be removed: a line for each file, and what is left to do by hand.
///
/// # Errors
/// [`SetupError`]; another run goes on from there.
pub fn remove(places: &Places, dry_run: bool, force: bool) -> Result<String, SetupError> {
    let there = |path: &Path| path.symlink_metadata().is_ok();
    if ![&places.binary, &places.knobs, &places.manifest]
        .into_iter()
        .any(|path| there(path))
    {
        return Err(SetupError::NotInstalled(places.manifest.clone()));
    }
    let manifest = Manifest::read(&places.manifest);
    let knobs = knob_state(&places.knobs, manifest.as_ref(), &places.knob_text());
    let keeps = knobs == KnobState::Edited && !force;
    let would = if dry_run { "would " } else { "" };
    let mut told = Vec::new();
    // The manifest last: a run that was cut short can be done again.
    for path in [&places.binary, &places.knobs, &places.manifest]
        .into_iter()
        .filter(|path| there(path))
    {
        if keeps && path == &places.knobs {
            told.push(format!("{would}keep {} (edited; --force removes it)", path.display()));
            continue;
        }
        if !dry_run {
            remove_file(path)?;
        }
        told.push(format!("{would}remove {}", path.display()));
    }
    if !dry_run {
        remove_empty(places);
    }
    let state = places.scratch.parent().unwrap_or(&places.scratch);
    told.push(format!("{would}keep {} (logs and launch records)", state.display()));
    told.push(format!(
        "settings: delete the SubagentStop entry with {GUARD} from {} yourself",
        places.settings.display()
    ));
    Ok(told.join("\n") + "\n")
}

fn remove_file(path: &Path) -> Result<(), SetupError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(SetupError::io("remove", path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The folders that are empty now; one with something in it is not ours alone and stays.
fn remove_empty(places: &Places) {
    for folder in [places.binary.parent(), places.knobs.parent()].into_iter().flatten() {
        let _ = fs::remove_dir(folder);
    }
}
