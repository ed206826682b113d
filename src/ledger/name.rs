//! The name that a call's files have in the folder of records.

use crate::base::{SessionId, ToolUseId};

/// The name of a record's files without their ending: the tool use id, or, where another session's record has that
/// name already, the tool use id and the session's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordName(String);

impl RecordName {
    /// The name that a call's record has as a rule.
    #[must_use]
    pub fn of(tool_use: &ToolUseId) -> Self {
        Self(tool_use.to_string())
    }

    /// The name that it has where the first is taken by another session. A dot cannot occur in an id.
    #[must_use]
    pub fn of_session(tool_use: &ToolUseId, session: &SessionId) -> Self {
        Self(format!("{tool_use}.{session}"))
    }

    /// The name that `text` is, where it can be one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (tool_use, session) = text
            .split_once('.')
            .map_or((text, None), |(tool_use, session)| (tool_use, Some(session)));
        let tool_use: ToolUseId = tool_use.parse().ok()?;
        match session {
            None => Some(Self::of(&tool_use)),
            Some(session) => Some(Self::of_session(&tool_use, &session.parse().ok()?)),
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
