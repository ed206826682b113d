//! Which files a program changes, read from its arguments.

use super::super::facts::{Action, Fact, Mount, Place, Run, Touch};
use super::super::marks::{ANY, HOME, ITEM};
use super::super::paths::resolve;
use super::super::syntax::Span;
use super::option::{Options, Valued};
use super::search::Search;
use super::state::Walk;

/// Options with values of programs that change files: names, letters, long forms.
const VALUED: &[(&[&str], Valued)] = &[
    (
        &["install"],
        valued(
            "mogtS",
            &["--mode", "--owner", "--group", "--target-directory", "--suffix"],
        ),
    ),
    (
        &["cp", "mv", "ln"],
        valued("tS", &["--target-directory", "--suffix", "--backup"]),
    ),
    (&["truncate"], valued("sr", &["--size", "--reference"])),
    (&["shred"], valued("ns", &["--iterations", "--size"])),
    (&["sed", "gsed"], valued("efl", &["--expression", "--file"])),
    (&["perl", "ruby"], valued("eEIMrlF", &[])),
    (
        &["rsync"],
        valued(
            "efMBT",
            &[
                "--rsh",
                "--exclude",
                "--include",
                "--filter",
                "--files-from",
                "--max-size",
            ],
        ),
    ),
    (
        &["curl"],
        valued(
            "oXdHFuAebcKmTxyzEQw",
            &["--output", "--data", "--header", "--request", "--user"],
        ),
    ),
    (
        &["wget"],
        valued("OoPUtTaiQe", &["--output-document", "--directory-prefix"]),
    ),
    (
        &["chmod", "chown", "chgrp", "chattr"],
        valued("", &["--reference", "--from"]),
    ),
    (&["setfacl"], valued("mMxX", &["--modify", "--remove"])),
    (
        &["tar", "bsdtar"],
        valued("fCXTbI", &["--file", "--directory", "--exclude"]),
    ),
    (&["unzip"], valued("dx", &[])),
    (&["patch"], valued("idporD", &["--input", "--output", "--directory"])),
    (
        &["yq", "jq", "sort"],
        valued("oktSIf", &["--output", "--indent", "--arg"]),
    ),
];

