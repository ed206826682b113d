//! The decision: pure.

use super::knobs::Wait;
use super::reading::Verdict;

/// Whose turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// A subagent's.
    Subagent,
    /// The main session's of a cell: it does the cell's work, and what it leaves running dies with it.
    CellMain,
    /// Any other main session's: never refused.
    Main,
    /// None: a helper of the client fired while a subagent runs.
    Helper,
}

/// What a decision is made on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts<'a> {
    /// Whose turn ends.
    pub(super) turn: Turn,
    /// What the launch records say.
    pub(super) verdict: &'a Verdict,
    /// How many background shells of the session's own run.
    pub(super) own_tasks: usize,
    /// `stop_hook_active`.
    pub(super) stop_hook_active: bool,
    /// What an own task means.
    pub(super) wait: Wait,
}

/// What holds a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// A record names a process that runs.
    Live,
    /// A record does not parse.
    Corrupt,
    /// The program that answers for the records had no answer.
    Unresolved,
    /// A background shell of the session's own.
    Task,
}

/// Why a turn that something holds may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pardon {
    /// It is the main session's.
    Main,
    /// It is no turn at all.
    Helper,
    /// The client wakes the session when the task has ended (`resume-wait`).
    Resume,
    /// It was refused once, and no record names anything.
    Once,
    /// It only hands a cell's result back.
    Echo,
    /// It was refused as often as one cause may refuse it.
    Capped,
}

impl Pardon {
    /// The word for it in the log.
    #[must_use]
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Helper => "helper",
            Self::Resume => "resume-wait",
            Self::Once => "once",
            Self::Echo => "echo",
            Self::Capped => "capped",
        }
    }
}

/// What becomes of the turn's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Nothing holds it.
    Free,
    /// Something holds it, and it ends all the same.
    Pardoned(Pardon),
    /// It is refused.
    Refuse(Hold),
}

/// Decides. Where records and a task hold the turn, the records are named.
#[must_use]
pub(super) fn decide(facts: &Facts<'_>) -> Decision {
    let (record, once) = match facts.verdict {
        Verdict::Red => (Some(Hold::Live), false),
        Verdict::Corrupt => (Some(Hold::Corrupt), false),
        Verdict::Unresolved => (
            Some(Hold::Unresolved).filter(|_| !facts.stop_hook_active),
            facts.stop_hook_active,
        ),
        Verdict::Green | Verdict::Error | Verdict::Unavailable | Verdict::Unstarted(_) => (None, false),
    };
    let (task, resumed) = match (facts.own_tasks, facts.wait) {
        (0, _) => (None, false),
        (_, Wait::Refuse) => (Some(Hold::Task), false),
        (_, Wait::ResumeWait) => (None, true),
    };
    match (record.or(task), facts.turn) {
        (Some(_), Turn::Main) => Decision::Pardoned(Pardon::Main),
        (Some(_), Turn::Helper) => Decision::Pardoned(Pardon::Helper),
        (Some(hold), Turn::Subagent | Turn::CellMain) => Decision::Refuse(hold),
        (None, _) if once => Decision::Pardoned(Pardon::Once),
        (None, _) if resumed => Decision::Pardoned(Pardon::Resume),
        (None, _) => Decision::Free,
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
