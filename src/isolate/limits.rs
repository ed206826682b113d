//! Limits on agent types that go from cell to cell.
//!
//! `tools: Agent(a, b)` of the agent that a session runs as also binds the calls of its subagents (2.1.226 to 2.1.332). A
//! cell is a session of its own, so it is told the limits of the sessions above it and keeps to them itself.

use super::lineage::AgentLimit;
use crate::config::Believed;

/// The limits as a cell's environment carries them; `None` where there are none.
pub(super) fn to_text(limits: &[AgentLimit]) -> Option<String> {
    // Plain data always has a text.
    (!limits.is_empty()).then(|| serde_json::to_string(limits).unwrap_or_default())
}

/// The limits that the cell around us was given. A text that cannot be read allows no type: it was written to limit.
pub(super) fn handed_down(believed: &Believed) -> Vec<AgentLimit> {
    let Some(text) = believed.agent_limits() else {
        return Vec::new();
    };
    serde_json::from_slice(text.as_encoded_bytes()).unwrap_or_else(|_| {
        vec![AgentLimit {
            agent: "of an unreadable limit".to_owned(),
            types: Vec::new(),
        }]
    })
}

/// Why a call for the type `asked` is refused by a limit of the sessions above, if one is against it.
pub(super) fn refusal(believed: &Believed, asked: &str) -> Option<String> {
    let limits = handed_down(believed);
    let limit = AgentLimit::against(&limits, asked)?;
    Some(format!(
        "agent type '{asked}' not found. Available agents: {} (a limit of the agent {} of a session above this cell)",
        limit.types.join(", "),
        limit.agent
    ))
}
