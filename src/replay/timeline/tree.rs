//! Sessions, cells, echoes and subagents as one tree.

use std::collections::{BTreeMap, BTreeSet};

use std::path::Path;

use jiff::Timestamp;

use super::join::{Joined, JoinedBy, Pieces, join};
use super::placing::{Place, order_key};
use super::rates::Rates;
use super::results::{Figure, figures};
use super::scan::{FileIndex, Scanner};
use super::totals::Totals;
use crate::base::bounded_file::{Links, open_regular};
use crate::ledger::{Record, State};
use crate::protocol::transcript::{Body, LinesFromStart};
use crate::replay::sources::{SkippedFile, Sources, Transcript};

/// At most this many lines are looked at for a first time.
const HEAD: usize = 50;

/// What a part of the tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A session that nobody started by a call.
    Session,
    /// A session that a call was given by us.
    Cell,
    /// The subagent that handed a cell's result back.
    Echo,
    /// A subagent inside of its parent's process.
    Subagent,
    /// A call that got no cell: refused, or passed on to the built-in subagent.
    NoCell,
}

/// One part of the tree.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) file: Option<usize>,
    pub(super) record: Option<usize>,
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) children: Vec<usize>,
    pub(super) totals: Totals,
}

/// Everything that was found, joined and counted.
#[derive(Debug)]
pub struct Tree {
    pub(super) transcripts: Vec<Transcript>,
    pub(super) files: Vec<FileIndex>,
    pub(super) records: Vec<Record>,
    pub(super) nodes: Vec<Node>,
    pub(super) roots: Vec<usize>,
    pub(super) scanner: Scanner,
    pub(super) rates: Rates,
    pub(super) total: Totals,
    pub(super) skipped: Vec<SkippedFile>,
}

/// A part of the tree as it is shown.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SessionView {
    /// Its number, unique in the output.
    pub index: usize,
    /// How deep it is nested; a root is at 0.
    pub depth: usize,
    /// What it is.
    pub what: Kind,
    /// The session's id; a subagent's is its parent's.
    pub session: Option<String>,
    /// The subagent's id.
    pub agent: Option<String>,
    /// Its type.
    pub agent_type: Option<String>,
    /// The call's short description.
    pub description: Option<String>,
    /// The call that started it.
    pub call: Option<String>,
    /// What told that it belongs there.
    pub joined_by: JoinedBy,
    /// The transcript.
    pub file: Option<String>,
    /// The first time in it.
    pub first: Option<String>,
    /// The last.
    pub last: Option<String>,
    /// What its turns used.
    pub totals: Totals,
    /// How our record says that it ended.
    pub ending: Option<String>,
    /// Whether that is a failure or a refusal.
    pub failed: bool,
    /// Why it could not be read to its end.
    pub unreadable: Option<String>,
}

impl Tree {
    /// Reads everything once and joins it.
    #[must_use]
    pub fn build(sources: Sources, mut rates: Rates) -> Self {
        let Sources {
            transcripts,
            records,
            figures: results,
            rows,
            skipped,
        } = sources;
        let mut scanner = Scanner::new(transcripts.len() > 1, wanted(&transcripts, &records, &rows));
        let files = scan_all(&mut scanner, &transcripts);
        let figures = figures(&results, &files, &records);
        for figure in figures.values() {
            figure.teach(&mut rates);
        }
        let joined = join(Pieces {
            files: &files,
            transcripts: &transcripts,
            records: &records,
            rows: &rows,
        });
        let by_file = Totals::by_file(files.len(), &scanner.turns, &rates);
        let mut tree = Self {
            transcripts,
            files,
            records,
            nodes: Vec::new(),
            roots: Vec::new(),
            scanner,
            rates,
            total: Totals::default(),
            skipped,
        };
        tree.plant(joined, by_file);
        tree.count(&figures);
        tree
    }

    /// When the run ended.
    #[must_use]
    pub fn last(&self) -> Option<Timestamp> {
        self.files.iter().filter_map(|file| file.last).max()
    }

    /// Whether `path`, without links in it, is one of the transcripts.
    #[must_use]
    pub fn reads(&self, path: &Path) -> bool {
        let mut real = self.transcripts.iter().map(|transcript| &transcript.path);
        real.any(|own| std::fs::canonicalize(own).is_ok_and(|own| own == path))
    }

