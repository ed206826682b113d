//! Texts with `{{variables}}`, checked when a script is read.

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use super::facts::Facts;
use super::rule::Numbers;

/// What a template may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    N,
    Nth,
    Session,
    Agent,
    Model,
    Prompt,
    ToolResult,
}

impl Variable {
    const ALL: [(&str, Self); 7] = [
        ("n", Self::N),
        ("nth", Self::Nth),
        ("session", Self::Session),
        ("agent", Self::Agent),
        ("model", Self::Model),
        ("prompt", Self::Prompt),
        ("tool_result", Self::ToolResult),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, variable)| *variable)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Variable(Variable),
}

/// A text with variables: `{{n}}` (number of the request, from 1), `{{nth}}` (its number in its conversation, from 1),
/// `{{session}}`, `{{agent}}`, `{{model}}`, `{{prompt}}` (the first user text), `{{tool_result}}` (the latest results'
/// text). Other braces stand for themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Piece>);

/// A variable that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown variable {{{{{0}}}}}; known are n, nth, session, agent, model, prompt, tool_result")]
pub(super) struct UnknownVariable(String);

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// [`UnknownVariable`] for `{{word}}` with a word that is not a variable.
    pub(super) fn parse(text: &str) -> Result<Self, UnknownVariable> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, name, after)) = next_variable(rest) {
            let variable = Variable::named(name).ok_or_else(|| UnknownVariable(name.to_owned()))?;
            pieces.push(Piece::Literal(before.to_owned()));
            pieces.push(Piece::Variable(variable));
            rest = after;
        }
        pieces.push(Piece::Literal(rest.to_owned()));
        Ok(Self(pieces))
    }

    /// The text for one request.
    #[must_use]
    pub(super) fn fill(&self, facts: &Facts, numbers: Numbers) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Variable(Variable::N) => text.push_str(&numbers.n.to_string()),
                Piece::Variable(Variable::Nth) => text.push_str(&numbers.nth.to_string()),
                Piece::Variable(Variable::Session) => text.push_str(&facts.caller.session),
                Piece::Variable(Variable::Agent) => text.push_str(facts.caller.agent.as_deref().unwrap_or_default()),
                Piece::Variable(Variable::Model) => text.push_str(&facts.model),
                Piece::Variable(Variable::Prompt) => text.push_str(&facts.prompt),
                Piece::Variable(Variable::ToolResult) => {
                    text.push_str(facts.tool_result.as_deref().unwrap_or_default());
                }
            }
        }
        text
    }
}

/// The first `{{word}}` of a text: what stands before it, its word, what stands after it.
fn next_variable(text: &str) -> Option<(&str, &str, &str)> {
    let is_word = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    text.match_indices("{{").find_map(|(at, _)| {
        let (before, opened) = text.split_at_checked(at)?;
        let (name, after) = opened.strip_prefix("{{")?.split_once("}}")?;
        is_word(name).then_some((before, name, after))
    })
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// A JSON value in which every text is a template, as a tool's input is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValueTemplate {
    /// A text.
    Text(Template),
    /// An array.
    Array(Vec<Self>),
    /// An object.
    Object(Vec<(String, Self)>),
    /// A number, a boolean or null.
    Plain(Value),
}

impl ValueTemplate {
    /// Reads every text of `value` as a template.
    ///
    /// # Errors
    /// [`UnknownVariable`] of the first text that has one.
    pub(super) fn parse(value: &Value) -> Result<Self, UnknownVariable> {
        Ok(match value {
            Value::String(text) => Self::Text(Template::parse(text)?),
            Value::Array(items) => Self::Array(items.iter().map(Self::parse).collect::<Result<_, _>>()?),
            Value::Object(fields) => {
                let parse = |(key, field): (&String, &Value)| Ok((key.clone(), Self::parse(field)?));
                Self::Object(fields.iter().map(parse).collect::<Result<_, _>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::Plain(value.clone()),
        })
    }

    /// The value for one request.
    #[must_use]
    pub(super) fn fill(&self, facts: &Facts, numbers: Numbers) -> Value {
        match self {
            Self::Text(template) => Value::String(template.fill(facts, numbers)),
            Self::Array(items) => items.iter().map(|item| item.fill(facts, numbers)).collect(),
            Self::Object(fields) => {
                let fill = |(key, field): &(String, Self)| (key.clone(), field.fill(facts, numbers));
                Value::Object(fields.iter().map(fill).collect())
            }
            Self::Plain(value) => value.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for ValueTemplate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fill(text: &str) -> String {
        let facts = Facts {
            model: "haiku".into(),
            prompt: "P".into(),
            ..Facts::default()
        };
        Template::parse(text).unwrap().fill(&facts, Numbers { n: 12, nth: 3 })
    }

    #[test]
    fn variables_are_filled_and_other_braces_stay() {
        for (text, want) in [
            ("", ""),
            ("{{n}}/{{nth}} {{model}}", "12/3 haiku"),
            ("a{{prompt}}{{prompt}}b", "aPPb"),
            ("{{tool_result}}{{agent}}", ""),
            (
                "{ {{ }} {{}} {{ n }} ${{A.b}} {{n}}",
                "{ {{ }} {{}} {{ n }} ${{A.b}} 12",
            ),
            ("ä{{n}}ö", "ä12ö"),
        ] {
            assert_eq!(fill(text), want, "{text}");
        }
    }

    #[test]
    fn an_unknown_variable_is_named() {
        let error = Template::parse("a {{nope}}").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("unknown variable {{nope}}; known are n, nth"),
            "{error}"
        );
    }

    #[test]
    fn every_text_of_a_value_is_a_template() {
        let value = json!({"prompt": "p{{n}}", "list": [1, null, true, {"deep": "{{nth}}"}]});
        let filled = ValueTemplate::parse(&value)
            .unwrap()
            .fill(&Facts::default(), Numbers { n: 1, nth: 2 });
        assert_eq!(filled, json!({"prompt": "p1", "list": [1, null, true, {"deep": "2"}]}));
    }
}
