//! What a subagent that should only hand a text back does with it: hands it back, or fails in one of the known ways.

use regex::Regex;
use serde::{Deserialize, Deserializer, de};

/// How faithful the echo is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Fidelity {
    /// The text as it stands.
    #[default]
    Exact,
    /// In other words, as a model may do that was told not to: with an introduction, and white space run together.
    Paraphrase,
    /// The first so many bytes, as where an output limit ends it (less, where that would split a character).
    Truncate(usize),
}

/// Where the text stands that is handed back.
#[derive(Clone, Debug, Default)]
enum Between {
    /// Between the marks of a cell's result, as `isolate` writes them: `BEGIN-` and `END-` with the same 32 random hex
    /// digits, each on a line of its own.
    #[default]
    Marks,
    /// In the first group of a pattern.
    Pattern(Regex),
}

impl PartialEq for Between {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Marks, Self::Marks) => true,
            (Self::Pattern(one), Self::Pattern(other)) => one.as_str() == other.as_str(),
            (Self::Marks, Self::Pattern(_)) | (Self::Pattern(_), Self::Marks) => false,
        }
    }
}

impl Between {
    fn find<'m>(&self, message: &'m str) -> Option<&'m str> {
        match self {
            Self::Marks => between_marks(message),
            Self::Pattern(regex) => Some(regex.captures(message)?.get(1)?.as_str()),
        }
    }
}

fn between_marks(message: &str) -> Option<&str> {
    message.match_indices("\nBEGIN-").find_map(|(at, begin)| {
        let (mark, rest) = message.get(at + begin.len()..)?.split_once('\n')?;
        let is_mark = mark.len() == 32 && mark.bytes().all(|b| b.is_ascii_hexdigit());
        let (text, _) = rest.rsplit_once(&format!("\nEND-{mark}"))?;
        is_mark.then_some(text)
    })
}

/// A pattern without a group would leave open what is to be handed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern needs a group, whose text is handed back, as in \"(?s)BEGIN\\n(.*)\\nEND\"")]
struct NoGroup;

impl<'de> Deserialize<'de> for Between {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let regex = Regex::new(&text).map_err(de::Error::custom)?;
        // Group 0 is the whole match.
        if regex.captures_len() < 2 {
            return Err(de::Error::custom(NoGroup));
        }
        Ok(Self::Pattern(regex))
    }
}

/// Hands back a part of the last user message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Echo {
    #[serde(default)]
    between: Between,
    #[serde(default, rename = "as")]
    fidelity: Fidelity,
}

impl Echo {
    /// What is handed back of `message`, the last user message of the request.
    #[must_use]
    pub(super) fn of(&self, message: &str) -> String {
        let Some(text) = self.between.find(message) else {
            return "nothing in the last message stands between the marks".to_owned();
        };
        match self.fidelity {
            Fidelity::Exact => text.to_owned(),
            Fidelity::Paraphrase => {
                let words: Vec<&str> = text.split_whitespace().collect();
                format!("Here is what it found, in short: {}", words.join(" "))
            }
            Fidelity::Truncate(limit) => text.split_at(text.floor_char_boundary(limit)).0.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn echo(script: serde_json::Value, message: &str) -> String {
        serde_json::from_value::<Echo>(script).unwrap().of(message)
    }

    #[test]
    fn each_fidelity_hands_back_what_it_says() {
        let marks = "(?s)<<(.*)>>";
        let message = "please\n<<a  ä\n>> b>>\nthanks";
        assert_eq!(echo(json!({"between": marks}), message), "a  ä\n>> b");
        assert_eq!(
            echo(json!({"between": marks, "as": "paraphrase"}), message),
            "Here is what it found, in short: a ä >> b"
        );
        // Byte 4 lies inside the two bytes of "ä".
        assert_eq!(echo(json!({"between": marks, "as": {"truncate": 4}}), message), "a  ");
        assert_eq!(
            echo(json!({"between": marks, "as": {"truncate": 99}}), message),
            "a  ä\n>> b"
        );
    }

    #[test]
    fn without_a_pattern_the_marks_of_a_cells_result_are_looked_for() {
        let (mark, other) = ("0123456789abcdef0123456789abcdef", "f".repeat(32));
        for (inside, what) in [
            ("one\n\ntwo\n", "several lines"),
            ("", "nothing"),
            (
                &*format!("\nEND-{other}\nBEGIN-{other}\nHuman: x\nEND-{other}"),
                "another call's marks",
            ),
        ] {
            let message =
                format!("Between BEGIN-{mark} and END-{mark} stands data.\nBEGIN-{mark}\n{inside}\nEND-{mark}");
            assert_eq!(echo(json!({}), &message), inside, "{what}");
        }
        let nothing = "nothing in the last message stands between the marks";
        for message in [
            "",
            "\nBEGIN-short\nx\nEND-short",
            &format!("\nBEGIN-{mark}\nx\nEND-{other}"),
        ] {
            assert_eq!(echo(json!({}), message), nothing, "{message}");
        }
    }

    #[test]
    fn nothing_to_hand_back_is_said() {
        assert_eq!(
            echo(json!({"between": "A(.)B"}), "x"),
            "nothing in the last message stands between the marks"
        );
    }

    #[test]
    fn a_pattern_without_a_group_or_a_broken_one_is_refused() {
        for bad in ["abc", "(?:a)", "(", ""] {
            assert!(
                serde_json::from_value::<Echo>(json!({"between": bad})).is_err(),
                "{bad}"
            );
        }
    }
}
