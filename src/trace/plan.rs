//! From a record to its spans: the cell's, and below it one for each phase of the hook. Pure.

use super::attributes;
use super::place::{Place, phase_span_id};
use crate::base::UnixNanos;
use crate::ledger::record::{Phase, Record};
use crate::ledger::{End, Ending};
use crate::telemetry::{Kind, Span, Status, Value};

/// The name of a cell's span: experiment 0025's.
pub const SPAN_NAME: &str = "spawned_agent";

/// The phases of the hook, in their order. A record's other phases are not known to this version, and left out.
pub const PHASES: [&str; 5] = ["plan", "slot", "start", "run", "deliver"];

/// The spans of `record`, which stands at `place`: the cell's first, then those of its phases.
///
/// A record that has not ended is taken for a lost cell, and becomes an error span with what is known: whoever calls has
/// made sure that its processes are gone.
#[must_use]
pub fn spans(record: &Record, place: &Place) -> Vec<Span> {
    let end = record.end();
    let ending = end.map_or(&Ending::Lost, |end| &end.ending);
    let cell = Span {
        trace_id: place.trace_id,
        span_id: place.span_id,
        parent: place.parent,
        parent_is_remote: place.parent.is_some(),
        name: SPAN_NAME,
        kind: Kind::Internal,
        start: record.started_unix_nano,
        end: ended(record, end),
        attributes: attributes::of_cell(record, ending, end),
        events: Vec::new(),
        links: place.link.into_iter().collect(),
        status: status(ending),
    };
    let phases = PHASES
        .iter()
        .filter_map(|name| Some((*name, record.phases.get(*name)?)));
    let phases = phases.map(|(name, phase)| phase_span(record, place, (name, phase)));
    std::iter::once(cell).chain(phases).collect()
}

fn phase_span(record: &Record, place: &Place, (name, phase): (&'static str, &Phase)) -> Span {
    Span {
        trace_id: place.trace_id,
        span_id: phase_span_id(place.span_id, name),
        parent: Some(place.span_id),
        parent_is_remote: false,
        name,
        kind: Kind::Internal,
        start: phase.start_unix_nano,
        end: phase.end_unix_nano.max(phase.start_unix_nano),
        // Nothing of gen_ai here: a backend would count the cell's usage twice.
        attributes: vec![("subcell.cell_id", Value::from(record.cell.as_str()))],
        events: Vec::new(),
        links: Vec::new(),
        status: Status::Unset,
    }
}

/// The end of the last thing that is known to have happened: the result is handed over after the child has ended.
fn ended(record: &Record, end: Option<&End>) -> UnixNanos {
    let phases = record.phases.values().map(|phase| phase.end_unix_nano);
    let known = phases.chain(end.map(|end| end.ended_unix_nano));
    known.fold(record.started_unix_nano, UnixNanos::max)
}

fn status(ending: &Ending) -> Status {
    if ending.is_success() {
        Status::Unset
    } else {
        Status::Error(ending.cause())
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
