use std::collections::BTreeMap;

use super::*;
use crate::ledger::State;
use crate::ledger::record::{Delivery, DeliveryMode, DeliveryOutcome};
use crate::ledger::testing::running;
use crate::protocol::Tokens;

fn at(nanos: u64) -> UnixNanos {
    UnixNanos::from_nanos(nanos)
}

fn phase(from: u64, to: u64) -> Phase {
    Phase {
        start_unix_nano: at(from),
        end_unix_nano: at(to),
    }
}

/// A cell with everything known: started at 100, ended at 700, its result handed over by 750.
fn full(ending: Ending) -> Record {
    let mut record = running("toolu_1", "parent-1");
    record.cell = "cell-0190f3a0-0000-7000-8000-000000000000".parse().unwrap();
    record.child_session = Some("child-1".parse().unwrap());
    record.agent_type = "judge".parse().unwrap();
    record.description = "Judge the change".into();
    record.caller_agent = Some("a1".into());
    record.client_version = Some("2.1.332".into());
    record.provider = Some("anthropic".into());
    record.asked.effort = Some("high".into());
    record.started_unix_nano = at(100);
    record.phases = BTreeMap::from([
        ("plan".to_owned(), phase(100, 200)),
        ("slot".to_owned(), phase(200, 250)),
        ("start".to_owned(), phase(250, 300)),
        ("run".to_owned(), phase(300, 700)),
        ("deliver".to_owned(), phase(710, 750)),
    ]);
    record.delivery = Delivery {
        mode: DeliveryMode::Receipt,
        outcome: DeliveryOutcome::Sealed,
        ..Delivery::none()
    };
    let mut end = End::bare(ending, at(700));
    end.cost_usd = Some(0.25);
    end.num_turns = Some(3);
    end.duration_ms = Some(400);
    end.exit_code = Some(0);
    end.model_used = Some("claude-haiku-4-5".into());
    end.terminal_reason = Some("completed".into());
    end.tokens = Tokens {
        input: Some(10),
        output: Some(20),
        cache_read: Some(1000),
        cache_creation: Some(200),
    };
    record.state = State::Ended(Box::new(end));
    record
}

fn planned(record: &Record) -> Vec<Span> {
    spans(record, &Place::of(record.trace.as_ref().unwrap(), None))
}

fn text(text: &str) -> Value {
    Value::from(text)
}

#[test]
fn a_completed_cell_says_everything_that_is_known() {
    let spans = planned(&full(Ending::Completed));
    let expected = [
        ("gen_ai.operation.name", text("invoke_agent")),
        ("gen_ai.provider.name", text("anthropic")),
        ("gen_ai.agent.name", text("judge")),
        ("gen_ai.agent.id", text("child-1")),
        ("gen_ai.agent.description", text("Judge the change")),
        ("gen_ai.conversation.id", text("child-1")),
        ("gen_ai.request.model", text("haiku")),
        ("gen_ai.tool.call.id", text("toolu_1")),
        ("fullsend.spawned_session_id", text("child-1")),
        ("subcell.cell_id", text("cell-0190f3a0-0000-7000-8000-000000000000")),
        ("subcell.parent_session_id", text("parent-1")),
        ("subcell.caller_agent_id", text("a1")),
        ("subcell.depth", Value::Integer(1)),
        ("subcell.model_source", text("call")),
        ("subcell.effort", text("high")),
        ("subcell.client_version", text("2.1.332")),
        ("subcell.delivery", text("receipt")),
        ("subcell.delivery_outcome", text("sealed")),
        ("subcell.ending", text("completed")),
        // Anthropic counts the cache apart; the conventions count it in.
        ("gen_ai.usage.input_tokens", Value::Integer(1210)),
        ("gen_ai.usage.output_tokens", Value::Integer(20)),
        ("gen_ai.usage.cache_read.input_tokens", Value::Integer(1000)),
        ("gen_ai.usage.cache_creation.input_tokens", Value::Integer(200)),
        ("gen_ai.response.model", text("claude-haiku-4-5")),
        ("fullsend.cost_usd", Value::Float(0.25)),
        ("gen_ai.usage.cost", Value::Float(0.25)),
        ("fullsend.num_turns", Value::Integer(3)),
        ("subcell.duration_ms", Value::Integer(400)),
        ("subcell.terminal_reason", text("completed")),
        ("subcell.exit_code", Value::Integer(0)),
    ];
    assert_eq!(spans[0].attributes, expected);
    assert_eq!((&spans[0].status, spans[0].name), (&Status::Unset, "spawned_agent"));
    assert_eq!((spans[0].start, spans[0].end), (at(100), at(750)));
}

