//! What a `PreToolUse` or `PostToolUse` hook answers on stdout (hooks reference, "output"; applied with exit code 0 by
//! 2.1.156 to 2.1.332).

use serde_json::{Map, Value, json};

/// The decision of a `PreToolUse` hook.
#[derive(Clone, Debug, PartialEq)]
pub enum HookReply {
    /// No output: the call goes on as it is.
    Silent,
    /// The call goes on as it is; the user is told why we did not act (`systemMessage`, at most 10 000 characters).
    Note {
        /// What the user is told.
        message: String,
    },
    /// The call is refused. The reason reaches the model as the error of the tool result; it is not cut (50 KB tried).
    Deny {
        /// Why, and what to do instead.
        reason: String,
        /// What the user is told besides, if anything.
        message: Option<String>,
    },
    /// A person is asked before the call goes on; in print mode, where nobody answers, that is a denial.
    Ask {
        /// Why.
        reason: String,
        /// What the user is told besides, if anything.
        message: Option<String>,
    },
    /// The call goes on with another input. It replaces the original WHOLE, with no permission decision of ours: rules
    /// and mode of the parent decide as before.
    Rewrite {
        /// The new `tool_input`.
        input: Map<String, Value>,
        /// What the user is told besides, if anything.
        message: Option<String>,
    },
}

impl HookReply {
    /// The JSON to print, or nothing for [`HookReply::Silent`].
    #[must_use]
    pub fn to_json(&self) -> Option<Value> {
        match self {
            Self::Silent => None,
            Self::Note { message } => Some(json!({ "systemMessage": message })),
            Self::Deny { reason, message } => Some(with_message(
                json!({
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": reason,
                }),
                message.as_deref(),
            )),
            Self::Ask { reason, message } => Some(with_message(
                json!({
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "ask",
                    "permissionDecisionReason": reason,
                }),
                message.as_deref(),
            )),
            Self::Rewrite { input, message } => Some(with_message(
                json!({ "hookEventName": "PreToolUse", "updatedInput": input }),
                message.as_deref(),
            )),
        }
    }

    /// The same decision with one more thing to tell the user.
    #[must_use]
    pub fn telling(self, more: &str) -> Self {
        let join =
            |message: Option<String>| Some(message.map_or_else(|| more.to_owned(), |m| format!("{m}; {more}")));
        match self {
            Self::Silent => Self::Note {
                message: more.to_owned(),
            },
            Self::Note { message } => Self::Note {
                message: format!("{message}; {more}"),
            },
            Self::Deny { reason, message } => Self::Deny {
                reason,
                message: join(message),
            },
            Self::Ask { reason, message } => Self::Ask {
                reason,
                message: join(message),
            },
            Self::Rewrite { input, message } => Self::Rewrite {
                input,
                message: join(message),
            },
        }
    }
}

/// The answer of a `PostToolUse` hook.
#[derive(Clone, Debug, PartialEq)]
pub enum PostReply {
    /// No output: the tool's output stays as it is.
    Silent,
    /// The same, and the user is told something.
    Note {
        /// What the user is told.
        message: String,
    },
    /// Another output takes the place of the tool's. It must have the shape of the tool's own, or the client refuses it
    /// and keeps what was there (2.1.156 to 2.1.332, `Agent`).
    Replace {
        /// The new `tool_response`.
        output: Map<String, Value>,
        /// What the user is told besides, if anything.
        message: Option<String>,
    },
}

impl PostReply {
    /// The JSON to print, or nothing for [`PostReply::Silent`].
    #[must_use]
    pub fn into_json(self) -> Option<Value> {
        match self {
            Self::Silent => None,
            Self::Note { message } => Some(json!({ "systemMessage": message })),
            Self::Replace { output, message } => {
                let mut specific = Map::new();
                specific.insert("hookEventName".to_owned(), Value::from("PostToolUse"));
                // Moved, not copied: it may be megabytes.
                specific.insert("updatedToolOutput".to_owned(), Value::Object(output));
                Some(with_message(Value::Object(specific), message.as_deref()))
            }
        }
    }

    /// The same answer with one more thing to tell the user.
    #[must_use]
    pub fn telling(self, more: &str) -> Self {
        let join = |message: Option<String>| message.map_or_else(|| more.to_owned(), |m| format!("{m}; {more}"));
        match self {
            Self::Silent => Self::Note { message: join(None) },
            Self::Note { message } => Self::Note {
                message: join(Some(message)),
            },
            Self::Replace { output, message } => Self::Replace {
                output,
                message: Some(join(message)),
            },
        }
    }
}

fn with_message(specific: Value, message: Option<&str>) -> Value {
    let mut reply = Map::new();
    if let Some(message) = message {
        reply.insert("systemMessage".to_owned(), Value::from(message));
    }
    reply.insert("hookSpecificOutput".to_owned(), specific);
    Value::Object(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_decision_has_the_documented_shape() {
        assert_eq!(HookReply::Silent.to_json(), None);
        assert_eq!(
            HookReply::Note { message: "m".into() }.to_json(),
            Some(json!({"systemMessage": "m"}))
        );
        assert_eq!(
            HookReply::Deny {
                reason: "r".into(),
                message: None
            }
            .to_json(),
            Some(json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "r"}}))
        );
        assert_eq!(
            HookReply::Ask {
                reason: "r".into(),
                message: None
            }
            .to_json(),
            Some(json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "r"}}))
        );
        assert_eq!(
            HookReply::Rewrite {
                input: Map::new(),
                message: Some("m".into())
            }
            .to_json(),
            Some(json!({"systemMessage": "m",
                "hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {}}}))
        );
    }

    #[test]
    fn telling_adds_and_never_replaces() {
        let told = HookReply::Silent.telling("a").telling("b");
        assert_eq!(told, HookReply::Note { message: "a; b".into() });
    }

    #[test]
    fn the_answers_after_a_tool_have_the_documented_shape() {
        assert_eq!(PostReply::Silent.into_json(), None);
        assert_eq!(
            PostReply::Silent.telling("a").telling("b").into_json(),
            Some(json!({"systemMessage": "a; b"}))
        );
        let output: Map<String, Value> = Map::from_iter([("status".to_owned(), json!("completed"))]);
        let replace = PostReply::Replace { output, message: None };
        let specific = json!({"hookEventName": "PostToolUse", "updatedToolOutput": {"status": "completed"}});
        assert_eq!(
            replace.clone().into_json(),
            Some(json!({"hookSpecificOutput": specific}))
        );
        assert_eq!(
            replace.telling("m").into_json(),
            Some(json!({"systemMessage": "m", "hookSpecificOutput": specific}))
        );
    }
}
