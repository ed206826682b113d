//! Which policy applies: the flags, else `[guard.background]` of the user's configuration, else denial.

use super::decide::{Flag, Policy};
use crate::config::{Environment, Problem, Profile, TableReader};

/// What the command line chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// `--mode` or `--beside-intercept`; none where neither was given.
    pub policy: Option<Policy>,
}

/// A policy and what the user is told about where it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The policy.
    pub policy: Policy,
    /// How the client treats the flag.
    pub flag: Flag,
    /// What is wrong in the configuration, if anything.
    pub problem: Option<String>,
}

/// The client's switch for background subagents, and the words that it takes for on (2.1.156 and 2.1.332).
const FORCED: &str = "CLAUDE_CODE_FORK_SUBAGENT";
const ON: [&str; 4] = ["1", "true", "yes", "on"];

const MODES: [(&str, Policy); 2] = [("deny", Policy::Deny), ("rewrite", Policy::Rewrite)];

impl Chosen {
    /// The policy; `profile` is asked where no flag decides. A configuration that cannot be used means denial.
    ///
    /// `environment` is the hook's own: what anybody may have set there for us stands there for the client too, and can
    /// make this guard stricter only.
    #[must_use]
    pub fn told(self, environment: &Environment, profile: impl FnOnce() -> Result<Profile, String>) -> Told {
        let forced = environment
            .get(FORCED)
            .is_some_and(|value| ON.iter().any(|on| value.eq_ignore_ascii_case(on)));
        let flag = if forced { Flag::IsDropped } else { Flag::Counts };
        if let Some(policy) = self.policy {
            return Told {
                policy,
                flag,
                problem: None,
            };
        }
        let read = profile().and_then(|profile| configured(&profile));
        match read {
            Ok(policy) => Told {
                policy,
                flag,
                problem: None,
            },
            Err(problem) => Told {
                policy: Policy::Deny,
                flag,
                problem: Some(problem),
            },
        }
    }
}

/// `[guard.background]`. A project may add rules and never take one away, so its table is not read.
fn configured(profile: &Profile) -> Result<Policy, String> {
    let mut policy = Policy::Deny;
    let mut problems: Vec<Problem> = Vec::new();
    for room in profile.rooms.guard_background.iter().filter(|room| !room.is_project()) {
        let mut reader = TableReader::new("guard.background", &room.table, &room.origin, &mut problems);
        if let Some(mode) = reader.word("mode", &MODES) {
            policy = mode.value;
        }
        if reader.boolean("beside_intercept").is_some_and(|beside| beside.value) {
            policy = Policy::BesideIntercept;
        }
        reader.finish();
    }
    if problems.is_empty() {
        return Ok(policy);
    }
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    Err(lines.join("; "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::config::tree::Table;
    use crate::config::{FileOrigin, Layer, Room};

    fn profile(text: &str, layer: Layer) -> Profile {
        let room = Room {
            origin: FileOrigin {
                path: Arc::from(Path::new("/home/ann/subcell.toml")),
                layer,
            },
            table: Table::parse(text).unwrap(),
        };
        let mut profile = Profile::default();
        profile.rooms.guard_background.push(room);
        profile
    }

    #[test]
    fn the_shown_defaults_are_those_of_the_code() {
        let flags = crate::config::Flags {
            config: Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("config/defaults.toml")),
            ..crate::config::Flags::default()
        };
        let profile = Profile::load(&crate::config::Believed::of_person(&[]), None, &flags).unwrap();
        assert_eq!(profile.rooms.guard_background.len(), 1);
        assert_eq!(configured(&profile), configured(&Profile::default()));
    }

    fn told(text: &str, layer: Layer) -> (Policy, bool) {
        let told = Chosen::default().told(&Environment::default(), || Ok(profile(text, layer)));
        (told.policy, told.problem.is_some())
    }

    #[test]
    fn the_users_table_decides_and_a_projects_does_not() {
        assert_eq!(told("mode = \"rewrite\"", Layer::User), (Policy::Rewrite, false));
        assert_eq!(
            told("beside_intercept = true", Layer::User),
            (Policy::BesideIntercept, false)
        );
        assert_eq!(told("beside_intercept = false", Layer::User), (Policy::Deny, false));
        assert_eq!(told("mode = \"rewrite\"", Layer::Project), (Policy::Deny, false));
        assert_eq!(told("beside_intercept = true", Layer::Project), (Policy::Deny, false));
    }

    #[test]
    fn a_configuration_that_cannot_be_used_means_denial_and_is_named() {
        for text in [
            "mode = \"allow\"",
            "mode = 1",
            "off = true",
            "beside_intercept = \"yes\"",
        ] {
            assert_eq!(told(text, Layer::User), (Policy::Deny, true), "{text}");
        }
        let unreadable = Chosen::default().told(&Environment::default(), || Err("subcell.toml:3: wrong".to_owned()));
        assert_eq!(unreadable.policy, Policy::Deny);
        assert_eq!(unreadable.problem.as_deref(), Some("subcell.toml:3: wrong"));
    }

    #[test]
    fn the_clients_switch_is_seen() {
        for (value, flag) in [
            ("1", Flag::IsDropped),
            ("TRUE", Flag::IsDropped),
            ("0", Flag::Counts),
            ("", Flag::Counts),
        ] {
            let environment = [("CLAUDE_CODE_FORK_SUBAGENT", value)].into_iter().collect();
            let told = Chosen::default().told(&environment, || Ok(Profile::default()));
            assert_eq!(told.flag, flag, "{value:?}");
        }
    }

    #[test]
    fn a_flag_needs_no_configuration() {
        let flag = Chosen {
            policy: Some(Policy::Rewrite),
        };
        assert_eq!(
            flag.told(&Environment::default(), || panic!("asked")).policy,
            Policy::Rewrite
        );
    }
}