const fn valued(short: &'static str, long: &'static [&'static str]) -> Valued {
    Valued { short, long }
}

fn valued_of(verb: &str) -> Valued {
    VALUED
        .iter()
        .find(|(verbs, _)| verbs.contains(&verb))
        .map(|(_, valued)| *valued)
        .unwrap_or_default()
}

impl Walk<'_> {
    /// Notes every file that `run` changes.
    pub(crate) fn touches(&mut self, run: &Run) {
        let options = Options::parse(&run.args, valued_of(&run.verb), false);
        if options.has(&["--help", "--version"]) {
            return;
        }
        match run.verb.as_str() {
            "rm" | "rimraf" | "del-cli" | "grm" | "srm" => self.removal(run, &options),
            "unlink" | "rmdir" => self.all(run, Action::Delete, &options.words),
            "shred" | "wipe" => self.all(run, Action::Shred, &options.words),
            "truncate" | "tee" | "sponge" | "mkswap" => {
                let adds = options.has(&["-a", "--append"]);
                self.all(run, if adds { Action::Append } else { Action::Write }, &options.words);
            }
            "cp" | "install" | "ln" | "scp" | "gcp" | "ditto" => self.copy(run, &options, false),
            "mv" | "gmv" | "rename" => self.copy(run, &options, true),
            "rsync" => self.rsync(run, &options),
            "trash" | "trash-put" => self.all(run, Action::Move, &options.words),
            "gio" if options.words.first() == Some(&"trash") => self.all(run, Action::Move, &options.words),
            // What it binds over another file takes that file's place.
            "mount" if options.has(&["-B", "--bind", "-o"]) => {
                self.all(run, Action::Write, options.words.get(1..).unwrap_or(&[]));
            }
            "dd" => {
                for path in run.args.iter().filter_map(|arg| arg.strip_prefix("of=")) {
                    self.touch(Action::Write, path, run.span, &run.verb);
                }
            }
            "sed" | "gsed" | "perl" | "ruby" | "yq" | "gawk" => self.in_place(run, &options),
            "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "gchmod" | "gchown" => {
                self.permissions(run, &options);
            }
            "find" | "gfind" | "bfs" => self.find_changes(run),
            "patch" => self.all(run, Action::Write, options.words.get(..1).unwrap_or(&[])),
            "curl" | "wget" | "sort" | "aria2c" => {
                for path in options.values(&["-o", "-O", "--output", "--output-document"]) {
                    self.touch(Action::Write, path, run.span, &run.verb);
                }
            }
            "vi" | "vim" | "nvim" | "ed" | "ex" | "nano" | "emacs" | "code" => {
                self.all(run, Action::Write, &options.words);
            }
            "git" => self.git_changes(run),
            "tar" | "unzip" | "bsdtar" => {
                if options.has(&["--remove-files"]) {
                    self.all(run, Action::DeleteTree, &options.words);
                }
                if let Some(dir) = options.value(&["-C", "--directory", "-d"])
                    && !options.has(&["-c", "--create", "-t", "--list"])
                {
                    self.touch(Action::Append, dir, run.span, &run.verb);
                }
            }
            _ => {}
        }
    }

    fn all(&mut self, run: &Run, action: Action, paths: &[&str]) {
        for path in paths.iter().take(256) {
            self.touch(action, path, run.span, &run.verb);
        }
    }

    fn removal(&mut self, run: &Run, options: &Options<'_>) {
        let tree =
            options.has(&["-r", "-R", "--recursive", "-d"]) || matches!(run.verb.as_str(), "rimraf" | "del-cli");
        // An unknown word may be the options.
        let tree =
            tree || options.words.len() > 1 && options.words.first().is_some_and(|word| *word == ANY.to_string());
        let paths: Vec<&str> = options
            .words
            .iter()
            .copied()
            .filter(|word| !word.starts_with('-'))
            .collect();
        self.all(run, if tree { Action::DeleteTree } else { Action::Delete }, &paths);
    }

    fn copy(&mut self, run: &Run, options: &Options<'_>, moves: bool) {
        let named = options.value(&["-t", "--target-directory"]);
        let (sources, target) = match (named, options.words.split_last()) {
            (Some(dir), _) => (options.words.as_slice(), dir),
            (None, Some((last, sources))) => (sources, *last),
            (None, None) => return,
        };
        if moves {
            self.all(run, Action::Move, sources);
        }
        if target == "/dev/null" && moves {
            self.all(run, Action::DeleteTree, sources);
        }
        let empties = sources
            .iter()
            .any(|source| matches!(*source, "/dev/null" | "/dev/zero" | "/dev/urandom"));
        if empties && !moves {
            self.touch(Action::Shred, target, run.span, &run.verb);
        }
        self.touch(Action::Write, target, run.span, &run.verb);
        // Into a directory a file goes under its own name.
        for source in sources.iter().take(32) {
            let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or(source);
            self.touch(
                Action::Write,
                &format!("{}/{name}", target.trim_end_matches('/')),
                run.span,
                &run.verb,
            );
        }
    }

    fn rsync(&mut self, run: &Run, options: &Options<'_>) {
        let Some((target, sources)) = options.words.split_last() else {
            return;
        };
        let deletes = options.flags.iter().any(|(flag, _)| flag.starts_with("--del"));
        let dry = options.has(&["-n", "--dry-run"]);
        if dry {
            return;
        }
        if options.has(&["--remove-source-files"]) {
            self.all(run, Action::Move, sources);
        }
        self.touch(
            if deletes { Action::DeleteTree } else { Action::Write },
            target,
            run.span,
            &run.verb,
        );
    }

    fn in_place(&mut self, run: &Run, options: &Options<'_>) {
        let edits = options
            .flags
            .iter()
            .any(|(flag, _)| flag == "-i" || flag.starts_with("--in-place") || flag == "--inplace");
        if !edits {
            return;
        }
        let scripted = options.has(&["-e", "--expression", "-f", "--file", "-E"]) && run.verb != "sed"
            || options.has(&["-e", "--expression", "-f", "--file"]);
        let from = usize::from(!scripted);
        self.all(run, Action::Write, options.words.get(from..).unwrap_or(&[]));
    }

    fn permissions(&mut self, run: &Run, options: &Options<'_>) {
        let tree = options.has(&["-R", "--recursive"]);
        // `chmod -x file` looks like an option and is a mode.
        let mode_flag = run.verb == "chmod"
            && options
                .flags
                .iter()
                .any(|(flag, _)| matches!(flag.as_str(), "-x" | "-w" | "-r" | "-X" | "-s" | "-t"));
        let facl = run.verb == "setfacl" && options.has(&["-m", "-x", "-b", "--modify"]);
        let from = usize::from(!mode_flag && !facl && !options.has(&["--reference"]));
        let mode = options.words.first().copied().unwrap_or("");
        let opens = run.verb.ends_with("chmod") && opens_all(mode);
        let action = match (tree, opens) {
            (true, true) => Action::OpenTree,
            (true, false) => Action::PermitTree,
            (false, true) => Action::Open,
            (false, false) => Action::Permit,
        };
        self.all(run, action, options.words.get(from..).unwrap_or(&[]));
    }

    fn find_changes(&mut self, run: &Run) {
        if run.args.iter().any(|arg| arg == "-delete") {
            let items = Search::parse(&run.args).items();
            for item in &items {
                self.touch(Action::DeleteTree, item, run.span, &run.verb);
            }
        }
        let mut args = run.args.iter();
        while let Some(arg) = args.next() {
            if matches!(arg.as_str(), "-fprint" | "-fprint0" | "-fprintf" | "-fls")
                && let Some(path) = args.next()
            {
                self.touch(Action::Write, path, run.span, &run.verb);
            }
        }
    }

    /// `git checkout -- FILE`, `git restore FILE`, `git rm FILE`: the file's content or the file goes.
    fn git_changes(&mut self, run: &Run) {
        let options = Options::parse(
            &run.args,
            Valued {
                short: "CcsmbB",
                long: &["--git-dir", "--work-tree", "--source"],
            },
            false,
        );
        let Some((sub, words)) = options.words.split_first() else {
            return;
        };
        let cached = options.has(&["--cached", "--staged", "-n", "--dry-run"]) && !options.has(&["--worktree"]);
        match *sub {
            "rm" if !cached => {
                let tree = options.has(&["-r"]);
                self.all(run, if tree { Action::DeleteTree } else { Action::Delete }, words);
            }
            "restore" if !cached => self.all(run, Action::Write, words),
            "checkout" if run.args.iter().any(|arg| arg == "--") => self.all(run, Action::Write, words),
            "mv" => self.all(run, Action::Move, words),
            // What is stashed by name is back at its committed state.
            "stash" if !matches!(words.first(), Some(&("pop" | "apply" | "list" | "show" | "drop"))) => {
                let after = run.args.iter().skip_while(|arg| *arg != "--").skip(1);
                self.all(run, Action::Write, &after.map(String::as_str).collect::<Vec<_>>());
            }
            _ => {}
        }
    }

    /// Notes a change to a path, as far as it lasts.
    pub(crate) fn touch(&mut self, action: Action, path: &str, span: Span, by: &str) {
        if path.is_empty() || path.starts_with("/dev/fd/") || !self.afford(16) {
            return;
        }
        let mut resolved = Vec::new();
        for dir in std::iter::once(&self.dirs.now).chain(&self.dirs.otherwise) {
            let absolute = resolve(path, dir, self.ground);
            match &self.place {
                Place::Here | Place::Elsewhere => resolved.push(absolute),
                Place::Container(mounts) => {
                    resolved.extend(mounts.iter().filter_map(|mount| on_host(&absolute, mount, action)));
                }
            }
        }
        if resolved.is_empty() {
            return;
        }
        let (path, by) = (path.to_owned(), by.to_owned());
        self.note(Fact::Touch(Touch {
            action,
            path,
            resolved,
            span,
            by,
        }));
    }
}

