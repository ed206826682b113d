//! What a cell's span says: the names of experiment 0025's span, which fullsend's users know, and the GenAI conventions
//! (development status, `gen_ai_latest_experimental`; May 2026). What is not known is left out, never 0.

use crate::base::SessionId;
use crate::ledger::record::{DeliveryMode, DeliveryOutcome, Record};
use crate::ledger::{End, Ending};
use crate::protocol::Tokens;
use crate::telemetry::Value;

/// Attributes under construction.
#[derive(Debug, Default)]
struct Attributes(Vec<(&'static str, Value)>);

impl Attributes {
    fn put(&mut self, name: &'static str, value: impl Into<Value>) {
        self.0.push((name, value.into()));
    }

    fn known<T: Into<Value>>(&mut self, name: &'static str, value: Option<T>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// A text that is empty says nothing.
    fn text(&mut self, name: &'static str, text: Option<&str>) {
        self.known(name, text.filter(|text| !text.is_empty()));
    }
}

/// The attributes of the span of `record`, whose cell ended as `ending`; `end` is what is known besides.
#[must_use]
pub fn of_cell(record: &Record, ending: &Ending, end: Option<&End>) -> Vec<(&'static str, Value)> {
    let mut attributes = Attributes::default();
    agent(&mut attributes, record);
    cell(&mut attributes, record, ending);
    if let Some(end) = end {
        usage(&mut attributes, &end.tokens);
        outcome(&mut attributes, end);
    }
    attributes.0
}

fn agent(attributes: &mut Attributes, record: &Record) {
    let session = record.child_session.as_ref().map(SessionId::as_str);
    attributes.put("gen_ai.operation.name", "invoke_agent");
    attributes.text("gen_ai.provider.name", record.provider.as_deref());
    attributes.put("gen_ai.agent.name", record.agent_type.as_str());
    attributes.text("gen_ai.agent.id", session);
    attributes.text("gen_ai.agent.description", Some(&record.description));
    attributes.text("gen_ai.conversation.id", session);
    attributes.text("gen_ai.request.model", record.asked.model.as_deref());
    // As on the client's own tool spans: what joins ours to the parent's call.
    attributes.put("gen_ai.tool.call.id", record.tool_use_id.as_str());
    attributes.text("fullsend.spawned_session_id", session);
}

fn cell(attributes: &mut Attributes, record: &Record, ending: &Ending) {
    attributes.put("subcell.cell_id", record.cell.as_str());
    attributes.put("subcell.parent_session_id", record.parent_session.as_str());
    attributes.text("subcell.caller_agent_id", record.caller_agent.as_deref());
    attributes.put("subcell.depth", u64::from(record.depth));
    attributes.text("subcell.model_source", Some(&record.asked.model_source));
    attributes.text("subcell.effort", record.asked.effort.as_deref());
    attributes.text("subcell.isolation", record.asked.isolation.as_deref());
    attributes.text("subcell.client_version", record.client_version.as_deref());
    attributes.text("subcell.delivery", delivery_word(record.delivery.mode));
    attributes.text("subcell.delivery_outcome", outcome_word(record.delivery.outcome));
    attributes.put("subcell.ending", ending.word());
    if !ending.is_success() {
        attributes.put("error.type", ending.word());
    }
}

/// By the conventions input tokens include those of the cache, which the client counts apart.
fn usage(attributes: &mut Attributes, tokens: &Tokens) {
    let cached = tokens
        .cache_read
        .unwrap_or(0)
        .saturating_add(tokens.cache_creation.unwrap_or(0));
    let input = tokens.input.map(|input| input.saturating_add(cached));
    attributes.known("gen_ai.usage.input_tokens", input);
    attributes.known("gen_ai.usage.output_tokens", tokens.output);
    attributes.known("gen_ai.usage.cache_read.input_tokens", tokens.cache_read);
    attributes.known("gen_ai.usage.cache_creation.input_tokens", tokens.cache_creation);
}

fn outcome(attributes: &mut Attributes, end: &End) {
    attributes.text("gen_ai.response.model", end.model_used.as_deref());
    let cost = end.cost_usd.filter(|usd| usd.is_finite()).map(Value::Float);
    attributes.known("fullsend.cost_usd", cost.clone());
    // No convention has a cost; this is the name that Langfuse reads.
    attributes.known("gen_ai.usage.cost", cost);
    attributes.known("fullsend.num_turns", end.num_turns);
    attributes.known("subcell.duration_ms", end.duration_ms);
    attributes.text("subcell.terminal_reason", end.terminal_reason.as_deref());
    attributes.known(
        "subcell.exit_code",
        end.exit_code.map(|code| Value::Integer(code.into())),
    );
    attributes.known(
        "subcell.exit_signal",
        end.exit_signal.map(|signal| Value::Integer(signal.into())),
    );
    if end.denied_count > 0 {
        attributes.put("subcell.denied_count", end.denied_count);
        attributes.put("subcell.denied_tools", Value::Texts(end.denied_tools.clone()));
    }
    if end.leaked_count > 0 {
        attributes.put("subcell.leaked_count", end.leaked_count);
    }
}

const fn delivery_word(mode: DeliveryMode) -> Option<&'static str> {
    match mode {
        DeliveryMode::None => None,
        DeliveryMode::Echo => Some("echo"),
        DeliveryMode::Receipt => Some("receipt"),
        DeliveryMode::Deny => Some("deny"),
    }
}

const fn outcome_word(outcome: DeliveryOutcome) -> Option<&'static str> {
    match outcome {
        DeliveryOutcome::None => None,
        DeliveryOutcome::Faithful => Some("faithful"),
        DeliveryOutcome::Unfaithful => Some("unfaithful"),
        DeliveryOutcome::Repaired => Some("repaired"),
        DeliveryOutcome::Sealed => Some("sealed"),
        DeliveryOutcome::RewriteLost => Some("rewrite_lost"),
        DeliveryOutcome::AsyncLaunched => Some("async_launched"),
        DeliveryOutcome::UnknownShape => Some("unknown_shape"),
        DeliveryOutcome::Redacted => Some("redacted"),
        DeliveryOutcome::ResultMissing => Some("result_missing"),
    }
}
