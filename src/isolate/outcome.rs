//! What a finished child's process and output mean: pure, decided by the child's own words first.
//!
//! A success is a readable result with `subtype: "success"`, not `is_error`, and a text that is not empty (or, with a
//! JSON schema, structured output). The exit code alone proves nothing either way: clients exited with 0 on errors and
//! with 1 on successes (issues named in the hooks documentation), and print a cut result with exit code 0.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::base::UnixNanos;
use crate::ledger::record::ModelShare;
use crate::ledger::{ChildFault, End, Ending};
use crate::process;
use crate::protocol::{ChildOutputError, ChildResult};

/// Characters of a child's own words that a record keeps.
const DETAIL_LIMIT: usize = 2_000;

/// The subtype of a child that `--max-budget-usd` stopped (2.1.156 to 2.1.332).
const OVER_BUDGET: &str = "error_max_budget_usd";

/// What is known of a child that has ended.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// How its process ended.
    pub process: &'a process::Ending,
    /// What it printed.
    pub output: Result<ChildResult, ChildOutputError>,
    /// The end of its stderr.
    pub stderr_tail: &'a str,
    /// Whether structured output was asked for.
    pub needs_structure: bool,
    /// The run deadline that it had.
    pub run_limit: Duration,
    /// The output limit that it had, in bytes.
    pub output_limit: u64,
}

/// The meaning of it.
#[derive(Debug)]
pub struct Outcome {
    /// What the record says.
    pub end: End,
    /// The text to store: the answer, or what a failed child left.
    pub text: Option<Vec<u8>>,
}

/// Judges a child that has ended at `at`. `redact` takes secrets out of the child's own words before they reach a
/// record.
#[must_use]
pub fn judge(evidence: Evidence<'_>, at: UnixNanos, redact: &dyn Fn(&str) -> String) -> Outcome {
    let (exit_code, exit_signal) = exit_of(evidence.process);
    let ending = ending_of(&evidence, redact);
    let mut end = End::bare(ending, at);
    (end.exit_code, end.exit_signal) = (exit_code, exit_signal);
    let Ok(mut result) = evidence.output else {
        return Outcome { end, text: None };
    };
    // Taken and not copied: it may be as large as the output limit.
    let text = result.text.take().filter(|text| !text.is_empty());
    let text = if end.ending.is_success() && evidence.needs_structure {
        // Serialising a JSON value that was just read cannot fail.
        let structured = result.structured.as_ref();
        structured.and_then(|value| serde_json::to_vec(value).ok())
    } else {
        text
    };
    take_over(&mut end, result);
    Outcome { end, text }
}

/// Copies what the result counts.
fn take_over(end: &mut End, result: ChildResult) {
    end.tokens = result.tokens();
    end.model_used = result.main_model().map(str::to_owned);
    end.cost_usd = result.cost_usd;
    end.num_turns = result.num_turns;
    end.duration_ms = result.duration_ms;
    end.denied_count = result.denied_tools.len() as u64;
    end.denied_tools = result
        .denied_tools
        .into_iter()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    end.terminal_reason = result.terminal_reason;
    let share = |model: crate::protocol::child::ModelUse| ModelShare {
        tokens: model.tokens,
        cost_usd: model.cost_usd,
    };
    end.models = result
        .models
        .into_iter()
        .map(|(name, model)| (name, share(model)))
        .collect::<BTreeMap<_, _>>();
}

fn exit_of(process: &process::Ending) -> (Option<i32>, Option<i32>) {
    match process {
        process::Ending::Exited { code } => (Some(*code), None),
        process::Ending::Signaled { signal } => (None, Some(*signal)),
        process::Ending::TimedOut
        | process::Ending::Interrupted { .. }
        | process::Ending::TooMuchOutput { .. }
        | process::Ending::NotStarted { .. }
        | process::Ending::HookGone
        | process::Ending::KeeperLost { .. } => (None, None),
    }
}

