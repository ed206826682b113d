//! Whether a call is taken out of the parent's process: pure, from the event and what is believed.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::base::{AgentType, ToolUseId};
use crate::ledger::PassReason;
use crate::protocol::{HookEvent, PermissionMode, ToolUse};

/// Where the hook runs, as far as it is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// In a session that is in no cell.
    Outside,
    /// In a cell of ours.
    InCell {
        /// Its depth; 1 for the cell of an outside session.
        depth: u32,
    },
    /// Below somebody else's recursion guard: they run this session, and we stay out.
    Foreign,
}

/// The part of the configuration that decides here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The deepest level that may have cells; 1 is "no cell in a cell".
    pub max_depth: u32,
    /// A folder that must exist for cells to be made, and does not.
    pub missing_sandbox: Option<PathBuf>,
}

/// The isolation that the call asked for (`isolation` of the Agent tool).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// None: the project's own folder.
    None,
    /// A git worktree of its own.
    Worktree,
}

/// An Agent call that a cell is made for.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentCall {
    /// The call's id.
    pub tool_use_id: ToolUseId,
    /// `description`.
    pub description: String,
    /// `prompt`; not blank.
    pub prompt: String,
    /// `subagent_type`, or what the client runs without one.
    pub agent_type: AgentType,
    /// `model`, a word of the tool's schema.
    pub model: Option<String>,
    /// `effort`, a word of the tool's schema.
    pub effort: Option<String>,
    /// `isolation`.
    pub isolation: Isolation,
    /// The whole input as it came.
    pub input: Map<String, Value>,
    /// The depth that the cell will have.
    pub depth: u32,
    /// The parent's permission mode; absent in a payload is the client's default.
    pub permission_mode: PermissionMode,
}

/// What is done with a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Interception {
    /// Nothing, and nothing is said: another tool, another event, or below a foreign guard.
    Ignore,
    /// The built-in subagent runs, and the user is told why.
    PassThrough {
        /// The call's id, where it has a usable one.
        tool_use_id: Option<ToolUseId>,
        /// Why.
        reason: PassReason,
    },
    /// The call is refused whatever the configuration says.
    Refuse {
        /// The call's id.
        tool_use_id: Option<ToolUseId>,
        /// Why, as the parent is told.
        reason: String,
    },
    /// A cell is made for it.
    Isolate(Box<AgentCall>),
}

/// The names of the tool: `Agent`, and `Task` in older clients.
#[must_use]
pub fn is_agent_tool(name: &str) -> bool {
    matches!(name, "Agent" | "Task")
}

/// Decides what is done with `event`.
#[must_use]
pub fn intercept(event: &HookEvent, standing: Standing, policy: &Policy) -> Interception {
    let Some(tool) = event
        .tool
        .as_ref()
        .filter(|tool| event.name == "PreToolUse" && is_agent_tool(&tool.name))
    else {
        return Interception::Ignore;
    };
    let depth = match standing {
        Standing::Foreign => return Interception::Ignore,
        Standing::Outside => 0,
        Standing::InCell { depth } => depth,
    };
    let tool_use_id: Option<ToolUseId> = tool.id.as_deref().and_then(|id| id.parse().ok());
    let input = match Input::read(tool) {
        Ok(input) => input,
        Err(detail) => {
            return Interception::PassThrough {
                tool_use_id,
                reason: PassReason::Malformed { detail },
            };
        }
    };
    if input.isolation == Some("remote") {
        return Interception::Refuse {
            tool_use_id,
            reason: REMOTE.to_owned(),
        };
    }
    match pass_reason(&input, depth, policy) {
        Some(reason) => Interception::PassThrough { tool_use_id, reason },
        None => isolate(event, tool, &input, (tool_use_id, depth + 1)),
    }
}

const REMOTE: &str = "isolation \"remote\" starts the subagent on another machine and in the background, where it can \
                      neither be supervised nor its cost be recorded. Make the same call without `isolation`, or with \
                      isolation \"worktree\" for a checkout of its own.";

