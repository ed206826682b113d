//! A call of the `Bash` tool, read from a hook's payload.

use crate::protocol::event::{EventError, HookEvent, PermissionMode};

/// What the guard needs to know of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BashCall {
    /// `tool_input.command`.
    pub command: String,
    /// `tool_input.run_in_background`.
    pub in_background: bool,
    /// Whether a subagent inside the client's process makes the call (`agent_id`).
    pub of_subagent: bool,
    /// Whether the permission mode lets nobody be asked.
    pub mode_asks_nobody: bool,
    /// `cwd`.
    pub cwd: Option<std::path::PathBuf>,
    /// `session_id`.
    pub session: String,
    /// `tool_use_id`, as given.
    pub tool_use: Option<String>,
    /// `agent_id`.
    pub agent: Option<String>,
}

/// Reads a payload; `None` where it is of another event or tool.
///
/// # Errors
/// [`EventError`] where it is no hook event, or has no command.
pub fn read_call(payload: &[u8]) -> Result<Option<BashCall>, EventError> {
    // A model may write half of a surrogate pair, which the client passes on as `\ud800` and serde_json refuses; bytes
    // may be cut. Neither may keep a command from being judged.
    let event = HookEvent::parse(payload).or_else(|error| HookEvent::parse(&repaired(payload)).map_err(|_| error))?;
    let Some(tool) = event
        .tool
        .filter(|tool| tool.name == "Bash" && event.name == "PreToolUse")
    else {
        return Ok(None);
    };
    let command = tool.input.get("command").and_then(serde_json::Value::as_str);
    let Some(command) = command else {
        return Err(EventError::Missing { field: "command" });
    };
    let asks_nobody = matches!(
        event.permission_mode,
        Some(PermissionMode::BypassPermissions | PermissionMode::DontAsk | PermissionMode::Auto)
    );
    Ok(Some(BashCall {
        command: command.to_owned(),
        in_background: tool.input.get("run_in_background").is_some_and(is_true),
        of_subagent: event.agent_id.is_some(),
        mode_asks_nobody: asks_nobody,
        cwd: event.cwd,
        session: event.session_id.to_string(),
        tool_use: tool.id,
        agent: event.agent_id,
    }))
}

/// The client takes `"true"` for `true` where a model writes it so.
fn is_true(value: &serde_json::Value) -> bool {
    value.as_bool().unwrap_or(false) || value.as_str() == Some("true")
}

/// The payload with every byte that is no UTF-8, and every half of a surrogate pair, replaced.
fn repaired(payload: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(payload);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = match surrogates(escape) {
            Surrogates::None => 2,
            Surrogates::Pair => 12,
            Surrogates::Half => {
                out.push_str("\\ufffd");
                rest = escape.get(6..).unwrap_or("");
                continue;
            }
        };
        let end = (0..=length)
            .rev()
            .find(|end| escape.is_char_boundary(*end))
            .unwrap_or(escape.len())
            .max(1);
        let (kept, after) = escape.split_at_checked(end).unwrap_or((escape, ""));
        out.push_str(kept);
        rest = after;
    }
    out.push_str(rest);
    out.into_bytes()
}

enum Surrogates {
    None,
    Half,
    Pair,
}

fn surrogates(escape: &str) -> Surrogates {
    let unit = |from: usize| {
        let code = escape.get(from..from + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(code, 16).ok()
    };
    match (unit(0), unit(6)) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => Surrogates::Pair,
        (Some(0xD800..=0xDFFF), _) => Surrogates::Half,
        _ => Surrogates::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(input: &str) -> Vec<u8> {
        format!(
            r#"{{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"toolu_1",
            "permission_mode":"default","cwd":"/w","tool_input":{input}}}"#
        )
        .into_bytes()
    }

    #[test]
    fn reads_a_call() {
        let call = read_call(&payload(r#"{"command":"ls","run_in_background":true}"#))
            .unwrap()
            .unwrap();
        assert_eq!(
            (call.command.as_str(), call.in_background, call.of_subagent),
            ("ls", true, false)
        );
        assert_eq!(call.cwd.as_deref(), Some(std::path::Path::new("/w")));
    }

    #[test]
    fn other_tools_and_events_are_not_ours_and_a_missing_command_is_malformed() {
        let other = br#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{}}"#;
        assert_eq!(read_call(other).unwrap(), None);
        let after =
            br#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
        assert_eq!(read_call(after).unwrap(), None);
        assert!(read_call(&payload("{}")).is_err());
        assert!(read_call(&payload(r#"{"command":7}"#)).is_err());
        assert!(read_call(b"{").is_err());
    }

    #[test]
    fn half_a_surrogate_pair_and_broken_utf8_do_not_hide_a_command() {
        let call = read_call(&payload(r#"{"command":"rm -rf / # \ud83d"}"#))
            .unwrap()
            .unwrap();
        assert_eq!(call.command, "rm -rf / # \u{fffd}");
        let call = read_call(&payload(r#"{"command":"echo \ud83d\ude00 \\ud83d \"x\" \udc00"}"#))
            .unwrap()
            .unwrap();
        assert_eq!(call.command, "echo \u{1f600} \\ud83d \"x\" \u{fffd}");
        let mut bytes = payload(r#"{"command":"rm -rf / #X"}"#);
        let at = bytes.iter().position(|byte| *byte == b'X').unwrap();
        bytes[at] = 0xff;
        assert_eq!(read_call(&bytes).unwrap().unwrap().command, "rm -rf / #\u{fffd}");
    }
}