fn ending_of(evidence: &Evidence<'_>, redact: &dyn Fn(&str) -> String) -> Ending {
    let stderr = || shorten(&redact(evidence.stderr_tail.trim()), Keep::End);
    match evidence.process {
        process::Ending::TimedOut => Ending::TimedOut {
            limit_ms: millis(evidence.run_limit),
        },
        process::Ending::Interrupted { signal } => Ending::Interrupted {
            signal: signal.number(),
        },
        process::Ending::HookGone => Ending::Interrupted { signal: 9 },
        process::Ending::TooMuchOutput { .. } => Ending::TooMuchOutput {
            limit_bytes: evidence.output_limit,
        },
        process::Ending::NotStarted { failure } => Ending::CouldNotStart {
            detail: format!("{}: {}", failure.tried, failure.message),
        },
        process::Ending::KeeperLost { .. } => Ending::Lost,
        process::Ending::Exited { code } => match &evidence.output {
            Ok(result) => verdict(result, evidence.needs_structure, redact),
            Err(error) if *code == 0 => Ending::Unreadable {
                detail: error.to_string(),
            },
            Err(_) => Ending::CrashedCode {
                code: *code,
                detail: stderr(),
            },
        },
        process::Ending::Signaled { signal } => match &evidence.output {
            Ok(result) => verdict(result, evidence.needs_structure, redact),
            Err(_) => Ending::CrashedSignal {
                signal: *signal,
                detail: stderr(),
            },
        },
    }
}

/// What a readable result says of itself.
fn verdict(result: &ChildResult, needs_structure: bool, redact: &dyn Fn(&str) -> String) -> Ending {
    let text = result.text.as_deref().unwrap_or_default();
    let fault = match (result.subtype.as_deref(), result.is_error) {
        (_, Some(true)) => ChildFault::IsError,
        (Some("success"), Some(false)) if result.never_reached_a_model() => ChildFault::NothingRan,
        (Some("success"), Some(false)) if needs_structure => match result.structured {
            Some(_) => return Ending::Completed,
            None => ChildFault::NoStructuredOutput,
        },
        (Some("success"), Some(false)) if is_blank(text) => ChildFault::EmptyResult,
        (Some("success"), Some(false)) => return Ending::Completed,
        (Some("success") | None, None) => ChildFault::NoVerdict,
        (_, Some(false) | None) => ChildFault::Subtype,
    };
    let mut said = beginning(text);
    if said.is_empty() {
        said = beginning(result.errors.join("; ").as_bytes());
    }
    let detail = shorten(&redact(&said), Keep::Begin);
    // The client's own words, 2.1.156 to 2.1.332; the API status is null there and the cost 0.
    if fault == ChildFault::IsError && said.starts_with("Not logged in") {
        return Ending::NotLoggedIn { detail };
    }
    if result.subtype.as_deref() == Some(OVER_BUDGET) {
        return Ending::OverBudget { detail };
    }
    let subtype = result
        .subtype
        .as_deref()
        .filter(|_| fault == ChildFault::Subtype)
        .unwrap_or_default();
    let status = result
        .api_error_status
        .map(|status| format!("API status {status}"))
        .unwrap_or_default();
    let subtype = shorten(&redact(&beginning(subtype.as_bytes())), Keep::Begin);
    let parts = [subtype, status, detail];
    let detail = parts
        .iter()
        .filter(|part| !part.is_empty())
        .cloned()
        .collect::<Vec<_>>()
        .join(": ");
    Ending::ChildError { fault, detail }
}

/// Whether nothing but white space is in it. A long text is not decoded for this: it may be as large as the output limit.
fn is_blank(text: &[u8]) -> bool {
    text.utf8_chunks()
        .all(|chunk| chunk.valid().trim().is_empty() && chunk.invalid().is_empty())
}

/// As much of a text's beginning as a record may need: what is kept, and enough behind it to know a secret that begins
/// there. Redacting all of a text of the output limit's size would outlast every deadline.
fn beginning(text: &[u8]) -> String {
    // A character is at most four bytes.
    const BYTES: usize = 4 * DETAIL_LIMIT + 16 * 1024;
    let text = text.trim_ascii_start();
    let head = text.get(..BYTES).unwrap_or(text);
    String::from_utf8_lossy(head).trim().to_owned()
}

#[derive(Clone, Copy)]
enum Keep {
    Begin,
    End,
}

fn shorten(text: &str, keep: Keep) -> String {
    let count = text.chars().count();
    if count <= DETAIL_LIMIT {
        return text.to_owned();
    }
    match keep {
        Keep::Begin => text.chars().take(DETAIL_LIMIT).chain(['…']).collect(),
        Keep::End => ['…']
            .into_iter()
            .chain(text.chars().skip(count - DETAIL_LIMIT))
            .collect(),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
