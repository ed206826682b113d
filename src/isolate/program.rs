//! Which program is the child: the configured one, the parent's own executable, or `claude` on the PATH.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A chosen program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its path; a bare name where nothing was found, whose start then says so.
    pub path: PathBuf,
    /// Whether it is the parent's own executable, and so of the parent's version.
    pub is_parents: bool,
}

/// Chooses the program. `configured` is a path or a bare name; `parent` the executable of the client's process;
/// `search` the believed `PATH`; `is_program` tells whether a path can be executed.
#[must_use]
pub fn choose(
    configured: Option<&Path>,
    parent: Option<&Path>,
    search: Option<&OsStr>,
    is_program: impl Fn(&Path) -> bool,
) -> Program {
    let parent = parent.filter(|path| looks_like_client(path) && is_program(path));
    let of = |path: PathBuf| Program {
        is_parents: parent == Some(&path),
        path,
    };
    match (configured, parent) {
        (Some(path), _) if path.components().count() > 1 => of(path.to_owned()),
        (Some(name), _) => of(find(name, search, is_program).unwrap_or_else(|| name.to_owned())),
        (None, Some(parent)) => of(parent.to_owned()),
        (None, None) => {
            let name = Path::new("claude");
            of(find(name, search, is_program).unwrap_or_else(|| name.to_owned()))
        }
    }
}

/// Whether an executable is a client's: the process above a hook can be another program (a hook tried by hand, a
/// client that runs inside an interpreter). The npm package names it `claude`, the native installer keeps it in
/// `…/claude/versions/2.1.332`.
fn looks_like_client(path: &Path) -> bool {
    let named = path
        .file_name()
        .is_some_and(|name| name == "claude" || name == "claude.exe");
    named || path.parent().is_some_and(|folder| folder.ends_with("claude/versions"))
}

/// Only absolute folders of the PATH: a relative one would be the repository's to fill.
fn find(name: &Path, search: Option<&OsStr>, is_program: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    std::env::split_paths(search?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| is_program(path))
}

/// Whether `path` is a regular file that somebody may execute.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(configured: Option<&str>, parent: Option<&str>, there: &[&str]) -> (String, bool) {
        let program = choose(
            configured.map(Path::new),
            parent.map(Path::new),
            Some(OsStr::new("rel:/usr/bin:/opt/bin")),
            |path| there.iter().any(|known| Path::new(known) == path),
        );
        (program.path.to_str().unwrap().to_owned(), program.is_parents)
    }

    #[test]
    fn the_order_is_configured_then_the_parents_then_the_path() {
        let native = "/home/u/.local/share/claude/versions/2.1.332";
        let all = ["/opt/bin/claude", "/c/claude", native, "rel/claude"];
        for (configured, parent, there, expected) in [
            (Some("/x/claude"), Some("/c/claude"), &all[..], ("/x/claude", false)),
            (Some("claude"), Some("/c/claude"), &all, ("/opt/bin/claude", false)),
            (Some("/c/claude"), Some("/c/claude"), &all, ("/c/claude", true)),
            (None, Some("/c/claude"), &all, ("/c/claude", true)),
            (None, Some(native), &all, (native, true)),
            // Not a client, or replaced since it was started.
            (None, Some("/usr/bin/node"), &all, ("/opt/bin/claude", false)),
            (None, Some("/gone/claude"), &all, ("/opt/bin/claude", false)),
            (None, None, &all, ("/opt/bin/claude", false)),
            (None, None, &[], ("claude", false)),
            (Some("mine"), None, &[], ("mine", false)),
        ] {
            let (path, is_parents) = chosen(configured, parent, there);
            assert_eq!((path.as_str(), is_parents), expected, "{configured:?} {parent:?}");
        }
    }
}