    /// Each part as it is shown, in the order of their numbers.
    #[must_use]
    pub fn views(&self) -> Vec<SessionView> {
        let mut views = Vec::with_capacity(self.nodes.len());
        let mut waiting: Vec<(usize, usize)> = self.roots.iter().rev().map(|root| (*root, 0)).collect();
        while let Some((node, depth)) = waiting.pop() {
            views.extend(self.view(node, depth));
            let children = self.nodes.get(node).map_or(&[][..], |node| &node.children);
            waiting.extend(children.iter().rev().map(|child| (*child, depth + 1)));
        }
        views.sort_by_key(|view| view.index);
        views
    }

    fn plant(&mut self, joined: Joined, by_file: Vec<Totals>) {
        let files = by_file.len();
        let mut totals = by_file.into_iter().map(Some).collect::<Vec<_>>();
        for (at, (place, record)) in joined.places.into_iter().zip(joined.records).enumerate() {
            let kind = self.kind(at, &place, record);
            self.nodes.push(Node {
                file: (at < files).then_some(at),
                record,
                place,
                kind,
                children: Vec::new(),
                totals: totals.get_mut(at).and_then(Option::take).unwrap_or_default(),
            });
        }
        self.name_echoes();
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by(|a, b| self.order_of(*a).cmp(&self.order_of(*b)));
        for node in order {
            match self.nodes.get(node).and_then(|node| node.place.parent) {
                None => self.roots.push(node),
                Some(parent) => {
                    if let Some(parent) = self.nodes.get_mut(parent) {
                        parent.children.push(node);
                    }
                }
            }
        }
    }

    fn kind(&self, at: usize, place: &Place, record: Option<usize>) -> Kind {
        let state = record
            .and_then(|record| self.records.get(record))
            .map(|record| &record.state);
        match (self.files.get(at), state) {
            (_, Some(State::PassedThrough { .. } | State::Refused { .. })) => Kind::NoCell,
            (Some(file), _) if file.agent.is_some() => Kind::Subagent,
            (Some(_), None) if place.parent.is_none() => Kind::Session,
            (_, Some(State::Running | State::Ended(_)) | None) => Kind::Cell,
        }
    }

    /// The subagent that runs under the call of a cell is its echo.
    fn name_echoes(&mut self) {
        let cells: BTreeSet<(usize, String)> = self
            .nodes
            .iter()
            .filter(|node| node.kind == Kind::Cell)
            .filter_map(|node| Some((node.place.parent?, node.place.call.clone()?)))
            .collect();
        for node in self.nodes.iter_mut().filter(|node| node.kind == Kind::Subagent) {
            let call = node.place.parent.zip(node.place.call.clone());
            if call.is_some_and(|call| cells.contains(&call)) {
                node.kind = Kind::Echo;
            }
        }
    }

    fn order_of(&self, node: usize) -> (bool, Option<Timestamp>, &str) {
        let Some(node) = self.nodes.get(node) else {
            return order_key(None, "");
        };
        let file = node.file.and_then(|file| self.files.get(file));
        let shown = node.file.and_then(|file| self.transcripts.get(file));
        let of_record = || {
            let record = self.records.get(node.record?)?;
            let nanos = i128::from(record.started_unix_nano.as_nanos());
            Timestamp::from_nanosecond(nanos).ok()
        };
        order_key(
            file.and_then(|file| file.first).or_else(of_record),
            shown.map_or("", |transcript| &transcript.shown),
        )
    }

    /// Sums the turns of each session, its subagents included, and puts the client's own figures beside them.
    fn count(&mut self, figures: &BTreeMap<String, Figure>) {
        let mut sessions: BTreeMap<String, Totals> = BTreeMap::new();
        for node in &mut self.nodes {
            let file = node.file.and_then(|file| self.files.get(file));
            let child = node
                .record
                .and_then(|record| self.records.get(record))
                .and_then(|r| r.child_session.as_ref());
            let session = file
                .and_then(|file| file.session.clone())
                .or_else(|| child.map(ToString::to_string));
            let Some(session) = session else { continue };
            if file.is_none() {
                node.totals = figures.get(&session).map(Totals::of_figure).unwrap_or_default();
            }
            sessions.entry(session).or_default().plus(&node.totals);
        }
        let copied: BTreeSet<&str> = self
            .scanner
            .turns
            .all()
            .filter(|turn| turn.copied)
            .filter_map(|turn| self.files.get(turn.file)?.session.as_deref())
            .collect();
        let mut total = Totals::default();
        let mut client = Vec::new();
        for (session, totals) in sessions {
            let figure = figures.get(&session);
            let whole = !copied.contains(session.as_str());
            let counted = match figure {
                Some(figure) => totals.with_client(figure, whole),
                None => totals,
            };
            client.push((session, counted.client));
            total.plus(&counted);
        }
        for (session, figure) in client {
            for node in self
                .nodes
                .iter_mut()
                .filter(|node| matches!(node.kind, Kind::Session | Kind::Cell))
            {
                let own = node.file.and_then(|file| self.files.get(file)?.session.as_deref());
                if own == Some(&session) {
                    node.totals.client = figure;
                }
            }
        }
        self.total = total;
    }