/// The host's path of one in a container; a tree above the mount takes the mount along.
fn on_host(path: &str, mount: &Mount, action: Action) -> Option<String> {
    let inside = mount.inside.trim_end_matches('/');
    if let Some(rest) = path.strip_prefix(inside)
        && (rest.is_empty() || rest.starts_with('/'))
    {
        let host = mount.host.trim_end_matches('/');
        return Some(if host.is_empty() && rest.is_empty() {
            "/".to_owned()
        } else {
            format!("{host}{rest}")
        });
    }
    let tree = matches!(action, Action::DeleteTree | Action::PermitTree | Action::OpenTree);
    let above = path == "/" || inside.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    (tree && (above || path.starts_with([ANY, ITEM, HOME]))).then(|| mount.host.clone())
}

/// Whether a mode opens files to everybody, or closes them to everybody.
fn opens_all(mode: &str) -> bool {
    if mode.bytes().all(|b| b.is_ascii_digit()) && !mode.is_empty() {
        let others = mode.chars().next_back().and_then(|c| c.to_digit(8)).unwrap_or(0);
        return others & 2 != 0 || mode.chars().all(|c| c == '0');
    }
    mode.split(',').any(|clause| {
        let who = clause.split(['+', '=', '-']).next().unwrap_or("");
        let everybody = who.is_empty() || who.contains(['a', 'o']);
        let closes = clause.contains('-') && clause.contains("rwx") || clause.ends_with('=');
        everybody && (clause.contains(['+', '=']) && clause.contains('w') || closes && !who.is_empty() && who != "o")
    })
}
