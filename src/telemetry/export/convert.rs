//! From a planned span to the SDK's, which the exporter takes. Ids are the plan's: no tracer makes new ones.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opentelemetry::trace::{self as otel, SpanContext, SpanKind, TraceFlags, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue, StringValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use crate::base::{SpanId, TraceId, UnixNanos};
use crate::telemetry::{Event, Kind, Link, Settings, Span, Status, Value};

/// The scope that spans are made in.
pub(super) fn scope() -> InstrumentationScope {
    InstrumentationScope::builder(env!("CARGO_PKG_NAME"))
        .with_version(env!("CARGO_PKG_VERSION"))
        .build()
}

/// What the spans are of.
pub(super) fn resource(settings: &Settings) -> Resource {
    let attributes = settings.resource.iter();
    Resource::builder_empty()
        .with_attributes(attributes.map(|(name, value)| KeyValue::new(name.clone(), value.clone())))
        .build()
}

/// The span as the exporter takes it; texts are cut to `limit` characters.
pub(super) fn span_data(span: &Span, scope: &InstrumentationScope, limit: Option<usize>) -> SpanData {
    let mut links = SpanLinks::default();
    links.links.extend(span.links.iter().map(link));
    let mut events = SpanEvents::default();
    let event = |event: &Event| otel::Event::new(event.name.clone(), time(event.at), Vec::new(), 0);
    events.events.extend(span.events.iter().map(event));
    SpanData {
        // Only sampled spans are ever sent.
        span_context: context(span.trace_id, span.span_id, true),
        parent_span_id: span.parent.map_or(otel::SpanId::INVALID, span_id),
        parent_span_is_remote: span.parent_is_remote,
        span_kind: match span.kind {
            Kind::Internal => SpanKind::Internal,
        },
        name: span.name.into(),
        start_time: time(span.start),
        end_time: time(span.end),
        attributes: span.attributes.iter().map(|pair| attribute(pair, limit)).collect(),
        dropped_attributes_count: 0,
        events,
        links,
        status: match &span.status {
            Status::Unset => otel::Status::Unset,
            Status::Error(description) => otel::Status::error(description.clone()),
        },
        instrumentation_scope: scope.clone(),
    }
}

fn attribute((name, value): &(&'static str, Value), limit: Option<usize>) -> KeyValue {
    let cut = |text: &String| -> StringValue {
        match limit.and_then(|limit| text.char_indices().nth(limit)) {
            Some((at, _)) => text.get(..at).unwrap_or(text).to_owned().into(),
            None => text.clone().into(),
        }
    };
    let value: opentelemetry::Value = match value {
        Value::Text(text) => opentelemetry::Value::String(cut(text)),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Flag(flag) => (*flag).into(),
        Value::Texts(texts) => {
            opentelemetry::Value::Array(opentelemetry::Array::String(texts.iter().map(cut).collect()))
        }
    };
    KeyValue::new(*name, value)
}

fn link(link: &Link) -> otel::Link {
    otel::Link::with_context(context(link.trace_id, link.span_id, link.sampled))
}

fn context(trace: TraceId, span: SpanId, sampled: bool) -> SpanContext {
    let flags = if sampled {
        TraceFlags::SAMPLED
    } else {
        TraceFlags::NOT_SAMPLED
    };
    let trace = otel::TraceId::from_bytes(trace.to_bytes());
    // Not remote: the span itself is ours, and a link's is the same cell's.
    SpanContext::new(trace, span_id(span), flags, false, TraceState::NONE)
}

fn span_id(id: SpanId) -> otel::SpanId {
    otel::SpanId::from_bytes(id.to_bytes())
}

fn time(at: UnixNanos) -> SystemTime {
    UNIX_EPOCH + Duration::from_nanos(at.as_nanos())
}
