//! Decides which entries are to stand in the settings.

use std::collections::BTreeSet;

use super::error::HooksError;
use super::wanted::Wanted;
use crate::config::Delivery;
use crate::setup::{Form, OurEntry, Work};

/// Both names of the tool: builds disagree on which of them a hook's matcher sees.
const AGENT: &str = "Agent|Task";
/// Seconds that a hook has beside the wait for a slot and the run: the child's end, its sweep, and the record.
pub(in crate::setup) const MARGIN_S: u32 = 40;
/// Seconds of a hook that only decides. Under load short timers fire before a program has begun.
const DECIDES_S: u64 = 30;

/// What can be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A cell for each Agent call.
    Isolate,
    /// The guard that keeps subagents in the foreground.
    Background,
    /// The guard that holds a turn while something of it still runs.
    Liveness,
    /// The guard over commands of the Bash tool.
    Bash,
}

/// What somebody asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The parts; what is installed already stays.
    pub parts: BTreeSet<Part>,
    /// How results reach the parent; none: as configured, else what fits the other hooks.
    pub delivery: Option<Delivery>,
    /// Whether a hook that fails lets the call go on.
    pub fail_open: bool,
}

/// What is known around the settings file.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Our entries in the file itself.
    pub(super) present: Vec<OurEntry>,
    /// Whether other settings that are loaded with it intercept.
    pub(super) isolates_elsewhere: bool,
    /// Other hooks after Agent calls, by a short name: each may rewrite the output.
    pub(super) rivals: Vec<String>,
    /// The delivery that the user's configuration sets.
    pub(super) configured: Option<Delivery>,
    /// Seconds that a call may wait for a slot.
    pub(super) slot_wait_s: u64,
    /// Seconds that a cell may run.
    pub(super) timeout_s: u64,
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// The entries.
    pub(super) wanted: Vec<Wanted>,
    /// The hooks that have no other entries than those.
    pub(super) works: BTreeSet<Work>,
    /// Whether the agent that hands results back is needed.
    pub(super) echo_agent: bool,
    /// What the user should know.
    pub(super) notes: Vec<String>,
}

impl Plan {
    /// Decides.
    pub(super) fn make(choice: &Choice, known: &Known) -> Result<Self, HooksError> {
        let mut plan = Self::default();
        let has = |work: Work| known.present.iter().any(|entry| entry.work == work);
        let isolates = choice.parts.contains(&Part::Isolate) || has(Work::Intercept) || known.isolates_elsewhere;
        if choice.parts.contains(&Part::Isolate) {
            plan.isolate(choice, known);
        }
        let lone_guard = has(Work::Background) && isolates && !beside_intercept(&known.present);
        if choice.parts.contains(&Part::Background) || lone_guard {
            plan.background(isolates, choice.fail_open);
        }
        if choice.parts.contains(&Part::Liveness) {
            plan.liveness(has(Work::LivenessAlone));
        }
        if choice.parts.contains(&Part::Bash) {
            plan.add(Work::Bash, "PreToolUse", Some("Bash"), !choice.fail_open);
        }
        plan.check_wrapped(known)?;
        Ok(plan)
    }

    fn isolate(&mut self, choice: &Choice, known: &Known) {
        let (flag, delivery) = match (choice.delivery, known.configured) {
            (Some(asked), _) => (Some(asked), asked),
            (None, Some(configured)) => (None, configured),
            (None, None) if known.rivals.is_empty() => (Some(Delivery::Receipt), Delivery::Receipt),
            (None, None) => (Some(Delivery::Echo), Delivery::Echo),
        };
        let flags = flag.map_or_else(Vec::new, |delivery| vec!["--delivery", delivery.word()]);
        self.works.extend([Work::Intercept, Work::Seal]);
        self.wanted.push(Wanted {
            event: "PreToolUse",
            matcher: Some(AGENT),
            work: Work::Intercept,
            flags,
            timeout_s: known.slot_wait_s + known.timeout_s + u64::from(MARGIN_S),
            blocks: !choice.fail_open,
        });
        self.echo_agent = delivery != Delivery::Deny;
        let seals = matches!(delivery, Delivery::Receipt | Delivery::Auto);
        if seals {
            self.add(Work::Seal, "PostToolUse", Some(AGENT), false);
        }
        self.tell_of_rivals(known, delivery, choice.delivery.is_some());
    }

    fn tell_of_rivals(&mut self, known: &Known, delivery: Delivery, asked: bool) {
        let rivals = known.rivals.join(", ");
        match delivery {
            Delivery::Receipt if !rivals.is_empty() => self.notes.push(format!(
                "another hook runs after Agent calls too ({rivals}): where it rewrites the output, the one that ends last \
                 wins, and the result may be lost to the parent; --delivery echo does without"
            )),
            Delivery::Echo if !asked && !rivals.is_empty() => self.notes.push(format!(
                "delivery is echo, since another hook runs after Agent calls and may rewrite the output ({rivals})"
            )),
            Delivery::Receipt | Delivery::Echo | Delivery::Auto | Delivery::Deny => {}
        }
    }

    fn background(&mut self, isolates: bool, fail_open: bool) {
        self.works.insert(Work::Background);
        self.wanted.push(Wanted {
            event: "PreToolUse",
            matcher: Some(AGENT),
            work: Work::Background,
            flags: if isolates {
                vec!["--beside-intercept"]
            } else {
                Vec::new()
            },
            timeout_s: DECIDES_S,
            blocks: !fail_open,
        });
    }

    /// The guard that `init` placed alone has the user's knobs in its entry, so that entry stays.
    fn liveness(&mut self, alone: bool) {
        if alone {
            self.works.insert(Work::Liveness);
            self.notes.push(format!(
                "the liveness guard stands here already, with knobs of its own (--hook {}): it stays as it is",
                crate::setup::GUARD
            ));
        } else {
            self.add(Work::Liveness, "SubagentStop", None, false);
        }
        self.add(Work::Liveness, "Stop", None, false);
    }

    fn add(&mut self, work: Work, event: &'static str, matcher: Option<&'static str>, blocks: bool) {
        self.works.insert(work);
        self.wanted.push(Wanted {
            event,
            matcher,
            work,
            flags: Vec::new(),
            timeout_s: DECIDES_S,
            blocks,
        });
    }

    /// An entry that reaches us through something else is not ours to change, and beside a new one it would run twice.
    fn check_wrapped(&self, known: &Known) -> Result<(), HooksError> {
        let wrapped = |entry: &&OurEntry| entry.form == Form::Wrapped && self.works.contains(&entry.work);
        match known.present.iter().find(wrapped) {
            None => Ok(()),
            Some(entry) => Err(HooksError::Conflict(format!(
                "an entry under {} starts \"subcell {}\" through another command, and beside a new entry it would run \
                 twice: take it out by hand first",
                entry.event,
                entry.work.words().join(" ")
            ))),
        }
    }
}

fn beside_intercept(entries: &[OurEntry]) -> bool {
    let mut guards = entries.iter().filter(|entry| entry.work == Work::Background);
    guards.all(|entry| entry.has_flag("--beside-intercept"))
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
