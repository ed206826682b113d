//! The front matter of a Markdown file, read as tolerantly as the client reads it.

use serde_json::{Map, Value};

/// Front matter that even the tolerant reading does not understand.
#[derive(Debug, thiserror::Error)]
#[error("the front matter is not YAML")]
pub struct FrontMatterError(#[source] Box<serde_saphyr::Error>);

/// Splits `text` into its front matter and its body, or nothing where it has no front matter.
///
/// It begins with `---` and white space up to a line feed, and ends at the next `---` wherever that stands (2.1.332).
#[must_use]
pub fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text.strip_prefix("---")?;
    let blank = rest.len() - rest.trim_start().len();
    let start = rest.get(..blank)?.rfind('\n')? + 1;
    rest.get(start..)?.split_once("---")
}

/// Reads the front matter. Where it is no YAML, it is read once more with the values quoted that hold YAML's special
/// characters (`description: Use it: often`), as the client does (2.1.332).
///
/// # Errors
/// [`FrontMatterError`] where the second reading fails too.
pub fn parse(yaml: &str) -> Result<Map<String, Value>, FrontMatterError> {
    let value = read(yaml).or_else(|_| read(&quoted(yaml)));
    match value {
        Ok(Value::Object(map)) => Ok(map),
        // A list or a single value is front matter without keys.
        Ok(_) => Ok(Map::new()),
        Err(error) => Err(FrontMatterError(Box::new(error))),
    }
}

fn read(yaml: &str) -> Result<Value, serde_saphyr::Error> {
    // Front matter comes out of repositories: what it may cost is bounded well below the crate's own defaults.
    let options = serde_saphyr::options! {
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
        strict_booleans: true,
        with_snippet: false,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 10_000 },
        budget: serde_saphyr::budget! {
            max_nodes: 20_000,
            max_events: 50_000,
            max_depth: 32,
            max_aliases: 100,
            max_anchors: 100,
            max_documents: 1,
            max_total_scalar_bytes: 1024 * 1024,
        },
    };
    serde_saphyr::from_str_with_options(yaml, options)
}

/// The front matter with its suspicious values quoted and its leading tabs made spaces.
fn quoted(yaml: &str) -> String {
    let mut out = String::with_capacity(yaml.len() + 16);
    for line in yaml.split('\n') {
        if !out.is_empty() {
            out.push('\n');
        }
        if let Some((key, value)) = quotable(line) {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            out.extend([key, ": \"", &escaped, "\""]);
        } else {
            let untabbed = line.trim_start_matches('\t');
            out.push_str(&"  ".repeat(line.len() - untabbed.len()));
            out.push_str(untabbed);
        }
    }
    out
}

/// Key and value of a line `key: value` at the margin whose value must be quoted to be read as a text.
fn quotable(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.trim_end_matches('\r').split_once(':')?;
    let plain_key = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'-');
    let value = rest.trim_start();
    if !plain_key || value.is_empty() || value.len() == rest.len() {
        return None;
    }
    let encloses = |open: char, close: char| value.starts_with(open) && value.ends_with(close);
    if encloses('"', '"') || encloses('\'', '\'') {
        return None;
    }
    if encloses('[', ']') && matches!(read(value), Ok(Value::Array(_))) {
        return None;
    }
    let special = value.contains(": ") || value.contains(|c| "{}[]*&#!|>%@`".contains(c));
    special.then_some((key, value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn front_matter_is_split_off() {
        for (text, expected) in [
            ("---\na: 1\n---\nbody\n", Some(("a: 1\n", "\nbody\n"))),
            ("---  \r\na: 1\r\n---\r\nbody", Some(("a: 1\r\n", "\r\nbody"))),
            ("\u{feff}---\n---\n", Some(("", "\n"))),
            ("--- a: 1\n---\n", None),
            ("no front matter", None),
            ("---\nunterminated: yes\n", None),
            ("", None),
            ("---", None),
        ] {
            assert_eq!(split(text), expected, "{text:?}");
        }
    }

    #[test]
    fn values_that_are_no_yaml_are_read_as_texts() {
        for (yaml, expected) in [
            ("a: x\nb: [1, two]", json!({"a": "x", "b": [1, "two"]})),
            ("description: Use it: often", json!({"description": "Use it: often"})),
            (
                "description: say \"a: b\" @now",
                json!({"description": "say \"a: b\" @now"}),
            ),
            (
                "name: x\ndescription: @start",
                json!({"name": "x", "description": "@start"}),
            ),
            (
                "tools: [Read, Bash]\ndescription: a: b",
                json!({"tools": ["Read", "Bash"], "description": "a: b"}),
            ),
            ("tools: *", json!({"tools": "*"})),
            ("tools: \"*\"", json!({"tools": "*"})),
            (
                "list:\n\t- a\ndescription: x",
                json!({"list": ["a"], "description": "x"}),
            ),
            ("a: 1\na: 2", json!({"a": 2})),
            ("- a\n- b", json!({})),
            ("", json!({})),
        ] {
            let read = parse(yaml).unwrap_or_else(|error| panic!("{yaml}: {error:?}"));
            assert_eq!(Value::Object(read), expected, "{yaml}");
        }
        assert!(parse("a: \"open").is_err());
    }

    #[test]
    fn a_bomb_of_aliases_is_read_as_text_and_deep_nesting_is_refused() {
        let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
        for (this, last) in ["b", "c", "d", "e", "f", "g", "h"]
            .iter()
            .zip(["a", "b", "c", "d", "e", "f", "g"])
        {
            let items = vec![format!("*{last}"); 10].join(", ");
            bomb.extend([this, ": &", this, " [", &items, "]\n"]);
        }
        assert!(read(&bomb).is_err());
        assert_eq!(
            parse(&bomb).unwrap().get("b"),
            Some(&json!("&b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]"))
        );
        assert!(parse(&"[".repeat(5000)).is_err());
    }

    proptest! {
        /// A plain text value arrives as it is, whatever special characters stand in it.
        #[test]
        fn any_one_line_description_survives(text in "[a-zA-Z][a-zA-Z0-9 :#&*@%{}!|>,.\\[\\]-]{0,40}[a-z]") {
            let read = parse(&format!("name: n\ndescription: {text}\n")).unwrap();
            let description = read.get("description").and_then(Value::as_str).unwrap_or_default();
            // A comment is cut off where the line is valid YAML, as the client's parser does too.
            prop_assert!(text.starts_with(description) && !description.is_empty(), "{description}");
        }

        #[test]
        fn nothing_makes_it_panic(text in "[-a:\\n\\t \\[\\]{}&*!|>'\"%@#,0-9]{0,60}") {
            let _ = parse(&text);
            let _ = split(&text);
        }
    }
}
