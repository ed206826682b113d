//! The calls of a transcript whose results have not come yet: a result names its call, not its tool.

use std::collections::HashMap;

use super::event::{Event, Role};

/// At most this many calls wait for a result.
const WAITING: usize = 10_000;

/// The tools of open calls, by their ids.
#[derive(Debug, Default)]
pub(super) struct OpenCalls(HashMap<String, String>);

impl OpenCalls {
    /// The tool that an event is of; remembers a call, and forgets it with its result.
    pub(super) fn tool_of(&mut self, event: &Event) -> Option<String> {
        let id = event.tool_use_id.as_ref()?;
        match event.role {
            Role::Call => {
                if self.0.len() < WAITING {
                    self.0.insert(id.clone(), event.label.clone());
                }
                Some(event.label.clone())
            }
            Role::Result => self.0.remove(id),
            Role::User
            | Role::Assistant
            | Role::Thinking
            | Role::Hook
            | Role::System
            | Role::Other
            | Role::Broken => self.0.get(id).cloned(),
        }
    }
}
