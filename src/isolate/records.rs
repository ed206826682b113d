//! A call's record before its cell has run: pure.

use std::collections::BTreeMap;

use super::intercept::Standing;
use super::intercept::{AgentCall, Isolation};
use super::prepare::Prepared;
use super::provider::provider;
use super::run::{Firing, redactor, standing};
use crate::base::digest::sha256_hex;
use crate::base::{AgentType, CellId, ProcessIdentity, ToolUseId};
use crate::ledger::record::{Asked, Delivery, ExportState, FORMAT, Phase};
use crate::ledger::{Record, State};

/// Characters that a record keeps of a text that a model wrote.
const TEXT_LIMIT: usize = 200;

/// The record of a call that no cell is made for.
#[must_use]
pub(super) fn bare(firing: &Firing<'_>, tool_use_id: ToolUseId, state: State) -> Record {
    let input = firing.event.tool.as_ref().map(|tool| &tool.input);
    let text = |field: &str| {
        input
            .and_then(|input| input.get(field))
            .and_then(serde_json::Value::as_str)
    };
    let redactor = redactor(firing.profile);
    // Redacted before it is cut: half a secret is not seen for one.
    let short = |text: &str| -> String { redactor.text(text).text.chars().take(TEXT_LIMIT).collect() };
    let prompt = text("prompt").unwrap_or_default();
    let depth = match standing(firing.around) {
        Standing::InCell { depth } => depth,
        Standing::Outside | Standing::Foreign => 0,
    };
    Record {
        format: FORMAT,
        cell: CellId::new(),
        parent_session: firing.event.session_id.clone(),
        tool_use_id,
        caller_agent: firing.event.agent_id.clone(),
        agent_type: text("subagent_type")
            .and_then(|agent| agent.parse().ok())
            .unwrap_or_else(AgentType::default),
        description: text("description").map(short).unwrap_or_default(),
        depth,
        child_session: None,
        asked: Asked {
            model: text("model").map(short),
            model_source: "none".to_owned(),
            effort: text("effort").map(short),
            isolation: text("isolation").map(short),
            cost_limit: None,
            prompt_bytes: prompt.len() as u64,
            prompt_sha256: sha256_hex(prompt.as_bytes()),
        },
        started_unix_nano: firing.began,
        state,
        delivery: Delivery::none(),
        trace: None,
        export: ExportState::None,
        phases: BTreeMap::new(),
        parent_transcript: firing.event.transcript_path.clone(),
        client_version: None,
        provider: None,
        client_binary: None,
        ignored_environment: firing.around.believed.ignored().to_vec(),
        notes: firing
            .around
            .believed
            .problems()
            .iter()
            .map(|problem| redactor.text(problem).text)
            .chain(contradiction(firing))
            .collect(),
        hook_process: ProcessIdentity::current(),
        keeper_process: None,
    }
}

/// A client that a program which is no shell starts hooks through, or a repository that sets `CLAUDE_PID` (2.1.156): then
/// the process whose limits were read may not be the client.
fn contradiction(firing: &Firing<'_>) -> Option<String> {
    let client = firing.around.client.as_ref().ok()?;
    (client.confirmed == Some(false)).then(|| {
        format!(
            "CLAUDE_PID names another process than {}, whose command line and environment were read",
            client.pid.0
        )
    })
}

/// The record of a cell that is about to run.
#[must_use]
pub(super) fn opening(firing: &Firing<'_>, call: &AgentCall, prepared: &Prepared) -> Record {
    let mut record = bare(firing, call.tool_use_id.clone(), State::Running);
    record.cell = prepared.cell.clone();
    record.depth = call.depth;
    record.child_session = Some(prepared.session.clone());
    record.asked = Asked {
        model: prepared.model.clone(),
        model_source: prepared.model_source.clone(),
        effort: call.effort.clone(),
        isolation: match call.isolation {
            Isolation::None => None,
            Isolation::Worktree => Some("worktree".to_owned()),
        },
        ..record.asked
    };
    record.trace = Some(prepared.trace.clone());
    record.client_version.clone_from(&prepared.client_version);
    record.provider = provider(&prepared.plan.spawn.env).map(str::to_owned);
    record.client_binary = Some(prepared.plan.spawn.program.clone());
    let redactor = redactor(firing.profile);
    let notes = prepared.notes.iter().map(|note| redactor.text(note).text);
    record.notes.extend(notes);
    let planned = Phase {
        start_unix_nano: firing.began,
        end_unix_nano: prepared.planned,
    };
    record.phases.insert("plan".to_owned(), planned);
    record
}
