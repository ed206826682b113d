//! Spans as OTLP/JSON: ids in hexadecimal, 64-bit integers as texts, enumerations as numbers (OTLP specification 1.x, "JSON
//! Protobuf Encoding"; field names of `opentelemetry/proto/trace/v1/trace.proto`). It needs no exporter.

use serde_json::{Map, Value as Json, json};

use super::span::{Event, Kind, Link, Span, Status, Value};

/// `SpanFlags` of the trace protocol: the low byte holds the flags of W3C trace context.
const SAMPLED: u32 = 0x1;
const HAS_IS_REMOTE: u32 = 0x100;
const IS_REMOTE: u32 = 0x200;
/// `SPAN_KIND_INTERNAL`.
const KIND_INTERNAL: u32 = 1;
/// `STATUS_CODE_ERROR`.
const STATUS_ERROR: u32 = 2;

/// The `ResourceSpans` of a service; each span comes with whether its trace is sampled.
#[must_use]
pub fn resource_spans(service: &str, spans: &[(Span, bool)]) -> Json {
    let version = env!("CARGO_PKG_VERSION");
    let spans: Vec<Json> = spans.iter().map(|(span, sampled)| of_span(span, *sampled)).collect();
    json!({
        "resource": {"attributes": [
            attribute("service.name", &service.into()),
            attribute("service.version", &version.into()),
        ]},
        "scopeSpans": [{"scope": {"name": "subcell", "version": version}, "spans": spans}],
    })
}

fn of_span(span: &Span, sampled: bool) -> Json {
    let remote = if span.parent_is_remote { IS_REMOTE } else { 0 };
    let mut out = Map::new();
    out.insert("traceId".into(), span.trace_id.to_string().into());
    out.insert("spanId".into(), span.span_id.to_string().into());
    if let Some(parent) = span.parent {
        out.insert("parentSpanId".into(), parent.to_string().into());
    }
    out.insert("flags".into(), (flag(sampled) | HAS_IS_REMOTE | remote).into());
    out.insert("name".into(), span.name.into());
    let Kind::Internal = span.kind;
    out.insert("kind".into(), KIND_INTERNAL.into());
    out.insert("startTimeUnixNano".into(), span.start.to_string().into());
    out.insert("endTimeUnixNano".into(), span.end.to_string().into());
    let attributes = span.attributes.iter().map(|(name, value)| attribute(name, value));
    out.insert("attributes".into(), attributes.collect());
    if !span.events.is_empty() {
        out.insert("events".into(), span.events.iter().map(of_event).collect());
    }
    if !span.links.is_empty() {
        out.insert("links".into(), span.links.iter().map(of_link).collect());
    }
    // A status that is unset is left out, as every field with its default.
    if let Status::Error(message) = &span.status {
        out.insert("status".into(), json!({"code": STATUS_ERROR, "message": message}));
    }
    Json::Object(out)
}

const fn flag(sampled: bool) -> u32 {
    if sampled { SAMPLED } else { 0 }
}

fn of_event(event: &Event) -> Json {
    json!({"timeUnixNano": event.at.to_string(), "name": event.name})
}

fn of_link(link: &Link) -> Json {
    json!({
        "traceId": link.trace_id.to_string(),
        "spanId": link.span_id.to_string(),
        "flags": flag(link.sampled),
    })
}

fn attribute(name: &str, value: &Value) -> Json {
    json!({"key": name, "value": of_value(value)})
}

fn of_value(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!({"stringValue": text}),
        Value::Integer(number) => json!({"intValue": number.to_string()}),
        Value::Float(number) => json!({"doubleValue": number}),
        Value::Flag(flag) => json!({"boolValue": flag}),
        Value::Texts(texts) => {
            let values: Vec<Json> = texts.iter().map(|text| json!({"stringValue": text})).collect();
            json!({"arrayValue": {"values": values}})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::UnixNanos;

    fn span() -> Span {
        Span {
            trace_id: "5b8efff798038103d269b633813fc60c".parse().unwrap(),
            span_id: "eee19b7ec3c1b174".parse().unwrap(),
            parent: Some("eee19b7ec3c1b173".parse().unwrap()),
            parent_is_remote: true,
            name: "spawned_agent",
            kind: Kind::Internal,
            start: UnixNanos::from_nanos(1_544_712_660_000_000_000),
            end: UnixNanos::from_nanos(1_544_712_661_000_000_000),
            attributes: vec![
                ("text", "a".into()),
                ("integer", Value::Integer(i64::MAX)),
                ("float", Value::Float(0.25)),
                ("flag", Value::Flag(true)),
                ("texts", Value::Texts(vec!["x".into(), "y".into()])),
            ],
            events: vec![Event {
                name: "retried".into(),
                at: UnixNanos::from_nanos(1_544_712_660_500_000_000),
            }],
            links: vec![Link {
                trace_id: "0af7651916cd43dd8448eb211c80319c".parse().unwrap(),
                span_id: "b7ad6b7169203331".parse().unwrap(),
                sampled: true,
            }],
            status: Status::Error("it failed".into()),
        }
    }

    #[test]
    fn a_span_is_written_by_the_rules_of_otlp_json() {
        // Ids and times are those of the specification's examples/trace.json.
        let expected = json!({
            "traceId": "5b8efff798038103d269b633813fc60c",
            "spanId": "eee19b7ec3c1b174",
            "parentSpanId": "eee19b7ec3c1b173",
            "flags": 0x301,
            "name": "spawned_agent",
            "kind": 1,
            "startTimeUnixNano": "1544712660000000000",
            "endTimeUnixNano": "1544712661000000000",
            "attributes": [
                {"key": "text", "value": {"stringValue": "a"}},
                {"key": "integer", "value": {"intValue": "9223372036854775807"}},
                {"key": "float", "value": {"doubleValue": 0.25}},
                {"key": "flag", "value": {"boolValue": true}},
                {"key": "texts", "value": {"arrayValue": {"values": [{"stringValue": "x"}, {"stringValue": "y"}]}}},
            ],
            "events": [{"timeUnixNano": "1544712660500000000", "name": "retried"}],
            "links": [{"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "flags": 1}],
            "status": {"code": 2, "message": "it failed"},
        });
        let whole = resource_spans("subcell", &[(span(), true)]);
        assert_eq!(whole["scopeSpans"][0]["spans"][0], expected);
        assert_eq!(
            whole["resource"]["attributes"][0],
            json!({"key": "service.name", "value": {"stringValue": "subcell"}})
        );
    }

    #[test]
    fn what_has_its_default_is_left_out() {
        let mut root = span();
        root.parent = None;
        root.parent_is_remote = false;
        root.events.clear();
        root.links.clear();
        root.status = Status::Unset;
        let written = of_span(&root, false);
        for field in ["parentSpanId", "events", "links", "status"] {
            assert_eq!(written.get(field), None, "{field}");
        }
        assert_eq!(written["flags"], 0x100);
    }
}
