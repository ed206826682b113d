//! How a cell ended, told apart far enough that a reader knows what to do about it.

use serde::{Deserialize, Serialize};

/// What the child itself reported as wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildFault {
    /// `is_error: true`, whatever the subtype says (an API error comes as `subtype: "success"`).
    IsError,
    /// A subtype other than `success`.
    Subtype,
    /// Success, but no text: tokens may have been spent all the same.
    EmptyResult,
    /// `--json-schema` was given and no structured output came back: the client calls that a success.
    NoStructuredOutput,
    /// The output does not say whether it is an error.
    NoVerdict,
    /// Success, but no turn was made and no model was asked: the client took the prompt for a command of its own.
    NothingRan,
}

/// How a cell ended. Only [`Ending::Completed`] is a success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ending {
    /// The child reported a success and a result.
    Completed,
    /// The child reported an error.
    ChildError {
        /// Which of the child's words make it one.
        fault: ChildFault,
        /// What the child said, redacted and cut.
        detail: String,
    },
    /// The child had no credentials it could use.
    NotLoggedIn {
        /// What the child said, redacted and cut.
        detail: String,
    },
    /// The run deadline passed; the tree was ended.
    TimedOut {
        /// The deadline, in milliseconds.
        limit_ms: u64,
    },
    /// The child stopped because it had cost as much as it may; its client looks after each answer, so it may have cost
    /// somewhat more.
    OverBudget {
        /// What the child said, redacted and cut.
        detail: String,
    },
    /// No slot became free in time; nothing was started.
    NoSlot {
        /// The wait, in milliseconds.
        waited_ms: u64,
    },
    /// The child ended without a readable result and with a code other than 0.
    CrashedCode {
        /// Its exit code.
        code: i32,
        /// The end of its stderr, redacted and cut.
        detail: String,
    },
    /// The child was ended by a signal that is not ours.
    CrashedSignal {
        /// The signal's number.
        signal: i32,
        /// The end of its stderr, redacted and cut.
        detail: String,
    },
    /// The child exited with 0, but its output is no result (cut JSON included).
    Unreadable {
        /// What is wrong with it.
        detail: String,
    },
    /// The child could not be started.
    CouldNotStart {
        /// Why.
        detail: String,
    },
    /// The hook was told to end (TERM, INT, HUP), or was killed; the tree was ended.
    Interrupted {
        /// The signal's number; 9 where the hook was killed.
        signal: i32,
    },
    /// The child printed more than a result may be.
    TooMuchOutput {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// A record that still says "running" although its processes are gone.
    Lost,
}

impl Ending {
    /// Whether this is a success.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Completed)
    }

    /// One stable word for it: the record's `kind`, and `error.type` of its span.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::ChildError { .. } => "child_error",
            Self::NotLoggedIn { .. } => "not_logged_in",
            Self::TimedOut { .. } => "timed_out",
            Self::OverBudget { .. } => "over_budget",
            Self::NoSlot { .. } => "no_slot",
            Self::CrashedCode { .. } => "crashed_code",
            Self::CrashedSignal { .. } => "crashed_signal",
            Self::Unreadable { .. } => "unreadable",
            Self::CouldNotStart { .. } => "could_not_start",
            Self::Interrupted { .. } => "interrupted",
            Self::TooMuchOutput { .. } => "too_much_output",
            Self::Lost => "lost",
        }
    }

    /// The cause in a sentence fragment, for people and for the parent's model.
    #[must_use]
    pub fn cause(&self) -> String {
        match self {
            Self::Completed => "completed".to_owned(),
            Self::ChildError {
                fault: ChildFault::EmptyResult,
                ..
            } => "the child reported success with an empty result".to_owned(),
            Self::ChildError {
                fault: ChildFault::NoStructuredOutput,
                ..
            } => "the child's answer does not meet the required JSON schema".to_owned(),
            Self::ChildError { detail, .. } => format!("the child reported an error: {detail}"),
            Self::NotLoggedIn { detail } => format!(
                "the child is not logged in ({detail}); give the parent's start environment an API key or token that a \
                 hook's child can use"
            ),
            Self::TimedOut { limit_ms } => {
                format!(
                    "the run deadline of {} s passed; raise it with --timeout",
                    limit_ms / 1000
                )
            }
            Self::OverBudget { detail } => with_detail(
                "the child had cost as much as it may and was stopped (max_cell_cost_usd, or what was left of max_cost_usd)"
                    .to_owned(),
                detail,
            ),
            Self::NoSlot { waited_ms } => format!(
                "no slot became free within {} s; raise slot_wait_s or max_parallel, or start fewer at once",
                waited_ms / 1000
            ),
            Self::CrashedCode { code, detail } => with_detail(format!("the child exited with code {code}"), detail),
            Self::CrashedSignal { signal, detail } => {
                with_detail(format!("the child was ended by signal {signal}"), detail)
            }
            Self::Unreadable { detail } => format!("the child's output is no result: {detail}"),
            Self::CouldNotStart { detail } => format!("the child could not be started: {detail}"),
            Self::Interrupted { signal } => format!("interrupted by signal {signal}"),
            Self::TooMuchOutput { limit_bytes } => {
                format!("the child printed more than {} MiB", limit_bytes / (1024 * 1024))
            }
            Self::Lost => "its processes are gone and nobody recorded how it ended".to_owned(),
        }
    }
}

fn with_detail(what: String, detail: &str) -> String {
    if detail.is_empty() {
        what
    } else {
        format!("{what}: {detail}")
    }
}
