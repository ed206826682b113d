//! One trace with the client's own telemetry on: the parent's spans, under its call ours, and under ours the child's.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::namespace::COLLECTOR;
use crate::on_both_versions;
use crate::run::Run;
use crate::scene::{Scene, call};

on_both_versions!(one_trace);

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const GIVEN: &str = "00f067aa0ba902b7";

/// What switches a client's traces on (2.1.156 to 2.1.332).
const TELEMETRY: [(&str, &str); 5] = [
    ("CLAUDE_CODE_ENABLE_TELEMETRY", "1"),
    ("CLAUDE_CODE_ENHANCED_TELEMETRY_BETA", "1"),
    ("OTEL_TRACES_EXPORTER", "otlp"),
    ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", COLLECTOR),
];

/// The user's configuration: where the hook sends, and the variables that the client takes away from its hooks.
fn configuration() -> String {
    let variables = TELEMETRY
        .map(|(name, value)| format!("{name} = \"{value}\"\n"))
        .concat();
    format!("[telemetry]\nendpoint = \"{COLLECTOR}\"\nprotocol = \"http/json\"\n\n[child.env]\n{variables}")
}

/// Every span that arrived, with the service that sent it, by span id.
fn spans(run: &Run) -> BTreeMap<String, (String, Value)> {
    let text = std::fs::read_to_string(run.path("spans.jsonl")).unwrap();
    let requests: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut spans = BTreeMap::new();
    for resource in requests.iter().flat_map(|request| list(request, "resourceSpans")) {
        let service = attribute(&resource["resource"], "service.name").unwrap_or_default();
        for span in list(resource, "scopeSpans").flat_map(|scope| list(scope, "spans")) {
            let id = span["spanId"].as_str().unwrap().to_owned();
            spans.insert(id, (service.clone(), span.clone()));
        }
    }
    spans
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

fn attribute(of: &Value, name: &str) -> Option<String> {
    let found = list(of, "attributes").find(|attribute| attribute["key"] == name)?;
    found["value"]["stringValue"].as_str().map(str::to_owned)
}

fn one_trace(version: &'static str) {
    let mut scene = Scene::new(version)
        .isolated()
        .collector()
        .rule(
            json!({"role": "subagent", "prompt_contains": "\nBEGIN-"}),
            json!([{"echo": {}}]),
        )
        .rule(
            json!({"role": "main", "prompt_contains": "JUDGE"}),
            json!([{"text": "VERDICT"}]),
        )
        .parent_calls(&[call("JUDGE it")])
        .file("home/.config/subcell/subcell.toml", &configuration())
        .env("TRACEPARENT", &format!("00-{TRACE}-{GIVEN}-01"));
    for (name, value) in TELEMETRY {
        scene = scene.env(name, value);
    }
    let run = scene.run();
    run.assert_ended_well();
    let spans = spans(&run);
    let tree = || {
        let line = |(id, (service, span)): (&String, &(String, Value))| {
            format!("{service} {} {id} under {}", span["name"], span["parentSpanId"])
        };
        format!("{:#?}; {run:?}", spans.iter().map(line).collect::<Vec<_>>())
    };
    assert!(spans.values().all(|(_, span)| span["traceId"] == TRACE), "{}", tree());

    let record = run.records().into_values().next().unwrap();
    assert_eq!(record["export"], "sent", "{}", tree());
    let id = record["trace"]["span_id"].as_str().unwrap();
    let (service, cell) = spans
        .get(id)
        .unwrap_or_else(|| panic!("our span is missing: {}", tree()));
    assert_eq!(
        (service.as_str(), cell["name"].as_str()),
        ("subcell", Some("spawned_agent")),
        "{}",
        tree()
    );

    // Ours hangs in the trace that the parent was given: under a span of the parent's, or under the one above it.
    let above = cell["parentSpanId"].as_str().unwrap();
    let is_parents = spans.get(above).is_some_and(|(service, _)| service == "claude-code");
    assert!(above == GIVEN || is_parents, "{}", tree());

    let under = |parent: &str| {
        spans
            .values()
            .filter(|(_, span)| span["name"] == "claude_code.interaction" && span["parentSpanId"] == *parent)
            .map(|(_, span)| attribute(span, "session.id"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        under(id),
        [record["child_session"].as_str().map(str::to_owned)],
        "{}",
        tree()
    );
    assert_eq!(under(GIVEN), [Some(run.parent().to_owned())], "{}", tree());
}