fn pass_reason(input: &Input<'_>, depth: u32, policy: &Policy) -> Option<PassReason> {
    if depth >= policy.max_depth {
        return Some(PassReason::MaxDepth { depth });
    }
    if input.prompt.trim().is_empty() {
        return Some(PassReason::EmptyPrompt);
    }
    if input.agent_type == Some("fork") {
        return Some(PassReason::Fork);
    }
    policy
        .missing_sandbox
        .clone()
        .map(|folder| PassReason::NoSandbox { folder })
}

fn isolate(event: &HookEvent, tool: &ToolUse, input: &Input<'_>, call: (Option<ToolUseId>, u32)) -> Interception {
    let (tool_use_id, depth) = call;
    let malformed = |tool_use_id, detail: String| Interception::PassThrough {
        tool_use_id,
        reason: PassReason::Malformed { detail },
    };
    let Some(tool_use_id) = tool_use_id else {
        return malformed(None, "it has no usable tool_use_id".to_owned());
    };
    let isolation = match input.isolation {
        None => Isolation::None,
        Some("worktree") => Isolation::Worktree,
        Some(other) => {
            let detail = format!("isolation {:?} is unknown", other.chars().take(40).collect::<String>());
            return malformed(Some(tool_use_id), detail);
        }
    };
    let agent_type = match input.agent_type.map(str::parse::<AgentType>).transpose() {
        Ok(agent_type) => agent_type.unwrap_or_default(),
        Err(error) => return malformed(Some(tool_use_id), error.to_string()),
    };
    Interception::Isolate(Box::new(AgentCall {
        tool_use_id,
        description: input.description.to_owned(),
        prompt: input.prompt.to_owned(),
        agent_type,
        model: input.model.map(str::to_owned),
        effort: input.effort.map(str::to_owned),
        isolation,
        input: tool.input.clone(),
        depth,
        permission_mode: event.permission_mode.clone().unwrap_or(PermissionMode::Default),
    }))
}

/// The fields of the tool's input that are texts, borrowed.
struct Input<'a> {
    description: &'a str,
    prompt: &'a str,
    agent_type: Option<&'a str>,
    model: Option<&'a str>,
    effort: Option<&'a str>,
    isolation: Option<&'a str>,
}

