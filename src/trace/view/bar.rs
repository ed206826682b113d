//! One line of a trace as it is shown.

use crate::base::{SpanId, TraceId, UnixNanos};
use crate::ledger::Record;
use crate::protocol::Tokens;
use crate::telemetry::{Span, Status};
use crate::trace::Place;
use crate::trace::plan::spans;

/// Where a bar is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A cell's record.
    Cell {
        /// The session that made the call.
        parent_session: String,
        /// The cell's own session.
        child_session: Option<String>,
    },
    /// A phase of a cell's hook.
    Phase,
    /// fullsend's file of the run.
    Run,
}

/// How what is shown stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ended, and nothing is known to be wrong.
    Fine,
    /// It still runs.
    Running,
    /// It failed, and why.
    Failed(String),
}

/// What a line says besides its time; what is not known is not there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The agent's name.
    pub agent: Option<String>,
    /// What the agent was to do.
    pub description: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Tokens; input without those of the cache.
    pub tokens: Tokens,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
}

/// A span as it is shown. Its texts may be anybody's: they are made harmless where they are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its trace.
    pub trace_id: TraceId,
    /// Its id.
    pub span_id: SpanId,
    /// The span above.
    pub parent: Option<SpanId>,
    /// Its name.
    pub name: String,
    /// Where it is from.
    pub origin: Origin,
    /// When it began.
    pub start: UnixNanos,
    /// When it ended; of what still runs, the moment of looking.
    pub end: UnixNanos,
    /// How it stands.
    pub outcome: Outcome,
    /// What it says.
    pub facts: Facts,
}

impl Bar {
    /// The bars of a cell that stands at `place`: its own, then its phases'. `still_runs` is the moment of looking where it
    /// does: a cell that has neither ended nor runs is lost.
    #[must_use]
    pub fn of_cell(record: &Record, place: &Place, still_runs: Option<UnixNanos>) -> Vec<Self> {
        let mut bars: Vec<Self> = spans(record, place).iter().map(Self::of_span).collect();
        if let Some(bar) = bars.first_mut() {
            bar.origin = Origin::Cell {
                parent_session: record.parent_session.as_str().to_owned(),
                child_session: record.child_session.as_ref().map(|session| session.as_str().to_owned()),
            };
            bar.facts = facts(record);
            if let Some(now) = still_runs {
                bar.end = now.max(bar.start);
                bar.outcome = Outcome::Running;
            }
        }
        bars
    }

    fn of_span(span: &Span) -> Self {
        Self {
            trace_id: span.trace_id,
            span_id: span.span_id,
            parent: span.parent,
            name: span.name.to_owned(),
            origin: Origin::Phase,
            start: span.start,
            end: span.end,
            outcome: match &span.status {
                Status::Unset => Outcome::Fine,
                Status::Error(why) => Outcome::Failed(why.clone()),
            },
            facts: Facts::default(),
        }
    }
}

fn facts(record: &Record) -> Facts {
    let end = record.end();
    Facts {
        agent: Some(record.agent_type.as_str().to_owned()),
        description: Some(record.description.clone()).filter(|text| !text.is_empty()),
        model: end
            .and_then(|end| end.model_used.clone())
            .or_else(|| record.asked.model.clone()),
        tokens: end.map(|end| end.tokens).unwrap_or_default(),
        cost_usd: end.and_then(|end| end.cost_usd).filter(|usd| usd.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::testing::running;
    use crate::ledger::{End, Ending, State};

    fn place() -> Place {
        Place {
            trace_id: "a".repeat(32).parse().unwrap(),
            span_id: "b".repeat(16).parse().unwrap(),
            parent: None,
            link: None,
            sampled: true,
        }
    }

    #[test]
    fn a_cell_that_has_not_ended_runs_or_is_lost() {
        let record = running("toolu_1", "parent-1");
        let now = UnixNanos::from_nanos(record.started_unix_nano.as_nanos() + 5);
        let runs = Bar::of_cell(&record, &place(), Some(now));
        assert_eq!((&runs[0].outcome, runs[0].end), (&Outcome::Running, now));
        let lost = Bar::of_cell(&record, &place(), None);
        assert_eq!(lost[0].outcome, Outcome::Failed(Ending::Lost.cause()));
        assert_eq!(lost[0].facts.cost_usd, None);
    }

    #[test]
    fn the_model_that_worked_is_shown_and_else_the_one_asked_for() {
        let mut record = running("toolu_1", "parent-1");
        record.asked.model = Some("haiku".into());
        let model = |record: &Record| Bar::of_cell(record, &place(), None)[0].facts.model.clone();
        assert_eq!(model(&record).as_deref(), Some("haiku"));
        let mut end = End::bare(Ending::Completed, record.started_unix_nano);
        end.model_used = Some("claude-haiku-4-5".into());
        end.cost_usd = Some(f64::NAN);
        record.state = State::Ended(Box::new(end));
        assert_eq!(model(&record).as_deref(), Some("claude-haiku-4-5"));
        assert_eq!(Bar::of_cell(&record, &place(), None)[0].facts.cost_usd, None);
    }
}
