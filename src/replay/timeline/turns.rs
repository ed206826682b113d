//! What each turn used. A turn is one answer of the API, whose content blocks get a line each, with the same message id
//! and a usage that grows from line to line (2.1.156 to 2.1.332).

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::usage::Usage;

/// One turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// The file it stands in.
    pub(super) file: usize,
    /// Its model, as an index into [`Turns::models`].
    pub(super) model: Option<usize>,
    /// The largest value of each field.
    pub(super) usage: Usage,
    /// Whether the answer's end was written: until then the counts are partial.
    pub(super) ended: bool,
    /// Whether it was copied from another session, where it counts.
    pub(super) copied: bool,
}

/// The turns of all files, by a hash of file and message id: some hundred bytes each.
#[derive(Debug, Default)]
pub(super) struct Turns {
    hasher: RandomState,
    by_message: HashMap<u64, Turn>,
    models: Vec<String>,
}

impl Turns {
    /// Takes in what a line says of a turn.
    pub(super) fn add(&mut self, message: &str, line: Turn) {
        let key = self.key(line.file, message);
        let turn = self.by_message.entry(key).or_insert(Turn { ended: false, ..line });
        turn.usage = turn.usage.largest(line.usage);
        turn.ended |= line.ended;
        turn.model = turn.model.or(line.model);
    }

    /// The turn of a message.
    pub(super) fn get(&self, file: usize, message: &str) -> Option<&Turn> {
        self.by_message.get(&self.key(file, message))
    }

    /// The index of a model's name.
    pub(super) fn model(&mut self, name: &str) -> usize {
        if let Some(at) = self.models.iter().position(|known| known == name) {
            return at;
        }
        self.models.push(name.to_owned());
        self.models.len() - 1
    }

    /// The name of a turn's model.
    pub(super) fn model_name(&self, turn: &Turn) -> Option<&str> {
        self.models.get(turn.model?).map(String::as_str)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Turn> {
        self.by_message.values()
    }

    fn key(&self, file: usize, message: &str) -> u64 {
        self.hasher.hash_one((file, message))
    }
}
