//! Programs that start others in ways of their own: find, xargs, parallel, ssh, containers, terminals, git.

use super::super::facts::{Place, Run};
use super::super::marks::{ANY, HOME, ITEM, STAR};
use super::dispatch::only_asks;
use super::option::{Options, Valued};
use super::search::Search;
use super::state::{Input, Walk};

/// Options of `xargs` that take a value.
const XARGS: Valued = Valued {
    short: "ILnPsdEa",
    long: &[
        "--replace",
        "--max-args",
        "--max-procs",
        "--delimiter",
        "--arg-file",
        "--max-lines",
    ],
};
/// Options of `parallel` that take a value.
const PARALLEL: Valued = Valued {
    short: "jaNnLSIC",
    long: &[
        "--jobs",
        "--arg-file",
        "--colsep",
        "--delay",
        "--timeout",
        "--retries",
        "--joblog",
        "--results",
        "--max-args",
    ],
};
/// Options of `ssh` that take a value.
const SSH: Valued = Valued {
    short: "BbcDEeFIiJLlmOopQRSWw",
    long: &[],
};
/// Options of `su` that take a value.
const SHELL_RUNNER: Valued = Valued {
    short: "csgwG",
    long: &["--command", "--shell", "--group"],
};

impl Walk<'_> {
    /// Follows what such a program starts; `None` where it is not one of them.
    pub(crate) fn runner(&mut self, run: &Run, input: &Input) -> Option<String> {
        match run.verb.as_str() {
            "xargs" | "gxargs" => Some(self.xargs(run, input)),
            "parallel" | "sem" => Some(self.parallel(run, input)),
            "find" | "gfind" | "bfs" => Some(self.find(run)),
            "fd" | "fdfind" => Some(self.fd(run)),
            "ssh" | "autossh" | "mosh" | "slogin" => Some(self.ssh(run, input)),
            "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" | "kubectl" | "oc" => {
                self.container(run, input)
            }
            "tmux" if run.args.iter().any(|arg| arg == ";") => {
                for args in run.args.split(|arg| arg == ";").take(64) {
                    self.terminal(&Run {
                        args: args.to_vec(),
                        ..run.clone()
                    });
                }
                Some(String::new())
            }
            "tmux" | "screen" | "zellij" | "dtach" | "abduco" => Some(self.terminal(run)),
            "at" | "batch" => {
                if let Some(code) = input.as_deref() {
                    self.nested_code(code, &run.verb, run.span);
                }
                Some(String::new())
            }
            // Given no command they run a shell, and it reads what they are fed.
            "su" | "newgrp" if !Options::parse(&run.args, SHELL_RUNNER, false).has(&["-c", "--command"]) => {
                Some(self.nested(vec!["sh".to_owned()], &run.verb, input, run.span))
            }
            _ => None,
        }
    }

    fn xargs(&mut self, run: &Run, input: &Input) -> String {
        let options = Options::parse(&run.args, XARGS, true);
        if only_asks(run) && options.words.is_empty() {
            return ANY.to_string();
        }
        let from_file = options.value(&["-a", "--arg-file"]).map(|file| self.content(file));
        let text = from_file.unwrap_or_else(|| input.as_deref().map_or_else(|| ANY.to_string(), str::to_owned));
        let replaced = options
            .value(&["-I", "--replace"])
            .or_else(|| options.has(&["-i"]).then_some("{}"));
        let words: Vec<String> = options.words.iter().map(|word| (*word).to_owned()).collect();
        if words.is_empty() {
            return text;
        }
        let splits: &[char] = if replaced.is_some() {
            &['\n', '\0']
        } else {
            &[' ', '\n', '\t', '\0']
        };
        let mut items: Vec<&str> = text.split(splits).filter(|item| !item.is_empty()).take(64).collect();
        let any = ANY.to_string();
        if items.is_empty() {
            items.push(&any);
        }
        let Some(mark) = replaced else {
            let fields = words
                .into_iter()
                .chain(items.iter().map(|item| (*item).to_owned()))
                .collect();
            return self.nested(fields, "xargs", &None, run.span);
        };
        let mut output = String::new();
        for item in items {
            let fields = words.iter().map(|word| word.replace(mark, item)).collect();
            output = self.nested(fields, "xargs", &None, run.span);
        }
        output
    }

    fn parallel(&mut self, run: &Run, input: &Input) -> String {
        let options = Options::parse(&run.args, PARALLEL, true);
        let mut sections = options.words.split(|word| matches!(*word, ":::" | "::::" | ":::+"));
        let command = sections.next().unwrap_or(&[]).join(" ");
        let given: Vec<String> = sections.flatten().map(|word| (*word).to_owned()).collect();
        let lines = input.iter().flat_map(|text| text.lines()).map(str::to_owned);
        let mut items: Vec<String> = if given.is_empty() { lines.collect() } else { given };
        items.truncate(64);
        if items.is_empty() {
            items.push(ANY.to_string());
        }
        for item in items {
            let code = match (command.is_empty(), command.contains("{}")) {
                (true, _) => item,
                (false, true) => command.replace("{}", &item),
                (false, false) => format!("{command} {item}"),
            };
            self.nested_code(&code, "parallel", run.span);
        }
        ANY.to_string()
    }

    /// `find`: what it finds is a value, which `-exec` and `-delete` get.
    fn find(&mut self, run: &Run) -> String {
        let search = Search::parse(&run.args);
        let items = search.items();
        for (index, arg) in run.args.iter().enumerate() {
            if matches!(arg.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
                let rest = run.args.get(index + 1..).unwrap_or(&[]);
                let end = rest
                    .iter()
                    .position(|word| matches!(word.as_str(), ";" | "+"))
                    .unwrap_or(rest.len());
                for item in &items {
                    let fields = rest.iter().take(end).map(|word| word.replace("{}", item)).collect();
                    self.nested(fields, "find", &None, run.span);
                }
            }
        }
        items.join("\n")
    }

    fn fd(&mut self, run: &Run) -> String {
        let starts = |arg: &String| matches!(arg.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
        let at = run.args.iter().position(starts);
        let items = fd_items(run.args.get(..at.unwrap_or(run.args.len())).unwrap_or(&[]));
        if let Some(at) = at {
            let rest = run.args.get(at + 1..).unwrap_or(&[]);
            let mut fields: Vec<String> = rest.iter().take_while(|word| *word != ";").cloned().collect();
            if !fields.iter().any(|word| word.contains("{}")) {
                fields.push("{}".to_owned());
            }
            for item in &items {
                let fields = fields.iter().map(|word| word.replace("{}", item)).collect();
                self.nested(fields, "fd", &None, run.span);
            }
        }
        items.join("\n")
    }

    fn ssh(&mut self, run: &Run, input: &Input) -> String {
        let options = Options::parse(&run.args, SSH, true);
        for setting in options.values(&["-o"]) {
            if let Some((name, code)) = setting.split_once(['=', ' '])
                && matches!(
                    name.to_ascii_lowercase().as_str(),
                    "proxycommand" | "localcommand" | "knownhostscommand"
                )
            {
                self.nested_code(code, "ssh", run.span);
            }
        }
        let words = options.words.get(1..).unwrap_or(&[]);
        let words = words.strip_prefix(&["--"]).unwrap_or(words);
        let code = if words.is_empty() {
            input.as_deref().unwrap_or("").to_owned()
        } else {
            words.join(" ")
        };
        let inner = if words.is_empty() { None } else { input.clone() };
        self.through.push(run.verb.clone());
        let output = self.elsewhere(Place::Elsewhere, HOME.to_string(), |walk| {
            walk.subshell(|walk| walk.code(&code, "ssh", run.span, &inner))
        });
        self.through.pop();
        // Another machine's output is as foreign as the network's when a shell gets it.
        if output.contains(ANY) {
            super::super::marks::NETWORK.to_string()
        } else {
            output
        }
    }

    /// `tmux new 'cmd'`, `screen -dm cmd`: the words after the options may be a command.
    fn terminal(&mut self, run: &Run) -> String {
        let valued = Valued {
            short: "stncfFxyeShpr",
            long: &[],
        };
        let mut args = run.args.as_slice();
        let options = Options::parse(
            args,
            Valued {
                short: "fLSchpst",
                long: &[],
            },
            true,
        );
        let starts = [
            "new",
            "new-session",
            "neww",
            "new-window",
            "splitw",
            "split-window",
            "run",
            "run-shell",
            "popup",
            "display-popup",
            "respawn-pane",
            "respawn-window",
        ];
        if let Some(typed) = typed_keys(run, &options) {
            self.nested_code(&typed, &run.verb, run.span);
            return String::new();
        }
        if run.verb == "tmux" {
            if !options.words.first().is_some_and(|word| starts.contains(word)) {
                return ANY.to_string();
            }
            args = args.get(options.first_word + 1..).unwrap_or(&[]);
        }
        let options = Options::parse(args, valued, true);
        let words = options
            .words
            .get(usize::from(matches!(run.verb.as_str(), "dtach" | "abduco"))..)
            .unwrap_or(&[]);
        if !words.is_empty() {
            self.nested_code(&words.join(" "), &run.verb, run.span);
        }
        String::new()
    }
}

