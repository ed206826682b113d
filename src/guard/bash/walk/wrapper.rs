//! Programs that start another program given in their arguments.

use super::super::facts::{Place, Run};
use super::dispatch::only_asks;
use super::option::Options;
use super::state::{Input, Walk};
use super::wrappers::wrapper_of;

impl Walk<'_> {
    /// Follows what a wrapper starts; `None` where the program is no wrapper.
    pub(crate) fn wrapper(&mut self, run: &Run, input: &Input) -> Option<String> {
        if let Some(output) = self.runner(run, input) {
            return Some(output);
        }
        let wrapper = wrapper_of(run)?;
        if only_asks_itself(run) {
            return Some(super::output::found_program(&run.args));
        }
        self.code_options(run);
        let after_sub = run.args.get(wrapper.after_sub(run)..).unwrap_or(&[]);
        let options = Options::parse(after_sub, wrapper.valued, true);
        if run.verb == "env" {
            self.env_options(run, &options);
        }
        if run.verb == "start-stop-daemon" {
            let program = options.value(&["--exec", "-x", "--startas", "-a"])?.to_owned();
            let fields = std::iter::once(program)
                .chain(options.words.iter().map(|w| (*w).to_owned()))
                .collect();
            return Some(self.nested(fields, &run.verb, input, run.span));
        }
        let words = options
            .words
            .get(wrapper.skip.min(options.words.len())..)
            .unwrap_or(&[]);
        let words = if wrapper.assigns {
            self.leading_assigns(run, words)
        } else {
            words
        };
        let words = words.strip_prefix(&["--"]).unwrap_or(words);
        if words.is_empty() {
            return Some(if is_shell_by_itself(run, &options) {
                self.nested(vec!["sh".to_owned()], &run.verb, input, run.span)
            } else {
                self.output(run, input)
            });
        }
        if wrapper.shell {
            return Some(self.nested_code(&words.join(" "), &run.verb, run.span));
        }
        let fields: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let dir = options
            .value(&["-C", "--chdir", "-D"])
            .filter(|_| matches!(run.verb.as_str(), "env" | "sudo"));
        let Some(dir) = dir.map(|dir| self.absolute(dir)) else {
            return Some(self.nested(fields, &run.verb, input, run.span));
        };
        let place = self.place.clone();
        Some(self.elsewhere(place, dir, |walk| walk.nested(fields, &run.verb, input, run.span)))
    }

    fn leading_assigns<'w>(&mut self, run: &Run, words: &'w [&'w str]) -> &'w [&'w str] {
        let mut at = 0;
        while let Some((name, value)) = words.get(at).and_then(|word| word.split_once('=')) {
            if name.is_empty() || name.contains(['/', '-']) {
                break;
            }
            self.note_assigned(run, name, Some(value));
            at += 1;
        }
        words.get(at..).unwrap_or(&[])
    }

    fn env_options(&mut self, run: &Run, options: &Options<'_>) {
        for name in options.values(&["-u", "--unset"]) {
            self.note_assigned(run, name, None);
        }
        for code in options.values(&["-S", "--split-string"]) {
            let code = format!("{code} {}", options.words.join(" "));
            self.nested_code(&code, "env", run.span);
        }
    }

    /// Runs `inner` as on another machine.
    pub(crate) fn elsewhere<T>(&mut self, place: Place, dir: String, inner: impl FnOnce(&mut Self) -> T) -> T {
        let place = std::mem::replace(&mut self.place, place);
        let dirs = self.dirs.clone();
        self.dirs.now = dir;
        self.dirs.otherwise.clear();
        let value = inner(self);
        self.place = place;
        self.dirs = dirs;
        value
    }
}

/// Whether the wrapper, given no program, runs a shell that reads its commands from stdin.
fn is_shell_by_itself(run: &Run, options: &Options<'_>) -> bool {
    match run.verb.as_str() {
        "sudo" | "doas" => options.has(&["-i", "--login", "-s", "--shell"]),
        "runuser" | "script" => !options.has(&["-c", "--command"]),
        "chroot" | "unshare" | "nsenter" | "firejail" | "proot" | "distrobox" | "toolbox" | "nix-shell" => true,
        _ => false,
    }
}

/// Whether the wrapper itself is asked for its version or help, or `command` for where a program is.
fn only_asks_itself(run: &Run) -> bool {
    let first = run.args.first().map_or("", String::as_str);
    match run.verb.as_str() {
        "command" => matches!(first, "-v" | "-V" | "-pv"),
        "timeout" | "env" | "nohup" | "setsid" | "nice" | "sudo" => only_asks(run) && first.starts_with("--"),
        _ => matches!(first, "--help" | "--version"),
    }
}
