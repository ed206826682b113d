//! An event's content in one line.

use serde_json::Value;

use super::event::{Event, Part};

/// Characters of the line.
const LENGTH: usize = 160;
/// The fields of a call's input that say most about it.
const TELLING: [&str; 9] = [
    "description",
    "command",
    "file_path",
    "path",
    "pattern",
    "query",
    "url",
    "skill",
    "prompt",
];

impl Event {
    /// Its content in one line of at most some 160 characters, which may still hold characters that act on a terminal.
    #[must_use]
    pub fn summary(&self) -> String {
        match self.parts.first() {
            None => String::new(),
            Some(Part::Text(text)) => first_line(text),
            Some(Part::Data(value)) => {
                let said = TELLING.iter().find_map(|name| value.get(name)?.as_str());
                said.map_or_else(|| short(value), first_line)
            }
            Some(Part::Diff(diff)) => first_line(&diff.path),
            Some(Part::Image(image)) => first_line(&format!("picture, {}", image.media_type)),
        }
    }
}

/// The data in one line; what is large is not written out only to be cut.
fn short(value: &Value) -> String {
    let field = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}: {}", first_line(text)),
        Value::Array(values) => format!("{name}: {} values", values.len()),
        Value::Object(fields) => format!("{name}: {} fields", fields.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => format!("{name}: {value}"),
    };
    match value {
        Value::Object(fields) => {
            let few: Vec<String> = fields.iter().take(6).map(field).collect();
            first_line(&few.join(", "))
        }
        Value::Array(values) => format!("{} values", values.len()),
        Value::String(text) => first_line(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn first_line(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(LENGTH).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{cut}{more}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::event::Role;
    use super::*;

    #[test]
    fn what_says_most_is_said() {
        let of = |value: Value| Event::new(Role::Call, 1, "x").data(value).summary();
        assert_eq!(of(json!({"command": "ls\n-l", "timeout": 5})), "ls…");
        assert_eq!(
            of(json!({"a": 1, "b": [1, 2], "c": {"d": 1}, "e": "text"})),
            "a: 1, b: 2 values, c: 1 fields, e: text"
        );
        let long = Event::new(Role::User, 1, "").text("é".repeat(200)).summary();
        assert_eq!(long.chars().count(), 161);
        assert_eq!(Event::new(Role::User, 1, "").text("  one  ").summary(), "one");
    }
}
