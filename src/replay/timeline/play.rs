//! The second pass: the tree as a stream of events.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io;

use jiff::Timestamp;

use super::event::{Event, Role, TurnView};
use super::filter::{Filter, Resolved};
use super::mend;
use super::open_calls::OpenCalls;
use super::read;
use super::scan::LINE_CAP;
use super::screen::{Masked, Screen};
use super::totals::Totals;
use super::tree::{SessionView, Tree};
use crate::base::bounded_file::{Links, open_regular};
use crate::protocol::transcript::{Body, Line, LinesFromStart, RawLine};
use crate::replay::sources::SkippedFile;

/// At most this many broken lines are named; the count goes on.
const NAMED: usize = 1000;

/// Takes what is played.
pub trait Sink {
    /// A part of the tree begins.
    ///
    /// # Errors
    /// The system's, where it cannot be written.
    fn open(&mut self, session: &SessionView) -> io::Result<()>;

    /// An event of the innermost part that is open.
    ///
    /// # Errors
    /// The system's, where it cannot be written.
    fn event(&mut self, event: &Event, session: &SessionView) -> io::Result<()>;

    /// The innermost part ends.
    ///
    /// # Errors
    /// The system's, where it cannot be written.
    fn close(&mut self, session: &SessionView) -> io::Result<()>;

    /// Everything was played.
    ///
    /// # Errors
    /// The system's, where it cannot be written.
    fn finish(&mut self, summary: &Summary) -> io::Result<()>;
}

/// Why playing ended early: only the output can fail; what cannot be read is told in the [`Summary`].
#[derive(Debug, thiserror::Error)]
#[error("write the output")]
pub struct PlayError(#[from] pub io::Error);

/// A line that could not be shown.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BrokenLine {
    /// The transcript.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub error: String,
}

/// What was played, in numbers.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Summary {
    /// Parts of the tree.
    pub sessions: usize,
    /// Lines of all transcripts, blank ones left out.
    pub entries: u64,
    /// Events that were shown.
    pub shown: u64,
    /// Events that the filter kept back.
    pub hidden: u64,
    /// Lines that were copied from another session and are counted there.
    pub copied: u64,
    /// How many lines could not be read.
    pub broken: u64,
    /// Which; at most 1000.
    pub broken_lines: Vec<BrokenLine>,
    /// Files that were passed over, or not read to their end.
    pub skipped: Vec<SkippedFile>,
    /// What everything used and cost.
    pub totals: Totals,
    /// What was taken out.
    pub redaction: Option<Masked>,
}

/// Plays the tree.
///
/// # Errors
/// [`PlayError`] where the sink cannot write.
pub fn play(tree: &Tree, filter: &Filter, screen: &mut Screen, sink: &mut dyn Sink) -> Result<Summary, PlayError> {
    let mut player = Player {
        tree,
        filter: filter.resolve(tree.last()),
        screen,
        sink,
        hasher: RandomState::new(),
        turns: HashSet::new(),
        waiting: Vec::new(),
        summary: Summary {
            sessions: tree.nodes.len(),
            skipped: tree.skipped.clone(),
            totals: tree.total.clone(),
            ..Summary::default()
        },
    };
    for root in &tree.roots {
        player.node(*root, 0)?;
    }
    let mut summary = player.summary;
    screen.summary(&mut summary);
    summary.redaction = Some(screen.masked());
    sink.finish(&summary)?;
    Ok(summary)
}

struct Player<'a> {
    tree: &'a Tree,
    filter: Resolved<'a>,
    screen: &'a mut Screen,
    sink: &'a mut dyn Sink,
    hasher: RandomState,
    /// The turns that were shown, by a hash of file and message id.
    turns: HashSet<u64>,
    /// The parts above that have not been opened, because nothing of them was shown yet.
    waiting: Vec<(SessionView, bool)>,
    summary: Summary,
}

/// Where playing stands in one transcript.
struct Reading {
    node: usize,
    file: usize,
    depth: usize,
    taken: bool,
    at: Option<Timestamp>,
    calls: OpenCalls,
    children: Vec<usize>,
}

