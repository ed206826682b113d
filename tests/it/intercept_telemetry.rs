//! The span that the hook sends itself, where the user's configuration names a collector.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::collector::{Collector, Reply, refused};
use crate::hook::Scene;
use crate::wire::{self, Any};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A call whose parent has a trace, and whose user names a collector at `url`.
fn scene(url: &str, flags: &str) -> Scene {
    let scene = Scene::new("").start_env("TRACEPARENT", &format!("00-{TRACE}-{PARENT}-{flags}"));
    scene.file(
        ".config/subcell/subcell.toml",
        &format!("[telemetry]\nendpoint = \"{url}\"\nheaders.x-team = \"a\"\n"),
    );
    scene
}

fn notes(record: &Value) -> String {
    record["notes"].to_string()
}

#[test]
fn a_cell_is_sent_at_once_under_the_parents_span() {
    let mut collector = Collector::start(&[]);
    // What a repository's settings put into the hook's environment changes nothing.
    let foreign = "OTEL_EXPORTER_OTLP_HEADERS";
    let scene = scene(&collector.url(), "01").hook_env(foreign, Some("content-type=text/plain,x-repository=b"));
    scene.run().updated();
    let record = scene.record();
    assert_eq!(record["export"], "sent", "{}", notes(&record));
    let request = collector.next();
    assert_eq!(request.header("x-team"), Some("a"));
    assert_eq!(request.header("content-type"), Some("application/x-protobuf"));
    assert_eq!(request.header("x-repository"), None);
    let spans = wire::spans(&request.body);
    let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["spawned_agent", "plan", "slot", "start", "run", "deliver"]);
    let cell = &spans[0];
    assert_eq!((cell.trace_id.as_str(), cell.parent.as_str()), (TRACE, PARENT));
    assert_eq!(Value::from(cell.span_id.clone()), record["trace"]["span_id"]);
    assert_eq!(cell.attributes["gen_ai.tool.call.id"], Any::Text("toolu_1".into()));
    assert_eq!(cell.attributes["subcell.ending"], Any::Text("completed".into()));
    for phase in &spans[1..] {
        assert_eq!(phase.parent, cell.span_id, "{}", phase.name);
        assert!(phase.start >= cell.start && phase.end <= cell.end, "{}", phase.name);
    }
}

#[test]
fn trouble_with_the_collector_leaves_the_record_waiting_and_the_call_unharmed() {
    let timed = |scene: &Scene| {
        let began = Instant::now();
        scene.run().updated();
        began.elapsed()
    };
    // What the same call takes without a collector, on this machine as busy as it is.
    let usual = timed(&Scene::new("")).max(timed(&Scene::new("")));
    let silent = Collector::start(&[Reply::Silent]);
    let drip = Collector::start(&[Reply::Drip]);
    let failing = Collector::start(&[Reply::status(503)]);
    let refusing = Collector::start(&[Reply::status(400)]);
    let gone = Collector::start(&[Reply::HalfAnswer]);
    for url in [
        silent.url(),
        drip.url(),
        failing.url(),
        refusing.url(),
        gone.url(),
        refused(),
    ] {
        let scene = scene(&url, "01");
        let took = timed(&scene);
        // The budget of 200 ms, and room for a busy machine: the exporter's own default is 10 s.
        assert!(
            took < usual + Duration::from_millis(200) + Duration::from_secs(3),
            "{url}: {took:?}, usually {usual:?}"
        );
        let record = scene.record();
        assert_eq!(
            (&record["export"], &record["state"]["ending"]["kind"]),
            (&"none".into(), &"completed".into())
        );
        assert!(
            notes(&record).contains("the span was not sent at once"),
            "{}",
            notes(&record)
        );
    }
}

#[test]
fn no_request_is_made_where_the_hook_has_no_sampled_trace() {
    let mut collector = Collector::start(&[]);
    let unsampled = scene(&collector.url(), "00");
    unsampled.run().updated();
    let untraced = scene(&collector.url(), "01").start_env("TRACEPARENT", "");
    untraced.run().updated();
    for scene in [unsampled, untraced] {
        assert_eq!(scene.record()["export"], "none");
    }
    assert!(collector.requests().is_empty());
}

#[test]
fn a_repository_cannot_name_the_collector_and_a_mistake_is_told_to_the_user() {
    let mut collector = Collector::start(&[]);
    let url = collector.url();
    let foreign = Scene::new("")
        .start_env("TRACEPARENT", &format!("00-{TRACE}-{PARENT}-01"))
        .hook_env("OTEL_EXPORTER_OTLP_ENDPOINT", Some(&url))
        .hook_env("HTTP_PROXY", Some(&url));
    foreign.file("project/.subcell.toml", &format!("[telemetry]\nendpoint = \"{url}\"\n"));
    foreign.run().updated();
    assert_eq!(foreign.record()["export"], "none");
    assert!(collector.requests().is_empty());

    let mistaken = scene("collector:4318", "01");
    let run = mistaken.run();
    run.updated();
    assert!(run.message().contains("no span is sent"), "{}", run.message());
    assert_eq!(mistaken.record()["state"]["ending"]["kind"], "completed");
}
