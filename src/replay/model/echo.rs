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

/// A pattern whose first group is the text to hand back.
#[derive(Clone, Debug)]
struct Between(Regex);

impl PartialEq for Between {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
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
        Ok(Self(regex))
    }
}

/// Hands back a part of the last user message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Echo {
    between: Between,
    #[serde(default, rename = "as")]
    fidelity: Fidelity,
}

impl Echo {
    /// What is handed back of `message`, the last user message of the request.
    #[must_use]
    pub(super) fn of(&self, message: &str) -> String {
        let found = self.between.0.captures(message).and_then(|groups| groups.get(1));
        let Some(text) = found.map(|group| group.as_str()) else {
            return format!("nothing in the last message matches {}", self.between.0.as_str());
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
    fn nothing_to_hand_back_is_said() {
        assert_eq!(
            echo(json!({"between": "A(.)B"}), "x"),
            "nothing in the last message matches A(.)B"
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
