//! The configuration as it is meant: every value checked, each with its source.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::source::{Problem, Source, Sourced};
use super::table_reader::{FileOrigin, Layer};
use super::tree::Table;
use crate::base::{AgentType, Usd};

/// `config/defaults.toml`: the values that everything starts from, with a comment each.
pub const DEFAULTS_TOML: &str = include_str!("../../config/defaults.toml");

/// Seconds that a run may take.
pub(super) const TIMEOUT_S: RangeInclusive<u64> = 1..=86_400;
/// Seconds that a call may wait for a slot; 0 does not wait.
pub(super) const SLOT_WAIT_S: RangeInclusive<u64> = 0..=3600;
/// Cells at once on one host.
pub(super) const MAX_PARALLEL: RangeInclusive<u64> = 1..=1024;
/// How deep cells nest. Not 0: that would switch isolation off, which a project may not do by "lowering a limit".
pub(super) const MAX_DEPTH: RangeInclusive<u64> = 1..=16;

/// Cells of a session. 0 would switch isolation off.
pub(super) const MAX_CELLS: RangeInclusive<u64> = 1..=1_000_000;

pub(super) const ON_FAILURE: [(&str, OnFailure); 3] = [
    ("report", OnFailure::Report),
    ("deny", OnFailure::Deny),
    ("builtin", OnFailure::Builtin),
];
pub(super) const ON_PASS: [(&str, OnPass); 2] = [("allow", OnPass::Allow), ("deny", OnPass::Deny)];
pub(super) const DELIVERY: [(&str, Delivery); 4] = [
    ("auto", Delivery::Auto),
    ("echo", Delivery::Echo),
    ("receipt", Delivery::Receipt),
    ("deny", Delivery::Deny),
];

/// What the parent gets for a cell that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// A result that begins with a fixed failure line.
    Report,
    /// A denial with that reason.
    Deny,
    /// The built-in subagent runs after all.
    Builtin,
}

/// What becomes of a call that cannot have a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnPass {
    /// The built-in subagent runs.
    Allow,
    /// The call is refused.
    Deny,
}

/// How a result reaches the parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// `Receipt` where `subcell seal` stands in the parent's settings and no other hook could rewrite the tool's output,
    /// else `Echo`.
    Auto,
    /// A small subagent of the parent hands it back.
    Echo,
    /// A small subagent of the parent says where it is, and `subcell seal` puts it in.
    Receipt,
    /// As the reason of a denial: no subagent runs, but the client marks it as an error.
    Deny,
}

/// A word that a setting does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("has to be {wanted}, not {got:?}")]
pub struct WordError {
    wanted: String,
    got: String,
}

macro_rules! word {
    ($name:ident, $words:ident) => {
        impl $name {
            /// The word for it in a file, a variable or a flag.
            #[must_use]
            pub fn word(self) -> &'static str {
                $words
                    .iter()
                    .find(|(_, value)| *value == self)
                    .map_or("", |(word, _)| word)
            }
        }

        impl FromStr for $name {
            type Err = WordError;

            fn from_str(text: &str) -> Result<Self, WordError> {
                let found = $words.iter().find(|(word, _)| *word == text);
                found.map(|(_, value)| *value).ok_or_else(|| WordError {
                    wanted: super::table_reader::one_of(&$words),
                    got: text.chars().take(40).collect(),
                })
            }
        }
    };
}

word!(OnFailure, ON_FAILURE);
word!(OnPass, ON_PASS);
word!(Delivery, DELIVERY);

