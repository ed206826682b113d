//! A settings document as somebody reads it who wants to know what the client makes of it: every hook with its terms,
//! and the mistakes for which the client drops the whole document without a word.

use serde_json::{Map, Value};

use super::hooks::{HookEntry, Takes};

/// A hook that names no timeout has this one, in seconds (hooks documentation; 2.1.3 and later).
pub const DEFAULT_TIMEOUT_S: f64 = 600.0;

/// A hook, and the terms that it runs on.
#[derive(Clone, Debug, PartialEq)]
pub struct HookTerms {
    /// The place of its group in the event's list, from 0.
    pub group: usize,
    /// Its place in that group's `hooks`, from 0.
    pub hook: usize,
    /// Matcher, command and arguments.
    pub entry: HookEntry,
    /// `type`: `command`, `http`, `prompt`, …
    pub kind: String,
    /// `timeout`, in seconds; [`DEFAULT_TIMEOUT_S`] where it is not named.
    pub timeout_s: f64,
    /// `"onFailure": "block"`: a hook that fails stops the call. It has an effect from 2.1.295 on.
    pub blocks_on_failure: bool,
    /// `async`, `asyncRewake`: the client does not wait for it, so it decides nothing (2.1.156, 2.1.332).
    pub is_async: bool,
    /// `if`: a permission rule that a call has to fit.
    pub condition: Option<String>,
}

impl HookTerms {
    /// The hooks of `event` in a settings document.
    #[must_use]
    pub fn of_event(document: &Map<String, Value>, event: &str) -> Vec<Self> {
        let groups = document.get("hooks").and_then(|hooks| hooks.get(event));
        let groups = groups.and_then(Value::as_array).into_iter().flatten();
        groups
            .enumerate()
            .flat_map(|(at, group)| {
                let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
                hooks
                    .enumerate()
                    .map(move |(place, hook)| Self::of_hook((at, place), text(group, "matcher"), hook))
            })
            .collect()
    }

    fn of_hook((group, place): (usize, usize), matcher: Option<String>, hook: &Value) -> Self {
        let is_on = |field: &str| hook.get(field).and_then(Value::as_bool) == Some(true);
        let args = hook.get("args").and_then(Value::as_array);
        let kind = text(hook, "type").unwrap_or_default();
        Self {
            group,
            hook: place,
            entry: HookEntry {
                matcher,
                command: text(hook, "command").unwrap_or_else(|| kind.clone()),
                args: args.map(|args| args.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            },
            timeout_s: hook.get("timeout").and_then(Value::as_f64).unwrap_or(DEFAULT_TIMEOUT_S),
            blocks_on_failure: text(hook, "onFailure").as_deref() == Some("block"),
            is_async: is_on("async") || is_on("asyncRewake"),
            condition: text(hook, "if"),
            kind,
        }
    }

    /// Whether it runs for an Agent call. A matcher that names `Agent` or `Task` takes both (2.1.156, 2.1.332).
    #[must_use]
    pub fn takes_agent(&self) -> Takes {
        match (self.entry.takes("Agent"), self.entry.takes("Task")) {
            (Takes::Yes, _) | (_, Takes::Yes) => Takes::Yes,
            (Takes::Unknown, _) | (_, Takes::Unknown) => Takes::Unknown,
            (Takes::No, Takes::No) => Takes::No,
        }
    }
}

/// The mistakes in a document for which the client drops all of it, hooks of other events too, and says nothing in print
/// mode (2.1.156, 2.1.332). Those that were tried; there may be more.
#[must_use]
pub fn faults(document: &Map<String, Value>) -> Vec<String> {
    let mut faults = Vec::new();
    if document.get("permissions").is_some_and(|value| !value.is_object()) {
        faults.push("\"permissions\" is no object".to_owned());
    }
    if document.get("disableAllHooks").is_some_and(|value| !value.is_boolean()) {
        faults.push("\"disableAllHooks\" is neither true nor false".to_owned());
    }
    let events = document.get("hooks").and_then(Value::as_object).into_iter().flatten();
    for (event, groups) in events {
        for group in groups.as_array().into_iter().flatten() {
            if group.get("matcher").is_some_and(|matcher| !matcher.is_string()) {
                faults.push(format!("a matcher of {event} is no text"));
            }
            let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
            faults.extend(hooks.filter_map(|hook| fault(event, hook)));
        }
    }
    faults
}

fn fault(event: &str, hook: &Value) -> Option<String> {
    if text(hook, "type").is_none() {
        return Some(format!("a hook of {event} has no \"type\""));
    }
    let timeout = hook.get("timeout")?;
    let works = timeout.as_f64().is_some_and(|seconds| seconds > 0.0);
    (!works).then(|| format!("the timeout {timeout} of a hook of {event} is no number above 0"))
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hook(hook: &Value) -> HookTerms {
        let document = json!({"hooks": {"PreToolUse": [{"matcher": "Agent", "hooks": [hook]}]}});
        HookTerms::of_event(document.as_object().unwrap(), "PreToolUse").remove(0)
    }

    #[test]
    fn terms_are_read() {
        let given = hook(
            &json!({"type": "command", "command": "/b/subcell", "args": ["intercept", "-x"],
            "timeout": 1.5, "onFailure": "block", "async": true, "if": "Agent(x)"}),
        );
        assert_eq!(
            (given.timeout_s, given.blocks_on_failure, given.is_async),
            (1.5, true, true)
        );
        assert_eq!(
            (given.kind.as_str(), given.condition.as_deref()),
            ("command", Some("Agent(x)"))
        );
        let bare = hook(&json!({"type": "command", "command": "'/b/subcell' intercept -x"}));
        assert_eq!(
            (bare.timeout_s, bare.blocks_on_failure, bare.is_async),
            (600.0, false, false)
        );
        assert_eq!(hook(&json!({"type": "http", "url": "u"})).entry.command, "http");
    }

    #[test]
    fn what_makes_the_client_drop_a_document_was_tried_on_it() {
        for (document, dropped) in [
            (json!({"permissions": "x"}), true),
            (json!({"disableAllHooks": "true"}), true),
            (json!({"hooks": {"Stop": [{"hooks": [{"command": "c"}]}]}}), true),
            (
                json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "c", "timeout": "400"}]}]}}),
                true,
            ),
            (
                json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "c", "timeout": 0}]}]}}),
                true,
            ),
            (json!({"hooks": {"Stop": [{"matcher": 7, "hooks": []}]}}), true),
            (
                json!({"hooks": {"NoSuch": [{"hooks": [{"type": "command", "command": "c", "timeout": 1.5}]}]}}),
                false,
            ),
            (json!({"unknown": 1, "disableAllHooks": false}), false),
        ] {
            assert_eq!(!faults(document.as_object().unwrap()).is_empty(), dropped, "{document}");
        }
    }
}
