use super::*;
use crate::ledger::record::TraceIds;
use crate::ledger::testing::running;
use crate::ledger::{End, Ending, State};

const ROOT: &str = "00000000000000aa";

fn record(call: &str, session: &str, (trace, span): (&str, &str), start: u64) -> Record {
    let mut record = running(call, session);
    record.child_session = Some(format!("child-of-{call}").parse().unwrap());
    record.started_unix_nano = UnixNanos::from_nanos(start);
    record.phases.clear();
    record.state = State::Ended(Box::new(End::bare(Ending::Completed, UnixNanos::from_nanos(start + 5))));
    record.trace = Some(TraceIds {
        trace_id: trace.repeat(32).parse().unwrap(),
        span_id: span.repeat(16).parse().unwrap(),
        parent_span_id: None,
        sampled: true,
    });
    record
}

fn two_runs() -> Shown {
    let records = vec![
        (record("toolu_1", "first", ("a", "1"), 10), false),
        (record("toolu_2", "first", ("b", "2"), 20), false),
        (record("toolu_3", "second", ("c", "3"), 30), true),
    ];
    Shown::new(records, None, UnixNanos::from_nanos(99))
}

fn traces(chosen: &Chosen) -> Vec<String> {
    let mut traces: Vec<String> = chosen
        .runs
        .iter()
        .flatten()
        .map(|bar| bar.trace_id.to_string())
        .collect();
    for trace in &mut traces {
        trace.truncate(1);
    }
    traces
}

#[test]
fn the_run_that_is_asked_for_is_chosen() {
    let id = |text: &str| Query::Id(text.to_owned());
    let folder = Query::Folder("run".into());
    for (query, all, expected, left_out) in [
        (Query::Latest, false, vec!["c"], 1),
        (Query::Latest, true, vec!["a", "b", "c"], 0),
        (folder, false, vec!["c"], 1),
        (id("first"), false, vec!["a", "b"], 0),
        (id("toolu_1"), false, vec!["a", "b"], 0),
        (id("child-of-toolu_3"), false, vec!["c"], 0),
        (id(&"b".repeat(32)), false, vec!["a", "b"], 0),
    ] {
        let chosen = choose(two_runs(), &query, all).unwrap();
        assert_eq!(
            (traces(&chosen), chosen.left_out),
            (expected.iter().map(ToString::to_string).collect(), left_out)
        );
    }
    assert!(choose(two_runs(), &id(""), false).is_err());
    assert!(choose(two_runs(), &id("nobody"), false).is_err());
    assert!(choose(Shown::default(), &Query::Latest, true).is_err());
}

#[test]
fn what_still_runs_is_drawn_and_not_exported() {
    let chosen = choose(two_runs(), &Query::Latest, true).unwrap();
    assert_eq!(chosen.running(), 1);
    let spans = &chosen.otlp()["resourceSpans"][0]["scopeSpans"][0]["spans"];
    let ids: Vec<_> = spans
        .as_array()
        .unwrap()
        .iter()
        .map(|span| span["spanId"].clone())
        .collect();
    assert_eq!(ids, ["1".repeat(16), "2".repeat(16)]);
    let only_running = choose(two_runs(), &Query::Latest, false).unwrap();
    assert_eq!(only_running.otlp(), json!({"resourceSpans": []}));
}

fn file(more: &Json) -> RunFile {
    let mut spans = vec![json!({
        "traceId": "d".repeat(32), "spanId": "00000000000000ab", "parentSpanId": ROOT, "name": "agent",
        "startTimeUnixNano": "5", "endTimeUnixNano": "50",
    })];
    spans.extend(more.as_array().unwrap().clone());
    RunFile::parse(
        json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
            .to_string()
            .as_bytes(),
    )
}

#[test]
fn a_cell_without_a_trace_stands_where_emit_puts_it_in_fullsends() {
    let records = vec![(record("toolu_1", "first", ("a", "1"), 10), false)];
    let shown = Shown::new(records, Some(file(&json!([]))), UnixNanos::from_nanos(99));
    let chosen = choose(shown, &Query::Folder("run".into()), false).unwrap();
    assert_eq!(traces(&chosen), ["d", "d"]);
    let otlp = chosen.otlp();
    let resources = otlp["resourceSpans"].as_array().unwrap();
    assert_eq!(resources[0]["scopeSpans"][0]["spans"][0]["name"], "agent");
    let ours = &resources[1]["scopeSpans"][0]["spans"][0];
    assert_eq!(
        (&ours["parentSpanId"], &ours["traceId"]),
        (&json!(ROOT), &json!("d".repeat(32)))
    );
    assert_eq!(ours["links"][0]["traceId"], "a".repeat(32));
}

#[test]
fn a_cell_that_is_in_the_file_too_is_shown_once() {
    let also = json!([{
        "traceId": "d".repeat(32), "spanId": "1".repeat(16), "parentSpanId": ROOT, "name": "spawned_agent",
        "startTimeUnixNano": "10", "endTimeUnixNano": "15",
    }]);
    let records = vec![(record("toolu_1", "first", ("a", "1"), 10), false)];
    let shown = Shown::new(records, Some(file(&also)), UnixNanos::from_nanos(99));
    assert_eq!(shown.bars.len(), 2);
}
