//! The git worktree of a cell, after it: one without changes or commits is removed with its branch, another is kept.
//!
//! The client leaves folder, branch and (2.1.332) a lock behind a `-p --worktree NAME`: folder
//! `<git root>/.claude/worktrees/NAME`, branch `worktree-NAME` (2.1.156, 2.1.332).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::base::Deadline;
use crate::ledger::record::Worktree;
use crate::process::{Helper, Signals, run_bounded};

/// All of git's part; it fits the time that the shipped hook timeout leaves after a cell.
const AT_MOST: Duration = Duration::from_secs(15);
const OUTPUT_LIMIT: u64 = 4 * 1024 * 1024;

/// Removes the worktree `name` of the repository at `project` if nothing would be lost, and says what became of it;
/// `None` where there is none.
#[must_use]
pub(super) fn settle(
    project: &Path,
    name: &str,
    env: &BTreeMap<OsString, OsString>,
    signals: &Signals,
) -> Option<Worktree> {
    let git = Git {
        env: git_environment(env),
        deadline: Deadline::after(AT_MOST),
        signals,
    };
    let listed = git.run(project, &["worktree", "list", "--porcelain", "-z"])?;
    let found = find(&listed, name)?;
    let kept = !(git.is_untouched(project, &found) && git.remove(project, &found));
    Some(Worktree {
        folder: found.folder,
        branch: found.branch.filter(|_| kept),
        kept,
    })
}

/// A worktree as git lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    folder: PathBuf,
    /// Without `refs/heads/`; `None` where a commit is checked out.
    branch: Option<String>,
}

/// Finds the worktree `name` in `git worktree list --porcelain -z`: entries of `key value` lines that end in NUL, an
/// empty one after each entry (git-worktree documentation).
fn find(listed: &[u8], name: &str) -> Option<Found> {
    let mut folder: Option<PathBuf> = None;
    let wanted = Path::new(".claude/worktrees").join(name);
    for line in listed.split(|byte| *byte == 0) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            folder = Some(PathBuf::from(OsStr::from_bytes(path))).filter(|path| path.ends_with(&wanted));
        } else if let (Some(branch), Some(folder)) = (line.strip_prefix(b"branch refs/heads/"), &folder) {
            let branch = String::from_utf8(branch.to_vec()).ok();
            return Some(Found {
                folder: folder.clone(),
                branch,
            });
        } else if let (b"detached", Some(folder)) = (line, &folder) {
            return Some(Found {
                folder: folder.clone(),
                branch: None,
            });
        }
    }
    None
}

/// Only what git needs to run: the child's own variables could point it at another repository.
fn git_environment(env: &BTreeMap<OsString, OsString>) -> BTreeMap<OsString, OsString> {
    let kept = env
        .iter()
        .filter(|(name, _)| ["PATH", "HOME", "XDG_CONFIG_HOME"].iter().any(|kept| name == kept));
    let fixed = [
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("LC_ALL", "C"),
    ];
    kept.map(|(name, value)| (name.clone(), value.clone()))
        .chain(fixed.map(|(name, value)| (name.into(), value.into())))
        .collect()
}

struct Git<'a> {
    env: BTreeMap<OsString, OsString>,
    deadline: Deadline,
    signals: &'a Signals,
}

impl Git<'_> {
    /// The stdout of a git command that succeeded. No hook and no file system monitor of the repository runs.
    fn run(&self, folder: &Path, args: &[&str]) -> Option<Vec<u8>> {
        let quiet = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
        let command = Helper {
            program: "git".into(),
            args: quiet.iter().chain(args).map(OsString::from).collect(),
            env: self.env.clone(),
            cwd: folder.to_owned(),
            output_bytes: OUTPUT_LIMIT,
        };
        let output = run_bounded(&command, self.deadline, self.signals).ok()?;
        output.success.then_some(output.stdout)
    }

    /// The same, but for a hook that was told to stop: its record comes first.
    fn unless_stopped(&self, folder: &Path, args: &[&str]) -> Option<Vec<u8>> {
        self.signals.stop().is_none().then(|| self.run(folder, args))?
    }

    /// Whether it has no change, no new file, and no commit that nothing else holds.
    fn is_untouched(&self, project: &Path, found: &Found) -> bool {
        let Some(branch) = &found.branch else { return false };
        let head = format!("refs/heads/{branch}");
        let exclude = format!("--exclude={head}");
        // Run from the project, where HEAD is the project's; and without the heads of other worktrees, of which this
        // one's is one: they would hold its commits.
        let single = "--single-worktree";
        let commits = [
            "rev-list",
            "--max-count=1",
            single,
            &head,
            "--not",
            &exclude,
            "--all",
            "--",
        ];
        let status = ["status", "--porcelain", "--untracked-files=all"];
        let empty = |output: Option<Vec<u8>>| output.is_some_and(|output| output.is_empty());
        empty(self.unless_stopped(&found.folder, &status)) && empty(self.unless_stopped(project, &commits))
    }

    /// Removes worktree and branch; git itself refuses one with changes.
    fn remove(&self, project: &Path, found: &Found) -> bool {
        let Some(folder) = found.folder.to_str() else {
            return false;
        };
        // It fails where there is no lock, which is as good.
        let _ = self.unless_stopped(project, &["worktree", "unlock", "--", folder]);
        if self
            .unless_stopped(project, &["worktree", "remove", "--", folder])
            .is_none()
        {
            return false;
        }
        if let Some(branch) = &found.branch {
            // Without the worktree a branch that stays is no loss and no harm.
            let _ = self.unless_stopped(project, &["branch", "-D", "--", branch]);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(entries: &[&[&str]]) -> Vec<u8> {
        entries
            .iter()
            .flat_map(|entry| entry.iter().chain([&""]))
            .flat_map(|line| [line.as_bytes(), b"\0"].concat())
            .collect()
    }

    #[test]
    fn the_cells_worktree_is_found_among_others() {
        let listed = listing(&[
            &["worktree /repo", "HEAD 1", "branch refs/heads/main"],
            &[
                "worktree /repo/.claude/worktrees/other",
                "HEAD 1",
                "branch refs/heads/worktree-other",
            ],
            &[
                "worktree /repo/.claude/worktrees/cell-1",
                "HEAD 1",
                "branch refs/heads/worktree-cell-1",
                "locked why",
            ],
            &["worktree /repo/.claude/worktrees/cell-2", "HEAD 1", "detached"],
        ]);
        let folder = |name: &str| PathBuf::from(format!("/repo/.claude/worktrees/{name}"));
        let branch = Some("worktree-cell-1".to_owned());
        assert_eq!(
            find(&listed, "cell-1"),
            Some(Found {
                folder: folder("cell-1"),
                branch
            })
        );
        assert_eq!(
            find(&listed, "cell-2"),
            Some(Found {
                folder: folder("cell-2"),
                branch: None
            })
        );
        assert_eq!(find(&listed, "cell-3"), None);
        assert_eq!(find(b"", "cell-1"), None);
    }

    #[test]
    fn git_gets_no_variable_that_could_point_it_elsewhere() {
        let env = BTreeMap::from(
            [("PATH", "/bin"), ("GIT_DIR", "/evil"), ("GIT_SSH", "x"), ("HOME", "/h")]
                .map(|(name, value)| (OsString::from(name), OsString::from(value))),
        );
        let names: Vec<_> = git_environment(&env).into_keys().collect();
        assert_eq!(
            names,
            ["GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "HOME", "LC_ALL", "PATH"]
        );
    }
}
