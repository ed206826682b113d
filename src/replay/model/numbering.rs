//! Counts requests, in all and in each conversation.

use std::collections::HashMap;

use super::facts::{Caller, Facts};
use super::rule::Numbers;
use crate::base::digest::sha256_hex;

/// The counters of one server.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    all: u64,
    conversations: HashMap<(Caller, String), u64>,
}

impl Numbering {
    /// Counts one request of `POST /v1/messages`.
    pub(super) fn next(&mut self, facts: &Facts) -> Numbers {
        // A prompt may be megabytes; its digest tells conversations apart as well.
        let key = (facts.caller.clone(), sha256_hex(facts.prompt.as_bytes()));
        let nth = self.conversations.entry(key).or_default();
        *nth += 1;
        self.all += 1;
        Numbers { n: self.all, nth: *nth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_are_told_apart_by_session_agent_and_first_text() {
        let facts = |session: &str, agent: Option<&str>, prompt: &str| Facts {
            caller: Caller {
                session: session.into(),
                agent: agent.map(str::to_owned),
            },
            prompt: prompt.into(),
            ..Facts::default()
        };
        let mut numbering = Numbering::default();
        for (n, (request, nth)) in [
            (facts("s", None, "go"), 1),
            (facts("s", None, "name this session"), 1),
            (facts("s", Some("a"), "go"), 1),
            (facts("t", None, "go"), 1),
            (facts("s", None, "go"), 2),
            (facts("s", Some("a"), "go"), 2),
        ]
        .into_iter()
        .enumerate()
        {
            let n = u64::try_from(n).unwrap() + 1;
            assert_eq!(numbering.next(&request), Numbers { n, nth }, "{request:?}");
        }
    }
}
