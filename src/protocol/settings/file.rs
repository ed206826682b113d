//! One settings document. Tolerant: a field of another type than expected is as good as absent, and the rest counts.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::hooks::HookEntry;

/// A text that is no settings document. The client ignores such a file.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// It is not JSON.
    #[error("the settings are not JSON")]
    NotJson(#[source] serde_json::Error),
    /// It is JSON, but not an object.
    #[error("the settings are not a JSON object")]
    NotAnObject,
}

/// `permissions` of a settings document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// `allow`: rules, as written.
    pub allow: Vec<String>,
    /// `deny`.
    pub deny: Vec<String>,
    /// `ask`.
    pub ask: Vec<String>,
    /// `additionalDirectories`.
    pub additional_directories: Vec<String>,
    /// `defaultMode`.
    pub default_mode: Option<String>,
    /// `disableBypassPermissionsMode` is `"disable"`: bypass silently becomes default (2.1.156, 2.1.332).
    pub bypass_disabled: bool,
}

/// What a settings document says of what concerns a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `permissions`.
    pub permissions: Permissions,
    /// `env`: it wins over the client's start environment (2.1.156 to 2.1.332).
    pub env: BTreeMap<String, String>,
    /// `model`.
    pub model: Option<String>,
    /// `agent`: the agent that the session itself runs as.
    pub agent: Option<String>,
    /// Whether `hooks` names any event.
    pub has_hooks: bool,
    /// `hooks.PostToolUse`: those that run when a tool has ended, whatever the tool.
    pub post_tool_use: Vec<HookEntry>,
    /// `allowManagedHooksOnly`: only the administrator's hooks run. It counts in managed settings.
    pub managed_hooks_only: bool,
    /// `disableAllHooks`.
    pub disables_hooks: bool,
    /// `enabledPlugins`: `name@marketplace` and whether it is on.
    pub enabled_plugins: BTreeMap<String, bool>,
}

impl Settings {
    /// Reads a settings document; a byte order mark before it does not count.
    ///
    /// # Errors
    /// [`SettingsError`] where it is not a JSON object.
    pub fn parse(bytes: &[u8]) -> Result<Self, SettingsError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.trim_ascii().is_empty() {
            return Ok(Self::default());
        }
        let value: Value = serde_json::from_slice(bytes).map_err(SettingsError::NotJson)?;
        let document = value.as_object().ok_or(SettingsError::NotAnObject)?;
        Ok(Self {
            permissions: permissions(document.get("permissions")),
            env: env(document.get("env")),
            model: text(document, "model"),
            agent: text(document, "agent"),
            has_hooks: document
                .get("hooks")
                .and_then(Value::as_object)
                .is_some_and(|hooks| !hooks.is_empty()),
            post_tool_use: HookEntry::of_event(document, "PostToolUse"),
            managed_hooks_only: document.get("allowManagedHooksOnly").and_then(Value::as_bool) == Some(true),
            disables_hooks: document.get("disableAllHooks").and_then(Value::as_bool) == Some(true),
            enabled_plugins: plugins(document.get("enabledPlugins")),
        })
    }
}

fn permissions(value: Option<&Value>) -> Permissions {
    let Some(object) = value.and_then(Value::as_object) else {
        return Permissions::default();
    };
    Permissions {
        allow: texts(object.get("allow")),
        deny: texts(object.get("deny")),
        ask: texts(object.get("ask")),
        additional_directories: texts(object.get("additionalDirectories")),
        default_mode: text(object, "defaultMode"),
        bypass_disabled: text(object, "disableBypassPermissionsMode").as_deref() == Some("disable"),
    }
}

fn text(object: &Map<String, Value>, field: &str) -> Option<String> {
    object.get(field)?.as_str().map(str::to_owned)
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn env(value: Option<&Value>) -> BTreeMap<String, String> {
    let Some(object) = value.and_then(Value::as_object) else {
        return BTreeMap::new();
    };
    let shown = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    object
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), shown(value)?)))
        .collect()
}

fn plugins(value: Option<&Value>) -> BTreeMap<String, bool> {
    let Some(object) = value.and_then(Value::as_object) else {
        return BTreeMap::new();
    };
    // A value may also be a list of versions: any but `false` switches the plugin on.
    object
        .iter()
        .map(|(name, value)| (name.clone(), value.as_bool().unwrap_or(true)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_concerns_a_cell() {
        let settings = Settings::parse(
            br#"{"permissions":{"allow":["Read"],"deny":["Agent(x)",7],"ask":["Agent"],"defaultMode":"plan",
                "additionalDirectories":["/d"],"disableBypassPermissionsMode":"disable"},
                "env":{"A":"1","B":2,"C":true,"D":null},"model":"haiku","agent":"lead","hooks":{"Stop":[],
                "PostToolUse":[{"matcher":"Agent","hooks":[{"command":"seal"}]}]},"allowManagedHooksOnly":true,
                "disableAllHooks":true,"enabledPlugins":{"p@m":true,"q@m":false},"unknown":[]}"#,
        )
        .unwrap();
        let expected = Settings {
            permissions: Permissions {
                allow: vec!["Read".into()],
                deny: vec!["Agent(x)".into()],
                ask: vec!["Agent".into()],
                additional_directories: vec!["/d".into()],
                default_mode: Some("plan".into()),
                bypass_disabled: true,
            },
            env: [("A", "1"), ("B", "2"), ("C", "true")]
                .map(|(k, v)| (k.into(), v.into()))
                .into(),
            model: Some("haiku".into()),
            agent: Some("lead".into()),
            has_hooks: true,
            post_tool_use: vec![HookEntry {
                matcher: Some("Agent".into()),
                command: "seal".into(),
                args: None,
            }],
            managed_hooks_only: true,
            disables_hooks: true,
            enabled_plugins: [("p@m".into(), true), ("q@m".into(), false)].into(),
        };
        assert_eq!(settings, expected);
    }

    #[test]
    fn odd_documents_are_empty_or_errors() {
        for empty in [
            "",
            " \n",
            "{}",
            "\u{feff}{}",
            r#"{"permissions":[],"env":7,"hooks":{},"model":{}}"#,
        ] {
            assert_eq!(
                Settings::parse(empty.as_bytes()).unwrap(),
                Settings::default(),
                "{empty}"
            );
        }
        assert!(matches!(Settings::parse(b"{bad"), Err(SettingsError::NotJson(_))));
        assert!(matches!(Settings::parse(b"[]"), Err(SettingsError::NotAnObject)));
    }
}