#[test]
fn phases_are_children_with_their_own_times_and_no_usage() {
    let spans = planned(&full(Ending::Completed));
    let names: Vec<_> = spans[1..]
        .iter()
        .map(|span| (span.name, span.start, span.end))
        .collect();
    assert_eq!(
        names,
        [
            ("plan", at(100), at(200)),
            ("slot", at(200), at(250)),
            ("start", at(250), at(300)),
            ("run", at(300), at(700)),
            ("deliver", at(710), at(750)),
        ]
    );
    for span in &spans[1..] {
        assert_eq!(
            (span.parent, span.trace_id),
            (Some(spans[0].span_id), spans[0].trace_id)
        );
        assert!(!span.parent_is_remote);
        assert!(span.attributes.iter().all(|(name, _)| !name.starts_with("gen_ai.")));
    }
}

#[test]
fn what_is_not_known_is_left_out_and_never_zero() {
    let mut record = full(Ending::Completed);
    record.provider = None;
    record.description = String::new();
    record.asked.model = None;
    record.state = State::Ended(Box::new(End::bare(Ending::Completed, at(700))));
    let spans = planned(&record);
    for name in [
        "gen_ai.provider.name",
        "gen_ai.agent.description",
        "gen_ai.request.model",
        "gen_ai.response.model",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cost",
        "fullsend.cost_usd",
        "fullsend.num_turns",
        "subcell.exit_code",
        "subcell.exit_signal",
        "error.type",
    ] {
        assert_eq!(spans[0].attribute(name), None, "{name}");
    }
    // A cost of 0 is one that is known.
    let mut end = End::bare(Ending::Completed, at(700));
    end.cost_usd = Some(0.0);
    end.tokens.output = Some(0);
    record.state = State::Ended(Box::new(end));
    let spans = planned(&record);
    assert_eq!(spans[0].attribute("fullsend.cost_usd"), Some(&Value::Float(0.0)));
    assert_eq!(
        spans[0].attribute("gen_ai.usage.output_tokens"),
        Some(&Value::Integer(0))
    );
}

#[test]
fn every_failed_ending_is_an_error_with_its_word_and_cause() {
    let detail = || "why".to_owned();
    for ending in [
        Ending::ChildError {
            fault: crate::ledger::ChildFault::IsError,
            detail: detail(),
        },
        Ending::NotLoggedIn { detail: detail() },
        Ending::TimedOut { limit_ms: 1000 },
        Ending::NoSlot { waited_ms: 1000 },
        Ending::CrashedCode {
            code: 3,
            detail: detail(),
        },
        Ending::CrashedSignal {
            signal: 9,
            detail: detail(),
        },
        Ending::Unreadable { detail: detail() },
        Ending::CouldNotStart { detail: detail() },
        Ending::Interrupted { signal: 15 },
        Ending::TooMuchOutput { limit_bytes: 1 },
        Ending::Lost,
    ] {
        let spans = planned(&full(ending.clone()));
        assert_eq!(spans[0].status, Status::Error(ending.cause()));
        assert_eq!(spans[0].attribute("error.type"), Some(&text(ending.word())));
        assert_eq!(spans[0].attribute("subcell.ending"), Some(&text(ending.word())));
    }
}

#[test]
fn a_lost_cell_is_an_error_that_ends_with_the_last_thing_known() {
    let mut record = full(Ending::Completed);
    record.state = State::Running;
    record.phases = BTreeMap::from([("plan".to_owned(), phase(100, 200))]);
    let spans = planned(&record);
    assert_eq!(spans.len(), 2);
    assert_eq!((spans[0].start, spans[0].end), (at(100), at(200)));
    assert_eq!(spans[0].status, Status::Error(Ending::Lost.cause()));
    assert_eq!(spans[0].attribute("error.type"), Some(&text("lost")));
    assert_eq!(spans[0].attribute("fullsend.cost_usd"), None);
}

#[test]
fn clocks_that_went_backwards_give_no_negative_span() {
    let mut record = full(Ending::Completed);
    record.started_unix_nano = at(900);
    record.phases = BTreeMap::from([("run".to_owned(), phase(950, 940))]);
    for span in planned(&record) {
        assert!(span.end >= span.start, "{span:?}");
    }
}

#[test]
fn a_phase_that_no_version_of_ours_writes_is_left_out() {
    let mut record = full(Ending::Completed);
    record.phases.insert("evil\nname".to_owned(), phase(1, 2));
    assert_eq!(planned(&record).len(), 6);
}

#[test]
fn planning_twice_gives_the_same_spans() {
    let record = full(Ending::Completed);
    assert_eq!(planned(&record), planned(&record));
}
