//! Lists, and-or lists and pipelines.

use super::super::facts::{Fact, JobKind};
use super::super::syntax::{Command, Compound, Connector, Item, Part, Pipeline, Script, Span};
use super::state::{Input, Walk, append};

impl Walk<'_> {
    /// Follows a list and returns what it prints.
    pub(crate) fn script(&mut self, script: &Script, input: &Input) -> String {
        let mut output = String::new();
        for item in &script.items {
            if !self.afford(16) {
                break;
            }
            let printed = self.item(item, input);
            append(&mut output, &printed);
        }
        output
    }

    fn item(&mut self, item: &Item, input: &Input) -> String {
        if !item.background {
            return self.and_or(item, input);
        }
        let span = self.place_of(item.span);
        let how = if self.stands_in_address(item) {
            JobKind::AmpersandInAddress
        } else {
            JobKind::Ampersand
        };
        self.start_job(how, span);
        self.beside += 1;
        // What a background list prints goes to the same output, sooner or later.
        let output = self.subshell(|walk| walk.and_or(item, input));
        self.beside -= 1;
        output
    }

    /// Whether the `&` that ends an item is glued to text on both sides, as in an address without quotes.
    fn stands_in_address(&self, item: &Item) -> bool {
        if self.pin.is_some() {
            return false;
        }
        let text = item.span.of(self.source);
        let before = text.strip_suffix('&').unwrap_or(text);
        let after = self.source.get(item.span.end..).unwrap_or("");
        let address = before
            .split_whitespace()
            .next_back()
            .is_some_and(|word| word.contains("://"));
        address && !before.ends_with(char::is_whitespace) && !after.starts_with(char::is_whitespace)
    }

    fn and_or(&mut self, item: &Item, input: &Input) -> String {
        let mut output = self.pipeline(&item.first, input);
        if item.rest.is_empty() {
            return output;
        }
        let mark = self.vars.mark();
        let depth = self.conditions.len();
        for (connector, pipeline) in &item.rest {
            self.next_condition += 1;
            self.conditions.push(self.next_condition);
            if *connector == Connector::And || leaves(pipeline) {
                self.dirs.otherwise.clear();
            }
            let printed = self.pipeline(pipeline, input);
            append(&mut output, &printed);
        }
        self.conditions.truncate(depth);
        self.vars.merge(mark);
        output
    }

    fn pipeline(&mut self, pipeline: &Pipeline, input: &Input) -> String {
        if let [only] = pipeline.commands.as_slice() {
            return self.command(only, input);
        }
        let mut flowing = input.clone();
        let mut output = String::new();
        self.beside += 1;
        for command in &pipeline.commands {
            if !self.afford(16) {
                break;
            }
            output = self.subshell(|walk| walk.command(command, &flowing));
            flowing = Some(output.as_str().into());
        }
        self.beside -= 1;
        output
    }

    /// Follows one command and returns what it prints.
    pub(crate) fn command(&mut self, command: &Command, input: &Input) -> String {
        match command {
            Command::Simple(simple) => self.deeper(simple.span, |walk| walk.simple(simple, input)),
            Command::Compound { body, redirects, span } => self.deeper(*span, |walk| {
                let flow = walk.redirects(redirects, input, "");
                let output = walk.compound(body, &flow.input);
                walk.finish_output(&flow, output)
            }),
            Command::Function { name, body } => {
                self.functions.insert(name.clone(), std::rc::Rc::clone(body));
                String::new()
            }
            Command::Coproc { name, body, span } => self.deeper(*span, |walk| walk.coprocess(name, body, *span)),
        }
    }

    fn coprocess(&mut self, name: &str, body: &Command, span: Span) -> String {
        let span = self.place_of(span);
        let job = self.start_job(JobKind::Coprocess, span);
        self.vars.set_text(&format!("{name}_PID"), &job);
        self.beside += 1;
        self.subshell(|walk| walk.command(body, &None));
        self.beside -= 1;
        String::new()
    }

    /// Follows the functions that were defined and never called: they may be, by a name that is not known here.
    pub(crate) fn uncalled(&mut self) {
        let functions: Vec<_> = self
            .functions
            .iter()
            .map(|(name, body)| (name.clone(), body.clone()))
            .collect();
        for (name, body) in functions {
            if !self.called.contains(&name) {
                self.calls.push(name);
                self.positional = None;
                self.maybe(|walk| walk.command(&body, &None));
                self.calls.pop();
            }
        }
    }

    /// Notes that a function calls itself while something else of it goes on.
    pub(crate) fn replicates(&mut self, name: &str, span: Span) {
        if self.beside > 0 {
            self.note(Fact::Replicates {
                name: name.to_owned(),
                span,
            });
        }
    }
}

/// Whether a pipeline ends the shell, the function or the loop.
fn leaves(pipeline: &Pipeline) -> bool {
    let Some(Command::Simple(simple)) = pipeline.commands.first() else {
        return pipeline.commands.iter().any(|command| match command {
            Command::Compound { body, .. } => match body.as_ref() {
                Compound::Group(script) => script
                    .items
                    .last()
                    .is_some_and(|item| leaves(item.rest.last().map_or(&item.first, |(_, last)| last))),
                Compound::Subshell(_)
                | Compound::If { .. }
                | Compound::Loop { .. }
                | Compound::For { .. }
                | Compound::ForArith { .. }
                | Compound::Case { .. }
                | Compound::Test(_)
                | Compound::Arith(_) => false,
            },
            Command::Simple(_) | Command::Function { .. } | Command::Coproc { .. } => false,
        });
    };
    let first = simple.words.first().map(|word| word.parts.as_slice());
    matches!(first, Some([Part::Bare(text)]) if matches!(text.as_str(), "exit" | "return" | "break" | "continue" | "die"))
}
