//! Which file belongs under which call. Pure: files and records in, places out.

use std::collections::{BTreeMap, BTreeSet};

use super::placing::{CallPlace, Place, break_circles};
use super::scan::{Call, FileIndex};
use crate::ledger::Record;
use crate::replay::sources::{CellRow, Transcript};

/// Sessions are nested at most this deep; cells nest at most 16 deep, and each has subagents of its own.
const NESTED: usize = 64;

/// What tells that a session belongs under a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JoinedBy {
    /// Our record of the cell.
    Record,
    /// The tool use id in the file beside the subagent's transcript.
    ToolUseId,
    /// The agent's id in the call's result, or that of the agent above.
    AgentId,
    /// The session's id, which a subagent shares with its parent; its call is not known.
    SessionId,
    /// A row of the cost file.
    CostFile,
    /// Only that its prompt is the call's, and that it began while the call ran.
    Prompt,
    /// Nothing: it stands alone.
    Nothing,
}

/// What is to be joined.
#[derive(Clone, Copy)]
pub(super) struct Pieces<'a> {
    pub(super) files: &'a [FileIndex],
    pub(super) transcripts: &'a [Transcript],
    pub(super) records: &'a [Record],
    pub(super) rows: &'a [CellRow],
}

/// The places of the files, and then those of the records that have no file.
pub(super) struct Joined {
    pub(super) places: Vec<Place>,
    /// The record of each node.
    pub(super) records: Vec<Option<usize>>,
}

/// Joins everything.
pub(super) fn join(pieces: Pieces<'_>) -> Joined {
    let joiner = Joiner::new(pieces);
    let mut places: Vec<Place> = (0..pieces.files.len()).map(|node| joiner.place(node)).collect();
    joiner.by_prompt(&mut places);
    let mut records: Vec<Option<usize>> = (0..pieces.files.len()).map(|node| joiner.record_of(node)).collect();
    let shown: BTreeSet<usize> = records.iter().flatten().copied().collect();
    for (at, record) in pieces.records.iter().enumerate() {
        if !shown.contains(&at) {
            places.push(joiner.of_record(record));
            records.push(Some(at));
        }
    }
    break_circles(&mut places, NESTED);
    Joined { places, records }
}

struct Joiner<'a> {
    pieces: Pieces<'a>,
    /// The file of a session, by its id.
    sessions: BTreeMap<&'a str, usize>,
    /// The file of a subagent, by session and agent id.
    agents: BTreeMap<(&'a str, &'a str), usize>,
    /// The calls by session and tool use id: an id is unique in its session only.
    calls: BTreeMap<(&'a str, &'a str), Vec<usize>>,
}

impl<'a> Joiner<'a> {
    fn new(pieces: Pieces<'a>) -> Self {
        let mut joiner = Self {
            pieces,
            sessions: BTreeMap::new(),
            agents: BTreeMap::new(),
            calls: BTreeMap::new(),
        };
        for (node, file) in pieces.files.iter().enumerate() {
            let session = file.session.as_deref().unwrap_or_default();
            match &file.agent {
                None => {
                    joiner.sessions.entry(session).or_insert(node);
                }
                Some(agent) => {
                    joiner.agents.entry((session, agent)).or_insert(node);
                }
            }
            for call in &file.calls {
                joiner.calls.entry((session, &call.id)).or_default().push(node);
            }
        }
        joiner
    }

    fn place(&self, node: usize) -> Place {
        let Some(file) = self.pieces.files.get(node) else {
            return Place::root();
        };
        let session = file.session.as_deref().unwrap_or_default();
        match &file.agent {
            Some(agent) => self.subagent(node, session, agent),
            None => self
                .record_of(node)
                .and_then(|record| self.pieces.records.get(record))
                .map(|record| self.of_record(record))
                .or_else(|| self.of_row(session))
                .unwrap_or_else(Place::root),
        }
    }

    fn subagent(&self, node: usize, session: &str, agent: &str) -> Place {
        let meta = self.pieces.transcripts.get(node).map(|transcript| &transcript.meta);
        let above = meta
            .and_then(|meta| meta.parent_agent_id.as_deref())
            .and_then(|parent| self.agents.get(&(session, parent)).copied());
        let named = meta.and_then(|meta| meta.tool_use_id.as_deref());
        if let Some(call) = named.and_then(|id| self.call(session, id, above)) {
            return Place::under(&call, JoinedBy::ToolUseId);
        }
        if let Some(call) = self.call_of_agent(node, session, agent) {
            return Place::under(&call, JoinedBy::AgentId);
        }
        if let Some(above) = above.filter(|above| *above != node) {
            return Place::in_node(above, JoinedBy::AgentId);
        }
        self.sessions
            .get(session)
            .map_or_else(Place::root, |parent| Place::in_node(*parent, JoinedBy::SessionId))
    }

