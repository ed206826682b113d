//! Which trace a cell's span stands in, and the ids that it has there. Pure, and the same for every sending.

use sha2::{Digest, Sha256};

use crate::base::{SpanId, TraceContext, TraceId};
use crate::ledger::record::TraceIds;
use crate::telemetry::Link;

/// Where a cell's span stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The trace.
    pub trace_id: TraceId,
    /// The cell's span: always the record's, since the child hung its own spans under it.
    pub span_id: SpanId,
    /// The span above; `None` for a root.
    pub parent: Option<SpanId>,
    /// The trace that the child was given, where the span stands in another.
    pub link: Option<Link>,
    /// Whether the trace is sampled: a span of one that is not is never sent.
    pub sampled: bool,
}

impl Place {
    /// The place of a cell whose record has `ids`, for a sender whose own `TRACEPARENT` is `ours`.
    ///
    /// A parent that the hook had stands: what the child nested under its `TRACEPARENT` then hangs under our span. Without
    /// one (fullsend up to v0.36 gives its sandbox none) the sender's trace is adopted, and a link points to the trace that
    /// the child was given. Without either the span is the root of that trace.
    #[must_use]
    pub fn of(ids: &TraceIds, ours: Option<&TraceContext>) -> Self {
        let own = Self {
            trace_id: ids.trace_id,
            span_id: ids.span_id,
            parent: ids.parent_span_id,
            link: None,
            sampled: ids.sampled,
        };
        match ours {
            Some(ours) if ids.parent_span_id.is_none() => Self {
                trace_id: ours.trace_id,
                parent: Some(ours.span_id),
                link: (ours.trace_id != ids.trace_id).then_some(Link {
                    trace_id: ids.trace_id,
                    span_id: ids.span_id,
                    sampled: ids.sampled,
                }),
                sampled: ours.sampled,
                ..own
            },
            Some(_) | None => own,
        }
    }
}

/// The id of the span of the phase `phase` below the cell's span `cell`: the same whenever it is computed.
#[must_use]
pub fn phase_span_id(cell: SpanId, phase: &str) -> SpanId {
    let digest = Sha256::new()
        .chain_update(b"subcell phase\0")
        .chain_update(cell.to_bytes())
        .chain_update(phase.as_bytes())
        .finalize();
    let mut bytes = [0_u8; 8];
    bytes.iter_mut().zip(digest.iter()).for_each(|(to, from)| *to = *from);
    SpanId::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(digit: &str) -> TraceId {
        digit.repeat(32).parse().unwrap()
    }

    fn span(digit: &str) -> SpanId {
        digit.repeat(16).parse().unwrap()
    }

    fn ids(parent: Option<&str>, sampled: bool) -> TraceIds {
        TraceIds {
            trace_id: trace("a"),
            span_id: span("b"),
            parent_span_id: parent.map(span),
            sampled,
        }
    }

    fn ours(sampled: bool) -> TraceContext {
        TraceContext {
            trace_id: trace("1"),
            span_id: span("2"),
            sampled,
        }
    }

    #[test]
    fn the_trace_of_a_cell_is_decided_by_who_had_a_parent() {
        let link = |sampled| Link {
            trace_id: trace("a"),
            span_id: span("b"),
            sampled,
        };
        // hook's parent, hook's sampled, sender's sampled → trace, parent, link, sampled
        let table = [
            (Some("c"), true, None, "a", Some("c"), None, true),
            (Some("c"), false, None, "a", Some("c"), None, false),
            (Some("c"), true, Some(true), "a", Some("c"), None, true),
            (Some("c"), true, Some(false), "a", Some("c"), None, true),
            (Some("c"), false, Some(true), "a", Some("c"), None, false),
            (None, true, Some(true), "1", Some("2"), Some(link(true)), true),
            (None, true, Some(false), "1", Some("2"), Some(link(true)), false),
            (None, true, None, "a", None, None, true),
        ];
        for (parent, hook, sender, trace_id, expected_parent, link, sampled) in table {
            let ours = sender.map(ours);
            let expected = Place {
                trace_id: trace(trace_id),
                span_id: span("b"),
                parent: expected_parent.map(span),
                link,
                sampled,
            };
            assert_eq!(
                Place::of(&ids(parent, hook), ours.as_ref()),
                expected,
                "{parent:?} {ours:?}"
            );
        }
    }

    #[test]
    fn a_sender_in_the_childs_own_trace_needs_no_link() {
        let ours = TraceContext {
            trace_id: trace("a"),
            span_id: span("2"),
            sampled: true,
        };
        let place = Place::of(&ids(None, true), Some(&ours));
        assert_eq!((place.parent, place.link), (Some(span("2")), None));
    }

    #[test]
    fn phase_ids_are_stable_and_differ() {
        // sha256("subcell phase\0" + bb×8 + "run"), first 8 bytes, computed with coreutils' sha256sum.
        assert_eq!(phase_span_id(span("b"), "run").to_string(), "063d8dcea85c99c0");
        assert_ne!(phase_span_id(span("b"), "run"), phase_span_id(span("b"), "plan"));
        assert_ne!(phase_span_id(span("b"), "run"), phase_span_id(span("c"), "run"));
    }
}