impl<'a> Input<'a> {
    fn read(tool: &'a ToolUse) -> Result<Self, String> {
        let text = |field: &str| match tool.input.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                Err(format!("{field} is not a text"))
            }
        };
        // A word that starts with a dash would be read as a flag of the child; the tool's schema has none.
        let word = |field: &str| match text(field)? {
            Some(word) if word.starts_with('-') || word.contains(char::is_control) || word.len() > 256 => {
                Err(format!("{field} is not a word"))
            }
            Some("") | None => Ok(None),
            Some(word) => Ok(Some(word)),
        };
        Ok(Self {
            description: text("description")?.unwrap_or_default(),
            prompt: text("prompt")?.unwrap_or_default(),
            agent_type: text("subagent_type")?.filter(|agent| !agent.is_empty()),
            model: word("model")?,
            effort: word("effort")?,
            isolation: word("isolation")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a table of json!() values reads better")]
    fn event(tool: &str, input: Value) -> HookEvent {
        let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "permission_mode": "plan",
            "tool_name": tool, "tool_use_id": "toolu_1", "tool_input": input});
        HookEvent::parse(payload.to_string().as_bytes()).unwrap()
    }

    fn policy() -> Policy {
        Policy {
            max_depth: 1,
            missing_sandbox: None,
        }
    }

    fn decide(input: Value) -> Interception {
        intercept(&event("Agent", input), Standing::Outside, &policy())
    }

    fn passed(interception: Interception) -> PassReason {
        let Interception::PassThrough { reason, .. } = interception else {
            panic!("{interception:?}")
        };
        reason
    }

    #[test]
    fn a_call_becomes_a_cell_with_what_it_asked_for() {
        let input = json!({"description": "d", "prompt": "p", "subagent_type": "Explore", "model": "haiku",
            "effort": "low", "isolation": "worktree", "run_in_background": true});
        let Interception::Isolate(call) = decide(input.clone()) else {
            panic!()
        };
        assert_eq!(
            (call.prompt.as_str(), call.agent_type.as_str(), call.depth),
            ("p", "Explore", 1)
        );
        assert_eq!(
            (call.model.as_deref(), call.effort.as_deref()),
            (Some("haiku"), Some("low"))
        );
        assert_eq!(
            (call.isolation, &call.permission_mode),
            (Isolation::Worktree, &PermissionMode::Plan)
        );
        assert_eq!(Value::Object(call.input), input);
    }

    #[test]
    fn the_old_name_of_the_tool_counts_and_other_tools_and_events_do_not() {
        let input = json!({"prompt": "p"});
        assert!(matches!(
            intercept(&event("Task", input.clone()), Standing::Outside, &policy()),
            Interception::Isolate(_)
        ));
        for tool in ["Bash", "agent", "AgentX", "TaskCreate", ""] {
            assert_eq!(
                intercept(&event(tool, input.clone()), Standing::Outside, &policy()),
                Interception::Ignore
            );
        }
        let mut post = event("Agent", input);
        post.name = "PostToolUse".into();
        assert_eq!(intercept(&post, Standing::Outside, &policy()), Interception::Ignore);
    }

    #[test]
    fn guards_decide_by_owner_and_depth() {
        let call = event("Agent", json!({"prompt": "p"}));
        assert_eq!(intercept(&call, Standing::Foreign, &policy()), Interception::Ignore);
        let at = |depth, max_depth| {
            let policy = Policy {
                max_depth,
                missing_sandbox: None,
            };
            intercept(&call, Standing::InCell { depth }, &policy)
        };
        assert_eq!(passed(at(1, 1)), PassReason::MaxDepth { depth: 1 });
        assert_eq!(passed(at(3, 2)), PassReason::MaxDepth { depth: 3 });
        let Interception::Isolate(nested) = at(1, 2) else {
            panic!()
        };
        assert_eq!(nested.depth, 2);
        assert_eq!(
            passed(intercept(
                &call,
                Standing::Outside,
                &Policy {
                    max_depth: 0,
                    missing_sandbox: None
                }
            )),
            PassReason::MaxDepth { depth: 0 }
        );
    }

    #[test]
    fn what_cannot_be_a_cell_passes_with_its_reason() {
        assert_eq!(passed(decide(json!({"prompt": " \n\t"}))), PassReason::EmptyPrompt);
        assert_eq!(passed(decide(json!({}))), PassReason::EmptyPrompt);
        assert_eq!(
            passed(decide(json!({"prompt": "p", "subagent_type": "fork"}))),
            PassReason::Fork
        );
        for (input, says) in [
            (json!({"prompt": 7}), "prompt is not a text"),
            (
                json!({"prompt": "p", "subagent_type": []}),
                "subagent_type is not a text",
            ),
            (json!({"prompt": "p", "subagent_type": "--settings"}), "subagent_type"),
            (
                json!({"prompt": "p", "model": "--dangerously-skip-permissions"}),
                "model is not a word",
            ),
            (json!({"prompt": "p", "effort": "a\nb"}), "effort is not a word"),
            (json!({"prompt": "p", "isolation": "moon"}), "moon"),
        ] {
            let PassReason::Malformed { detail } = passed(decide(input)) else {
                panic!()
            };
            assert!(detail.contains(says), "{detail}");
        }
        let folder = PathBuf::from("/sandbox/workspace");
        let policy = Policy {
            max_depth: 1,
            missing_sandbox: Some(folder.clone()),
        };
        let call = event("Agent", json!({"prompt": "p"}));
        assert_eq!(
            passed(intercept(&call, Standing::Outside, &policy)),
            PassReason::NoSandbox { folder }
        );
    }

    #[test]
    fn remote_isolation_is_refused_before_anything_else_is_looked_at() {
        let Interception::Refuse { reason, .. } = decide(json!({"prompt": "", "isolation": "remote"})) else {
            panic!()
        };
        assert!(reason.contains("without `isolation`"));
    }

    #[test]
    fn a_call_without_a_usable_id_is_malformed() {
        for id in [json!("../x"), json!(7), json!("")] {
            let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Agent",
                "tool_use_id": id, "tool_input": {"prompt": "p"}});
            let event = HookEvent::parse(payload.to_string().as_bytes()).unwrap();
            let found = intercept(&event, Standing::Outside, &policy());
            assert!(matches!(
                found,
                Interception::PassThrough {
                    tool_use_id: None,
                    reason: PassReason::Malformed { .. }
                }
            ));
        }
    }
}
