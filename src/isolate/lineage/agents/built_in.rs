//! The client's own agents that `claude -p --agent` takes, by version.

use super::table::{Found, Origin};
use crate::protocol::agent_file::AgentDefinition;
use crate::protocol::version::ClientVersion;

/// What 226, 295 and 332 name as available; 156 has them too. `claude-code-guide` and `web-fetch` are left out: a session
/// of `-p` does not have them.
const NAMES: [&str; 5] = ["general-purpose", "Explore", "Plan", "claude", "statusline-setup"];

/// The built-in definitions of `version`; those of the newest where it is not known.
#[must_use]
pub fn built_in(version: Option<ClientVersion>) -> Vec<Found> {
    let explore = version.is_some_and(ClientVersion::explore_has_a_model);
    let model = |name: &str| match name {
        "statusline-setup" => Some("sonnet"),
        "Explore" if explore => Some("haiku"),
        _ => None,
    };
    let define = |name: &str| AgentDefinition {
        name: name.to_owned(),
        description: "built into the client".to_owned(),
        model: model(name).map(str::to_owned),
        ..AgentDefinition::default()
    };
    NAMES
        .iter()
        .map(|name| Found::without_file(define(name), Origin::BuiltIn))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::version::{V2_1_156, V2_1_226, V2_1_332};

    #[test]
    fn explore_has_a_model_of_its_own_in_156_only() {
        let explore = |version| {
            let all = built_in(version);
            let found = all.into_iter().find(|found| found.definition.name == "Explore");
            found.unwrap().definition.model
        };
        assert_eq!(explore(Some(V2_1_156)).as_deref(), Some("haiku"));
        assert_eq!(explore(Some(V2_1_226)), None);
        assert_eq!(explore(Some(V2_1_332)), None);
        assert_eq!(explore(None), None);
    }
}
