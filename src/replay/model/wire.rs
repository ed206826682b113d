//! The API's own forms: a message as server-sent events or as one object, an error, a token count.

use serde_json::{Value, json};

use super::answer::{ApiError, Message, Part};

/// Why a message ended (`stop_reason`).
fn stop_reason(message: &Message) -> &'static str {
    let calls = |part: &Part| matches!(part, Part::ToolUse { .. });
    if message.parts.iter().any(calls) {
        "tool_use"
    } else {
        "end_turn"
    }
}

fn usage(input: u64, output: u64) -> Value {
    json!({
        "input_tokens": input,
        "output_tokens": output,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    })
}

fn content(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::ToolUse { id, name, input } => json!({"type": "tool_use", "id": id, "name": name, "input": input}),
    }
}

/// A message as one JSON object, for a request without `stream`.
#[must_use]
pub(super) fn whole(message: &Message) -> Value {
    json!({
        "id": message.id,
        "type": "message",
        "role": "assistant",
        "model": message.model,
        "content": message.parts.iter().map(content).collect::<Vec<_>>(),
        "stop_reason": stop_reason(message),
        "stop_sequence": null,
        "usage": usage(message.usage.input, message.usage.output),
    })
}

/// A message as the server-sent events of a request with `stream`.
#[must_use]
pub(super) fn events(message: &Message) -> Vec<u8> {
    let mut stream = Vec::new();
    event(
        &mut stream,
        &json!({"type": "message_start", "message": {
            "id": message.id,
            "type": "message",
            "role": "assistant",
            "model": message.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            // The API counts the first token when it starts.
            "usage": usage(message.usage.input, 1),
        }}),
    );
    for (index, part) in message.parts.iter().enumerate() {
        block(&mut stream, index, part);
    }
    event(
        &mut stream,
        &json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason(message), "stop_sequence": null},
            "usage": {"output_tokens": message.usage.output},
        }),
    );
    event(&mut stream, &json!({"type": "message_stop"}));
    stream
}

/// The longest piece of text in one delta, in bytes.
const DELTA: usize = 16 * 1024;

fn block(stream: &mut Vec<u8>, index: usize, part: &Part) {
    let (empty, kind, field, whole) = match part {
        Part::Text(text) => (json!({"type": "text", "text": ""}), "text_delta", "text", text.clone()),
        Part::ToolUse { id, name, input } => (
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            "input_json_delta",
            "partial_json",
            input.to_string(),
        ),
    };
    event(
        stream,
        &json!({"type": "content_block_start", "index": index, "content_block": empty}),
    );
    for piece in pieces(&whole) {
        let delta = json!({"type": kind, field: piece});
        event(
            stream,
            &json!({"type": "content_block_delta", "index": index, "delta": delta}),
        );
    }
    event(stream, &json!({"type": "content_block_stop", "index": index}));
}

/// A text in pieces of at most [`DELTA`] bytes, none of which splits a character.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, later) = rest.split_at(rest.floor_char_boundary(DELTA));
        rest = later;
        (!piece.is_empty()).then_some(piece)
    })
}

fn event(stream: &mut Vec<u8>, data: &Value) {
    let kind = data.get("type").and_then(Value::as_str).unwrap_or_default();
    stream.extend_from_slice(format!("event: {kind}\ndata: {data}\n\n").as_bytes());
}

/// An error's body.
#[must_use]
pub(super) fn error(error: &ApiError) -> Value {
    json!({"type": "error", "error": {"type": error.r#type, "message": error.message}})
}

#[cfg(test)]
mod tests {
    use super::super::answer::Usage;
    use super::*;

    fn message(parts: Vec<Part>) -> Message {
        Message {
            id: "msg_1".into(),
            model: "m".into(),
            parts,
            usage: Usage { input: 10, output: 5 },
        }
    }

    /// The events' data, each checked against its `event:` line.
    fn data(stream: &[u8]) -> Vec<Value> {
        let text = std::str::from_utf8(stream).unwrap();
        assert!(text.ends_with("\n\n"));
        text.trim_end()
            .split("\n\n")
            .map(|event| {
                let (kind, data) = event.split_once('\n').unwrap();
                let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
                assert_eq!(kind, format!("event: {}", data["type"].as_str().unwrap()));
                data
            })
            .collect()
    }

    #[test]
    fn a_stream_has_the_events_of_the_api_in_order() {
        let call = Part::ToolUse {
            id: "toolu_1".into(),
            name: "Bash".into(),
            input: json!({"command": "ls"}),
        };
        let events = data(&events(&message(vec![Part::Text("hi".into()), call])));
        let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        let block = ["content_block_start", "content_block_delta", "content_block_stop"];
        assert_eq!(
            kinds,
            [
                &["message_start"],
                &block[..],
                &block[..],
                &["message_delta", "message_stop"]
            ]
            .concat()
        );
        assert_eq!(events[0]["message"]["usage"]["input_tokens"], 10);
        assert_eq!(events[2]["delta"], json!({"type": "text_delta", "text": "hi"}));
        assert_eq!(
            events[4]["content_block"],
            json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}})
        );
        assert_eq!(
            events[5]["delta"],
            json!({"type": "input_json_delta", "partial_json": "{\"command\":\"ls\"}"})
        );
        assert_eq!(events[7]["delta"]["stop_reason"], "tool_use");
        assert_eq!(events[7]["usage"]["output_tokens"], 5);
    }

    #[test]
    fn a_long_text_comes_in_pieces_that_make_it_whole() {
        // 3 bytes each: no multiple of the piece's length falls between two characters.
        let text = "€\n".repeat(20_000);
        let deltas: Vec<String> = data(&events(&message(vec![Part::Text(text.clone())])))
            .iter()
            .filter_map(|event| Some(event.get("delta")?.get("text")?.as_str()?.to_owned()))
            .collect();
        assert_eq!(deltas.len(), 5);
        assert_eq!(deltas.concat(), text);
    }

    #[test]
    fn an_empty_text_is_a_block_without_delta() {
        assert_eq!(data(&events(&message(vec![Part::Text(String::new())]))).len(), 5);
    }

    #[test]
    fn without_stream_the_message_is_one_object() {
        let whole = whole(&message(vec![Part::Text("hi".into())]));
        assert_eq!(whole["content"], json!([{"type": "text", "text": "hi"}]));
        assert_eq!(
            (&whole["stop_reason"], &whole["usage"]["output_tokens"]),
            (&json!("end_turn"), &json!(5))
        );
    }
}
