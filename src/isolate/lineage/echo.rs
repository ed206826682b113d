//! Whether the parent can hand a result back through the agent that is made for it.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::agents::{Agents, Found, Lookup, Origin};
use super::rules::RuleVerdict;

/// The name of the agent that hands results back: no tools, one turn, a small model.
pub const ECHO_AGENT: &str = "echo-through";

/// Its name where our plugin brings it: the client puts the plugin's in front (2.1.156 to 2.1.332).
pub const PLUGIN_ECHO_AGENT: &str = "subcell:echo-through";

/// Its definition, as it is shipped.
pub const ECHO_DEFINITION: &[u8] = include_bytes!("../../../agents/echo-through.md");

/// Whether the parent finds the echo agent and may start it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EchoAvailability {
    /// It does, under this name.
    Available(&'static str),
    /// No definition has that name.
    NotFound,
    /// The definition is the project's or a plugin's and is not the shipped one: it could do anything with a result.
    Foreign {
        /// Its file.
        path: PathBuf,
    },
    /// The file changed after the client read its definitions, or it is not known that it did not.
    TooNew {
        /// Its file.
        path: PathBuf,
    },
    /// Something that could hold another definition of that name could not be read.
    Unread {
        /// The file or folder.
        path: PathBuf,
    },
    /// A rule is against it.
    Refused(RuleVerdict),
}

impl EchoAvailability {
    /// The name to start it by, where it may be.
    #[must_use]
    pub const fn agent(&self) -> Option<&'static str> {
        if let Self::Available(name) = self {
            Some(name)
        } else {
            None
        }
    }
}

/// How much earlier than the truth the start of a process can be read: the kernel tells it in whole clock ticks of 10 ms.
/// A definition that is written as the client starts (CI does that) is still one that it reads: none of 2.1.156 to 2.1.332
/// gets to its agents within 100 ms.
const START_PRECISION: Duration = Duration::from_millis(20);

/// Decides whether a call may be rewritten to the echo agent `name`. `started` is when the client started: it reads definitions
/// then and never again (2.1.156 to 2.1.332).
#[must_use]
pub fn availability(
    name: &'static str,
    agents: &Agents,
    rules: RuleVerdict,
    started: Option<SystemTime>,
) -> EchoAvailability {
    // The rewritten call names it exactly; a name that is only similar is another agent.
    let found = match agents.lookup(name) {
        Lookup::Found(found) if found.definition.name == name => found,
        Lookup::Found(_) | Lookup::Ambiguous | Lookup::NotFound => return EchoAvailability::NotFound,
    };
    if let Some(path) = agents.unread().filter(|_| found.origin < Origin::Flag) {
        return EchoAvailability::Unread { path: path.to_owned() };
    }
    match (trusted(found), known_to_the_client(found, started), &found.path) {
        (false, _, path) => EchoAvailability::Foreign {
            path: path.clone().unwrap_or_default(),
        },
        (true, false, path) => EchoAvailability::TooNew {
            path: path.clone().unwrap_or_default(),
        },
        (true, true, _) if rules == RuleVerdict::Allowed => EchoAvailability::Available(name),
        (true, true, _) => EchoAvailability::Refused(rules),
    }
}

/// Whether the definition is the user's or the administrator's own, or is what we ship.
fn trusted(found: &Found) -> bool {
    match found.origin {
        Origin::User | Origin::Flag | Origin::Managed => true,
        // A repository's settings can switch plugins on, and any plugin can have our name.
        Origin::Plugin | Origin::Project | Origin::AddedFolder | Origin::BuiltIn => found.bytes == ECHO_DEFINITION,
    }
}

