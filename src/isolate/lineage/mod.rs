//! What a call comes from: the parent's command line, settings, rules, model and agent definitions, read so that a cell
//! never has more than the in-process subagent would have had.

pub mod agents;
pub mod call_site;
pub mod echo;
pub mod gather;
pub mod model;
pub mod post_hooks;
pub mod rules;

pub use agents::{Agents, Found, Lookup, Origin};
pub use echo::{ECHO_AGENT, EchoAvailability};
pub use gather::{AgentMatch, Call, Lineage, Surroundings, gather};
pub use model::{ModelChoice, ModelSource};
pub use post_hooks::PostHooks;
pub use rules::{AgentLimit, RuleSource, RuleVerdict};
