//! Places the binary and the knob file, and makes the scratch directory.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::manifest::{KnobState, Manifest, knob_state};
use super::places::{GUARD, Places};

/// This program's own file, also where it was started by a bare name or replaced since.
const OWN_BINARY: &str = "/proc/self/exe";

/// An installation that was not done.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Nothing is installed that could be updated or removed.
    #[error("nothing is installed: there is no {}", .0.display())]
    NotInstalled(PathBuf),
    /// A path cannot stand in a knob file, where a value is one line of text.
    #[error("the path {0:?} has control characters or is not UTF-8, and cannot stand in a knob file")]
    Path(PathBuf),
    /// The system refused.
    #[error("{doing} {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl SetupError {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

/// How to install.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Install {
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
    /// Replace a knob file that was edited.
    pub force: bool,
    /// Only where the guard is installed already.
    pub update: bool,
}

/// One thing that an installation does, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    MakeScratch,
    PlaceBinary,
    WriteKnobs,
    KeepKnobs,
    WriteManifest,
}

/// Installs the guard, or says what would be done: a line for each step.
///
/// # Errors
/// [`SetupError`]; what was done before it stays, and another run goes on from there.
pub fn install(places: &Places, how: Install) -> Result<String, SetupError> {
    check(places)?;
    let manifest = Manifest::read(&places.manifest);
    if how.update && manifest.is_none() {
        return Err(SetupError::NotInstalled(places.manifest.clone()));
    }
    let text = places.knob_text();
    let steps = plan(knob_state(&places.knobs, manifest.as_ref(), &text), how.force);
    let mut told = String::new();
    for step in &steps {
        if !how.dry_run {
            step.act(places, &text)?;
        }
        told.push_str(&step.line(places, how.dry_run));
    }
    Ok(told)
}

fn check(places: &Places) -> Result<(), SetupError> {
    for path in [&places.scratch, &places.stop_log, &places.binary, &places.knobs] {
        if path.to_str().is_none_or(|text| text.contains(char::is_control)) {
            return Err(SetupError::Path(path.clone()));
        }
    }
    Ok(())
}

fn plan(knobs: KnobState, force: bool) -> Vec<Step> {
    let knobs = match (knobs, force) {
        (KnobState::Absent | KnobState::AsPlaced, _) | (KnobState::Edited, true) => {
            [Step::WriteKnobs, Step::WriteManifest].to_vec()
        }
        // The manifest has the digest of what would have been placed, so the file goes on being told as edited.
        (KnobState::Edited, false) => vec![Step::KeepKnobs, Step::WriteManifest],
    };
    [Step::MakeScratch, Step::PlaceBinary]
        .into_iter()
        .chain(knobs)
        .collect()
}

impl Step {
    fn act(&self, places: &Places, text: &str) -> Result<(), SetupError> {
        match self {
            Self::MakeScratch => make_dir(&places.scratch),
            Self::PlaceBinary => place_binary(&places.binary),
            Self::WriteKnobs => replace(&places.knobs, text.as_bytes(), 0o644),
            Self::KeepKnobs => Ok(()),
            Self::WriteManifest => {
                let json = serde_json::to_vec_pretty(&Manifest::new(GUARD, text))
                    .map_err(io::Error::from)
                    .map_err(SetupError::io("write", &places.manifest))?;
                replace(&places.manifest, &json, 0o644)
            }
        }
    }

    fn line(&self, places: &Places, dry_run: bool) -> String {
        let (doing, path, more) = match self {
            Self::MakeScratch => ("make", &places.scratch, ""),
            Self::PlaceBinary => ("place", &places.binary, ""),
            Self::WriteKnobs => ("write", &places.knobs, ""),
            Self::KeepKnobs => (
                "keep",
                &places.knobs,
                " (edited, and what it names counts, also for the lines below; --force replaces it)",
            ),
            Self::WriteManifest => ("write", &places.manifest, ""),
        };
        let would = if dry_run { "would " } else { "" };
        format!("{would}{doing} {}{more}\n", path.display())
    }
}

fn make_dir(dir: &Path) -> Result<(), SetupError> {
    fs::create_dir_all(dir).map_err(SetupError::io("make", dir))
}

fn place_binary(path: &Path) -> Result<(), SetupError> {
    let mut own = File::open(OWN_BINARY).map_err(SetupError::io("open", Path::new(OWN_BINARY)))?;
    put(path, 0o755, |file| io::copy(&mut own, file).map(|_| ()))
}

fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<(), SetupError> {
    put(path, mode, |file| file.write_all(bytes))
}

/// Writes a file beside its place and renames it there: a hook that starts meanwhile finds the old one or the new one.
fn put(path: &Path, mode: u32, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), SetupError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    make_dir(folder)?;
    let mut fresh = tempfile::NamedTempFile::new_in(folder).map_err(SetupError::io("write in", folder))?;
    write(fresh.as_file_mut()).map_err(SetupError::io("write", path))?;
    let permissions = Permissions::from_mode(mode);
    fresh
        .as_file()
        .set_permissions(permissions)
        .map_err(SetupError::io("write", path))?;
    fresh
        .persist(path)
        .map_err(|error| error.error)
        .map_err(SetupError::io("write", path))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_knob_file_is_kept_unless_forced() {
        let writes = [
            Step::MakeScratch,
            Step::PlaceBinary,
            Step::WriteKnobs,
            Step::WriteManifest,
        ];
        let keeps = [
            Step::MakeScratch,
            Step::PlaceBinary,
            Step::KeepKnobs,
            Step::WriteManifest,
        ];
        for (state, force, steps) in [
            (KnobState::Absent, false, &writes),
            (KnobState::AsPlaced, false, &writes),
            (KnobState::Edited, false, &keeps),
            (KnobState::Edited, true, &writes),
        ] {
            assert_eq!(plan(state, force), steps, "{state:?} {force}");
        }
    }

    #[test]
    fn a_path_that_no_knob_file_can_hold_is_refused() {
        let at = |path: &str| PathBuf::from(path);
        let places = Places {
            binary: at("/d/bin/subcell"),
            knobs: at("/d/k"),
            manifest: at("/d/m"),
            scratch: at("/s\nDELEGATION_KIT_LIVENESS_CMD[] = x/scratch"),
            stop_log: at("/s/log"),
            settings: at("/h/settings.json"),
        };
        assert!(matches!(
            install(
                &places,
                Install {
                    dry_run: true,
                    ..Install::default()
                }
            ),
            Err(SetupError::Path(_))
        ));
    }
}
