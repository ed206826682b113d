//! The first pass over one file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io;

use jiff::Timestamp;
use serde_json::Value;

use super::glance::{Glance, GlanceMessage};
use super::mend;
use super::turns::{Turn, Turns};
use super::usage::Usage;
use crate::base::bounded_file::{Links, open_regular};
use crate::protocol::transcript::{Body, LinesFromStart};
use crate::replay::sources::{Transcript, TranscriptName};

/// The longest line that is shown: 32 MiB, above the 20 MB of a pasted image.
pub(super) const LINE_CAP: usize = 32 * 1024 * 1024;
/// At most this many calls of subagents are kept of one file.
const CALLS: usize = 10_000;

/// A call that started a subagent, or may have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Call {
    pub(super) id: String,
    /// The subagent that the client says it was.
    pub(super) agent: Option<String>,
    /// A hash of the prompt.
    pub(super) prompt: Option<u64>,
    pub(super) at: Option<Timestamp>,
    pub(super) ended: Option<Timestamp>,
}

/// What the first pass keeps of a file.
#[derive(Debug, Default)]
pub(super) struct FileIndex {
    pub(super) session: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) first: Option<Timestamp>,
    pub(super) last: Option<Timestamp>,
    pub(super) prompt: Option<u64>,
    pub(super) calls: Vec<Call>,
    /// The client's own figure, `cost-state`: `totalCostUSD` and `modelUsage`.
    pub(super) figure: Option<(Option<f64>, BTreeMap<String, Value>)>,
    /// Why it could not be read to its end.
    pub(super) unreadable: Option<String>,
}

/// The first pass over all files.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    hasher: RandomState,
    pub(super) turns: Turns,
    /// Which file a line's `uuid` was first seen in; kept only where there are several files.
    owners: HashMap<u64, usize>,
    /// Calls that something outside of the transcripts names.
    wanted: HashSet<String>,
    /// Whether there are several files.
    several: bool,
}

impl Scanner {
    pub(super) fn new(several: bool, wanted: HashSet<String>) -> Self {
        Self {
            wanted,
            several,
            ..Self::default()
        }
    }

    /// Reads a file; what cannot be read is told by [`FileIndex::unreadable`].
    pub(super) fn scan(&mut self, file: usize, transcript: &Transcript) -> FileIndex {
        let mut index = FileIndex::default();
        if let TranscriptName::Session(id) = &transcript.name {
            index.session = Some(id.clone());
        }
        if let TranscriptName::Agent(id) = &transcript.name {
            index.agent = Some(id.clone());
        }
        if let Err(error) = self.lines(file, transcript, &mut index) {
            index.unreadable = Some(error);
        }
        index
    }

    fn lines(&mut self, file: usize, transcript: &Transcript, index: &mut FileIndex) -> Result<(), String> {
        let opened = open_regular(&transcript.path, Links::Follow).map_err(|error| error.to_string())?;
        for line in LinesFromStart::with_cap(opened, LINE_CAP) {
            let Body::Bytes(bytes) = line.map_err(|error: io::Error| error.to_string())?.body else {
                continue;
            };
            let unnamed = transcript.name == TranscriptName::Unknown;
            let read = Glance::at(&bytes).is_some_and(|glance| self.line(file, &glance, unnamed, index));
            // What a turn used counts wherever the line can be shown.
            if !read && let Some(mended) = mend::mended(&bytes) {
                let _ = Glance::at(mended.as_bytes()).map(|glance| self.line(file, &glance, unnamed, index));
            }
        }
        Ok(())
    }

