//! What a path means: lexical resolution, and the kinds of places that rules tell apart.

use super::marks::{ANY, HOME, ITEM, STAR, glob_matches, has_unknown, is_glob, is_unknown};

/// The directories a decision is made in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ground {
    /// The working directory, absolute.
    pub cwd: String,
    /// The project's root, absolute; the working directory where it is not known.
    pub project: String,
    /// The user's home, absolute, where it is known.
    pub home: Option<String>,
    /// Files and directories of ours and of the client that nobody may change, absolute.
    pub protected: Vec<String>,
}

/// The kind of place that a path names, as far as deleting is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// Unknown from its first part on.
    Unknown,
    /// The root, the project's root or a parent of it, the home or a parent of it.
    Base,
    /// Every file of a base directory (`./*`).
    BaseContent,
    /// A repository's own data.
    Repository,
    /// Below the project's root.
    Project,
    /// A directory for temporary files itself.
    TempRoot,
    /// Below a directory for temporary files.
    Temp,
    /// A cache in the home.
    Cache,
    /// Below the home, outside of the project.
    Home,
    /// A directory of the system, or below one.
    System,
    /// A device.
    Device,
    /// Anywhere else.
    Elsewhere,
}

/// Directories for temporary files.
const TEMP: [&str; 5] = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp"];

/// Directories that belong to the system.
const SYSTEM: [&str; 20] = [
    "bin",
    "boot",
    "etc",
    "lib",
    "lib32",
    "lib64",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "sys",
    "usr",
    "var",
    "srv",
    "Applications",
    "Library",
    "System",
    "nix",
    "snap",
];

/// Devices that hold nothing.
const HARMLESS_DEVICES: [&str; 11] = [
    "null", "zero", "stdout", "stderr", "stdin", "tty", "full", "random", "urandom", "tcp", "udp",
];

/// An absolute path from `path` as seen in `dir`: `.` and `..` taken out, the home as its mark.
pub(crate) fn resolve(path: &str, dir: &str, ground: &Ground) -> String {
    let joined = if path.starts_with('/') || path.starts_with(HOME) || path.starts_with(is_unknown) {
        path.to_owned()
    } else {
        format!("{dir}/{path}")
    };
    let joined = with_home_mark(&joined, ground);
    let mut kept: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if kept.last().is_some_and(|last| last.starts_with(HOME)) {
                    kept.clear();
                    kept.push("home");
                } else {
                    kept.pop();
                }
            }
            other => kept.push(other),
        }
    }
    let body = kept.join("/");
    if body.starts_with(HOME) || body.starts_with(is_unknown) && !joined.starts_with('/') {
        body
    } else {
        format!("/{body}")
    }
}

fn with_home_mark(path: &str, ground: &Ground) -> String {
    let home = ground.home.as_deref().filter(|home| home.len() > 1);
    if let Some(rest) = home.and_then(|home| path.strip_prefix(home))
        && (rest.is_empty() || rest.starts_with('/'))
    {
        return format!("{HOME}{rest}");
    }
    path.to_owned()
}

/// What kind of place an absolute (resolved) path is.
pub(crate) fn site(path: &str, ground: &Ground) -> Site {
    if path.starts_with(is_unknown) {
        return Site::Unknown;
    }
    if names_repository(path) {
        return Site::Repository;
    }
    let project = with_home_mark(ground.project.trim_end_matches('/'), ground);
    let cwd = with_home_mark(ground.cwd.trim_end_matches('/'), ground);
    for base in [project.as_str(), cwd.as_str()] {
        if let Some(found) = against_base(path, base) {
            return found;
        }
    }
    match below(path, &project).or_else(|| below(path, &cwd)) {
        Some(_) => Site::Project,
        None => outside(path),
    }
}

/// Whether the path is `base`, a parent of it, or all that is in either.
fn against_base(path: &str, base: &str) -> Option<Site> {
    let (parent, last) = path.rsplit_once('/').unwrap_or(("", path));
    // `/tmp/$x` is `/tmp` where the variable is empty.
    if last.chars().all(|c| c == ANY) && !last.is_empty() && (base == parent || below(base, parent).is_some()) {
        return Some(Site::Base);
    }
    if is_or_holds(path, base) {
        return Some(Site::Base);
    }
    (is_or_holds(parent, base) && takes_all(last)).then_some(Site::BaseContent)
}

fn is_or_holds(path: &str, base: &str) -> bool {
    path == base || path == "/" || path.is_empty() || below(base, path).is_some()
}

