//! By which way a result reaches the parent: pure.

use super::lineage::PostHooks;
use crate::config::Delivery as Configured;
use crate::ledger::record::{Delivery, DeliveryMode};

/// A way of handing a result over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A subagent repeats the text.
    Echo,
    /// A subagent says where the text is, and `subcell seal` puts it in.
    Receipt,
    /// The text is the reason of a denial.
    Deny,
}

/// The way that is taken, and who else could change what arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    /// The way.
    pub mode: Mode,
    /// Hooks that could rewrite the same output, by a short name.
    pub rivals: Vec<String>,
}

impl Handover {
    /// Chooses. A receipt without `seal` would leave the parent with a path, and two hooks that rewrite one output race
    /// (the last to finish wins, 2.1.156 to 2.1.332): `auto` takes it only where `seal` is there and alone.
    #[must_use]
    pub fn choose(configured: Configured, hooks: &PostHooks) -> Self {
        let mode = match configured {
            Configured::Auto if hooks.seal && hooks.rivals.is_empty() => Mode::Receipt,
            Configured::Auto | Configured::Echo => Mode::Echo,
            Configured::Receipt => Mode::Receipt,
            Configured::Deny => Mode::Deny,
        };
        Self {
            mode,
            rivals: hooks.rivals.clone(),
        }
    }

    /// The way that another hook of the same call took, so that every hook of the call gives the same answer.
    #[must_use]
    pub fn joined(&self, earlier: Option<&Delivery>) -> Self {
        let mode = match earlier.map(|delivery| delivery.mode) {
            None | Some(DeliveryMode::None) => self.mode,
            Some(DeliveryMode::Echo) => Mode::Echo,
            Some(DeliveryMode::Receipt) => Mode::Receipt,
            Some(DeliveryMode::Deny) => Mode::Deny,
        };
        Self {
            mode,
            rivals: self.rivals.clone(),
        }
    }
}

impl Mode {
    /// The word for it in the record and in the configuration.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Receipt => "receipt",
            Self::Deny => "deny",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_takes_the_receipt_only_where_seal_is_alone() {
        let hooks = |seal, rivals: &[&str]| PostHooks {
            seal,
            rivals: rivals.iter().map(|rival| (*rival).to_owned()).collect(),
        };
        for (configured, hooks, mode) in [
            (Configured::Auto, hooks(true, &[]), Mode::Receipt),
            (Configured::Auto, hooks(false, &[]), Mode::Echo),
            (Configured::Auto, hooks(true, &["redact.py"]), Mode::Echo),
            (Configured::Auto, hooks(false, &["redact.py"]), Mode::Echo),
            (Configured::Echo, hooks(true, &[]), Mode::Echo),
            (Configured::Receipt, hooks(false, &["redact.py"]), Mode::Receipt),
            (Configured::Deny, hooks(true, &[]), Mode::Deny),
        ] {
            let chosen = Handover::choose(configured, &hooks);
            assert_eq!((chosen.mode, chosen.rivals), (mode, hooks.rivals), "{configured:?}");
        }
    }

    #[test]
    fn a_second_hook_of_a_call_takes_the_way_of_the_first() {
        let own = Handover::choose(Configured::Echo, &PostHooks::default());
        for (mode, expected) in [
            (DeliveryMode::None, Mode::Echo),
            (DeliveryMode::Echo, Mode::Echo),
            (DeliveryMode::Receipt, Mode::Receipt),
            (DeliveryMode::Deny, Mode::Deny),
        ] {
            let earlier = Delivery {
                mode,
                ..Delivery::none()
            };
            assert_eq!(own.joined(Some(&earlier)).mode, expected);
        }
        assert_eq!(own.joined(None), own);
    }
}