    /// A call of a session, in the file `above` where that one has it.
    fn call(&self, session: &str, id: &str, above: Option<usize>) -> Option<CallPlace> {
        let nodes = self.calls.get(&(session, id))?;
        let node = above
            .filter(|above| nodes.contains(above))
            .or_else(|| nodes.first().copied())?;
        Some(CallPlace {
            node,
            id: id.to_owned(),
        })
    }

    fn call_of_agent(&self, own: usize, session: &str, agent: &str) -> Option<CallPlace> {
        let files = self.pieces.files.iter().enumerate();
        files
            .filter(|(node, file)| *node != own && file.session.as_deref() == Some(session))
            .find_map(|(node, file)| {
                let call = file.calls.iter().find(|call| call.agent.as_deref() == Some(agent))?;
                Some(CallPlace {
                    node,
                    id: call.id.clone(),
                })
            })
    }

    /// The record of a cell's session.
    fn record_of(&self, node: usize) -> Option<usize> {
        let file = self.pieces.files.get(node).filter(|file| file.agent.is_none())?;
        let session = file.session.as_deref()?;
        self.pieces.records.iter().position(|record| {
            record
                .child_session
                .as_ref()
                .is_some_and(|child| child.as_str() == session)
        })
    }

    fn of_record(&self, record: &Record) -> Place {
        let session = record.parent_session.as_str();
        let caller = record
            .caller_agent
            .as_deref()
            .and_then(|agent| self.agents.get(&(session, agent)).copied());
        if let Some(call) = self.call(session, record.tool_use_id.as_str(), caller) {
            return Place::under(&call, JoinedBy::Record);
        }
        caller
            .or_else(|| self.sessions.get(session).copied())
            .map_or_else(Place::root, |parent| Place::in_node(parent, JoinedBy::Record))
    }

    fn of_row(&self, session: &str) -> Option<Place> {
        let mut rows = self.pieces.rows.iter().filter(|row| row.session == session);
        let id = rows.find_map(|row| row.tool_use_id.as_deref())?;
        let (_, nodes) = self
            .calls
            .iter()
            .find(|((parent, call), _)| *call == id && *parent != session)?;
        let call = CallPlace {
            node: *nodes.first()?,
            id: id.to_owned(),
        };
        Some(Place::under(&call, JoinedBy::CostFile))
    }

    /// Joins what nothing names by the prompt: the experiment's hook keeps no record of the call, and the client names a
    /// subagent's call only in the file beside it, which fullsend does not collect. Of sessions with the same prompt the
    /// earliest gets the first call.
    fn by_prompt(&self, places: &mut [Place]) {
        let mut alone: Vec<usize> = (0..places.len()).filter(|node| self.is_alone(*node, places)).collect();
        alone.sort_by_key(|node| self.pieces.files.get(*node).and_then(|file| file.first));
        for node in alone {
            let Some(call) = self.call_with_prompt(node, places) else {
                continue;
            };
            if let Some(place) = places.get_mut(node) {
                *place = Place::under(&call, JoinedBy::Prompt);
            }
        }
    }

    fn is_alone(&self, node: usize, places: &[Place]) -> bool {
        let unnamed = |place: &Place| matches!(place.by, JoinedBy::Nothing | JoinedBy::SessionId);
        let has_prompt = |file: &FileIndex| file.prompt.is_some();
        places.get(node).is_some_and(unnamed) && self.pieces.files.get(node).is_some_and(has_prompt)
    }

    /// The first call that gave a session its prompt and ran when it began, and that has no other session of its kind: a
    /// subagent's is in its own session, a cell's in another.
    fn call_with_prompt(&self, own: usize, places: &[Place]) -> Option<CallPlace> {
        let file = self.pieces.files.get(own)?;
        let began = file.first?;
        let fits = |call: &Call| {
            call.prompt == file.prompt
                && call.at.is_some_and(|at| at <= began)
                && call.ended.is_none_or(|ended| began <= ended)
        };
        let is_free = |node: usize, call: &Call| {
            let taken = |(other, place): (&Place, &FileIndex)| {
                place.agent.is_some() == file.agent.is_some()
                    && other.parent == Some(node)
                    && other.call.as_deref() == Some(&call.id)
            };
            !places.iter().zip(self.pieces.files).any(taken)
        };
        let others = self
            .pieces
            .files
            .iter()
            .enumerate()
            .filter(|(node, other)| *node != own && (other.session == file.session) == file.agent.is_some());
        others
            .flat_map(|(node, other)| other.calls.iter().map(move |call| (node, call)))
            .find(|(node, call)| fits(call) && is_free(*node, call))
            .map(|(node, call)| CallPlace {
                node,
                id: call.id.clone(),
            })
    }
}