    /// Takes in a line; whether all of it could be read.
    fn line(&mut self, file: usize, glance: &Glance<'_>, unnamed: bool, index: &mut FileIndex) -> bool {
        if index.session.is_none() {
            index.session = glance.session().map(str::to_owned);
        }
        if unnamed && index.agent.is_none() {
            index.agent = glance.agent().map(str::to_owned);
        }
        let copied = self.is_copied(file, glance.uuid(), glance.session(), index.session.as_deref());
        let at = glance.timestamp().and_then(|text| text.parse::<Timestamp>().ok());
        if !copied {
            index.first = index.first.into_iter().chain(at).min();
            index.last = index.last.into_iter().chain(at).max();
        }
        if let Some((cost, models)) = glance.cost_state() {
            index.figure = Some((cost, super::results::models_of(models)));
        }
        let Some(message) = glance.message() else {
            return !glance.has_message();
        };
        if glance.kind() == "assistant" {
            self.turn(file, &message, copied);
            self.calls(&message, at, index);
        } else if glance.kind() == "user" {
            if index.prompt.is_none() && !copied {
                index.prompt = self.prompt_of(&message);
            }
            ends(&message, glance, at, index);
        }
        true
    }

    /// Whether a line was copied from another session. A fork's copies carry the new session's id and the old lines'
    /// `uuid` and time (2.1.332); older clients leave the old session's id in them.
    fn is_copied(&mut self, file: usize, uuid: Option<&str>, session: Option<&str>, own: Option<&str>) -> bool {
        let foreign = session.zip(own).is_some_and(|(session, own)| session != own);
        let Some(uuid) = uuid.filter(|_| self.several) else {
            return foreign;
        };
        let key = self.hasher.hash_one(uuid);
        foreign || *self.owners.entry(key).or_insert(file) != file
    }

    /// The same, once every file was read.
    pub(super) fn was_copied(
        &self,
        file: usize,
        uuid: Option<&str>,
        session: Option<&str>,
        own: Option<&str>,
    ) -> bool {
        let foreign = session.zip(own).is_some_and(|(session, own)| session != own);
        let owner = uuid.and_then(|uuid| self.owners.get(&self.hasher.hash_one(uuid)));
        foreign || owner.is_some_and(|owner| *owner != file)
    }

    fn turn(&mut self, file: usize, message: &GlanceMessage<'_>, copied: bool) {
        let Some(id) = message.id() else { return };
        let model = message.model().map(|model| self.turns.model(model));
        let turn = Turn {
            file,
            model,
            usage: Usage::of_message(&message.usage),
            ended: message.has_ended(),
            copied,
        };
        self.turns.add(id, turn);
    }

    fn calls(&self, message: &GlanceMessage<'_>, at: Option<Timestamp>, index: &mut FileIndex) {
        for block in message.blocks() {
            let Some((id, tool)) = block.call() else { continue };
            // `Task` is the older name of the same tool.
            let starts_one = matches!(tool, "Agent" | "Task");
            if (starts_one || self.wanted.contains(id)) && index.calls.len() < CALLS {
                index.calls.push(Call {
                    id: id.to_owned(),
                    agent: None,
                    prompt: block.prompt().filter(|_| starts_one).map(|text| self.hash(&text)),
                    at,
                    ended: None,
                });
            }
        }
    }

    fn prompt_of(&self, message: &GlanceMessage<'_>) -> Option<u64> {
        let text = message
            .bare_text()
            .or_else(|| message.blocks().iter().find_map(super::glance::GlanceBlock::text))?;
        Some(self.hash(&text))
    }

    fn hash(&self, prompt: &str) -> u64 {
        self.hasher.hash_one(prompt.trim())
    }
}

/// Notes the results of calls: when they came, and which subagent they are from.
fn ends(message: &GlanceMessage<'_>, glance: &Glance<'_>, at: Option<Timestamp>, index: &mut FileIndex) {
    if index.calls.is_empty() {
        return;
    }
    for block in message.blocks() {
        let Some(id) = block.result_of() else { continue };
        let Some(call) = index.calls.iter_mut().rev().find(|call| call.id == id) else {
            continue;
        };
        call.ended = call.ended.or(at);
        let named = || glance.result_agent().or_else(|| block.named_agent());
        call.agent = call.agent.take().or_else(named);
    }
}
