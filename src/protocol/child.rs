//! What `claude -p --output-format json` prints: one result object, or, when verbose is switched on by a flag or in
//! any settings file, an array of all messages that ends with it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Output that cannot be read as a result.
#[derive(Debug, thiserror::Error)]
pub enum ChildOutputError {
    /// Nothing was printed.
    #[error("the child printed nothing")]
    Empty,
    /// It ends in the middle (a client that dies while it prints, a cut pipe).
    #[error("the child's JSON is cut off")]
    Cut(#[source] serde_json::Error),
    /// It is not JSON of the expected kind.
    #[error("the child's output is not a result in JSON")]
    NotJson(#[source] serde_json::Error),
    /// JSON, but no message of type `result` in it.
    #[error("the child's output holds no message of type \"result\"")]
    NoResult,
}

/// Token counts; `None` is "unknown", which is not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tokens {
    /// Input tokens that were neither read from nor written to the cache.
    pub input: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
    /// Tokens read from the cache.
    pub cache_read: Option<u64>,
    /// Tokens written to the cache.
    pub cache_creation: Option<u64>,
}

impl Tokens {
    /// The sum, in which a count that only one side knows is kept.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (one, None) | (None, one) => one,
        };
        Self {
            input: add(self.input, other.input),
            output: add(self.output, other.output),
            cache_read: add(self.cache_read, other.cache_read),
            cache_creation: add(self.cache_creation, other.cache_creation),
        }
    }
}

/// What one model did in the child's whole tree (`modelUsage` of the result).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelUse {
    /// The model's tokens.
    pub tokens: Tokens,
    /// Its cost in US dollars, by the client's estimate.
    pub cost_usd: Option<f64>,
}

/// The result of a child, as far as it was given. Nothing here says that it is a success: see `isolate::outcome`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChildResult {
    /// `subtype`: `success`, `error_max_turns`, …
    pub subtype: Option<String>,
    /// `is_error`; absent is unknown.
    pub is_error: Option<bool>,
    /// `api_error_status`: the HTTP status of the API's last error.
    pub api_error_status: Option<u64>,
    /// `result`: the text, as bytes. A client writes a lone surrogate as an escape that no UTF-8 text can hold.
    pub text: Option<Vec<u8>>,
    /// `errors[]` of the failing arm.
    pub errors: Vec<String>,
    /// `structured_output`, present when `--json-schema` was met.
    pub structured: Option<Value>,
    /// `session_id`.
    pub session_id: Option<String>,
    /// `num_turns`.
    pub num_turns: Option<u64>,
    /// `duration_ms`, as the client measured it.
    pub duration_ms: Option<u64>,
    /// `total_cost_usd`: the client's estimate for the whole tree, in US dollars.
    pub cost_usd: Option<f64>,
    /// `usage`: the main loop only; used where `modelUsage` is absent.
    pub main_loop: Tokens,
    /// `modelUsage`, by model id.
    pub models: BTreeMap<String, ModelUse>,
    /// The tool names of `permission_denials`.
    pub denied_tools: Vec<String>,
    /// `terminal_reason`, an open set of words.
    pub terminal_reason: Option<String>,
    /// `stop_reason`.
    pub stop_reason: Option<String>,
}

impl ChildResult {
    /// Reads a child's whole output.
    ///
    /// # Errors
    /// [`ChildOutputError`]; a cut document is told from one that is something else.
    pub fn read(output: impl Read) -> Result<Self, ChildOutputError> {
        match serde_json::from_reader::<_, Output>(std::io::BufReader::with_capacity(64 * 1024, output)) {
            Ok(Output(Some(raw))) => Ok(raw.into_result()),
            Ok(Output(None)) => Err(ChildOutputError::NoResult),
            Err(error) if error.is_eof() && (error.line(), error.column()) <= (1, 0) => Err(ChildOutputError::Empty),
            Err(error) if error.is_eof() => Err(ChildOutputError::Cut(error)),
            Err(error) => Err(ChildOutputError::NotJson(error)),
        }
    }

    /// Tokens of the whole tree: the sum over `modelUsage`, or the main loop's where that is absent.
    #[must_use]
    pub fn tokens(&self) -> Tokens {
        if self.models.is_empty() {
            return self.main_loop;
        }
        self.models
            .values()
            .fold(Tokens::default(), |sum, model| sum.plus(model.tokens))
    }

