//! What was found of runs, and which of it is shown.

use std::collections::HashSet;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::bar::{Bar, Origin, Outcome};
use super::draw::{Look, draw};
use super::groups::groups;
use super::run_file::RunFile;
use crate::base::UnixNanos;
use crate::ledger::Record;
use crate::telemetry::Span;
use crate::telemetry::otlp_json::resource_spans;
use crate::trace::Place;
use crate::trace::plan::spans;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// The latest run.
    Latest,
    /// What a folder holds.
    Folder(PathBuf),
    /// The run of a session, cell, call or trace.
    Id(String),
}

impl Query {
    /// Whether a folder was named.
    #[must_use]
    pub const fn is_folder(&self) -> bool {
        matches!(self, Self::Folder(_))
    }
}

/// A cell, its spans, and what it may be asked for by.
#[derive(Debug)]
struct Cell {
    ids: [String; 5],
    spans: Vec<(Span, bool)>,
    runs: bool,
}

/// All that was found.
#[derive(Debug, Default)]
pub struct Shown {
    cells: Vec<Cell>,
    bars: Vec<Bar>,
    resource_spans: Vec<Json>,
}

impl Shown {
    /// From records, each with whether its cell still runs `now`, and fullsend's file. A cell that was given no trace stands
    /// under the span that fullsend gives its post script, where `subcell emit` puts it.
    #[must_use]
    pub fn new(records: Vec<(Record, bool)>, file: Option<RunFile>, now: UnixNanos) -> Self {
        let ours = file.as_ref().and_then(RunFile::root);
        let mut shown = Self::default();
        for (record, runs) in records {
            let Some(ids) = &record.trace else { continue };
            let place = Place::of(ids, ours.as_ref());
            shown.bars.extend(Bar::of_cell(&record, &place, runs.then_some(now)));
            let spans = spans(&record, &place);
            shown.cells.push(Cell {
                ids: names(&record, &place),
                spans: spans.into_iter().map(|span| (span, place.sampled)).collect(),
                runs,
            });
        }
        if let Some(file) = file {
            // What is also in the file (a cell's span that a post script wrote there) is shown from its record.
            let known: HashSet<_> = shown.bars.iter().map(|bar| (bar.trace_id, bar.span_id)).collect();
            let others = file.bars.into_iter();
            shown
                .bars
                .extend(others.filter(|bar| !known.contains(&(bar.trace_id, bar.span_id))));
            shown.resource_spans = file.resource_spans;
        }
        shown
    }
}

fn names(record: &Record, place: &Place) -> [String; 5] {
    let child = record.child_session.as_ref().map(|session| session.as_str().to_owned());
    [
        record.parent_session.as_str().to_owned(),
        record.cell.as_str().to_owned(),
        record.tool_use_id.as_str().to_owned(),
        place.trace_id.to_string(),
        child.unwrap_or_default(),
    ]
}

/// What is shown.
#[derive(Debug)]
pub struct Chosen {
    runs: Vec<Vec<Bar>>,
    cells: Vec<Cell>,
    resource_spans: Vec<Json>,
    /// Runs that were found and are not shown.
    pub left_out: usize,
}

/// Chooses what `query` asks for; of several runs the latest, unless all are wanted.
///
/// # Errors
/// A sentence fragment, where there is nothing to show.
pub fn choose(shown: Shown, query: &Query, all: bool) -> Result<Chosen, String> {
    let mut runs = groups(shown.bars);
    if let Query::Id(id) = query {
        let is_asked = |cell: &&Cell| cell.ids.iter().any(|known| known == id);
        let asked = shown.cells.iter().filter(is_asked);
        let spans: HashSet<_> = asked.flat_map(|cell| &cell.spans).map(|(span, _)| key(span)).collect();
        runs.retain(|bars| bars.iter().any(|bar| spans.contains(&(bar.trace_id, bar.span_id))));
    }
    let left_out = if all { 0 } else { runs.len().saturating_sub(1) };
    let runs: Vec<Vec<Bar>> = runs.into_iter().skip(left_out).collect();
    if runs.is_empty() {
        return Err(match query {
            Query::Latest => "there is no record of a cell; name a run's folder".to_owned(),
            Query::Folder(dir) => format!("{} holds no record of a cell and no run-telemetry.jsonl", dir.display()),
            Query::Id(id) => format!("{id:?} is neither a folder nor the id of a session, cell, call or trace here"),
        });
    }
    let kept: HashSet<_> = runs.iter().flatten().map(|bar| (bar.trace_id, bar.span_id)).collect();
    let is_kept = |cell: &Cell| cell.spans.first().is_some_and(|(span, _)| kept.contains(&key(span)));
    let has_file = runs.iter().flatten().any(|bar| bar.origin == Origin::Run);
    Ok(Chosen {
        cells: shown.cells.into_iter().filter(is_kept).collect(),
        resource_spans: if has_file { shown.resource_spans } else { Vec::new() },
        runs,
        left_out,
    })
}

fn key(span: &Span) -> (crate::base::TraceId, crate::base::SpanId) {
    (span.trace_id, span.span_id)
}

impl Chosen {
    /// The waterfalls, one after the other.
    #[must_use]
    pub fn draw(&self, look: Look) -> String {
        let drawn: Vec<String> = self.runs.iter().map(|bars| draw(bars, look)).collect();
        drawn.join("\n")
    }

    /// How many cells still run.
    #[must_use]
    pub fn running(&self) -> usize {
        let bars = self.runs.iter().flatten();
        bars.filter(|bar| bar.outcome == Outcome::Running).count()
    }

    /// Everything as one OTLP/JSON `TracesData`: fullsend's spans as they stand, then those of the cells that have ended.
    #[must_use]
    pub fn otlp(&self) -> Json {
        let ended = self.cells.iter().filter(|cell| !cell.runs);
        let spans: Vec<_> = ended.flat_map(|cell| cell.spans.iter().cloned()).collect();
        let mut resources = self.resource_spans.clone();
        if !spans.is_empty() {
            resources.push(resource_spans(env!("CARGO_PKG_NAME"), &spans));
        }
        json!({"resourceSpans": resources})
    }
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