/// `[intercept]`: how calls become cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intercept {
    /// The client of a cell: a path, or a bare name to be found on `PATH`. `CLAUDE_BIN` is read as a value of this
    /// key, below `SUBCELL_CLAUDE` and above the user's file. None: the parent's own executable, else `PATH`.
    pub claude: Option<Sourced<PathBuf>>,
    /// How long a cell may run.
    pub timeout: Sourced<Duration>,
    /// How long a call waits for a free slot.
    pub slot_wait: Sourced<Duration>,
    /// Cells at once on this host, where somebody set it: see [`Intercept::parallel_cap`].
    pub max_parallel: Option<Sourced<u32>>,
    /// How deep cells nest; at least 1.
    pub max_depth: Sourced<u32>,
    /// What the parent gets for a cell that failed.
    pub on_failure: Sourced<OnFailure>,
    /// What becomes of a call that cannot have a cell.
    pub on_pass: Sourced<OnPass>,
    /// How a result reaches the parent.
    pub delivery: Sourced<Delivery>,
    /// Calls are intercepted only where this folder exists.
    pub require_sandbox: Option<Sourced<PathBuf>>,
}

impl Intercept {
    /// How many cells may run at once, where `of_host` is what processors and memory allow. Whoever is trusted may
    /// set more than that; a project only less.
    #[must_use]
    pub fn parallel_cap(&self, of_host: u32) -> u32 {
        match &self.max_parallel {
            None => of_host,
            Some(cap) => match &cap.source {
                Source::Project { .. } => cap.value.min(of_host),
                Source::Default | Source::User { .. } | Source::Environment(_) | Source::Flag(_) => cap.value,
            },
        }
    }
}

impl Default for Intercept {
    fn default() -> Self {
        Self {
            claude: None,
            timeout: Sourced::default_of(Duration::from_mins(5)),
            slot_wait: Sourced::default_of(Duration::from_mins(1)),
            max_parallel: None,
            max_depth: Sourced::default_of(1),
            on_failure: Sourced::default_of(OnFailure::Report),
            on_pass: Sourced::default_of(OnPass::Allow),
            delivery: Sourced::default_of(Delivery::Auto),
            require_sandbox: None,
        }
    }
}

/// `[budget]`: what cells may cost; nothing limits them where nothing is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// What all cells of a session may cost, with the cells in them.
    pub max_cost: Option<Sourced<Usd>>,
    /// What one cell may cost.
    pub max_cell_cost: Option<Sourced<Usd>>,
    /// How many cells a session may have, with the cells in them.
    pub max_cells: Option<Sourced<u32>>,
}

/// `[agent.NAME]`: what is particular to one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentProfile {
    /// The JSON schema file that its structured output follows.
    pub json_schema: Sourced<PathBuf>,
}

/// A part of a file that another module reads, as it stands there.
#[derive(Clone, Debug, PartialEq)]
pub struct Room {
    /// The file; of the project's only limits and rules may be taken.
    pub origin: FileOrigin,
    /// The table.
    pub table: Table,
}

/// The parts that other modules read: the user's first, then the project's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rooms {
    /// `[telemetry]`; never of the project.
    pub telemetry: Vec<Room>,
    /// `[guard.background]`.
    pub guard_background: Vec<Room>,
    /// `[guard.liveness]`.
    pub guard_liveness: Vec<Room>,
    /// `[guard.bash]`.
    pub guard_bash: Vec<Room>,
}

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// `[intercept]`.
    pub intercept: Intercept,
    /// `[budget]`.
    pub budget: Budget,
    /// `[child.env]`: variables of every cell. None of them marks the cell.
    pub child_env: BTreeMap<String, Sourced<String>>,
    /// `[agent.NAME]`.
    pub agents: BTreeMap<AgentType, AgentProfile>,
    /// `[redact] patterns`: regular expressions of further secrets.
    pub redact_patterns: Vec<Sourced<String>>,
    /// The parts that other modules read.
    pub rooms: Rooms,
    /// What was found wrong where it does no harm: in the project's file, or in names that nobody knows.
    pub warnings: Vec<Problem>,
}

impl Profile {
    /// `[child.env]` without its sources, as [`super::child_environment`] takes it.
    #[must_use]
    pub fn child_env_values(&self) -> BTreeMap<String, String> {
        self.child_env
            .iter()
            .map(|(name, value)| (name.clone(), value.value.clone()))
            .collect()
    }
}

impl Room {
    /// Whether it is the project's.
    #[must_use]
    pub fn is_project(&self) -> bool {
        self.origin.layer == Layer::Project
    }
}
