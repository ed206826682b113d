//! `subcell seal` at work: finds the record, decides, writes down what became of the delivery.

use super::books::NO_FOLDER;
use super::intercept::{Standing, is_agent_tool};
use super::run::standing;
use super::seal::{Sealing, seal};
use crate::base::ToolUseId;
use crate::base::chain::Chain;
use crate::config::Surroundings;
use crate::ledger::places::usual_folders;
use crate::ledger::{LedgerError, Record, RecordName, Store};
use crate::protocol::{HookEvent, PostReply, ToolUse};

/// Whether `event` is none of this hook's business, so that nothing else need be looked at.
#[must_use]
pub fn is_not_to_seal(event: &HookEvent) -> bool {
    event.name != "PostToolUse" || !event.tool.as_ref().is_some_and(|tool| is_agent_tool(&tool.name))
}

/// Answers one event.
#[must_use]
pub fn run_seal(event: &HookEvent, around: &Surroundings) -> PostReply {
    let Some(tool) = event.tool.as_ref().filter(|_| !is_not_to_seal(event)) else {
        return PostReply::Silent;
    };
    if standing(around) == Standing::Foreign {
        return PostReply::Silent;
    }
    match find(event, tool, around) {
        Ok((store, name, record)) => apply(tool, &store, &name, &record),
        Err(why) => PostReply::Note {
            message: format!("subcell seal: the output of this call stays as it is: {why}"),
        },
    }
}

fn find(event: &HookEvent, tool: &ToolUse, around: &Surroundings) -> Result<(Store, RecordName, Record), String> {
    let id: ToolUseId = tool
        .id
        .as_deref()
        .and_then(|id| id.parse().ok())
        .ok_or("it has no usable tool_use_id")?;
    let believed = &around.believed;
    // The hook before the call writes to the first of them. Which that is may have changed since: the user's settings
    // are read again while a session runs.
    let folders = usual_folders(believed);
    if folders.is_empty() {
        return Err(NO_FOLDER.to_owned());
    }
    let told = |error: &LedgerError| Chain(error).to_string();
    for folder in &folders {
        let Some(store) = Store::existing(folder).map_err(|error| told(&error))? else {
            continue;
        };
        if let Some((name, record)) = store.find(&id, &event.session_id).map_err(|error| told(&error))? {
            return Ok((store, name, record));
        }
    }
    let places: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    Err(format!(
        "there is no record of it in {}: no cell was made for it",
        places.join(" or ")
    ))
}

fn apply(tool: &ToolUse, store: &Store, name: &RecordName, record: &Record) -> PostReply {
    let end = record.end().filter(|end| end.ending.is_success());
    let stored = end
        .and_then(|end| end.result.as_ref())
        .map(|result| store.stored(name, result));
    let sealed = seal(&Sealing {
        tool,
        record,
        record_path: &store.record_path(name),
        result_path: &store.result_path(name),
        stored: stored.as_ref(),
    });
    let Some(outcome) = sealed.outcome.filter(|outcome| *outcome != record.delivery.outcome) else {
        return sealed.reply;
    };
    match store.change(name, |record| record.delivery.outcome = outcome) {
        Ok(_) => sealed.reply,
        Err(error) => sealed
            .reply
            .telling(&format!("subcell seal: the record is incomplete: {}", Chain(&error))),
    }
}