/// What `fd` finds: below the directories after the pattern, or below this one.
fn fd_items(args: &[String]) -> Vec<String> {
    let valued = Valued {
        short: "edtEScjo",
        long: &[
            "--extension",
            "--max-depth",
            "--min-depth",
            "--type",
            "--exclude",
            "--size",
            "--changed-within",
            "--changed-before",
            "--threads",
            "--owner",
            "--color",
        ],
    };
    let options = Options::parse(args, valued, false);
    let narrow = options.has(&[
        "-e",
        "--extension",
        "-S",
        "--size",
        "--changed-within",
        "--changed-before",
        "-o",
    ]);
    let everything = options
        .words
        .first()
        .is_none_or(|pattern| matches!(*pattern, "." | ".*" | "" | "^" | "$"));
    let found = if everything && !narrow { STAR } else { ITEM };
    let roots = options
        .words
        .get(1..)
        .filter(|roots| !roots.is_empty())
        .unwrap_or(&["."]);
    let below = |root: &&str| format!("{}/{found}", root.trim_end_matches('/'));
    roots.iter().take(32).map(below).collect()
}

/// What is typed into another terminal: `tmux send-keys 'make' Enter`, `screen -X stuff 'make\n'`.
fn typed_keys(run: &Run, options: &Options<'_>) -> Option<String> {
    if run.verb == "screen" {
        let at = run.args.iter().position(|arg| arg == "stuff")?;
        return run
            .args
            .get(at + 1)
            .map(|keys| keys.replace("\\n", "\n").replace("^M", "\n"));
    }
    if run.verb != "tmux" || !matches!(options.words.first(), Some(&("send-keys" | "send"))) {
        return None;
    }
    let rest = run.args.get(options.first_word + 1..)?;
    let valued = Valued { short: "tN", long: &[] };
    let keys = Options::parse(rest, valued, true).words;
    let is_key = |key: &&&str| !matches!(**key, "Enter" | "C-m" | "KPEnter" | "C-c" | "C-u" | "Escape");
    Some(keys.iter().filter(is_key).copied().collect::<Vec<_>>().join(" "))
}
