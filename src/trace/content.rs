//! Prompts and results, for those who ask that they be sent: redacted and cut.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::folders::Home;
use crate::base::redact::Redactor;
use crate::base::{Links, SessionId, open_regular};
use crate::ledger::{Record, RecordName, Store, Stored};
use crate::protocol::transcript::{Block, Entries, Entry, LineKind, LinesFromStart, locate};
use crate::telemetry::Value;

/// Characters of one text that are sent.
const LIMIT: usize = 32 * 1024;
/// Lines of a transcript in which the prompt is looked for: it is among the first.
const LINES: usize = 100;

/// How prompts and results are sent.
#[derive(Debug)]
pub struct Content {
    /// Takes secrets out of them.
    pub redactor: Redactor,
    /// The client's configuration folder, below which this machine's transcripts lie.
    pub client_config: Option<PathBuf>,
}

impl Content {
    /// The attributes (`GenAI` conventions, messages) of a record's prompt and result, as far as both are found. Where they lie
    /// follows from the record's ids: a path in a record of a sandbox may be anything.
    #[must_use]
    pub fn of(
        &self,
        record: &Record,
        (store, name): (&Store, &RecordName),
        home: Option<Home>,
    ) -> Vec<(&'static str, Value)> {
        let session = record.child_session.as_ref();
        let prompt = session
            .and_then(|session| self.transcript(session, store.folder(), home))
            .and_then(|path| prompt_in(&path));
        let stored = record
            .end()
            .and_then(|end| end.result.as_ref())
            .map(|result| store.stored(name, result));
        let result = stored.and_then(|stored| match stored {
            Stored::Intact(bytes) | Stored::Changed(bytes) => Some(bytes),
            Stored::Missing(_) => None,
        });
        let prompt = prompt.map(|text| ("gen_ai.input.messages", self.message("user", &text)));
        let result = result.map(|bytes| {
            (
                "gen_ai.output.messages",
                self.message("assistant", &String::from_utf8_lossy(&bytes)),
            )
        });
        prompt.into_iter().chain(result).collect()
    }

    fn message(&self, role: &str, text: &str) -> Value {
        // More than is sent is redacted, so that a secret at the cut is seen for one.
        let begin: String = text.chars().take(LIMIT + 4096).collect();
        let masked: String = self.redactor.text(&begin).text.chars().take(LIMIT).collect();
        Value::from(json!([{"role": role, "parts": [{"type": "text", "content": masked}]}]).to_string())
    }

    fn transcript(&self, session: &SessionId, cells: &Path, home: Option<Home>) -> Option<PathBuf> {
        match home? {
            Home::Here => locate(self.client_config.as_deref()?, session),
            // fullsend names it <agent>-<session>.jsonl in the iteration's folder (v0.33 to v0.36).
            Home::Extracted => {
                let transcripts = cells.ancestors().nth(3)?.join("transcripts");
                let ending = format!("-{session}.jsonl");
                let files = std::fs::read_dir(transcripts).ok()?.flatten();
                files.map(|file| file.path()).find(|path| {
                    path.file_name()
                        .is_some_and(|name| name.to_string_lossy().ends_with(&ending))
                })
            }
        }
    }
}

/// The first text of the user in a transcript.
fn prompt_in(path: &Path) -> Option<String> {
    let file: File = open_regular(path, Links::Refuse).ok()?;
    let entries = Entries::new(LinesFromStart::new(file)).take(LINES);
    let text = |entry: Entry| {
        let Entry::Line { line, .. } = entry else { return None };
        let message = line.message.filter(|_| line.kind == LineKind::User)?;
        message.content.into_iter().find_map(|block| match block {
            Block::Text(text) => Some(text),
            Block::Thinking(_) | Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other(_) => None,
        })
    };
    entries.filter_map(Result::ok).find_map(text)
}
