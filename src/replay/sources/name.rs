//! What the name of a transcript says.

/// Bytes of a UUID in text.
const UUID: usize = 36;

/// What a file's name says about what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TranscriptName {
    /// `<session id>.jsonl`, or fullsend's `<agent>-<session id>.jsonl`.
    Session(String),
    /// `agent-<id>.jsonl`, or fullsend's `<agent>-agent-<id>.jsonl`.
    Agent(String),
    /// Neither: only its lines can tell.
    Unknown,
}

impl TranscriptName {
    /// Reads the name of a file without its `.jsonl`.
    ///
    /// fullsend flattens what it takes out of its sandbox to `<agent>-<basename>`, and an agent's name may hold hyphens
    /// itself, so names are read from their end.
    #[must_use]
    pub fn of(stem: &str) -> Self {
        if let Some(id) = stem.strip_prefix("agent-").filter(|id| !id.is_empty()) {
            return Self::Agent(id.to_owned());
        }
        if let Some(id) = session_id(stem) {
            return Self::Session(id.to_owned());
        }
        match stem.rsplit_once("-agent-") {
            Some((_, id)) if is_agent_id(id) => Self::Agent(id.to_owned()),
            Some(_) | None => Self::Unknown,
        }
    }
}

fn session_id(stem: &str) -> Option<&str> {
    let start = stem.len().checked_sub(UUID)?;
    let id = stem.get(start..)?;
    let alone = start == 0 || stem.get(..start)?.ends_with('-');
    (alone && is_uuid(id)).then_some(id)
}

/// Whether `text` has the form of a UUID.
fn is_uuid(text: &str) -> bool {
    text.len() == UUID
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The client's ids of subagents are 17 hexadecimal digits (2.1.156 to 2.1.332); shorter ones are taken too, as long as
/// they do not look like a word.
fn is_agent_id(id: &str) -> bool {
    id.len() >= 6 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_client_and_flattened_ones_are_read() {
        let session = |id: &str| TranscriptName::Session(id.to_owned());
        let agent = |id: &str| TranscriptName::Agent(id.to_owned());
        for (stem, expected) in [
            (
                "06d8d63d-7b7f-4c87-9469-ddb436ad557f",
                session("06d8d63d-7b7f-4c87-9469-ddb436ad557f"),
            ),
            (
                "judge-parent-06d8d63d-7b7f-4c87-9469-ddb436ad557f",
                session("06d8d63d-7b7f-4c87-9469-ddb436ad557f"),
            ),
            ("agent-ab29d8fc730ddbea8", agent("ab29d8fc730ddbea8")),
            ("agent-acompact-1", agent("acompact-1")),
            ("code-agent-ab29d8fc730ddbea8", agent("ab29d8fc730ddbea8")),
            ("my-agent-agent-ab29d8fc730ddbea8", agent("ab29d8fc730ddbea8")),
            ("my-agent-notes", TranscriptName::Unknown),
            ("x06d8d63d-7b7f-4c87-9469-ddb436ad557f", TranscriptName::Unknown),
            ("output", TranscriptName::Unknown),
            ("é", TranscriptName::Unknown),
            ("", TranscriptName::Unknown),
        ] {
            assert_eq!(TranscriptName::of(stem), expected, "{stem}");
        }
    }
}
