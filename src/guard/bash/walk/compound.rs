//! Compound commands: every branch is followed, each as something that may not happen.

use super::super::budget::MAX_CHOICES;
use super::super::marks::ANY;
use super::super::syntax::{Command, Compound, Part, Script, Word};
use super::state::{Input, Walk, append};
use super::variable::Value;

impl Walk<'_> {
    pub(crate) fn compound(&mut self, compound: &Compound, input: &Input) -> String {
        match compound {
            Compound::Group(script) => self.script(script, input),
            Compound::Subshell(script) => self.subshell(|walk| walk.script(script, input)),
            Compound::If { arms, otherwise } => self.branches(arms, otherwise.as_ref(), input),
            Compound::Loop { until, condition, body } => self.repeated(*until, condition, body, input),
            Compound::For { name, words, body } => self.for_each(name, words.as_deref(), body, input),
            Compound::ForArith { header, body } => {
                self.text(header);
                self.looped(|walk| walk.script(body, input))
            }
            Compound::Case { subject, arms } => self.cases(subject, arms, input),
            Compound::Test(words) => {
                for word in words {
                    self.text(word);
                }
                String::new()
            }
            Compound::Arith(word) => {
                self.text(word);
                String::new()
            }
        }
    }

    fn branches(&mut self, arms: &[(Script, Script)], otherwise: Option<&Script>, input: &Input) -> String {
        let mut output = String::new();
        for (index, (condition, body)) in arms.iter().enumerate() {
            // The first condition always runs, the others only if the earlier ones fail.
            if index == 0 {
                self.script(condition, input);
            } else {
                self.maybe(|walk| walk.script(condition, input));
            }
            let printed = self.maybe(|walk| {
                let otherwise = std::mem::take(&mut walk.dirs.otherwise);
                let printed = walk.script(body, input);
                if walk.dirs.otherwise.is_empty() {
                    walk.dirs.otherwise = otherwise;
                }
                printed
            });
            append(&mut output, &printed);
        }
        if let Some(body) = otherwise {
            let printed = self.maybe(|walk| walk.script(body, input));
            append(&mut output, &printed);
        }
        output
    }

    fn repeated(&mut self, until: bool, condition: &Script, body: &Script, input: &Input) -> String {
        self.loops += 1;
        self.script(condition, input);
        let polled = polls(condition, until);
        let output = self.maybe(|walk| walk.script(body, input));
        self.loops -= 1;
        if polled && !breaks(body) {
            // The loop goes on until the process is gone, which is waiting for it.
            let ids = self.condition_text(condition);
            self.settle_ids(&ids);
        }
        output
    }

    fn condition_text(&mut self, condition: &Script) -> String {
        let mut text = String::new();
        for item in &condition.items {
            for command in &item.first.commands {
                if let Command::Simple(simple) = command {
                    let fields = self.fields_of(&simple.words);
                    append(&mut text, &fields.join(" "));
                }
            }
        }
        text
    }

    fn looped(&mut self, inner: impl FnOnce(&mut Self) -> String) -> String {
        self.loops += 1;
        let output = self.maybe(inner);
        self.loops -= 1;
        output
    }

    fn for_each(&mut self, name: &str, words: Option<&[Word]>, body: &Script, input: &Input) -> String {
        let mut values = match words {
            Some(words) => self.fields_of(words),
            None => self.positional.clone().unwrap_or_else(|| vec![ANY.to_string()]),
        };
        if values.is_empty() {
            values.push(ANY.to_string());
        }
        if values.len() > MAX_CHOICES {
            values.truncate(MAX_CHOICES - 1);
            values.push(ANY.to_string());
        }
        self.vars.set(name, Value::Text(values));
        self.loops += 1;
        // A list that is there is gone through: a `wait` for each of its elements is reached.
        let mark = self.vars.mark();
        let output = self.script(body, input);
        self.vars.merge(mark);
        self.loops -= 1;
        output
    }

    fn cases(&mut self, subject: &Word, arms: &[(Vec<Word>, Script)], input: &Input) -> String {
        self.text(subject);
        let mut output = String::new();
        for (patterns, body) in arms {
            for pattern in patterns {
                self.text(pattern);
            }
            let printed = self.maybe(|walk| walk.script(body, input));
            append(&mut output, &printed);
        }
        output
    }
}

/// Whether a loop's condition asks if a process is alive: `while kill -0 …`, `until ! ps -p …`.
fn polls(condition: &Script, until: bool) -> bool {
    let [item] = condition.items.as_slice() else {
        return false;
    };
    let [Command::Simple(simple)] = item.first.commands.as_slice() else {
        return false;
    };
    let mut words = simple.words.iter().map(|word| match word.parts.as_slice() {
        [Part::Bare(text)] => text.as_str(),
        _ => "",
    });
    let asks = match words.next() {
        Some("kill") => words.next() == Some("-0"),
        Some("ps") => words.any(|word| word == "-p"),
        _ => false,
    };
    asks && !until
}

/// Whether a loop's body may leave it early.
fn breaks(body: &Script) -> bool {
    body.items.iter().any(|item| {
        let pipelines = std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline));
        pipelines
            .flat_map(|pipeline| &pipeline.commands)
            .any(|command| match command {
                Command::Simple(simple) => matches!(
                    simple.words.first().map(|word| word.parts.as_slice()),
                    Some([Part::Bare(text)]) if matches!(text.as_str(), "break" | "exit" | "return")
                ),
                Command::Compound { .. } => true,
                Command::Function { .. } | Command::Coproc { .. } => false,
            })
    })
}
