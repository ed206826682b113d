//! Takes in paths one after another, each file once.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::classify::{self, Json, Lines};
use super::gather::{CellRow, ClientFigure, Sources, Transcript, folder_of};
use super::name::TranscriptName;
use super::walk::{Found, PathError, files_under, skip};
use crate::base::bounded_file::{Links, open_regular};
use crate::ledger::{Record, cost_file};

/// What was taken in so far.
#[derive(Default)]
pub(super) struct Collector {
    sources: Sources,
    /// By their real paths, so that a file that two paths lead to is taken once.
    transcripts: BTreeMap<PathBuf, Transcript>,
    seen: BTreeSet<PathBuf>,
    /// The session files that were given by name: their cells are fetched through the records.
    given: Vec<PathBuf>,
    /// Records of whatever session.
    usual: Vec<Record>,
}

impl Collector {
    /// Takes in a path that was given.
    pub(super) fn path(&mut self, path: &Path) -> Result<(), PathError> {
        let kind = std::fs::metadata(path).map_err(|source| PathError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        if kind.is_dir() {
            self.folder(path);
            return Ok(());
        }
        // Files are read twice, which a pipe or a device cannot be.
        open_regular(path, Links::Follow).map_err(|source| PathError::NoFile {
            path: path.to_owned(),
            source,
        })?;
        let found = Found {
            path: path.to_owned(),
            shown: file_name(path),
        };
        if has_ending(path, "json") {
            self.json(&found);
        } else {
            self.transcript(found);
            self.subagents_of(path);
            self.given.push(path.to_owned());
        }
        Ok(())
    }

    /// Takes in the records under a path.
    pub(super) fn records_under(&mut self, path: &Path) -> Result<(), PathError> {
        std::fs::metadata(path).map_err(|source| PathError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        for found in files_under(path, &mut self.sources.skipped) {
            if has_ending(&found.path, "json") {
                self.json(&found);
            }
        }
        Ok(())
    }

    /// Takes in records of which only those of the sessions found are used.
    pub(super) fn usual_records(&mut self, folder: &Path) {
        let own = std::mem::take(&mut self.sources.records);
        let mut passed_over = Vec::new();
        for found in files_under(folder, &mut passed_over) {
            if has_ending(&found.path, "json") {
                self.json(&found);
            }
        }
        self.usual = std::mem::replace(&mut self.sources.records, own);
    }

    /// What was found, with the cells of the sessions that were given by name.
    pub(super) fn finish(mut self) -> Sources {
        let mut given = std::mem::take(&mut self.given);
        let own = std::mem::take(&mut self.sources.records);
        let usual = std::mem::take(&mut self.usual);
        while let Some(parent) = given.pop() {
            let TranscriptName::Session(session) = TranscriptName::of(&stem(&parent)) else {
                continue;
            };
            let of_session = |record: &&Record| record.parent_session.as_str() == session;
            for record in own.iter().chain(&usual).filter(of_session) {
                let Some(path) = child_file(record, &parent) else {
                    continue;
                };
                let shown = file_name(&path);
                if self.transcript(Found {
                    shown,
                    path: path.clone(),
                }) {
                    self.subagents_of(&path);
                    given.push(path);
                }
            }
        }
        let sessions = self.sessions();
        let belongs = |record: &Record| sessions.contains(record.parent_session.as_str());
        self.sources.records = own;
        self.sources.records.extend(usual.into_iter().filter(belongs));
        self.sources.records.sort_by(|a, b| {
            (a.started_unix_nano, a.tool_use_id.as_str()).cmp(&(b.started_unix_nano, b.tool_use_id.as_str()))
        });
        // A folder lists its entries in no order, and the same run has to give the same output.
        self.sources
            .skipped
            .sort_by(|a, b| (&a.file, &a.reason).cmp(&(&b.file, &b.reason)));
        self.sources.transcripts = self.transcripts.into_values().collect();
        self.sources.transcripts.sort_by(|a, b| a.shown.cmp(&b.shown));
        self.sources
    }

    /// The sessions whose files were found.
    fn sessions(&self) -> BTreeSet<String> {
        let names = self.transcripts.values().map(|transcript| &transcript.name);
        names
            .filter_map(|name| match name {
                TranscriptName::Session(id) => Some(id.clone()),
                TranscriptName::Agent(_) | TranscriptName::Unknown => None,
            })
            .collect()
    }

    fn folder(&mut self, path: &Path) {
        // A session's folder holds its subagents; the session itself is the file beside it.
        let session = path.with_extension("jsonl");
        if matches!(TranscriptName::of(&file_name(path)), TranscriptName::Session(_)) && session.is_file() {
            self.transcript(Found {
                shown: file_name(&session),
                path: session.clone(),
            });
            self.given.push(session);
        }
        for found in files_under(path, &mut self.sources.skipped) {
            self.found(found);
        }
    }

    fn found(&mut self, found: Found) {
        if has_ending(&found.path, "json") {
            self.json(&found);
        } else if has_ending(&found.path, "jsonl") {
            match classify::lines(&found.path) {
                Ok(Lines::Transcript) => {
                    self.transcript(found);
                }
                Ok(Lines::Stream) => {
                    let figure = classify::result_of_stream(&found.path);
                    self.sources
                        .figures
                        .extend(figure.as_ref().and_then(ClientFigure::from_result));
                    let reason = "the messages of a transcript once more; only its result is used";
                    self.sources.skipped.push(skip(found.shown, reason.to_owned()));
                }
                Ok(Lines::Other) => self.sources.skipped.push(skip(found.shown, "no transcript".to_owned())),
                Err(error) => self.sources.skipped.push(skip(found.shown, error)),
            }
        }
    }

    /// Takes in a transcript; whether it is new.
    fn transcript(&mut self, found: Found) -> bool {
        if !self.first_time(&found.path) {
            return false;
        }
        let name = TranscriptName::of(&stem(&found.path));
        let meta = match name {
            TranscriptName::Agent(_) => classify::meta(&found.path),
            TranscriptName::Session(_) | TranscriptName::Unknown => classify::AgentMeta::default(),
        };
        self.transcripts.insert(
            found.path.clone(),
            Transcript {
                path: found.path,
                shown: found.shown,
                name,
                meta,
            },
        );
        true
    }

    /// Subagents are found by looking, not by what the session says of them, and lie one level deeper for workflows
    /// (`subagents/workflows/<id>/agent-*.jsonl`).
    fn subagents_of(&mut self, transcript: &Path) {
        let folder = folder_of(transcript);
        if !folder.is_dir() {
            return;
        }
        for mut found in files_under(&folder, &mut self.sources.skipped) {
            found.shown = format!("{}/{}", file_name(&folder), found.shown);
            self.found(found);
        }
    }

    fn json(&mut self, found: &Found) {
        if !self.first_time(&found.path) {
            return;
        }
        match classify::json(&found.path) {
            Json::Record(record) => self.sources.records.push(*record),
            Json::Result(result) => self.sources.figures.extend(ClientFigure::from_result(&result)),
            Json::Costs(costs) if found.path.file_name() == Some(OsStr::new(cost_file::NAME)) || has_rows(&costs) => {
                self.sources.rows.extend(rows(&costs));
            }
            Json::Costs(_) | Json::Other => {}
        }
    }

    fn first_time(&mut self, path: &Path) -> bool {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.seen.insert(real)
    }
}

fn has_rows(costs: &Value) -> bool {
    costs.get("session_id").is_some() || costs.get("cells").is_some()
}

/// The rows of a cost file: one a cell where it lists them, else the one session that it names (experiment 0025).
fn rows(costs: &Value) -> Vec<CellRow> {
    let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let row = |value: &Value| {
        Some(CellRow {
            session: text(value, "session_id")?,
            tool_use_id: text(value, "tool_use_id"),
        })
    };
    match costs.get("cells").and_then(Value::as_array) {
        Some(cells) if !cells.is_empty() => cells.iter().filter_map(row).collect(),
        Some(_) | None => row(costs).into_iter().collect(),
    }
}

/// The transcript of a record's cell: where the record says, else beside the parent's, else in another project folder.
fn child_file(record: &Record, parent: &Path) -> Option<PathBuf> {
    let named = record.end().and_then(|end| end.child_transcript.clone());
    let name = format!("{}.jsonl", record.child_session.as_ref()?);
    let beside = parent.with_file_name(&name);
    let elsewhere = || {
        let projects = parent.parent()?.parent()?;
        let mut folders: Vec<PathBuf> = std::fs::read_dir(projects)
            .ok()?
            .flatten()
            .map(|folder| folder.path().join(&name))
            .collect();
        folders.sort();
        folders.into_iter().find(|path| path.is_file())
    };
    named
        .filter(|path| path.is_file() && path.file_name() == Some(OsStr::new(&name)))
        .or_else(|| beside.is_file().then_some(beside))
        .or_else(elsewhere)
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|own| own == ending)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
