//! A quick look at a line: what joins files, and what a turn used. The contents are not decoded.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The fields of a line that the first pass reads. Each takes any value, so a field of an unexpected type costs no more
/// than that field.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Glance<'a> {
    #[serde(rename = "type")]
    kind: Value,
    uuid: Value,
    session_id: Value,
    agent_id: Value,
    timestamp: Value,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
    #[serde(rename = "totalCostUSD")]
    total_cost_usd: Value,
    model_usage: Option<Value>,
}

/// The same of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GlanceMessage<'a> {
    id: Value,
    model: Value,
    pub(super) usage: Value,
    stop_reason: Value,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// The same of a content block.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GlanceBlock<'a> {
    #[serde(rename = "type")]
    kind: Value,
    id: Value,
    name: Value,
    tool_use_id: Value,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// The input of a call that starts a subagent, and what the client says of its end: `agentId` of `toolUseResult`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AgentFields {
    prompt: Value,
    agent_id: Value,
}

impl<'a> Glance<'a> {
    /// Looks at the bytes of a line; nothing where they are no JSON object.
    pub(super) fn at(bytes: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    pub(super) fn kind(&self) -> &str {
        self.kind.as_str().unwrap_or_default()
    }

    pub(super) fn uuid(&self) -> Option<&str> {
        self.uuid.as_str()
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session_id.as_str()
    }

    pub(super) fn agent(&self) -> Option<&str> {
        self.agent_id.as_str()
    }

    pub(super) fn timestamp(&self) -> Option<&str> {
        self.timestamp.as_str()
    }

    pub(super) fn message(&self) -> Option<GlanceMessage<'a>> {
        serde_json::from_str(self.message?.get()).ok()
    }

    /// Whether there is a message, readable or not.
    pub(super) const fn has_message(&self) -> bool {
        self.message.is_some()
    }

    /// The subagent that a result came from.
    pub(super) fn result_agent(&self) -> Option<String> {
        let raw = self.tool_use_result?.get();
        if !raw.starts_with('{') {
            return None;
        }
        let fields: AgentFields = serde_json::from_str(raw).ok()?;
        Some(fields.agent_id.as_str()?.to_owned())
    }

    /// What the client says the session cost so far (`cost-state`, 2.1.332).
    pub(super) fn cost_state(&self) -> Option<(Option<f64>, &Value)> {
        (self.kind() == "cost-state").then(|| {
            (
                self.total_cost_usd.as_f64(),
                self.model_usage.as_ref().unwrap_or(&Value::Null),
            )
        })
    }
}

impl<'a> GlanceMessage<'a> {
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_str()
    }

    pub(super) fn model(&self) -> Option<&str> {
        // The name that the client gives to messages it made up itself (2.1.332).
        self.model.as_str().filter(|model| *model != "<synthetic>")
    }

    pub(super) fn has_ended(&self) -> bool {
        self.stop_reason.is_string()
    }

    /// The content where it is one text.
    pub(super) fn bare_text(&self) -> Option<String> {
        let raw = self.content?.get();
        raw.starts_with('"').then(|| serde_json::from_str(raw).ok()).flatten()
    }

    /// The content's blocks; none where it is no list of objects.
    pub(super) fn blocks(&self) -> Vec<GlanceBlock<'a>> {
        let raw = self.content.map_or("", RawValue::get);
        if raw.starts_with('[') {
            serde_json::from_str(raw).unwrap_or_default()
        } else {
            Vec::new()
        }
    }
}

impl GlanceBlock<'_> {
    /// The id and the tool of a call.
    pub(super) fn call(&self) -> Option<(&str, &str)> {
        (self.kind.as_str() == Some("tool_use")).then_some(())?;
        Some((self.id.as_str()?, self.name.as_str().unwrap_or_default()))
    }

    /// The call that a result is of.
    pub(super) fn result_of(&self) -> Option<&str> {
        (self.kind.as_str() == Some("tool_result")).then_some(())?;
        self.tool_use_id.as_str()
    }

    /// The subagent that the client names in a result: `agentId: <id>` in the frame that it puts around a subagent's
    /// report, after the report itself (2.1.332 writes no `toolUseResult` into the transcripts of subagents).
    pub(super) fn named_agent(&self) -> Option<String> {
        let (_, after) = self.content?.get().rsplit_once("agentId: ")?;
        let end = after.find(|character: char| !character.is_ascii_alphanumeric() && !matches!(character, '-' | '_'));
        let id = after.get(..end.unwrap_or(after.len()))?;
        (!id.is_empty()).then(|| id.to_owned())
    }

    /// `prompt` of a call's input.
    pub(super) fn prompt(&self) -> Option<String> {
        let fields: AgentFields = serde_json::from_str(self.input?.get()).ok()?;
        Some(fields.prompt.as_str()?.to_owned())
    }

    /// The text of a text block.
    pub(super) fn text(&self) -> Option<String> {
        (self.kind.as_str() == Some("text")).then_some(())?;
        serde_json::from_str(self.text?.get()).ok()
    }
}
