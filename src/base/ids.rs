//! Ids as types: each is checked once, where it enters, so that a path or an argument built from one is safe.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// An id that does not have the form its use needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} must be 1 to 128 characters of A-Z a-z 0-9 _ -, got {got:?}")]
pub struct IdError {
    kind: &'static str,
    got: String,
}

impl IdError {
    fn new(kind: &'static str, got: &str) -> Self {
        // The value may be long and is untrusted: a message carries its beginning only.
        Self {
            kind,
            got: got.chars().take(40).collect(),
        }
    }
}

fn is_plain(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

macro_rules! plain_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                if is_plain(text) { Ok(Self(text.to_owned())) } else { Err(IdError::new($kind, text)) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

plain_id!(
    /// The id of one tool use (`tool_use_id` of a hook payload, `toolu_…`): `[A-Za-z0-9_-]{1,128}`, safe as a file name.
    ToolUseId,
    "tool_use_id"
);
plain_id!(
    /// The id of a client session (`session_id` of a hook payload; a UUID today, read as any plain name).
    SessionId,
    "session_id"
);

impl SessionId {
    /// A new random session id, in the form that `claude --session-id` asks for (a UUID).
    #[must_use]
    pub fn random() -> Self {
        Self(Uuid::new_v4().to_string())
    }
}

/// The id of one cell: `cell-` and a UUID. It is the value of the recursion guard in the cell's environment, by which
/// a guard of ours is told from a foreign one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CellId(String);

impl CellId {
    const PREFIX: &str = "cell-";

    /// A new id; ids made later sort later.
    #[must_use]
    pub fn new() -> Self {
        Self(format!("{}{}", Self::PREFIX, Uuid::now_v7()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for CellId {
    fn default() -> Self {
        Self::new()
    }
}

impl FromStr for CellId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        match text.strip_prefix(Self::PREFIX).map(Uuid::try_parse) {
            Some(Ok(_)) => Ok(Self(text.to_owned())),
            Some(Err(_)) | None => Err(IdError::new("cell id", text)),
        }
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl serde::Serialize for CellId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for CellId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The name of an agent (`subagent_type` of an Agent call): any text that is not empty and has no control characters.
///
/// It is written by a model, and never becomes part of a path or a shell command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentType(String);

impl AgentType {
    /// What the client runs where a call names no type.
    pub const GENERAL_PURPOSE: &str = "general-purpose";

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for AgentType {
    fn default() -> Self {
        Self(Self::GENERAL_PURPOSE.to_owned())
    }
}

impl FromStr for AgentType {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        // A leading dash would be read as a flag of the child.
        let plain = !text.trim().is_empty()
            && text.len() <= 256
            && !text.starts_with('-')
            && !text.chars().any(char::is_control);
        if plain {
            Ok(Self(text.to_owned()))
        } else {
            Err(IdError::new("subagent_type", text))
        }
    }
}

impl fmt::Display for AgentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl serde::Serialize for AgentType {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for AgentType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_use_ids_that_could_leave_the_folder_are_refused() {
        for good in ["toolu_01AbC", "a", "A-b_9", &"x".repeat(128)] {
            assert!(good.parse::<ToolUseId>().is_ok(), "{good}");
        }
        for bad in ["", "..", "a/b", "a.json", "a b", "ä", "a\0", "a\n", &"x".repeat(129)] {
            assert!(bad.parse::<ToolUseId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn only_our_own_guard_values_are_cell_ids() {
        let id = CellId::new();
        assert_eq!(id.as_str().parse(), Ok(id));
        for foreign in [
            "1",
            "true",
            "cell-",
            "cell-x",
            "",
            "CELL-0190f3a0-0000-7000-8000-000000000000",
        ] {
            assert!(foreign.parse::<CellId>().is_err(), "{foreign:?}");
        }
    }

    #[test]
    fn agent_types_cannot_be_read_as_flags() {
        for good in ["general-purpose", "Explore", "my plugin:reviewer", "ä"] {
            assert!(good.parse::<AgentType>().is_ok(), "{good}");
        }
        for bad in ["", "  ", "-p", "--agent", "a\nb", "a\0b"] {
            assert!(bad.parse::<AgentType>().is_err(), "{bad:?}");
        }
    }
}
