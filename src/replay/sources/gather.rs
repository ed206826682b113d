//! Everything that belongs to the paths that were given.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::classify::AgentMeta;
use super::collect::Collector;
use super::name::TranscriptName;
use super::walk::{PathError, SkippedFile};
use crate::ledger::Record;

/// One transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The file.
    pub path: PathBuf,
    /// Its name as it is shown.
    pub shown: String,
    /// What its name says.
    pub name: TranscriptName,
    /// What is described beside it.
    pub meta: AgentMeta,
}

/// What the client itself says that a session used, the whole tree included.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientFigure {
    /// The session.
    pub session: String,
    /// `total_cost_usd`.
    pub cost_usd: Option<f64>,
    /// `modelUsage`, as it came.
    pub models: BTreeMap<String, Value>,
}

impl ClientFigure {
    /// Reads a result object of the client.
    pub(super) fn from_result(result: &Value) -> Option<Self> {
        let models = result.get("modelUsage").and_then(Value::as_object);
        Some(Self {
            session: result.get("session_id")?.as_str()?.to_owned(),
            cost_usd: result.get("total_cost_usd").and_then(Value::as_f64),
            models: models
                .into_iter()
                .flatten()
                .map(|(model, value)| (model.clone(), value.clone()))
                .collect(),
        })
    }
}

/// A row of `.spawned-cost.json`: which session a cell had, and, where it says so, which call it was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRow {
    /// The cell's session.
    pub session: String,
    /// The call.
    pub tool_use_id: Option<String>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Sources {
    /// The transcripts, each file once, in the order of their names.
    pub transcripts: Vec<Transcript>,
    /// Our records, oldest first.
    pub records: Vec<Record>,
    /// The client's own results.
    pub figures: Vec<ClientFigure>,
    /// What the cost file says of cells.
    pub rows: Vec<CellRow>,
    /// Files that were passed over.
    pub skipped: Vec<SkippedFile>,
}

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// A session's file (its subagents and, through the records, its cells come with it), a session's folder, a project
    /// folder, fullsend's `transcripts/`, or a run's folder.
    pub paths: Vec<PathBuf>,
    /// Folders of records that belong to them.
    pub records: Vec<PathBuf>,
    /// The folder where records lie unless somebody says otherwise: those of other sessions are left out.
    pub usual_records: Option<PathBuf>,
}

/// Finds everything that belongs to `places`.
///
/// # Errors
/// [`PathError`] where a path cannot be looked at, or nothing to show is found.
pub fn gather(places: &Places) -> Result<Sources, PathError> {
    let mut collector = Collector::default();
    for path in &places.records {
        collector.records_under(path)?;
    }
    for path in &places.paths {
        collector.path(path)?;
    }
    if let Some(folder) = places.usual_records.as_deref().filter(|folder| folder.is_dir()) {
        collector.usual_records(folder);
    }
    let sources = collector.finish();
    if sources.transcripts.is_empty() && sources.records.is_empty() {
        return Err(PathError::NothingFound {
            paths: places.paths.clone(),
        });
    }
    Ok(sources)
}

/// The folder of a session's file: `<session id>/` beside `<session id>.jsonl`.
pub(super) fn folder_of(transcript: &Path) -> PathBuf {
    transcript.with_extension("")
}
