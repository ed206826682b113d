//! Who serves a child's model, by the switches of its environment.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::lineage::model::is_first_party;

/// The switches of the client (2.1.156 to 2.1.332) for which the GenAI conventions have a name.
const NAMED: [(&str, &str); 2] = [
    ("CLAUDE_CODE_USE_BEDROCK", "aws.bedrock"),
    ("CLAUDE_CODE_USE_VERTEX", "gcp.vertex_ai"),
];

/// `gen_ai.provider.name` of a child with the environment `env`; `None` for a provider that the conventions do not name.
#[must_use]
pub(super) fn provider(env: &BTreeMap<OsString, OsString>) -> Option<&'static str> {
    let value = |name: &str| {
        let value = env.get(OsString::from(name).as_os_str())?;
        Some(value.to_string_lossy().into_owned())
    };
    if is_first_party(value) {
        return Some("anthropic");
    }
    // Of one switch alone the answer is sure; where several are on, the client decides.
    let alone = |named: &str| !is_first_party(|name| value(name).filter(|_| name == named));
    let mut on = NAMED.iter().filter(|(switch, _)| alone(switch));
    let found = on.next().map(|(_, word)| *word);
    found.filter(|_| on.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provider_is_the_one_that_is_switched_on() {
        for (env, expected) in [
            (&[][..], Some("anthropic")),
            (&[("CLAUDE_CODE_USE_BEDROCK", "0")], Some("anthropic")),
            (&[("CLAUDE_CODE_USE_BEDROCK", "1")], Some("aws.bedrock")),
            (&[("CLAUDE_CODE_USE_VERTEX", "true")], Some("gcp.vertex_ai")),
            (
                &[("CLAUDE_CODE_USE_VERTEX", "1"), ("CLAUDE_CODE_USE_BEDROCK", "")],
                Some("gcp.vertex_ai"),
            ),
            (
                &[("CLAUDE_CODE_USE_VERTEX", "1"), ("CLAUDE_CODE_USE_BEDROCK", "1")],
                None,
            ),
            (&[("CLAUDE_CODE_USE_GATEWAY", "1")], None),
        ] {
            let env = env.iter().map(|(name, value)| (name.into(), value.into())).collect();
            assert_eq!(provider(&env), expected, "{env:?}");
        }
    }
}