/// The part of `path` below `base`.
fn below<'p>(path: &'p str, base: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(base)?.strip_prefix('/')?;
    (!rest.is_empty()).then_some(rest)
}

/// Whether a pattern takes (nearly) every name: `*`, `.*`, `*.*`, `?*`, `[!x]*`.
pub(crate) fn takes_all(name: &str) -> bool {
    if !name.contains(is_glob) {
        return false;
    }
    let probes = ["src", "Cargo.toml", "README.md", "package.json", "main"];
    let hidden = [".git", ".github", ".env"];
    probes.iter().filter(|probe| glob_matches(name, probe)).count() >= 3
        || hidden
            .iter()
            .filter(|probe| name.starts_with('.') && glob_matches(name, probe))
            .count()
            >= 2
        || ["src", "Cargo.toml", "README.md"]
            .iter()
            .filter(|p| name.contains('.') && glob_matches(name, p))
            .count()
            >= 2
}

/// Whether the path is a repository's data, but not a lock or a stopped operation in it.
fn names_repository(path: &str) -> bool {
    let mut parts = path.split('/').skip_while(|part| !is_git_directory(part));
    if parts.next().is_none() {
        return false;
    }
    let rest: Vec<&str> = parts.collect();
    match rest.as_slice() {
        [] => true,
        [.., last] => {
            let passing = [
                "rebase-merge",
                "rebase-apply",
                "MERGE_HEAD",
                "CHERRY_PICK_HEAD",
                "worktrees",
                "gc.pid",
            ];
            last.rsplit('.').next() != Some("lock") && !rest.first().is_some_and(|first| passing.contains(first))
        }
    }
}

fn is_git_directory(part: &str) -> bool {
    part == ".git"
        || (part.contains(is_glob)
            && part.starts_with(['.', STAR])
            && part.len() > 1
            && !takes_all(part)
            && part.starts_with('.')
            && glob_matches(part, ".git"))
}

fn outside(path: &str) -> Site {
    if let Some(rest) = path.strip_prefix(HOME) {
        return in_home(rest);
    }
    let Some(rest) = path.strip_prefix('/') else {
        return Site::Unknown;
    };
    if let Some(found) = TEMP.iter().find_map(|temp| in_temp(path, temp)) {
        return found;
    }
    let mut parts = rest.split('/');
    let first = parts.next().unwrap_or("");
    if first.is_empty() || first.chars().all(|c| c == ANY) || takes_all(first) {
        return Site::Base;
    }
    if first == "dev" {
        let device = parts.next().unwrap_or("");
        let harmless = HARMLESS_DEVICES.contains(&device) || device == "fd" || device.starts_with("tty");
        return if harmless { Site::Elsewhere } else { Site::Device };
    }
    if matches!(first, "home" | "Users") {
        let user = parts.next().unwrap_or("");
        let deeper: Vec<&str> = parts.collect();
        return if user.is_empty() || takes_all(user) || deeper.is_empty() {
            Site::Base
        } else {
            in_home(&format!("/{}", deeper.join("/")))
        };
    }
    if SYSTEM.contains(&first)
        || SYSTEM
            .iter()
            .any(|name| first.contains(is_glob) && glob_matches(first, name))
    {
        return Site::System;
    }
    if first == ITEM.to_string() {
        Site::System
    } else if has_unknown(first) && !first.contains(ITEM) {
        Site::Unknown
    } else {
        Site::Elsewhere
    }
}

fn in_home(rest: &str) -> Site {
    let rest = rest.trim_matches('/');
    let mut parts = rest.split('/');
    match parts.next().unwrap_or("") {
        "" => Site::Base,
        first if takes_all(first) || first.chars().all(|c| c == ANY) => Site::BaseContent,
        ".cache" | ".npm" | ".gradle" | ".ccache" | ".sccache" => Site::Cache,
        ".cargo" if matches!(parts.next(), Some("registry" | "git")) => Site::Cache,
        _ => Site::Home,
    }
}

fn in_temp(path: &str, temp: &str) -> Option<Site> {
    if path == temp {
        return Some(Site::TempRoot);
    }
    let rest = path.strip_prefix(temp)?.strip_prefix('/')?;
    let first = rest.split('/').next().unwrap_or("");
    Some(if takes_all(first) || first.chars().all(|c| c == ANY) {
        Site::TempRoot
    } else {
        Site::Temp
    })
}