fn known_to_the_client(found: &Found, started: Option<SystemTime>) -> bool {
    match (found.path.as_ref(), found.changed, started) {
        (None, _, _) => true,
        (Some(_), Some(changed), Some(started)) => changed <= started + START_PRECISION,
        (Some(_), _, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules::RuleSource;
    use super::*;
    use crate::protocol::agent_file::AgentDefinition;
    use crate::protocol::settings::Scope;

    fn found(origin: Origin, bytes: &[u8]) -> Found {
        Found {
            definition: AgentDefinition::from_markdown(ECHO_DEFINITION).unwrap(),
            origin,
            path: Some("/p/echo.md".into()),
            changed: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(100)),
            bytes: bytes.to_vec(),
        }
    }

    fn one_of(found: &Found) -> Agents {
        Agents::new(vec![found.clone()])
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn the_shipped_definition_has_no_tools_and_one_turn() {
        let shipped = AgentDefinition::from_markdown(ECHO_DEFINITION).unwrap();
        assert_eq!(shipped.name, ECHO_AGENT);
        assert_eq!((shipped.tools, shipped.max_turns), (Some(vec![]), Some(1)));
        assert_eq!(shipped.model.as_deref(), Some("haiku"));
        assert!(shipped.omit_claude_md);
    }

    #[test]
    fn each_reason_against_it_is_told_apart() {
        let availability = |agents: &Agents, rules, started| availability(ECHO_AGENT, agents, rules, started);
        let path = || PathBuf::from("/p/echo.md");
        let allowed = RuleVerdict::Allowed;
        for (one, started, expected) in [
            (
                found(Origin::User, b"own"),
                Some(at(100)),
                EchoAvailability::Available(ECHO_AGENT),
            ),
            (
                found(Origin::Project, ECHO_DEFINITION),
                Some(at(101)),
                EchoAvailability::Available(ECHO_AGENT),
            ),
            (
                found(Origin::Project, b"own"),
                Some(at(101)),
                EchoAvailability::Foreign { path: path() },
            ),
            (
                found(Origin::AddedFolder, b"own"),
                Some(at(101)),
                EchoAvailability::Foreign { path: path() },
            ),
            (
                found(Origin::User, b"own"),
                Some(at(100) - Duration::from_millis(10)),
                EchoAvailability::Available(ECHO_AGENT),
            ),
            (
                found(Origin::User, b"own"),
                Some(at(100) - Duration::from_millis(30)),
                EchoAvailability::TooNew { path: path() },
            ),
            (
                found(Origin::User, b"own"),
                None,
                EchoAvailability::TooNew { path: path() },
            ),
        ] {
            assert_eq!(availability(&one_of(&one), allowed.clone(), started), expected);
        }
        let flag = Found::without_file(found(Origin::Flag, b"").definition, Origin::Flag);
        assert_eq!(
            availability(&one_of(&flag), allowed.clone(), None),
            EchoAvailability::Available(ECHO_AGENT)
        );
        assert_eq!(
            availability(&Agents::default(), allowed, Some(at(1))),
            EchoAvailability::NotFound
        );
        let denied = RuleVerdict::Denied {
            rule: "Agent(echo-through)".into(),
            by: RuleSource::Scope(Scope::User),
        };
        assert_eq!(
            availability(&one_of(&flag), denied.clone(), Some(at(1))),
            EchoAvailability::Refused(denied)
        );
    }

    #[test]
    fn what_could_not_be_read_may_be_another_of_that_name() {
        let unread = || Some(PathBuf::from("/p/.claude/agents/large.md"));
        let of = |found: Found| {
            availability(
                ECHO_AGENT,
                &one_of(&found).beside(unread()),
                RuleVerdict::Allowed,
                Some(at(101)),
            )
        };
        let expected = EchoAvailability::Unread {
            path: unread().unwrap(),
        };
        assert_eq!(of(found(Origin::User, b"own")), expected);
        // Nothing in a folder of the project's wins over these.
        assert_eq!(of(found(Origin::Flag, b"own")), EchoAvailability::Available(ECHO_AGENT));
        assert_eq!(
            of(found(Origin::Managed, b"own")),
            EchoAvailability::Available(ECHO_AGENT)
        );
    }

    #[test]
    fn a_similar_name_is_another_agent() {
        let mut similar = found(Origin::User, b"own");
        similar.definition.name = "Echo_Through".into();
        assert_eq!(
            availability(ECHO_AGENT, &one_of(&similar), RuleVerdict::Allowed, Some(at(101))),
            EchoAvailability::NotFound
        );
    }
}
