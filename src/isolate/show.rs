//! A cell for people: found by its call or by a session, its record in words, its result made harmless.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::base::chain::Chain;
use crate::base::visible;
use crate::ledger::places::{IN_OUTPUT, IN_STATE};
use crate::ledger::record::{Delivery, DeliveryMode, DeliveryOutcome};
use crate::ledger::{End, LedgerError, Record, RecordName, State, Store, Stored};

/// A cell that was found.
#[derive(Debug)]
pub struct Cell {
    /// Its record.
    pub record: Record,
    /// The record's file.
    pub record_path: PathBuf,
    /// The result's file.
    pub result_path: PathBuf,
    /// What it holds, where a result was recorded.
    pub stored: Option<Stored>,
}

/// What a search came to.
#[derive(Debug)]
pub struct Found {
    /// The cells, oldest first.
    pub cells: Vec<Cell>,
    /// What could not be read.
    pub troubles: Vec<LedgerError>,
}

/// The places of records in a folder that somebody names: it may be one itself, or what one lies in.
#[must_use]
pub fn folders_in(dir: &Path) -> Vec<PathBuf> {
    vec![dir.to_owned(), dir.join(IN_OUTPUT), dir.join(IN_STATE)]
}

/// Looks for the cells of a call or of a session, its parent's or its own.
#[must_use]
pub fn find(query: &str, folders: &[PathBuf]) -> Found {
    let mut found = Found {
        cells: Vec::new(),
        troubles: Vec::new(),
    };
    for folder in folders {
        match Store::existing(folder).and_then(|store| search(query, store, &mut found.troubles)) {
            Ok(cells) => found.cells.extend(cells),
            Err(error) => found.troubles.push(error),
        }
    }
    found
}

fn search(query: &str, store: Option<Store>, troubles: &mut Vec<LedgerError>) -> Result<Vec<Cell>, LedgerError> {
    let Some(store) = store else { return Ok(Vec::new()) };
    let listing = store.list()?;
    troubles.extend(listing.unreadable);
    let matching = listing
        .records
        .into_iter()
        .filter(|(name, record)| is_of(query, name, record));
    let cell = |(name, record): (RecordName, Record)| {
        let result = record.end().and_then(|end| end.result.as_ref());
        Cell {
            stored: result.map(|result| store.stored(&name, result)),
            record_path: store.record_path(&name),
            result_path: store.result_path(&name),
            record,
        }
    };
    Ok(matching.map(cell).collect())
}

fn is_of(query: &str, name: &RecordName, record: &Record) -> bool {
    let child = record.child_session.as_ref();
    name.as_str() == query
        || record.tool_use_id.as_str() == query
        || record.parent_session.as_str() == query
        || child.is_some_and(|session| session.as_str() == query)
        || record.cell.as_str() == query
}

/// The cell as text for a terminal, its result last.
#[must_use]
pub fn render(cell: &Cell) -> String {
    let record = &cell.record;
    let mut out = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{name:<11} {}", visible(value).replace('\n', "\n            "));
    };
    line(
        "call",
        &format!("{} of session {}", record.tool_use_id, record.parent_session),
    );
    line("agent", &format!("{}: {}", record.agent_type, record.description));
    if let Some(session) = &record.child_session {
        line("cell", &format!("{}, session {session}", record.cell));
    }
    line("state", &state_text(&record.state));
    if let Some(end) = record.end() {
        end_lines(&mut line, record, end);
    }
    line("delivery", &delivery_text(&record.delivery));
    line("record", &cell.record_path.display().to_string());
    for note in &record.notes {
        line("note", note);
    }
    if let Some(stored) = &cell.stored {
        line("result", &result_line(cell, stored));
        if let Stored::Intact(bytes) | Stored::Changed(bytes) = stored {
            let text = String::from_utf8_lossy(bytes);
            let _ = write!(out, "\n{}", visible(&text));
            if !out.ends_with('\n') {
                out.push('\n');
            }
        }
    }
    out
}

