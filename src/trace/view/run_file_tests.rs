use serde_json::json;

use super::*;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn span(name: &str, id: &str, parent: &str, more: &Json) -> Json {
    let mut span = json!({
        "traceId": TRACE, "spanId": id, "parentSpanId": parent, "name": name, "kind": 1,
        "startTimeUnixNano": "1000", "endTimeUnixNano": "3000", "status": {},
    });
    let fields = span.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    span
}

fn line(spans: &[Json]) -> String {
    json!({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}).to_string() + "\n"
}

#[test]
fn what_fullsend_says_of_an_agent_is_read() {
    let attribute = |key: &str, value: Json| json!({"key": key, "value": value});
    let agent = span(
        "agent",
        "00f067aa0ba902b7",
        "",
        &json!({"attributes": [
            attribute("gen_ai.agent.name", json!({"stringValue": "triage"})),
            attribute("gen_ai.request.model", json!({"stringValue": "claude-opus-5-5"})),
            attribute("gen_ai.usage.input_tokens", json!({"intValue": "12"})),
            attribute("gen_ai.usage.output_tokens", json!({"intValue": 34})),
            attribute("gen_ai.usage.cache_read.input_tokens", json!({"intValue": "56"})),
            attribute("fullsend.cost_usd", json!({"doubleValue": 0.42})),
        ]}),
    );
    let file = RunFile::parse(line(&[agent]).as_bytes());
    let bar = &file.bars[0];
    assert_eq!((bar.trace_id.to_string().as_str(), bar.parent), (TRACE, None));
    assert_eq!((bar.start.as_nanos(), bar.end.as_nanos()), (1000, 3000));
    assert_eq!(bar.facts.agent.as_deref(), Some("triage"));
    assert_eq!(bar.facts.model.as_deref(), Some("claude-opus-5-5"));
    let tokens = bar.facts.tokens;
    assert_eq!(
        (tokens.input, tokens.output, tokens.cache_read, tokens.cache_creation),
        (Some(12), Some(34), Some(56), None)
    );
    assert_eq!(bar.facts.cost_usd, Some(0.42));
    assert!(file.broken.is_empty());
    assert_eq!(file.resource_spans.len(), 1);
}

#[test]
fn the_status_is_read_as_a_number_and_as_a_name() {
    for (status, outcome) in [
        (json!({}), Outcome::Fine),
        (json!({"code": 1}), Outcome::Fine),
        (json!({"code": 2, "message": "no"}), Outcome::Failed("no".into())),
        (json!({"code": "STATUS_CODE_ERROR"}), Outcome::Failed(String::new())),
    ] {
        let text = line(&[span("agent", "00f067aa0ba902b7", "", &json!({"status": status}))]);
        assert_eq!(RunFile::parse(text.as_bytes()).bars[0].outcome, outcome, "{status}");
    }
}

#[test]
fn the_root_is_known_before_and_after_it_is_written() {
    let root = "00000000000000aa";
    let early = line(&[
        span("sandbox_create", "0000000000000001", root, &json!({})),
        span("agent", "0000000000000002", root, &json!({})),
        span("execute_tool", "0000000000000003", "0000000000000002", &json!({})),
    ]);
    let expected = root.parse().ok();
    let found = |text: &str| RunFile::parse(text.as_bytes()).root().map(|root| root.span_id);
    assert_eq!(found(&early), expected);
    // The caller's own span above the run is not where fullsend's post script stands.
    let late = early.clone() + &line(&[span("run", root, "00000000000000ff", &json!({}))]);
    assert_eq!(found(&late), expected);
    let torn = early + &line(&[span("agent", "0000000000000004", "00000000000000bb", &json!({}))]);
    assert_eq!(found(&torn), None);
    assert_eq!(found(""), None);
}

#[test]
fn a_broken_line_is_told_and_the_others_are_read() {
    let good = line(&[span("agent", "00f067aa0ba902b7", "", &json!({}))]);
    let no_id = line(&[span("agent", "xyz", "", &json!({}))]);
    let backwards = json!({"endTimeUnixNano": "1"});
    let clock = line(&[span("clock", "00f067aa0ba902b8", "", &backwards)]);
    let file = RunFile::parse(format!("{good}{{cut\n\n[1]\n{no_id}{clock}\u{0}").as_bytes());
    let names: Vec<_> = file.bars.iter().map(|bar| bar.name.as_str()).collect();
    assert_eq!(names, ["agent", "clock"]);
    assert_eq!(file.bars[1].end, file.bars[1].start);
    let told: Vec<_> = file
        .broken
        .iter()
        .map(|text| text.split(':').next().unwrap_or_default().to_owned())
        .collect();
    let lines = |numbers: &[usize]| {
        numbers
            .iter()
            .map(|n| format!("{RUN_FILE}, line {n}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(told, lines(&[2, 4, 5, 7]));
}