    pub(super) fn view(&self, at: usize, depth: usize) -> Option<SessionView> {
        let node = self.nodes.get(at)?;
        let file = node.file.and_then(|file| self.files.get(file));
        let transcript = node.file.and_then(|file| self.transcripts.get(file));
        let record = node.record.and_then(|record| self.records.get(record));
        let meta = transcript.map(|transcript| &transcript.meta);
        let text = |time: Option<Timestamp>| time.map(|time| format!("{time:.3}"));
        let child = record
            .and_then(|record| record.child_session.as_ref())
            .map(ToString::to_string);
        Some(SessionView {
            index: at,
            depth,
            what: node.kind,
            session: file.and_then(|file| file.session.clone()).or(child),
            agent: file.and_then(|file| file.agent.clone()),
            agent_type: meta
                .and_then(|meta| meta.agent_type.clone())
                .or_else(|| record.map(|record| record.agent_type.to_string())),
            description: meta.and_then(|meta| meta.description.clone()).or_else(|| {
                record
                    .map(|record| record.description.clone())
                    .filter(|text| !text.is_empty())
            }),
            call: node
                .place
                .call
                .clone()
                .or_else(|| record.map(|record| record.tool_use_id.to_string())),
            joined_by: node.place.by,
            file: transcript.map(|transcript| transcript.shown.clone()),
            first: text(file.and_then(|file| file.first)),
            last: text(file.and_then(|file| file.last)),
            totals: node.totals.clone(),
            ending: record.map(ending),
            failed: record.is_some_and(failed),
            unreadable: file.and_then(|file| file.unreadable.clone()),
        })
    }
}

fn ending(record: &Record) -> String {
    match &record.state {
        State::Running => "still running, as far as its record says".to_owned(),
        State::Ended(end) => end.ending.cause(),
        State::PassedThrough { reason } => format!("no cell: {}", reason.text()),
        State::Refused { reason } => format!("refused: {reason}"),
    }
}

fn failed(record: &Record) -> bool {
    match &record.state {
        State::Running | State::PassedThrough { .. } => false,
        State::Ended(end) => !end.ending.is_success(),
        State::Refused { .. } => true,
    }
}

/// The calls that something outside of the transcripts names.
fn wanted(
    transcripts: &[Transcript],
    records: &[Record],
    rows: &[crate::replay::sources::CellRow],
) -> std::collections::HashSet<String> {
    let metas = transcripts
        .iter()
        .filter_map(|transcript| transcript.meta.tool_use_id.clone());
    let records = records.iter().map(|record| record.tool_use_id.to_string());
    metas
        .chain(records)
        .chain(rows.iter().filter_map(|row| row.tool_use_id.clone()))
        .collect()
}

/// Reads the files in the order of their first times: a fork begins with a time of its own and copies older lines, so
/// the session that they are from is read before it (2.1.332).
fn scan_all(scanner: &mut Scanner, transcripts: &[Transcript]) -> Vec<FileIndex> {
    let mut order: Vec<(usize, Option<Timestamp>)> = transcripts.iter().map(first_time).enumerate().collect();
    order.sort_by_key(|(at, first)| (first.is_none(), *first, *at));
    let mut files: Vec<FileIndex> = transcripts.iter().map(|_| FileIndex::default()).collect();
    for (at, _) in order {
        if let (Some(transcript), Some(file)) = (transcripts.get(at), files.get_mut(at)) {
            *file = scanner.scan(at, transcript);
        }
    }
    files
}

fn first_time(transcript: &Transcript) -> Option<Timestamp> {
    let lines = LinesFromStart::with_cap(open_regular(&transcript.path, Links::Follow).ok()?, 1024 * 1024);
    lines.take(HEAD).flatten().find_map(|line| {
        let Body::Bytes(bytes) = line.body else { return None };
        super::glance::Glance::at(&bytes)?.timestamp()?.parse().ok()
    })
}