fn end_lines(line: &mut impl FnMut(&str, &str), record: &Record, end: &End) {
    let took = end.ended_unix_nano.since(record.started_unix_nano);
    line("took", &format!("{:.1} s", took.as_secs_f64()));
    let asked = || record.asked.model.as_deref().unwrap_or("unknown");
    line("model", end.model_used.as_deref().unwrap_or_else(asked));
    let known = |count: Option<u64>| count.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
    let cost = end
        .cost_usd
        .map_or_else(|| "unknown".to_owned(), |usd| format!("${usd:.6}"));
    line(
        "cost",
        &format!(
            "{cost}, {} tokens in, {} out",
            known(end.tokens.input),
            known(end.tokens.output)
        ),
    );
    if let Some(path) = &end.child_transcript {
        line("transcript", &path.display().to_string());
    }
}

fn state_text(state: &State) -> String {
    match state {
        State::Running => "running, or ended by force".to_owned(),
        State::Ended(end) if end.ending.is_success() => "completed".to_owned(),
        State::Ended(end) => format!("FAILED ({}): {}", end.ending.word(), end.ending.cause()),
        State::PassedThrough { reason } => format!("no cell, the built-in subagent ran: {}", reason.text()),
        State::Refused { reason } => format!("no cell, the call was refused: {reason}"),
    }
}

/// How the result was delivered, in a sentence.
#[must_use]
pub fn delivery_text(delivery: &Delivery) -> String {
    let mode = match delivery.mode {
        DeliveryMode::None => "nothing was handed back",
        DeliveryMode::Echo => "echo",
        DeliveryMode::Receipt => "receipt",
        DeliveryMode::Deny => "reason of a denial",
    };
    let outcome = match (delivery.outcome, delivery.mode) {
        (DeliveryOutcome::None, DeliveryMode::None | DeliveryMode::Deny) => None,
        (DeliveryOutcome::None, DeliveryMode::Echo | DeliveryMode::Receipt) => {
            Some("not delivered, or not confirmed by subcell seal")
        }
        (DeliveryOutcome::Faithful, _) => Some("it came back exact"),
        (DeliveryOutcome::Unfaithful, _) => Some("it came back CHANGED, and was left so beside another hook"),
        (DeliveryOutcome::Repaired, _) => Some("it came back changed, and the exact text was put in its place"),
        (DeliveryOutcome::Sealed, _) => Some("the exact text was put in"),
        (DeliveryOutcome::RewriteLost, _) => Some("LOST: the call ran with another input than the one handed back"),
        (DeliveryOutcome::AsyncLaunched, _) => Some("the client ran the call in the background"),
        (DeliveryOutcome::UnknownShape, _) => Some("the output had an unknown shape, and stayed as it was"),
        (DeliveryOutcome::Redacted, _) => {
            Some("the stored result had been changed (redacted), so nothing was put in")
        }
        (DeliveryOutcome::ResultMissing, _) => Some("the stored result could not be read, so nothing was put in"),
    };
    let cut = (delivery.cut && delivery.outcome != DeliveryOutcome::Sealed).then_some("the beginning only");
    let rivals = (!delivery.rivals.is_empty()).then(|| format!("beside {}", delivery.rivals.join(", ")));
    let parts = [Some(mode), outcome, cut, rivals.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn result_line(cell: &Cell, stored: &Stored) -> String {
    let place = cell.result_path.display();
    match stored {
        Stored::Intact(bytes) if std::str::from_utf8(bytes).is_ok() => format!("{place}, {} bytes", bytes.len()),
        Stored::Intact(bytes) => format!("{place}, {} bytes, not all UTF-8: decoded once", bytes.len()),
        Stored::Changed(bytes) => format!("{place}, {} bytes, CHANGED since (redacted, as a rule)", bytes.len()),
        Stored::Missing(error) => format!("{place} cannot be read: {}", Chain(error)),
    }
}

#[cfg(test)]
#[path = "show_tests.rs"]
mod tests;
