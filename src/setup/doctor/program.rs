//! Finds the program of a hook as the client would.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::facts::Program;
use crate::base::Deadline;
use crate::process::{Helper, Signals, run_bounded};
use crate::setup::entries::{Form, OurEntry};

const VERSION_WAIT: Duration = Duration::from_secs(5);
const VERSION_BYTES: u64 = 4096;

/// What a program is looked up with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search<'a> {
    /// The folder that the session is in: relative paths count from it, also where the project's folder is another
    /// (2.1.156, 2.1.332).
    pub(super) folder: &'a Path,
    /// The session's PATH, settings included: the client looks a bare name up there (2.1.156, 2.1.332).
    pub(super) path: Option<&'a str>,
    /// The home folder, for `~` in a shell command.
    pub(super) home: Option<&'a Path>,
}

/// Finds the program of a hook.
pub(super) fn find(entry: &OurEntry, search: Search<'_>) -> Program {
    let named = entry.program.as_str();
    let in_shell = entry.form != Form::Exec;
    if !in_shell && (named.starts_with('~') || named.contains('$')) {
        return Program::Unexpanded(named.to_owned());
    }
    let path = match (named.strip_prefix("~/").zip(search.home), named.contains('/')) {
        (Some((below, home)), _) => Some(home.join(below)),
        // What a variable of a shell command stands for is the session's to know.
        (None, true) if named.contains('$') => {
            return Program::Found {
                path: PathBuf::from(named),
                version: None,
                relative: false,
            };
        }
        (None, true) => Some(search.folder.join(named)),
        (None, false) => on_path(named, search.path, search.folder),
    };
    let relative = named.contains('/') && !named.starts_with(['/', '~']);
    match path {
        Some(path) if !path.is_file() => Program::Missing(path.display().to_string()),
        Some(path) if !is_executable(&path) => Program::NotExecutable(path),
        Some(path) => Program::Found {
            path,
            version: None,
            relative,
        },
        None => Program::Missing(format!("{named:?} on the PATH")),
    }
}

/// A program of that name on a PATH.
pub(super) fn on_path(name: &str, path: Option<&str>, folder: &Path) -> Option<PathBuf> {
    std::env::split_paths(path?)
        .map(|dir| folder.join(dir).join(name))
        .find(|path| path.is_file() && is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

/// What the last word of the first line of `PROGRAM --version` is. The program is run with nothing in its environment.
pub(super) fn version(path: &Path, signals: &Signals) -> Option<String> {
    let helper = Helper {
        program: path.to_owned(),
        args: vec![OsString::from("--version")],
        env: [(OsString::from("PATH"), OsString::from("/usr/bin:/bin"))].into(),
        cwd: PathBuf::from("/"),
        output_bytes: VERSION_BYTES,
    };
    let output = run_bounded(&helper, Deadline::after(VERSION_WAIT), signals).ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let word = text.lines().next()?.split_whitespace().last()?;
    Some(word.to_owned()).filter(|_| output.success)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(command: &str, exec: bool, root: &Path) -> Program {
        let mut hook = json!({"type": "command", "command": command});
        if exec {
            hook["args"] = json!(["intercept"]);
        }
        let document = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}});
        let entry = OurEntry::all(document.as_object().unwrap()).remove(0);
        let path = root.join("bin").display().to_string();
        find(
            &entry,
            Search {
                folder: &root.join("work"),
                path: Some(&path),
                home: Some(&root.join("home")),
            },
        )
    }

    #[test]
    fn a_program_is_found_as_the_client_finds_it() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for (name, mode) in [
            ("bin/subcell", 0o755),
            ("work/subcell", 0o755),
            ("home/subcell", 0o755),
            ("work/plain/subcell", 0o644),
        ] {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), "").unwrap();
            std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let good = |name: &str, relative| Program::Found {
            path: at(name),
            version: None,
            relative,
        };
        let absolute = at("bin/subcell").display().to_string();
        for (command, exec, expected) in [
            ("subcell", true, good("bin/subcell", false)),
            ("subcell intercept", false, good("bin/subcell", false)),
            (absolute.as_str(), true, good("bin/subcell", false)),
            ("./subcell", true, good("work/./subcell", true)),
            ("~/subcell intercept", false, good("home/subcell", false)),
            ("~/subcell", true, Program::Unexpanded("~/subcell".into())),
            ("$HOME/subcell", true, Program::Unexpanded("$HOME/subcell".into())),
            ("plain/subcell", true, Program::NotExecutable(at("work/plain/subcell"))),
            ("/nowhere/subcell", true, Program::Missing("/nowhere/subcell".into())),
        ] {
            assert_eq!(found(command, exec, root.path()), expected, "{command}");
        }
    }
}
