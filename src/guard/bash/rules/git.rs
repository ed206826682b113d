//! Work and history that git loses.

use super::super::facts::Run;
use super::super::marks::{STAR, unglob};
use super::super::policy::{Family, Severity};
use super::super::walk::{Options, Valued, valued_of_git};
use super::table::{Rule, Test, has_flag};

/// A rule of this family with its usual weight.
const PLAIN: Rule = Rule {
    id: "",
    family: Family::Destroy,
    severity: Severity::High,
    on: true,
    reason: "",
    instead: "",
    test: Test::Replicates,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "destroy.git-work",
        reason: "it throws away work that is not committed",
        instead: "`git stash push`, or commit first; give single files to `git restore`",
        test: Test::Run(|run, _| call(run).is_some_and(|call| call.drops_work())),
        ..PLAIN
    },
    Rule {
        id: "destroy.git-history",
        severity: Severity::Critical,
        reason: "it rewrites or deletes history that others have, or that nothing else holds",
        instead: "push to a new branch, or make a new commit that reverts",
        test: Test::Run(|run, _| call(run).is_some_and(|call| call.drops_history())),
        ..PLAIN
    },
];

/// A call of git: its subcommand and what comes after.
pub(super) struct Call<'r> {
    pub sub: &'r str,
    pub args: &'r [String],
}

/// The subcommand of a run, read past git's own options; `git-reset` is one too.
pub(super) fn call(run: &Run) -> Option<Call<'_>> {
    if let Some(sub) = run.verb.strip_prefix("git-").filter(|sub| !sub.is_empty()) {
        return Some(Call { sub, args: &run.args });
    }
    if run.verb != "git" && run.verb != "hub" && run.verb != "yadm" {
        return None;
    }
    let at = Options::parse(&run.args, valued_of_git(), true).first_word;
    let sub = run.args.get(at)?;
    let args = run.args.get(at + 1..)?;
    (!matches!(sub.as_str(), "help") && !args.iter().any(|arg| arg == "--help")).then_some(Call { sub, args })
}

impl Call<'_> {
    fn has(&self, flags: &[&str]) -> bool {
        flags.iter().any(|flag| has_flag(self.args, flag))
    }

    fn options(&self, short: &'static str, long: &'static [&'static str]) -> Options<'_> {
        Options::parse(self.args, Valued { short, long }, false)
    }

    fn drops_work(&self) -> bool {
        match self.sub {
            "reset" => self.has(&["--hard", "--merge"]),
            "clean" => {
                let options = self.options("e", &["--exclude"]);
                options.has(&["-f", "--force"]) && !options.has(&["-n", "--dry-run"])
            }
            "checkout" => self.checkout_drops(),
            "switch" => self.has(&["-f", "--force", "--discard-changes"]),
            "restore" => {
                let options = self.options("sU", &["--source"]);
                let staged_only = options.has(&["-S", "--staged"]) && !options.has(&["-W", "--worktree"]);
                !staged_only && options.words.iter().any(|path| is_everything(path))
            }
            "read-tree" => self.has(&["--reset", "-u"]),
            "checkout-index" => self.has(&["-f", "--force"]) && self.has(&["-a", "--all", "--stdin"]),
            "stash" => self.args.first().is_some_and(|word| word == "clear"),
            "submodule" => {
                self.args.iter().any(|word| word == "deinit") && self.has(&["-f", "--force"]) && self.has(&["--all"])
            }
            _ => false,
        }
    }

    fn checkout_drops(&self) -> bool {
        let options = self.options("bB", &["--orphan", "--conflict"]);
        let forced = options.has(&["-f", "--force"]);
        let creates = options.has(&["-b", "-B", "--orphan"]);
        let everything = options.words.iter().any(|path| is_everything(path));
        forced || everything && !creates
    }

    fn drops_history(&self) -> bool {
        match self.sub {
            "push" => self.push_drops(),
            "filter-branch" | "filter-repo" => !self.has(&["--analyze", "--dry-run"]),
            "reflog" => {
                self.args
                    .first()
                    .is_some_and(|word| matches!(word.as_str(), "expire" | "delete"))
                    && !self.has(&["-n", "--dry-run"])
            }
            "gc" => self
                .args
                .iter()
                .any(|arg| matches!(arg.as_str(), "--prune=now" | "--prune=all")),
            "prune" => !self.has(&["-n", "--dry-run"]),
            "update-ref" | "symbolic-ref" => self.has(&["-d", "--delete"]),
            "lfs" => self.args.first().is_some_and(|word| word == "prune"),
            _ => false,
        }
    }

    fn push_drops(&self) -> bool {
        let options = self.options("o", &["--push-option", "--repo", "--receive-pack", "--exec"]);
        if options.has(&["-n", "--dry-run"]) {
            return false;
        }
        let plain_force = options.flags.iter().any(|(flag, _)| {
            matches!(flag.as_str(), "-f" | "-d")
                || long_is(flag, "--force", 5)
                || long_is(flag, "--mirror", 4)
                || long_is(flag, "--delete", 4)
                || long_is(flag, "--prune", 5)
        });
        let refs = options.words.get(1..).unwrap_or(&[]);
        let in_ref = refs
            .iter()
            .any(|name| name.starts_with('+') || name.starts_with(':') && name.len() > 1);
        // A lease on a commit that is named is safe also where others push.
        let leased = options.flags.iter().any(|(flag, value)| {
            flag.starts_with("--force-with-l") && !value.as_deref().is_some_and(|lease| lease.contains(':'))
        });
        let shared = refs.iter().any(|name| {
            let target = name.rsplit([':', '/']).next().unwrap_or(name);
            matches!(
                target,
                "main" | "master" | "trunk" | "develop" | "production" | "release"
            )
        });
        plain_force || in_ref || leased && shared
    }
}

/// Whether an option is `name` or its beginning, at least `least` characters long.
fn long_is(flag: &str, name: &str, least: usize) -> bool {
    flag.len() >= least && name.starts_with(flag)
}

/// Whether a pathspec takes the whole tree.
fn is_everything(path: &str) -> bool {
    let plain = unglob(path);
    let plain = plain
        .strip_prefix(":(top)")
        .or_else(|| plain.strip_prefix(":/"))
        .unwrap_or(&plain);
    matches!(plain, "." | "./" | "*" | "./*" | ".." | "" | "**" | "*.*") && !path.is_empty()
        || path == STAR.to_string()
}
