//! The parent's rules about which subagents may be started, judged for the type that the call asked for.
//!
//! The client judges them itself, but after the hook, on the rewritten input: a hook that changes the type would let a
//! denied type run (2.1.156, 2.1.332).

use serde_json::{Map, Value};

use crate::protocol::agent_file::AgentDefinition;
use crate::protocol::command_line::ParentFlags;
use crate::protocol::settings::{LoadedSettings, Rule, Scope, split_list};
use crate::protocol::version::ClientVersion;

/// Who made a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleSource {
    /// A settings scope, or the command line.
    Scope(Scope),
    /// The `tools` of the agent that a session runs as.
    Agent(String),
}

/// What the rules say of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleVerdict {
    /// No rule is against it.
    Allowed,
    /// It is denied.
    Denied {
        /// The rule, as written.
        rule: String,
        /// Who made it.
        by: RuleSource,
    },
    /// Somebody has to be asked first.
    Ask {
        /// The rule, as written.
        rule: String,
        /// Who made it.
        by: RuleSource,
    },
}

/// The types that a session's own agent lets be started: `tools: Agent(a, b)` of its definition.
///
/// It binds every call of the session, also those of its subagents, whose own definitions limit nothing (2.1.226, 2.1.295,
/// 2.1.332; in 2.1.156 subagents have no Agent tool). A cell is a session of its own, so it must be told.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AgentLimit {
    /// The agent.
    pub agent: String,
    /// The types that may be started.
    pub types: Vec<String>,
}

impl AgentLimit {
    /// The first of `limits` that does not allow the type `asked`.
    #[must_use]
    pub fn against<'a>(limits: &'a [Self], asked: &str) -> Option<&'a Self> {
        limits
            .iter()
            .find(|limit| !limit.types.iter().any(|name| name == asked))
    }

    /// The limit in an agent's `tools`, where they name types; the types of several entries add up. `tools` without any
    /// such entry takes the whole tool away, and then there is no call to judge.
    #[must_use]
    pub fn of(agent: &AgentDefinition) -> Option<Self> {
        let rules: Vec<Rule> = agent.tools.as_ref()?.iter().map(|tool| Rule::parse(tool)).collect();
        if rules.iter().any(Rule::is_whole_agent) {
            return None;
        }
        let types: Vec<Vec<String>> = rules.iter().filter_map(Rule::agent_types).collect();
        (!types.is_empty()).then(|| Self {
            agent: agent.name.clone(),
            types: types.concat(),
        })
    }
}

/// The rules of a parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentRules {
    /// Deny rules, strongest scope first.
    deny: Vec<(Scope, String)>,
    /// Ask rules, strongest scope first.
    ask: Vec<(Scope, String)>,
    /// The limits of the session's agent, and of the sessions that this one is a cell of.
    limits: Vec<AgentLimit>,
}

/// A call, as the rules see it.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// `subagent_type` as the call spells it, or what the client takes where it is absent.
    pub asked: &'a str,
    /// The name of the definition that it leads to.
    pub resolved: &'a str,
    /// The call's input.
    pub input: &'a Map<String, Value>,
}

impl AgentRules {
    /// Gathers the rules of every loaded scope and of `--disallowedTools`, beside `limits`.
    #[must_use]
    pub fn gather(settings: &LoadedSettings, flags: &ParentFlags, limits: &[AgentLimit]) -> Self {
        let mut rules = Self {
            limits: limits.to_vec(),
            ..Self::default()
        };
        for (scope, document) in &settings.documents {
            let own = |list: &[String]| list.iter().map(|rule| (*scope, rule.clone())).collect::<Vec<_>>();
            rules.deny.extend(own(&document.permissions.deny));
            rules.ask.extend(own(&document.permissions.ask));
        }
        let given = flags.disallowed_tools.iter();
        let given = given.flat_map(|value| split_list(&value.to_string_lossy()));
        rules.deny.extend(given.map(|rule| (Scope::CommandLine, rule)));
        rules.deny.sort_by_key(|(scope, _)| std::cmp::Reverse(*scope));
        rules.ask.sort_by_key(|(scope, _)| std::cmp::Reverse(*scope));
        rules
    }

    /// Judges a call. A denial comes before a question.
    ///
    /// `ask: Agent(type)` lets the call run unasked in `-p` sessions (2.1.156 to 2.1.332); it is honoured here all the
    /// same, because whoever wrote it wants to be asked, and other kinds of session were not measured.
    #[must_use]
    pub fn judge(&self, call: Judged<'_>, version: Option<ClientVersion>) -> RuleVerdict {
        let parameters = version.is_none_or(ClientVersion::judges_parameter_rules);
        let first = |rules: &[(Scope, String)]| {
            let hit = rules.iter().find(|(_, rule)| is_about(rule, call, parameters));
            hit.map(|(scope, rule)| (rule.clone(), RuleSource::Scope(*scope)))
        };
        if let Some((rule, by)) = first(&self.deny) {
            return RuleVerdict::Denied { rule, by };
        }
        // The client compares the spelling of the call (2.1.332): a loose one is refused.
        if let Some(limit) = AgentLimit::against(&self.limits, call.asked) {
            return RuleVerdict::Denied {
                rule: format!("Agent({})", limit.types.join(", ")),
                by: RuleSource::Agent(limit.agent.clone()),
            };
        }
        match first(&self.ask) {
            Some((rule, by)) => RuleVerdict::Ask { rule, by },
            None => RuleVerdict::Allowed,
        }
    }
}

/// Whether a rule speaks of the call.
///
/// Rules whose tool is a pattern (`*`, `A*`) are not looked at: where a version heeds them the tool is gone and there is
/// no call (2.1.226 to 2.1.332), and the others pass them over (2.1.156).
fn is_about(rule: &str, call: Judged<'_>, parameters: bool) -> bool {
    let rule = Rule::parse(rule);
    if !rule.is_agent() {
        return false;
    }
    let Some(content) = rule.content else {
        return true;
    };
    content == call.asked || content == call.resolved || (parameters && is_about_parameter(&content, call))
}

/// `Agent(subagent_type:e*)`, `Agent(model:opus)`: any field of the input and a pattern for its value
/// (2.1.226, 2.1.295, 2.1.332).
fn is_about_parameter(content: &str, call: Judged<'_>) -> bool {
    let Some((key, pattern)) = content.split_once(':') else {
        return false;
    };
    let (key, pattern) = (key.trim(), pattern.trim());
    if key.is_empty() || pattern.is_empty() {
        return false;
    }
    if key == "subagent_type" {
        return matches(pattern, call.asked) || matches(pattern, call.resolved);
    }
    match call.input.get(key) {
        Some(Value::String(text)) => matches(pattern, text),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => matches(pattern, &value.to_string()),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => false,
    }
}

/// Whether `text` fits `pattern`, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
