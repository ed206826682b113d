//! What a real run proves: judged purely from what it left.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

/// One step of an isolated call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// Whether it was seen.
    pub seen: bool,
    /// What was seen, or what was seen in its place.
    pub what: String,
}

/// What a real run showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Whether the run had a network namespace with loopback alone.
    pub network_namespace: bool,
    /// The steps, in order.
    pub stages: Vec<Stage>,
}

/// What a run left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traces {
    /// What the client printed; null where it is no JSON.
    pub result: Value,
    /// How the client ended, where not well.
    pub trouble: Option<String>,
    /// The model's request log.
    pub requests: Vec<Value>,
    /// The cells' records.
    pub records: Vec<Value>,
    /// The text that stands in the call's prompt.
    pub task: String,
    /// The text that a cell answers with.
    pub answer: String,
}

impl Evidence {
    /// Judges a run.
    #[must_use]
    pub fn of(traces: &Traces, network_namespace: bool) -> Self {
        Self {
            network_namespace,
            stages: vec![
                client_ran(traces),
                hook_fired(traces),
                input_rewritten(traces),
                child_ran(traces),
                result_returned(traces),
            ],
        }
    }

    /// Whether every step was seen.
    #[must_use]
    pub fn proves(&self) -> bool {
        self.stages.iter().all(|stage| stage.seen)
    }

    /// The evidence as a person reads it.
    #[must_use]
    pub fn text(&self) -> String {
        let network = if self.network_namespace {
            "in a network namespace that has loopback alone"
        } else {
            "on loopback; no network namespace may be made here"
        };
        let mut text = format!("a real run against a scripted model, {network}:\n");
        for stage in &self.stages {
            let mark = if stage.seen { "yes" } else { "NO " };
            // Writing to a text cannot fail.
            let _ = writeln!(text, "  {mark} {:<22} {}", stage.name, stage.what);
        }
        text
    }
}

fn stage(name: &'static str, seen: bool, yes: impl Into<String>, no: impl Into<String>) -> Stage {
    Stage {
        name,
        seen,
        what: if seen { yes.into() } else { no.into() },
    }
}

fn session(traces: &Traces) -> &str {
    traces
        .result
        .get("session_id")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn is(value: &Value, field: &str, text: &str) -> bool {
    value.get(field).and_then(Value::as_str) == Some(text)
}

fn holds(value: &Value, text: &str) -> bool {
    value
        .get("request")
        .is_some_and(|request| request.to_string().contains(text))
}

fn client_ran(traces: &Traces) -> Stage {
    let ended =
        is(&traces.result, "subtype", "success") && traces.result.get("is_error") == Some(&Value::Bool(false));
    let no = traces
        .trouble
        .clone()
        .unwrap_or_else(|| "its result is no success".to_owned());
    stage(
        "the client ran",
        ended && traces.trouble.is_none(),
        "to its end, with a result",
        no,
    )
}

fn record(traces: &Traces) -> Option<&Value> {
    let own = session(traces);
    traces
        .records
        .iter()
        .find(|record| !own.is_empty() && is(record, "parent_session", own))
}

fn hook_fired(traces: &Traces) -> Stage {
    stage(
        "the hook fired",
        record(traces).is_some(),
        "it wrote a record of the call",
        "there is no record of the call",
    )
}

/// A subagent of the parent's own that is given the task is the call as it was, not rewritten.
fn input_rewritten(traces: &Traces) -> Stage {
    let own = session(traces);
    let in_process = traces.requests.iter().any(|request| {
        is(request, "session", own) && is(request, "role", "subagent") && holds(request, &traces.task)
    });
    stage(
        "the call was rewritten",
        record(traces).is_some() && !in_process,
        "no subagent of the parent's process was given the task",
        if in_process {
            "a subagent in the parent's own process was given the task"
        } else {
            "the task was given to nobody"
        },
    )
}

fn child_ran(traces: &Traces) -> Stage {
    let child = record(traces)
        .and_then(|record| record.get("child_session"))
        .and_then(Value::as_str);
    let asked = child.is_some_and(|child| {
        let of_child = |request: &&Value| is(request, "session", child) && holds(request, &traces.task);
        child != session(traces) && traces.requests.iter().any(|request| of_child(&request))
    });
    let ending = record(traces)
        .and_then(|record| record.pointer("/state/ending/kind"))
        .and_then(Value::as_str)
        .unwrap_or("no end");
    stage(
        "the child ran",
        asked && ending == "completed",
        "in a session of its own, and it completed",
        format!("no session of its own completed the task ({ending})"),
    )
}

fn result_returned(traces: &Traces) -> Stage {
    let own = session(traces);
    let parent = traces
        .requests
        .iter()
        .rfind(|request| is(request, "session", own) && !is(request, "role", "subagent"));
    let text = parent.and_then(|request| request.pointer("/request/messages"));
    let returned = text.is_some_and(|messages| messages.to_string().contains(&traces.answer));
    stage(
        "the result came back",
        returned && record(traces).is_some(),
        "the parent was given the child's own text",
        "the parent was not given a cell's text",
    )
}
