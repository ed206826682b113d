//! The definitions of `--agents`: an object of name to definition.

use serde_json::Value;

use super::definition::{AgentDefinition, text_of};

/// Reads the text of `--agents`. An entry without description or prompt is left out. A text that is no JSON defines
/// nothing: 2.1.156 ignores it, and later versions do not start with it.
#[must_use]
pub fn agents_of_json(bytes: &[u8]) -> Vec<AgentDefinition> {
    let Ok(Value::Object(agents)) = serde_json::from_slice(bytes) else {
        return Vec::new();
    };
    let read = |(name, value): (String, Value)| {
        let fields = value.as_object()?;
        let prompt = text_of(fields, "prompt")?;
        AgentDefinition::from_fields(name, fields, prompt).ok()
    };
    agents.into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_named_by_their_keys() {
        let json = br#"{"a":{"description":"d","prompt":"p","tools":["Read"],"model":"opus"},
            "no-prompt":{"description":"d"},"no-description":{"prompt":"p"},"odd":7}"#;
        let expected = AgentDefinition {
            name: "a".into(),
            description: "d".into(),
            prompt: "p".into(),
            model: Some("opus".into()),
            tools: Some(vec!["Read".into()]),
            ..AgentDefinition::default()
        };
        assert_eq!(agents_of_json(json), [expected]);
        assert!(agents_of_json(b"{bad").is_empty());
        assert!(agents_of_json(b"[]").is_empty());
    }
}
