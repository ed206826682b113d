//! A subscriber for this thread that keeps ended spans, until they are joined with those that a record plans.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opentelemetry::Context;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider, SpanData, SpanProcessor};
use tracing::span::EnteredSpan;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;

use crate::base::UnixNanos;
use crate::telemetry::{Event, Span};

/// A phase that runs, until it is dropped.
#[derive(Debug)]
pub struct Phase {
    _span: EnteredSpan,
}

/// Begins a phase.
#[must_use]
pub fn phase(name: &'static str) -> Phase {
    Phase {
        // tracing knows a name at compile time only; this field is what tracing-opentelemetry calls the span.
        _span: tracing::info_span!("phase", otel.name = name).entered(),
    }
}

/// Says that something happened in the phase that runs.
pub fn event(what: &str) {
    tracing::warn!("{what}");
}

/// Records the phases of this thread.
#[derive(Debug)]
pub struct Recorder {
    ended: Arc<Ended>,
    // First the subscriber goes, then the provider that it makes spans with.
    _subscriber: DefaultGuard,
    _provider: SdkTracerProvider,
}

impl Recorder {
    /// Begins.
    #[must_use]
    pub fn start() -> Self {
        let ended = Arc::new(Ended::default());
        let provider = SdkTracerProvider::builder()
            // Who starts one wants its spans; the variables of samplers are for tracers that make traces of their own.
            .with_sampler(Sampler::AlwaysOn)
            .with_span_processor(Keeping(Arc::clone(&ended)))
            .build();
        let layer = tracing_opentelemetry::layer()
            .with_tracer(provider.tracer(env!("CARGO_PKG_NAME")))
            .with_location(false)
            .with_threads(false)
            .with_target(false);
        let subscriber = tracing_subscriber::registry().with(layer);
        Self {
            ended,
            _subscriber: tracing::subscriber::set_default(subscriber),
            _provider: provider,
        }
    }

    /// Joins what was recorded with the spans that are planned. Ids and attributes are the plan's, so that whoever sends the
    /// same cell again sends the same; times and events are those of the live span of the same name.
    #[must_use]
    pub fn finish(self, planned: Vec<Span>) -> Vec<Span> {
        let ended = self.ended.take();
        let live = |span: Span| match ended.iter().find(|live| live.name == span.name) {
            Some(live) => Span {
                start: nanos(live.start_time),
                end: nanos(live.end_time),
                events: live.events.iter().map(event_of).collect(),
                ..span
            },
            None => span,
        };
        planned.into_iter().map(live).collect()
    }
}

fn event_of(event: &opentelemetry::trace::Event) -> Event {
    Event {
        name: event.name.clone().into_owned(),
        at: nanos(event.timestamp),
    }
}

fn nanos(at: SystemTime) -> UnixNanos {
    let since: Duration = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixNanos::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// The spans that have ended.
#[derive(Debug, Default)]
struct Ended(Mutex<Vec<SpanData>>);

impl Ended {
    fn take(&self) -> Vec<SpanData> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Keeps every span that ends.
#[derive(Debug)]
struct Keeping(Arc<Ended>);

impl SpanProcessor for Keeping {
    fn on_start(&self, _: &mut opentelemetry_sdk::trace::Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).push(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{SpanId, TraceId};
    use crate::telemetry::{Kind, Status};

    fn planned(name: &'static str) -> Span {
        Span {
            trace_id: TraceId::random(),
            span_id: SpanId::random(),
            parent: None,
            parent_is_remote: false,
            name,
            kind: Kind::Internal,
            start: UnixNanos::from_nanos(1),
            end: UnixNanos::from_nanos(2),
            attributes: Vec::new(),
            events: Vec::new(),
            links: Vec::new(),
            status: Status::Unset,
        }
    }

    #[test]
    fn live_phases_give_times_and_events_to_the_planned_spans_of_their_name() {
        drop(phase("run"));
        let before = UnixNanos::now();
        let recorder = Recorder::start();
        let run = phase("run");
        event("the ledger is full");
        drop(run);
        let after = UnixNanos::now();
        let plan = vec![planned("plan"), planned("run")];
        let spans = recorder.finish(plan.clone());
        assert_eq!(spans[0], plan[0]);
        let run = &spans[1];
        assert_eq!((run.span_id, run.trace_id), (plan[1].span_id, plan[1].trace_id));
        assert!(
            before <= run.start && run.start <= run.end && run.end <= after,
            "{run:?}"
        );
        assert_eq!(run.events.len(), 1);
        assert_eq!(run.events[0].name, "the ledger is full");
    }

    #[test]
    fn nothing_is_recorded_after_a_recorder_has_finished() {
        let recorder = Recorder::start();
        let ended = Arc::clone(&recorder.ended);
        assert!(recorder.finish(Vec::new()).is_empty());
        drop(phase("run"));
        assert!(ended.take().is_empty());
    }
}
