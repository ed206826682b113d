//! Where launch records of a command go: where the guard that the user has looks for them.

use std::path::{Path, PathBuf};

use crate::config::{Profile, Surroundings};
use crate::guard::liveness::knobs::{HOOK, KnobSources, Knobs};
use crate::guard::liveness::run::repository;
use crate::guard::liveness::settings::Settings;

/// What says where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// `--dir`: the scratch directory itself.
    pub dir: Option<PathBuf>,
    /// `--knobs`: a knob file that names it.
    pub knobs: Option<PathBuf>,
}

/// The scratch directory: `--dir`, else that of `--knobs`, of `knobs` in the user's configuration, of the knob file
/// that `subcell init --user` placed, or of the repository.
///
/// # Errors
/// A sentence that says which knob cannot be used.
pub fn scratch(
    place: &Place,
    around: &Surroundings,
    cwd: Option<&Path>,
    profile: &dyn Fn() -> Result<Profile, String>,
) -> Result<PathBuf, String> {
    if let Some(dir) = &place.dir {
        return std::path::absolute(dir).map_err(|error| format!("--dir {}: {error}", dir.display()));
    }
    let file = match &place.knobs {
        Some(file) => Some(file.clone()),
        None => profile().and_then(|profile| Settings::read(&profile))?.knobs,
    };
    let installed = || {
        let file = around.believed.data_dir()?.join(format!("{HOOK}.knobs"));
        file.is_file().then_some(file)
    };
    let file = file.or_else(installed);
    Knobs::scratch(&KnobSources {
        file: file.as_deref(),
        believed: &around.believed,
        repository: repository(cwd, around.believed.start_cwd()).as_deref(),
    })
    .map_err(|problem| format!("{problem}, or name the folder with --dir"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ClientError, Environment};
    use crate::guard::liveness::testing::believed;

    #[test]
    fn each_place_stands_in_for_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        std::fs::create_dir_all(at("data/subcell")).unwrap();
        std::fs::create_dir_all(at("repo/.git")).unwrap();
        let around = |env: &[(&str, &str)]| Surroundings {
            environment: Environment::default(),
            client: Err(ClientError::NoParent),
            believed: believed(env),
        };
        let data = at("data").to_str().unwrap().to_owned();
        let repo = at("repo");
        let find = |place: &Place, env: &[(&str, &str)]| {
            scratch(place, &around(env), Some(&repo), &|| Ok(Profile::default()))
        };
        let none = Place::default();
        assert_eq!(find(&none, &[]), Ok(at("repo/.tmp")));
        assert_eq!(find(&none, &[("XDG_DATA_HOME", &data)]), Ok(at("repo/.tmp")));
        std::fs::write(
            at("data/subcell/subagent-stop-liveness.knobs"),
            "GATE_SDK_TMP_DIR = /installed\n",
        )
        .unwrap();
        assert_eq!(find(&none, &[("XDG_DATA_HOME", &data)]), Ok("/installed".into()));
        std::fs::write(at("k"), "GATE_SDK_TMP_DIR = /named\n").unwrap();
        let named = Place {
            knobs: Some(at("k")),
            dir: None,
        };
        assert_eq!(find(&named, &[("XDG_DATA_HOME", &data)]), Ok("/named".into()));
        assert_eq!(find(&named, &[("GATE_SDK_TMP_DIR", "/env")]), Ok("/env".into()));
        let given = Place {
            dir: Some("/given".into()),
            ..named
        };
        assert_eq!(find(&given, &[("GATE_SDK_TMP_DIR", "/env")]), Ok("/given".into()));
        let outside = scratch(&none, &around(&[]), Some(Path::new("/")), &|| Ok(Profile::default())).unwrap_err();
        assert!(
            outside.contains("GATE_SDK_TMP_DIR") && outside.contains("--dir"),
            "{outside}"
        );
        assert_eq!(
            scratch(&none, &around(&[]), None, &|| Err("bad".to_owned())),
            Err("bad".to_owned())
        );
    }
}
