//! When a rule applies.

use std::num::NonZeroU64;

use super::facts::{Facts, Role};

/// Where a request stands among all requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    /// Its number among all that the server was asked, from 1.
    pub(super) n: u64,
    /// Its number in its own conversation (same session, same subagent, same first user text), from 1. A request that
    /// the client sends again after an error counts again.
    pub(super) nth: u64,
}

/// The conditions of a rule; all that are given have to hold, and none given always holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Conditions {
    /// `main` or `subagent`.
    pub(super) role: Option<Role>,
    /// A text that the first user message contains.
    pub(super) prompt_contains: Option<String>,
    /// A text that the last user message contains; reminders, notifications and tool results are part of it.
    pub(super) last_contains: Option<String>,
    /// A text that the latest tool results contain.
    pub(super) tool_result_contains: Option<String>,
    /// Whether the conversation has a tool result yet.
    pub(super) has_tool_result: Option<bool>,
    /// A tool that the request offers.
    pub(super) has_tool: Option<String>,
    /// A text that the model's name contains.
    pub(super) model_contains: Option<String>,
    /// The session's id.
    pub(super) session: Option<String>,
    /// The number of the request in its conversation, from 1.
    pub(super) nth: Option<NonZeroU64>,
}

impl Conditions {
    /// Whether all conditions hold for a request.
    #[must_use]
    pub(super) fn hold(&self, facts: &Facts, numbers: Numbers) -> bool {
        let contains = |part: &Option<String>, whole: &str| part.as_deref().is_none_or(|part| whole.contains(part));
        let result = facts.tool_result.as_deref();
        self.role.is_none_or(|role| role == facts.caller.role())
            && contains(&self.prompt_contains, &facts.prompt)
            && contains(&self.last_contains, &facts.last)
            && (self.tool_result_contains.is_none()
                || result.is_some_and(|r| contains(&self.tool_result_contains, r)))
            && self.has_tool_result.is_none_or(|wanted| wanted == result.is_some())
            && self.has_tool.as_ref().is_none_or(|tool| facts.tools.contains(tool))
            && contains(&self.model_contains, &facts.model)
            && self
                .session
                .as_ref()
                .is_none_or(|session| *session == facts.caller.session)
            && self.nth.is_none_or(|nth| nth.get() == numbers.nth)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::facts::Caller;
    use super::*;

    #[test]
    fn each_condition_alone_decides() {
        let facts = Facts {
            caller: Caller {
                session: "s1".into(),
                agent: Some("a1".into()),
            },
            model: "claude-haiku-4-5".into(),
            prompt: "judge this".into(),
            last: "tail".into(),
            tool_result: Some("verdict".into()),
            tools: vec!["Bash".into()],
            ..Facts::default()
        };
        for (holds, fails) in [
            (json!({"role": "subagent"}), json!({"role": "main"})),
            (json!({"prompt_contains": "judge"}), json!({"prompt_contains": "tail"})),
            (json!({"last_contains": "tail"}), json!({"last_contains": "judge"})),
            (
                json!({"tool_result_contains": "verd"}),
                json!({"tool_result_contains": "judge"}),
            ),
            (json!({"has_tool_result": true}), json!({"has_tool_result": false})),
            (json!({"has_tool": "Bash"}), json!({"has_tool": "Agent"})),
            (json!({"model_contains": "haiku"}), json!({"model_contains": "sonnet"})),
            (json!({"session": "s1"}), json!({"session": "s"})),
            (json!({"nth": 2}), json!({"nth": 1})),
            (json!({}), json!({"role": "subagent", "nth": 3})),
        ] {
            let hold = |value: &serde_json::Value| {
                let conditions: Conditions = serde_json::from_value(value.clone()).unwrap();
                conditions.hold(&facts, Numbers { n: 9, nth: 2 })
            };
            assert!(hold(&holds), "{holds}");
            assert!(!hold(&fails), "{fails}");
        }
    }

    #[test]
    fn a_condition_on_results_fails_without_any() {
        let conditions: Conditions = serde_json::from_value(json!({"tool_result_contains": ""})).unwrap();
        assert!(!conditions.hold(&Facts::default(), Numbers { n: 1, nth: 1 }));
    }
}
