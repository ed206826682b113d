//! What else runs when an Agent call has ended: `subcell seal`, and hooks that could rewrite the output as well.

use crate::protocol::settings::{HookEntry, LoadedSettings, Takes};

/// A record names at most so many.
const RIVALS_LIMIT: usize = 10;

/// The PostToolUse hooks of the parent's settings that run for an Agent call. Those that a plugin brings are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostHooks {
    /// Whether `subcell seal` is one of them.
    pub seal: bool,
    /// The others, by a short name. Each may rewrite the output; nothing tells which do.
    pub rivals: Vec<String>,
}

impl PostHooks {
    /// Looks through the settings for a call of `tool`, as the payload names it.
    #[must_use]
    pub fn gather(settings: &LoadedSettings, tool: &str) -> Self {
        // A pattern that cannot be judged is no proof that seal runs, and no proof that another hook does not.
        let runs_seal =
            |entry: &HookEntry| entry.subcell_command().as_deref() == Some("seal") && entry.takes(tool) == Takes::Yes;
        let is_rival = |entry: &&HookEntry| entry.subcell_command().is_none() && entry.takes(tool) != Takes::No;
        let mut rivals: Vec<String> = settings
            .post_tool_use()
            .filter(is_rival)
            .map(HookEntry::label)
            .collect();
        rivals.sort();
        rivals.dedup();
        rivals.truncate(RIVALS_LIMIT);
        Self {
            seal: settings.post_tool_use().any(runs_seal),
            rivals,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::settings::{Scope, Settings};

    fn document(scope: Scope, managed_only: bool, matcher: &str, command: &str) -> (Scope, Settings) {
        let text = json!({"allowManagedHooksOnly": managed_only,
            "hooks": {"PostToolUse": [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}]}});
        (scope, Settings::parse(text.to_string().as_bytes()).unwrap())
    }

    fn gather(documents: Vec<(Scope, Settings)>) -> (bool, Vec<String>) {
        let loaded = LoadedSettings {
            documents,
            ..LoadedSettings::default()
        };
        let found = PostHooks::gather(&loaded, "Agent");
        (found.seal, found.rivals)
    }

    #[test]
    fn seal_and_its_rivals_are_found_in_every_scope() {
        let seal = |scope| document(scope, false, "Agent|Task", "subcell seal");
        let redactor = |matcher| document(Scope::Project, false, matcher, "python3 /h/redact.py");
        let named = || vec!["python3 redact.py".to_owned()];
        for (documents, expected) in [
            (vec![], (false, vec![])),
            (vec![seal(Scope::User)], (true, vec![])),
            (vec![seal(Scope::Flag)], (true, vec![])),
            (vec![redactor("Bash|Read")], (false, vec![])),
            (vec![seal(Scope::Local), redactor("*")], (true, named())),
            (vec![redactor("Agent"), redactor("Age.*")], (false, named())),
            (vec![seal(Scope::User), redactor("(?!Bash).*")], (true, named())),
            (
                vec![document(Scope::User, false, "(?!Bash).*", "subcell seal")],
                (false, vec![]),
            ),
            (
                vec![document(Scope::User, false, "Task", "subcell seal")],
                (false, vec![]),
            ),
            // Other hooks of ours do not rewrite.
            (
                vec![document(Scope::User, false, "", "subcell guard background")],
                (false, vec![]),
            ),
        ] {
            assert_eq!(gather(documents.clone()), expected, "{documents:?}");
        }
    }

    #[test]
    fn where_only_managed_hooks_run_the_others_do_not_count() {
        let user = document(Scope::User, true, "", "subcell seal");
        let managed = document(Scope::Managed, true, "", "/x/audit.sh");
        // The key counts in managed settings alone.
        assert_eq!(gather(vec![user.clone()]), (true, vec![]));
        assert_eq!(gather(vec![user, managed]), (false, vec!["audit.sh".to_owned()]));
    }
}
