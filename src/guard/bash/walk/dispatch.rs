//! From a list of fields to the program it names, and to what that program leads to.

use super::super::facts::{Fact, Run};
use super::super::inline;
use super::super::marks::{ANY, glob_matches, is_glob, is_unknown, unglob};
use super::super::syntax::Span;
use super::option::has_long;
use super::state::{Input, Walk};

/// Programs that a pattern in the place of a verb is matched with: those that rules are about.
const PATTERN_VERBS: [&str; 26] = [
    "rm",
    "git",
    "dd",
    "chmod",
    "chown",
    "mkfs",
    "shred",
    "find",
    "bash",
    "sh",
    "mv",
    "truncate",
    "claude",
    "codex",
    "nohup",
    "setsid",
    "kill",
    "reboot",
    "shutdown",
    "curl",
    "wget",
    "unlink",
    "rmdir",
    "wipefs",
    "mkfs.ext4",
    "crontab",
];

impl Walk<'_> {
    /// Follows a command given as fields: a function, a builtin, or a program.
    pub(crate) fn dispatch(&mut self, fields: Vec<String>, input: &Input, span: Span) -> String {
        let cost = 64 + fields.iter().map(|field| field.len() / 32).sum::<usize>();
        if !self.afford(cost) {
            return String::new();
        }
        let Some(run) = self.run_of(fields, input, span) else {
            return String::new();
        };
        if let Some(body) = self.functions.get(&run.verb).cloned() {
            return self.call(&run, &body, input);
        }
        self.deeper(span, |walk| walk.run(&run, input))
    }

    fn run_of(&self, fields: Vec<String>, input: &Input, span: Span) -> Option<Run> {
        let mut fields = fields.into_iter();
        let program = fields.next()?;
        let verb = verb_of(&program);
        let mut dirs = vec![self.dirs.now.clone()];
        dirs.extend(self.dirs.otherwise.iter().cloned());
        Some(Run {
            verb,
            program,
            args: fields.collect(),
            span,
            through: self.through.clone(),
            place: self.place.clone(),
            dirs,
            stdin: input.as_deref().map(str::to_owned),
        })
    }

    fn call(&mut self, run: &Run, body: &super::super::syntax::Command, input: &Input) -> String {
        if self.calls.contains(&run.verb) {
            self.replicates(&run.verb, run.span);
            return String::new();
        }
        self.called.insert(run.verb.clone());
        self.calls.push(run.verb.clone());
        let positional = self.positional.replace(run.args.clone());
        let output = self.deeper(run.span, |walk| walk.command(body, input));
        self.positional = positional;
        self.calls.pop();
        output
    }

    /// Follows a program that is no function.
    fn run(&mut self, run: &Run, input: &Input) -> String {
        self.note(Fact::Run(run.clone()));
        self.touches(run);
        if let Some(output) = self.builtin(run, input) {
            return output;
        }
        if let Some(output) = self.wrapper(run, input) {
            return output;
        }
        if let Some(language) = inline::language(&run.verb) {
            return self.interpreter(run, language, input);
        }
        if let Some(output) = self.written_program(run, input) {
            return output;
        }
        self.code_options(run);
        self.recipes(run, input);
        self.queries(run, input);
        self.output(run, input)
    }

    fn builtin(&mut self, run: &Run, input: &Input) -> Option<String> {
        Some(match run.verb.as_str() {
            "cd" | "pushd" | "chdir" => self.cd(run),
            "popd" => self.cd(&Run {
                args: vec!["-".to_owned()],
                ..run.clone()
            }),
            "set" => self.set(run),
            "shift" => self.shift(run),
            "export" | "declare" | "typeset" | "local" | "readonly" | "setenv" => self.declare(run),
            "unset" => self.unset(run),
            "alias" => self.alias(run),
            "hash" => self.hash(run),
            "trap" => self.trap(run),
            "read" => self.read_into(run, input),
            "mapfile" | "readarray" => self.map_file(run, input),
            "wait" => {
                self.wait(&run.args);
                String::new()
            }
            "kill" => self.kill(run),
            "disown" => {
                self.disown();
                String::new()
            }
            "exit" | "return" | "logout" => {
                self.end_shell();
                String::new()
            }
            "eval" => self.code(&run.args.join(" "), "eval", run.span, input),
            "source" | "." => self.sourced(run, input),
            "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "rbash" | "mksh" | "fish" | "yash" => {
                if run.program == "bash" && run.args.is_empty() && input.is_none() && self.beside > 0 {
                    self.replicates("$0", run.span);
                }
                self.shell(run, input)
            }
            _ => return None,
        })
    }

    /// Follows a program that another one starts.
    pub(crate) fn nested(&mut self, fields: Vec<String>, wrapper: &str, input: &Input, span: Span) -> String {
        self.through.push(wrapper.to_owned());
        let output = self.dispatch(fields, input, span);
        self.through.pop();
        output
    }

    /// Follows shell code that a program gets as text, in a shell of its own.
    pub(crate) fn nested_code(&mut self, code: &str, wrapper: &str, span: Span) -> String {
        self.through.push(wrapper.to_owned());
        let output = self.subshell(|walk| walk.code(code, wrapper, span, &None));
        self.through.pop();
        output
    }
}

/// Whether a command asks a program for its version or help only.
pub(crate) fn only_asks(run: &Run) -> bool {
    has_long(&run.args, "--help") || has_long(&run.args, "--version")
}

/// The name of a program: no directory, unknown parts left out of what is otherwise known, patterns matched.
fn verb_of(program: &str) -> String {
    let name = program.trim_end_matches('/').rsplit('/').next().unwrap_or(program);
    let name = name.strip_prefix('=').unwrap_or(name);
    if name.contains(is_glob) {
        let found = PATTERN_VERBS.iter().find(|verb| glob_matches(name, verb));
        return found.map_or_else(|| unglob(name), |verb| (*verb).to_owned());
    }
    let known = name.contains(|c: char| !is_unknown(c));
    if known && name.contains(ANY) {
        name.replace(ANY, "")
    } else {
        name.to_owned()
    }
}
