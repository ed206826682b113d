//! Simple commands: assignments, expansion, and what follows from the first word.

use super::super::budget::MAX_CHOICES;
use super::super::facts::{Assigned, Fact};
use super::super::syntax::{Assign, AssignValue, Part, Simple, Span};
use super::state::{Input, Walk};
use super::variable::Value;

impl Walk<'_> {
    /// Follows a simple command, once for each value that its variables may have.
    pub(crate) fn simple(&mut self, simple: &Simple, input: &Input) -> String {
        if self.choosing {
            return self.simple_once(simple, input);
        }
        self.choosing = true;
        self.choice = 0;
        self.choices = 1;
        let output = self.simple_once(simple, input);
        let mut pass = 1;
        while pass < self.choices.min(MAX_CHOICES) && self.afford(64) {
            self.choice = pass;
            self.simple_once(simple, input);
            pass += 1;
        }
        self.choice = 0;
        self.choosing = false;
        output
    }

    fn simple_once(&mut self, simple: &Simple, input: &Input) -> String {
        let span = self.place_of(simple.span);
        let feed = std::mem::replace(&mut self.feed, input.clone());
        for assign in &simple.assigns {
            self.assign(assign, span);
        }
        let mut fields = self.fields_of(&simple.words);
        if let Some(name) = alias_name(simple)
            && let Some(text) = self.aliases.get(name).cloned()
            && !self.calls.iter().any(|call| call == name)
        {
            self.calls.push(name.to_owned());
            let rest = fields.split_off(1.min(fields.len()));
            let code = format!(
                "{text} {}",
                rest.iter().map(|arg| quote(arg)).collect::<Vec<_>>().join(" ")
            );
            let output = self.code(&code, "alias", span, input);
            self.calls.pop();
            self.feed = feed;
            return output;
        }
        let by = fields.first().cloned().unwrap_or_default();
        let flow = self.redirects(&simple.redirects, input, &by);
        let output = if fields.is_empty() {
            String::new()
        } else {
            let input = flow.input.clone();
            self.dispatch(fields, &input, span)
        };
        self.feed = feed;
        self.finish_output(&flow, output)
    }

    fn assign(&mut self, assign: &Assign, span: Span) {
        let value = match &assign.value {
            AssignValue::Text(word) => {
                let text = self.text(word);
                self.note(Fact::Assigned(Assigned {
                    name: assign.name.clone(),
                    value: Some(text.clone()),
                    span,
                }));
                self.code_variable(&assign.name, &text, span);
                self.assigned_text(assign, text)
            }
            AssignValue::List(elements) => {
                let mut list = match self.vars.get(&assign.name) {
                    Some(Value::List(earlier)) if assign.append => earlier.clone(),
                    _ => Vec::new(),
                };
                for (key, word) in elements {
                    let key = key.as_ref().map(|key| self.text(key));
                    for field in self.fields_of(std::slice::from_ref(word)) {
                        let key = key.clone().unwrap_or_else(|| list.len().to_string());
                        list.push((key, field));
                    }
                }
                Value::List(list)
            }
        };
        self.vars.set(&assign.name, value);
    }

    fn assigned_text(&mut self, assign: &Assign, text: String) -> Value {
        let index = assign.index.as_ref().map(|index| self.text(index));
        let earlier = self.vars.get(&assign.name).cloned();
        match (index, earlier) {
            (Some(key), Some(Value::List(mut list))) => {
                list.retain(|(known, _)| *known != key);
                list.push((key, text));
                Value::List(list)
            }
            (Some(key), _) => Value::List(vec![(key, text)]),
            (None, Some(Value::Text(texts))) if assign.append => {
                Value::Text(texts.into_iter().map(|earlier| format!("{earlier}{text}")).collect())
            }
            (None, Some(Value::List(mut list))) if assign.append => {
                list.push((list.len().to_string(), text));
                Value::List(list)
            }
            // A later pass over the same assignment adds what the variable may be besides.
            (None, Some(Value::Text(mut texts))) if self.choice > 0 => {
                if texts.len() < MAX_CHOICES && !texts.contains(&text) {
                    texts.push(text);
                }
                Value::Text(texts)
            }
            (None, _) => Value::Text(vec![text]),
        }
    }
}

/// The first word, where it is plain enough to be taken for an alias.
fn alias_name(simple: &Simple) -> Option<&str> {
    match simple.words.first()?.parts.as_slice() {
        [Part::Bare(text)] => Some(text),
        _ => None,
    }
}

/// A value as one word of shell code.
pub(crate) fn quote(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c) || super::super::marks::is_mark(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