impl Player<'_> {
    fn node(&mut self, node: usize, depth: usize) -> io::Result<()> {
        let Some(mut view) = self.tree.view(node, depth) else {
            return Ok(());
        };
        let taken = self.filter.session(&view);
        let bare = self.filter.bare_session(&view);
        self.screen.session(&mut view);
        self.waiting.push((view, false));
        if bare {
            self.open_waiting()?;
        }
        let children = self
            .tree
            .nodes
            .get(node)
            .map(|node| node.children.clone())
            .unwrap_or_default();
        let file = self.tree.nodes.get(node).and_then(|node| node.file);
        let left = match file {
            Some(file) => self.file(Reading {
                node,
                file,
                depth,
                taken,
                at: None,
                calls: OpenCalls::default(),
                children,
            })?,
            None => children,
        };
        // Those whose call is not in the transcript: shown all the same.
        for child in left {
            self.node(child, depth + 1)?;
        }
        match self.waiting.pop() {
            Some((view, true)) => self.sink.close(&view),
            Some((_, false)) | None => Ok(()),
        }
    }

    /// Plays a transcript; gives back the parts below it that no call in it started.
    fn file(&mut self, mut reading: Reading) -> io::Result<Vec<usize>> {
        let Some(transcript) = self.tree.transcripts.get(reading.file) else {
            return Ok(reading.children);
        };
        let opened = match open_regular(&transcript.path, Links::Follow) {
            Ok(opened) => opened,
            Err(error) => {
                self.skip(&transcript.shown, error.to_string());
                return Ok(reading.children);
            }
        };
        for raw in LinesFromStart::with_cap(opened, LINE_CAP) {
            match raw {
                Ok(raw) => self.line(raw, &mut reading)?,
                Err(error) => {
                    self.skip(&transcript.shown, format!("not read to its end: {error}"));
                    break;
                }
            }
        }
        Ok(reading.children)
    }

    fn line(&mut self, raw: RawLine, reading: &mut Reading) -> io::Result<()> {
        let number = match raw.position {
            crate::protocol::transcript::Position::FromStart(number)
            | crate::protocol::transcript::Position::FromEnd(number) => number,
        };
        let parsed = match raw.body {
            Body::Bytes(bytes) if bytes.trim_ascii().is_empty() => return Ok(()),
            Body::Bytes(bytes) => mend::parse(&bytes).map_err(|error| {
                let cut = if raw.terminated {
                    ""
                } else {
                    ", and the file ends in it"
                };
                format!("not JSON ({error}){cut}")
            }),
            Body::TooLong { bytes } => Err(format!("{bytes} bytes, more than the {LINE_CAP} that are shown")),
        };
        self.summary.entries += 1;
        match parsed {
            Ok(line) => self.events(line, number, reading),
            Err(error) => self.broken(number, error, reading),
        }
    }

    fn broken(&mut self, number: u64, error: String, reading: &Reading) -> io::Result<()> {
        self.summary.broken += 1;
        let shown = self
            .tree
            .transcripts
            .get(reading.file)
            .map_or("", |transcript| &transcript.shown);
        if self.summary.broken_lines.len() < NAMED {
            self.summary.broken_lines.push(BrokenLine {
                file: shown.to_owned(),
                line: number,
                error: error.clone(),
            });
        }
        self.show(Event::new(Role::Broken, number, "line").text(error), None, reading)
    }

    fn events(&mut self, line: Line, number: u64, reading: &mut Reading) -> io::Result<()> {
        let own = self
            .tree
            .files
            .get(reading.file)
            .and_then(|file| file.session.as_deref());
        let copied =
            self.tree
                .scanner
                .was_copied(reading.file, line.uuid.as_deref(), line.session_id.as_deref(), own);
        self.summary.copied += u64::from(copied);
        reading.at = line.timestamp.as_deref().and_then(|at| at.parse().ok()).or(reading.at);
        let mut turn = line
            .message
            .as_ref()
            .and_then(|message| message.id.as_deref())
            .and_then(|id| self.turn(reading.file, id));
        for mut event in read::events(line, number) {
            event.copied = copied;
            event.turn = turn.take();
            let tool = reading.calls.tool_of(&event);
            if event.role == Role::Result {
                event.label = tool.clone().unwrap_or_default();
            }
            let call = (event.role == Role::Call).then(|| event.tool_use_id.clone()).flatten();
            self.show(event, tool.as_deref(), reading)?;
            if let Some(call) = call.filter(|_| !copied) {
                self.children_of(&call, reading)?;
            }
        }
        Ok(())
    }

    /// Plays what a call started.
    fn children_of(&mut self, call: &str, reading: &mut Reading) -> io::Result<()> {
        let (started, left) = std::mem::take(&mut reading.children).into_iter().partition(|child| {
            let place = self.tree.nodes.get(*child).map(|node| &node.place);
            place.is_some_and(|place| place.call.as_deref() == Some(call) && place.parent == Some(reading.node))
        });
        reading.children = left;
        let started: Vec<usize> = started;
        for child in started {
            self.node(child, reading.depth + 1)?;
        }
        Ok(())
    }

    fn show(&mut self, mut event: Event, tool: Option<&str>, reading: &Reading) -> io::Result<()> {
        if !(reading.taken && self.filter.event(&event, tool, reading.at)) {
            self.summary.hidden += 1;
            return Ok(());
        }
        self.open_waiting()?;
        self.screen.event(&mut event);
        self.summary.shown += 1;
        match self.waiting.last() {
            Some((view, _)) => self.sink.event(&event, view),
            None => Ok(()),
        }
    }

    fn open_waiting(&mut self) -> io::Result<()> {
        for (view, open) in self.waiting.iter_mut().filter(|(_, open)| !*open) {
            self.sink.open(view)?;
            *open = true;
        }
        Ok(())
    }

    /// What a turn used, the first time that it is asked for.
    fn turn(&mut self, file: usize, message: &str) -> Option<TurnView> {
        let turn = self.tree.scanner.turns.get(file, message)?;
        if !self.turns.insert(self.hasher.hash_one((file, message))) {
            return None;
        }
        let model = self.tree.scanner.turns.model_name(turn);
        Some(TurnView {
            message: message.to_owned(),
            model: model.map(str::to_owned),
            tokens: turn.usage,
            cost_usd: model.and_then(|model| self.tree.rates.cost(model, &turn.usage)),
            at_least: !turn.ended,
        })
    }

    fn skip(&mut self, file: &str, reason: String) {
        self.summary.skipped.push(SkippedFile {
            file: file.to_owned(),
            reason,
        });
    }
}
