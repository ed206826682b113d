//! Code in text: programs for shells, given as arguments, on a pipe, or in files.

use super::super::facts::{Fact, Foreign, Run};
use super::super::marks::{ANY, DECODED, NETWORK, has_unknown};
use super::super::read::read;
use super::super::syntax::Span;
use super::option::{Options, Valued};
use super::state::{Input, Walk};

/// Options of shells that take a value.
const SHELL_OPTIONS: Valued = Valued {
    short: "oO",
    long: &["--rcfile", "--init-file"],
};

impl Walk<'_> {
    /// Follows shell code in the present shell.
    pub(crate) fn code(&mut self, text: &str, interpreter: &str, span: Span, input: &Input) -> String {
        self.foreign(text, interpreter, span);
        if text.trim().is_empty() || !self.afford(16) {
            return String::new();
        }
        self.deeper(span, |walk| {
            let reading = read(text, &mut walk.budget, walk.depth, Some(span));
            let pin = walk.pin.replace(span);
            let output = walk.script(&reading.script, input);
            walk.pin = pin;
            // A text with unknown parts need not be read to its end: its gaps may hold what is missing.
            if let Some(failure) = reading.failure.filter(|_| !has_unknown(text)) {
                walk.note(Fact::Unread { failure, span });
            }
            output
        })
    }

    /// Notes that an interpreter gets code that nobody has seen.
    pub(crate) fn foreign(&mut self, text: &str, interpreter: &str, span: Span) {
        let network = text.contains(NETWORK);
        if network || text.contains(DECODED) {
            self.note(Fact::Foreign(Foreign {
                network,
                interpreter: interpreter.to_owned(),
                span,
            }));
        }
    }

    /// `bash`, `sh` and their like.
    pub(crate) fn shell(&mut self, run: &Run, input: &Input) -> String {
        let options = Options::parse(&run.args, SHELL_OPTIONS, true);
        if options.has(&["-n"]) && !options.has(&["-c"]) || options.has(&["--version", "--help"]) {
            return ANY.to_string();
        }
        let mut named = None;
        let (code, rest) = if options.has(&["-c"]) {
            let Some((code, rest)) = options.words.split_first() else {
                return String::new();
            };
            named = rest.first().map(|name| (*name).to_owned());
            ((*code).to_owned(), rest.get(1..).unwrap_or(&[]))
        } else {
            match options.words.split_first() {
                Some((file, rest)) if !options.has(&["-s"]) && *file != "-" => (self.script_file(file, input), rest),
                _ => (input.as_deref().unwrap_or("").to_owned(), options.words.as_slice()),
            }
        };
        let strict = options.has(&["-e"]);
        let positional = rest.iter().map(|arg| (*arg).to_owned()).collect();
        let inner = if options.has(&["-c"]) { input.clone() } else { None };
        self.subshell(|walk| {
            walk.positional = Some(positional);
            if let Some(name) = named {
                walk.vars.set_text("0", &name);
            }
            walk.strict |= strict;
            walk.code(&code, &run.verb, run.span, &inner)
        })
    }

    /// The content of a script, as far as it is known.
    fn script_file(&self, file: &str, input: &Input) -> String {
        if matches!(file, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") {
            return input.as_deref().unwrap_or("").to_owned();
        }
        self.content(file)
    }

    /// `source` and `.`.
    pub(crate) fn sourced(&mut self, run: &Run, input: &Input) -> String {
        let Some((file, rest)) = run.args.split_first() else {
            return String::new();
        };
        let code = self.script_file(file, input);
        let earlier = self.positional.clone();
        if !rest.is_empty() {
            self.positional = Some(rest.to_vec());
        }
        let output = self.code(&code, &run.verb, run.span, input);
        self.positional = earlier;
        output
    }

    /// A program file that is started by its path: followed where the command itself wrote it.
    pub(crate) fn written_program(&mut self, run: &Run, input: &Input) -> Option<String> {
        if !run.program.contains('/') || self.files.is_empty() {
            return None;
        }
        let content = self.known_content(&run.program)?;
        let args = run.args.clone();
        let first = content
            .lines()
            .next()
            .unwrap_or("")
            .strip_prefix("#!")
            .unwrap_or("")
            .to_owned();
        let interpreter = first.rsplit(['/', ' ']).next().unwrap_or("").to_owned();
        if let Some(language) = super::super::inline::language(&interpreter) {
            self.program_text(&content, language, run.span);
            return Some(ANY.to_string());
        }
        Some(self.subshell(|walk| {
            walk.positional = Some(args);
            walk.code(&content, &run.program, run.span, input)
        }))
    }
}