    /// Whether the result says that no turn was made and no model was asked. A client that takes a prompt for a command
    /// of its own reports that as a success (`/compact` as a prompt, 2.1.156 to 2.1.332).
    #[must_use]
    pub fn never_reached_a_model(&self) -> bool {
        self.num_turns == Some(0) && self.models.is_empty()
    }

    /// The model that did most of the work: the dearest one, by cost and then by output tokens.
    #[must_use]
    pub fn main_model(&self) -> Option<&str> {
        let weight = |m: &ModelUse| (m.cost_usd.unwrap_or(0.0), m.tokens.output.unwrap_or(0));
        let heavier = |a: &ModelUse, b: &ModelUse| {
            let ((cost_a, out_a), (cost_b, out_b)) = (weight(a), weight(b));
            cost_a.total_cmp(&cost_b).then(out_a.cmp(&out_b))
        };
        self.models
            .iter()
            .max_by(|a, b| heavier(a.1, b.1))
            .map(|(name, _)| name.as_str())
    }
}

/// The last message of type `result` in an object or an array of messages.
struct Output(Option<RawResult>);

impl<'de> Deserialize<'de> for Output {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OutputVisitor)
    }
}

struct OutputVisitor;

impl<'de> Visitor<'de> for OutputVisitor {
    type Value = Output;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result object or an array of messages")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Output, A::Error> {
        let raw = RawResult::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(Output(raw.is_result().then_some(raw)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Output, A::Error> {
        let mut last = None;
        while let Some(message) = seq.next_element::<RawResult>()? {
            if message.is_result() {
                last = Some(message);
            }
        }
        Ok(Output(last))
    }
}

/// A JSON string as bytes: exact also where it is not UTF-8.
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;

        impl Visitor<'_> for BytesVisitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.as_bytes().to_vec()))
            }
        }
        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}

/// Only what is read of a message. Fields are taken as values, so that a type we did not expect is "unknown", not an
/// unreadable result.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct RawResult {
    r#type: Option<Value>,
    subtype: Option<Value>,
    is_error: Option<Value>,
    api_error_status: Option<Value>,
    result: Option<Bytes>,
    errors: Option<Value>,
    structured_output: Option<Value>,
    session_id: Option<Value>,
    num_turns: Option<Value>,
    duration_ms: Option<Value>,
    total_cost_usd: Option<Value>,
    usage: Option<Value>,
    #[serde(rename = "modelUsage")]
    model_usage: Option<Value>,
    permission_denials: Option<Value>,
    terminal_reason: Option<Value>,
    stop_reason: Option<Value>,
}

impl RawResult {
    fn is_result(&self) -> bool {
        self.r#type.as_ref().and_then(Value::as_str) == Some("result")
    }

    fn into_result(self) -> ChildResult {
        let number = |value: Option<Value>| value.as_ref().and_then(Value::as_u64);
        ChildResult {
            subtype: text(self.subtype),
            is_error: self.is_error.as_ref().and_then(Value::as_bool),
            api_error_status: number(self.api_error_status),
            text: self.result.map(|bytes| bytes.0),
            errors: texts(self.errors.as_ref(), serde_json::Value::as_str),
            structured: self.structured_output.filter(|value| !value.is_null()),
            session_id: text(self.session_id),
            num_turns: number(self.num_turns),
            duration_ms: number(self.duration_ms),
            cost_usd: self.total_cost_usd.as_ref().and_then(Value::as_f64),
            main_loop: self.usage.as_ref().map(main_loop_tokens).unwrap_or_default(),
            models: self.model_usage.as_ref().map(model_uses).unwrap_or_default(),
            denied_tools: texts(self.permission_denials.as_ref(), |denial| {
                denial.get("tool_name")?.as_str()
            }),
            terminal_reason: text(self.terminal_reason),
            stop_reason: text(self.stop_reason),
        }
    }
}

