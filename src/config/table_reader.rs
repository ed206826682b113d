//! Reads typed values out of a table; what is left over, or of another type, becomes a problem with its line.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use super::source::{Problem, Source, Sourced};
use super::tree::{Entry, Item, Node, Table};
use crate::base::Usd;

/// Which of the two files a table is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The user's.
    User,
    /// The project's, which may only lower limits and add rules.
    Project,
}

/// A configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOrigin {
    /// Where it lies.
    pub path: Arc<Path>,
    /// Whose it is.
    pub layer: Layer,
}

impl FileOrigin {
    /// The place of a line of this file; line 0 is the file as a whole.
    #[must_use]
    pub fn at(&self, line: u32) -> Source {
        let path = Arc::clone(&self.path);
        match self.layer {
            Layer::User => Source::User { path, line },
            Layer::Project => Source::Project { path, line },
        }
    }

    /// A problem on a line of this file.
    #[must_use]
    pub fn problem(&self, line: u32, what: impl Into<String>) -> Problem {
        Problem {
            source: self.at(line),
            what: what.into(),
        }
    }
}

/// A reader of one table. [`TableReader::finish`] reports the keys that nobody asked for.
#[derive(Debug)]
pub struct TableReader<'t, 'p> {
    name: String,
    table: &'t Table,
    origin: &'p FileOrigin,
    asked: BTreeSet<&'static str>,
    problems: &'p mut Vec<Problem>,
}

impl<'t, 'p> TableReader<'t, 'p> {
    /// A reader of `table`, which messages call `name` (`intercept`; empty for the whole file).
    pub fn new(name: &str, table: &'t Table, origin: &'p FileOrigin, problems: &'p mut Vec<Problem>) -> Self {
        Self {
            name: name.to_owned(),
            table,
            origin,
            asked: BTreeSet::new(),
            problems,
        }
    }

    /// The string at `key`.
    pub fn text(&mut self, key: &'static str) -> Option<Sourced<String>> {
        self.typed(key, "a string", |item| item.as_text().map(str::to_owned))
    }

    /// The boolean at `key`.
    pub fn boolean(&mut self, key: &'static str) -> Option<Sourced<bool>> {
        self.typed(key, "true or false", Item::as_boolean)
    }

    /// The integer at `key`, where it lies in `range`.
    pub fn integer(&mut self, key: &'static str, range: &RangeInclusive<u64>) -> Option<Sourced<u64>> {
        let wanted = integer_in(range);
        self.typed(key, &wanted, |item| {
            item.as_integer()
                .and_then(|number| u64::try_from(number).ok())
                .filter(|number| range.contains(number))
        })
    }

    /// The amount of US dollars at `key`: a float or an integer.
    pub fn dollars(&mut self, key: &'static str) -> Option<Sourced<Usd>> {
        self.typed(key, DOLLARS, |item| match item {
            Item::Float(number) => Usd::limit(*number).ok(),
            Item::Integer(number) => number.to_string().parse().ok(),
            Item::Text(_) | Item::Boolean(_) | Item::Datetime(_) | Item::Array(_) | Item::Table(_) => None,
        })
    }

    /// The value that the string at `key` names, by `words`.
    pub fn word<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Option<Sourced<T>> {
        let wanted = one_of(words);
        self.typed(key, &wanted, |item| {
            let text = item.as_text()?;
            words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
        })
    }

    /// The strings of the array at `key`, each with its own line; empty where there is none.
    pub fn texts(&mut self, key: &'static str) -> Vec<Sourced<String>> {
        let origin = self.origin;
        let text_of = |node: &Node| {
            node.item.as_text().map(|text| Sourced {
                value: text.to_owned(),
                source: origin.at(node.line),
            })
        };
        let found = self.typed(key, "an array of strings", |item| {
            item.as_array()?.iter().map(text_of).collect::<Option<Vec<_>>>()
        });
        found.map(|found| found.value).unwrap_or_default()
    }

    /// The table at `key`.
    pub fn table(&mut self, key: &'static str) -> Option<&'t Table> {
        let entry = self.entry(key)?;
        if let Item::Table(table) = &entry.node.item {
            return Some(table);
        }
        // Its kind alone: what stands in a table's place may be a list of headers.
        let kind = entry.node.item.kind();
        let what = format!("{} has to be a table, not {kind}", self.shown(&entry.key));
        self.problems.push(self.origin.problem(entry.line, what));
        None
    }

    /// Reports a problem on the line of `key`.
    pub fn complain(&mut self, key: &'static str, what: &str) {
        let line = self.entry(key).map_or(0, |entry| entry.line);
        let problem = self.origin.problem(line, format!("{} {what}", self.shown(key)));
        self.problems.push(problem);
    }

    /// Reports every key that was not asked for.
    pub fn finish(self) {
        for entry in &self.table.entries {
            if self.asked.contains(entry.key.as_str()) {
                continue;
            }
            let known: Vec<&str> = self.asked.iter().copied().collect();
            let what = format!(
                "unknown key {:?}; known here: {}",
                self.shown(&entry.key),
                known.join(", ")
            );
            self.problems.push(self.origin.problem(entry.line, what));
        }
    }

    fn entry(&mut self, key: &'static str) -> Option<&'t Entry> {
        self.asked.insert(key);
        self.table.entries.iter().find(|entry| entry.key == key)
    }

    fn typed<T>(
        &mut self,
        key: &'static str,
        wanted: &str,
        take: impl FnOnce(&Item) -> Option<T>,
    ) -> Option<Sourced<T>> {
        let entry = self.entry(key)?;
        let value = take(&entry.node.item);
        if value.is_none() {
            self.wrong(entry, wanted);
        }
        let source = self.origin.at(entry.line);
        value.map(|value| Sourced { value, source })
    }

    fn wrong(&mut self, entry: &Entry, wanted: &str) {
        let what = format!(
            "{} has to be {wanted}, not {}",
            self.shown(&entry.key),
            describe(&entry.node.item)
        );
        self.problems.push(self.origin.problem(entry.line, what));
    }

    fn shown(&self, key: &str) -> String {
        if self.name.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.name)
        }
    }
}

/// What a message says of an amount.
pub(super) const DOLLARS: &str = "an amount of US dollars above 0 and up to 1000000";

/// What a message says of the integers that a setting takes.
pub(super) fn integer_in(range: &RangeInclusive<u64>) -> String {
    format!("an integer from {} to {}", range.start(), range.end())
}

/// What a message says of the words that a setting takes.
pub(super) fn one_of<T>(words: &[(&str, T)]) -> String {
    let names: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
    names.join(" or ")
}

fn describe(item: &Item) -> String {
    match item {
        Item::Text(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
        Item::Integer(number) => number.to_string(),
        Item::Float(number) => number.to_string(),
        Item::Boolean(_) | Item::Datetime(_) | Item::Array(_) | Item::Table(_) => item.kind().to_owned(),
    }
}
