//! Variables: their values as far as they are known, and how they come together after a branch.

use super::super::budget::MAX_CHOICES;
use std::collections::BTreeMap;

/// What a variable may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// One of several texts, the likeliest first.
    Text(Vec<String>),
    /// A list or a map: keys and elements.
    List(Vec<(String, String)>),
    /// Nothing.
    Unset,
}

/// Every variable that the command itself has set, with a log to take changes back.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    now: BTreeMap<String, Value>,
    log: Vec<(String, Option<Value>)>,
}

impl Variables {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.now.get(name)
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let old = self.now.insert(name.to_owned(), value);
        self.log.push((name.to_owned(), old));
    }

    pub(crate) fn set_text(&mut self, name: &str, text: &str) {
        self.set(name, Value::Text(vec![text.to_owned()]));
    }

    /// The place in the log to come back to.
    pub(crate) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Takes every change since `mark` back.
    pub(crate) fn rewind(&mut self, mark: usize) {
        while self.log.len() > mark {
            let Some((name, old)) = self.log.pop() else { return };
            match old {
                Some(value) => self.now.insert(name, value),
                None => self.now.remove(&name),
            };
        }
    }

    /// Lets every variable changed since `mark` have its earlier values too.
    pub(crate) fn merge(&mut self, mark: usize) {
        let since = self.log.get(mark..).unwrap_or(&[]).to_vec();
        for (name, old) in since {
            let (Some(Value::Text(texts)), Some(Value::Text(earlier))) = (self.now.get_mut(&name), old) else {
                continue;
            };
            for text in earlier {
                if texts.len() < MAX_CHOICES && !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
    }
}