fn text(value: Option<Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn texts(list: Option<&Value>, one: impl Fn(&Value) -> Option<&str>) -> Vec<String> {
    let items = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(one).map(str::to_owned).collect()
}

fn main_loop_tokens(usage: &Value) -> Tokens {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    Tokens {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_creation: count("cache_creation_input_tokens"),
    }
}

fn model_uses(models: &Value) -> BTreeMap<String, ModelUse> {
    let Some(models) = models.as_object() else {
        return BTreeMap::new();
    };
    let one = |usage: &Value| {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        let tokens = Tokens {
            input: count("inputTokens"),
            output: count("outputTokens"),
            cache_read: count("cacheReadInputTokens"),
            cache_creation: count("cacheCreationInputTokens"),
        };
        ModelUse {
            tokens,
            cost_usd: usage.get("costUSD").and_then(Value::as_f64),
        }
    };
    models.iter().map(|(name, usage)| (name.clone(), one(usage))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ChildResult, ChildOutputError> {
        ChildResult::read(text.as_bytes())
    }

    #[test]
    fn a_recorded_success() {
        let result = read(include_str!("../../tests/fixtures/results/success-custom-agent.json")).unwrap();
        assert_eq!(result.subtype.as_deref(), Some("success"));
        assert_eq!(result.is_error, Some(false));
        assert_eq!(result.main_model(), Some("claude-haiku-5-5"));
        let expected = Tokens {
            input: Some(482),
            output: Some(26),
            cache_read: Some(0),
            cache_creation: Some(0),
        };
        assert_eq!(result.tokens(), expected);
        assert!(result.text.unwrap().starts_with(b"JUDGE-VERDICT 4/5"));
    }

    #[test]
    fn an_array_gives_its_last_result() {
        let array = r#"[{"type":"system","session_id":"a"},{"type":"assistant","message":{"usage":1}},
            {"type":"result","subtype":"error_during_execution"},{"type":"result","subtype":"success","result":"last"}]"#;
        assert_eq!(read(array).unwrap().text.as_deref(), Some(&b"last"[..]));
    }

    #[test]
    fn tokens_are_summed_over_models_and_unknown_is_not_zero() {
        let two = r#"{"type":"result","usage":{"input_tokens":1},"modelUsage":{
            "a":{"inputTokens":10,"outputTokens":2,"costUSD":0.5},"b":{"inputTokens":5,"costUSD":0.1}}}"#;
        let result = read(two).unwrap();
        let expected = Tokens {
            input: Some(15),
            output: Some(2),
            cache_read: None,
            cache_creation: None,
        };
        assert_eq!(result.tokens(), expected);
        assert_eq!(result.main_model(), Some("a"));
        assert_eq!(result.cost_usd, None);
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_kept() {
        let mut raw = br#"{"type":"result","result":"a"#.to_vec();
        raw.extend([0xff, 0xfe]);
        raw.extend(br#"b"}"#);
        assert_eq!(ChildResult::read(&raw[..]).unwrap().text.unwrap(), b"a\xff\xfeb");
        // A lone surrogate, as JSON.stringify writes it: kept as its generalised UTF-8 bytes.
        let lone = read(r#"{"type":"result","result":"x\ud83dy"}"#).unwrap().text.unwrap();
        assert_eq!(lone, b"x\xed\xa0\xbdy");
    }

    #[test]
    fn each_kind_of_unreadable_output_is_told_apart() {
        assert!(matches!(read(""), Err(ChildOutputError::Empty)));
        assert!(matches!(
            read("{\"type\":\"result\",\"result\":\"half"),
            Err(ChildOutputError::Cut(_))
        ));
        assert!(matches!(read("Error: no\n"), Err(ChildOutputError::NotJson(_))));
        assert!(matches!(
            read("{\"type\":\"result\"} trailing"),
            Err(ChildOutputError::NotJson(_))
        ));
        assert!(matches!(read("[]"), Err(ChildOutputError::NoResult)));
        assert!(matches!(
            read("{\"type\":\"assistant\"}"),
            Err(ChildOutputError::NoResult)
        ));
    }

    #[test]
    fn fields_of_an_unexpected_type_are_unknown() {
        let odd =
            read(r#"{"type":"result","subtype":7,"is_error":"no","usage":[],"modelUsage":3,"errors":"x"}"#).unwrap();
        assert_eq!(odd, ChildResult::default());
    }
}
