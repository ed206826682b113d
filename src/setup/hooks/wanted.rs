//! A hook entry as it is written into settings.

use std::path::Path;

use serde_json::{Value, json};

use crate::setup::{OurEntry, Work};

/// One entry that is to stand in the settings, in a group of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The event.
    pub(super) event: &'static str,
    /// The tools that it is for; none for an event without tools.
    pub(super) matcher: Option<&'static str>,
    /// Which hook.
    pub(super) work: Work,
    /// Its arguments after the words that name it.
    pub(super) flags: Vec<&'static str>,
    /// Seconds.
    pub(super) timeout_s: u64,
    /// Whether a hook that fails blocks the call (`"onFailure": "block"`; 2.1.295 and newer obey it).
    pub(super) blocks: bool,
}

impl Wanted {
    /// The group of the event's list: the program without a shell (`args`), so that no word of it is expanded.
    pub(super) fn group(&self, program: &Path) -> Value {
        let args: Vec<&str> = self.work.words().iter().chain(&self.flags).copied().collect();
        let mut hook = json!({
            "type": "command",
            "command": program.to_string_lossy(),
            "args": args,
            "timeout": self.timeout_s,
        });
        if let (true, Some(hook)) = (self.blocks, hook.as_object_mut()) {
            hook.insert("onFailure".to_owned(), json!("block"));
        }
        match self.matcher {
            Some(matcher) => json!({"matcher": matcher, "hooks": [hook]}),
            None => json!({"hooks": [hook]}),
        }
    }

    /// Whether `entry` is for the same hook and event.
    pub(super) fn is_for(&self, entry: &OurEntry) -> bool {
        self.event == entry.event && self.work == entry.work
    }
}
