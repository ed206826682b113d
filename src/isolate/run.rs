//! The use case, readable from top to bottom: a stage a line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::at_once::AtOnce;
use super::books::{Books, Entry};
use super::deliver::{Ended, deliver};
use super::echo::Mark;
use super::intercept::{AgentCall, Interception, Policy, Standing, intercept, is_agent_tool};
use super::prepare::{Prepared, prepare};
use super::records;
use super::timed::Timed;
use super::work::{Work, work};
use super::{join, limits};
use crate::base::redact::Redactor;
use crate::base::{AgentType, ToolUseId, UnixNanos};
use crate::config::{Guard, OnPass, Profile, Surroundings};
use crate::ledger::record::{Delivery, DeliveryMode, ExportState};
use crate::ledger::{Budget, End, PassReason, Record, RecordName, State};
use crate::process::Signals;
use crate::protocol::{HookEvent, HookReply};

/// Everything that one firing of the hook works with.
#[derive(Debug)]
pub struct Firing<'a> {
    /// The event.
    pub event: &'a HookEvent,
    /// Where the hook runs, and what of that is believed.
    pub around: &'a Surroundings,
    /// The configuration.
    pub profile: &'a Profile,
    /// This process's signals.
    pub signals: &'a Signals,
    /// The project's folder.
    pub project: PathBuf,
    /// When the hook began.
    pub began: UnixNanos,
}

/// Longer than any cell may take after its deadline: a hook that waits for another one's cell waits this much more.
const JOIN_SLACK: Duration = Duration::from_secs(15);

/// Decides one event, and runs the cell if there is to be one.
#[must_use]
pub fn run(firing: &Firing<'_>) -> HookReply {
    let reply = match intercept(firing.event, standing(firing.around), &policy(firing.profile)) {
        Interception::Ignore => return HookReply::Silent,
        Interception::PassThrough { tool_use_id, reason } => match forbidden(firing) {
            Some(why) => refuse(firing, tool_use_id, why),
            None => pass(firing, tool_use_id, reason),
        },
        Interception::Refuse { tool_use_id, reason } => refuse(firing, tool_use_id, reason),
        Interception::Isolate(call) => isolate(firing, &call),
    };
    with_warnings(firing, reply)
}

/// Why a limit of the sessions above is against the call, whichever way it would run.
fn forbidden(firing: &Firing<'_>) -> Option<String> {
    let input = firing.event.tool.as_ref().map(|tool| &tool.input);
    let asked = input
        .and_then(|input| input.get("subagent_type"))
        .and_then(serde_json::Value::as_str);
    limits::refusal(&firing.around.believed, asked.unwrap_or(AgentType::GENERAL_PURPOSE))
}

/// Where the hook stands, as far as that is believed.
#[must_use]
pub(super) fn standing(around: &Surroundings) -> Standing {
    match around.believed.guard() {
        Guard::Foreign { .. } => Standing::Foreign,
        Guard::Ours { .. } => Standing::InCell {
            depth: around.believed.depth(),
        },
        Guard::None if around.believed.depth() > 0 => Standing::InCell {
            depth: around.believed.depth(),
        },
        Guard::None => Standing::Outside,
    }
}

/// The part of the configuration that decides whether a cell is made.
#[must_use]
pub(super) fn policy(profile: &Profile) -> Policy {
    let sandbox = profile.intercept.require_sandbox.as_ref().map(|folder| &folder.value);
    Policy {
        max_depth: profile.intercept.max_depth.value,
        missing_sandbox: sandbox.filter(|folder| !folder.is_dir()).cloned(),
    }
}

/// The part of the configuration that limits what cells may cost.
#[must_use]
pub(super) fn budget(profile: &Profile) -> Budget {
    let budget = &profile.budget;
    Budget {
        session: budget.max_cost.as_ref().map(|limit| limit.value),
        cell: budget.max_cell_cost.as_ref().map(|limit| limit.value),
        cells: budget.max_cells.as_ref().map(|limit| limit.value),
    }
}

fn pass(firing: &Firing<'_>, tool_use_id: Option<ToolUseId>, reason: PassReason) -> HookReply {
    let text = reason.text();
    if firing.profile.intercept.on_pass.value == OnPass::Deny {
        let why = format!("subcell: no cell can be made for this call, and on_pass is \"deny\": {text}");
        return refuse(firing, tool_use_id, why);
    }
    let troubles = write_bare(firing, tool_use_id, State::PassedThrough { reason });
    let reply = HookReply::Note {
        message: format!("subcell: the built-in subagent runs, in the parent's process: {text}"),
    };
    troubles.map_or(reply.clone(), |trouble| reply.telling(&trouble))
}

fn refuse(firing: &Firing<'_>, tool_use_id: Option<ToolUseId>, reason: String) -> HookReply {
    let troubles = write_bare(firing, tool_use_id, State::Refused { reason: reason.clone() });
    let reply = HookReply::Deny { reason, message: None };
    troubles.map_or(reply.clone(), |trouble| reply.telling(&trouble))
}

/// Records a call that no cell is made for, where it has an id to record it under.
fn write_bare(firing: &Firing<'_>, tool_use_id: Option<ToolUseId>, state: State) -> Option<String> {
    let mut books = open_books(firing);
    books.claim(&records::bare(firing, tool_use_id?, state));
    books.troubles()
}

fn open_books(firing: &Firing<'_>) -> Books {
    let believed = &firing.around.believed;
    Books::open(believed.output_dir(), believed.state_dir().as_deref())
}

fn isolate(firing: &Firing<'_>, call: &AgentCall) -> HookReply {
    let mut prepared = match prepare(firing, call) {
        Ok(prepared) => prepared,
        Err(reason) => return refuse(firing, Some(call.tool_use_id.clone()), reason),
    };
    let mut books = open_books(firing);
    let mut opening = records::opening(firing, call, &prepared);
    let reply = match books.claim_within(&mut opening, &budget(firing.profile)) {
        Entry::Ours(name) => {
            if let Some(limit) = &opening.asked.cost_limit {
                prepared.plan.limit_cost(limit.usd);
            }
            cell(firing, call, &prepared, (&mut books, name))
        }
        Entry::Theirs(name, found) => second(firing, call, &prepared, (&mut books, name, *found)),
        Entry::Refused(reason) => HookReply::Deny { reason, message: None },
    };
    books
        .troubles()
        .map_or(reply.clone(), |trouble| reply.telling(&trouble))
}

/// Runs the cell of a call that is ours.
fn cell(
    firing: &Firing<'_>,
    call: &AgentCall,
    prepared: &Prepared,
    (books, name): (&mut Books, Option<RecordName>),
) -> HookReply {
    let at_once = AtOnce::prepare(firing, &prepared.trace);
    let Work {
        mut end,
        text,
        mut phases,
        notes,
    } = work(firing, prepared, books, name.as_ref());
    end.result = text.as_deref().and_then(|text| books.store_result(name.as_ref(), text));
    let delivering = Timed::begin("deliver");
    let answered = |books: &Books, is_recorded| {
        let shown = Shown {
            books,
            name: name.as_ref(),
            is_recorded,
            end: &end,
            text: text.as_deref(),
            earlier: None,
        };
        answer(firing, call, prepared, &shown)
    };
    let (mut reply, delivery) = answered(books, true);
    phases.push(delivering.end());
    let needs_record = delivery.mode == DeliveryMode::Receipt;
    let is_recorded = books.change(name.as_ref(), |record| {
        record.state = State::Ended(Box::new(end.clone()));
        record.delivery = delivery;
        record.notes.extend(notes);
        record
            .phases
            .extend(phases.into_iter().map(|(phase, times)| (phase.to_owned(), times)));
    });
    if needs_record && !is_recorded {
        // `seal` would find nothing to put in.
        reply = answered(books, false).0;
    }
    books.sum_costs();
    let unsent = send_span(at_once, books, name.as_ref());
    let warnings = prepared.warnings.iter().chain(&unsent);
    warnings.fold(reply, |reply, warning| reply.telling(warning))
}

/// Sends the cell's span where that is to be done at once; gives what the user should know of it. A span that was not sent is
/// no trouble: its record waits for `subcell emit`, and says why.
fn send_span(
    at_once: Result<Option<AtOnce>, String>,
    books: &mut Books,
    name: Option<&RecordName>,
) -> Option<String> {
    let at_once = match at_once {
        Ok(at_once) => at_once?,
        Err(problem) => return Some(problem),
    };
    let record = books.read(name?).ok()?;
    let sent = at_once.send(&record);
    books.change(name, |record| match sent {
        Ok(()) => record.export = ExportState::Sent,
        Err(why) => record.notes.push(format!("the span was not sent at once: {why}")),
    });
    None
}

/// Answers for a cell that another hook of the same call runs.
fn second(
    firing: &Firing<'_>,
    call: &AgentCall,
    prepared: &Prepared,
    (books, name, found): (&mut Books, RecordName, Record),
) -> HookReply {
    let intercept = &firing.profile.intercept;
    let at_most = intercept.slot_wait.value + intercept.timeout.value + JOIN_SLACK;
    let record = join::wait(books, (&name, found), firing.signals, at_most);
    let end = match &record.state {
        State::Ended(end) => end,
        State::PassedThrough { reason } => {
            return HookReply::Note {
                message: format!("subcell: another hook of this call let it pass: {}", reason.text()),
            };
        }
        State::Refused { reason } => {
            return HookReply::Deny {
                reason: reason.clone(),
                message: None,
            };
        }
        State::Running => return HookReply::Silent,
    };
    let text = end.result.as_ref().and_then(|result| books.intact(&name, result));
    let shown = Shown {
        books,
        name: Some(&name),
        is_recorded: true,
        end,
        text: text.as_deref(),
        earlier: Some(&record.delivery),
    };
    answer(firing, call, prepared, &shown).0
}

/// What an answer shows.
struct Shown<'a> {
    books: &'a Books,
    name: Option<&'a RecordName>,
    /// Whether its record says how the cell ended.
    is_recorded: bool,
    end: &'a End,
    text: Option<&'a [u8]>,
    earlier: Option<&'a Delivery>,
}

fn answer(firing: &Firing<'_>, call: &AgentCall, prepared: &Prepared, shown: &Shown<'_>) -> (HookReply, Delivery) {
    let name = shown.name.filter(|_| shown.is_recorded);
    let record: Option<PathBuf> = shown.books.record_path(name);
    let result: Option<PathBuf> = shown
        .end
        .result
        .as_ref()
        .and_then(|_| shown.books.result_path(shown.name));
    deliver(&Ended {
        call,
        end: shown.end,
        answer: shown.text.filter(|_| shown.end.ending.is_success()),
        record: record.as_deref(),
        result: result.as_deref(),
        echo_agent: prepared.echo_agent.as_deref(),
        handover: prepared.handover.joined(shown.earlier),
        on_failure: firing.profile.intercept.on_failure.value,
        mark: shown
            .earlier
            .and_then(|delivery| delivery.mark.as_deref())
            .map(Mark::recorded),
    })
}

/// Adds what the user should know of the configuration and of what could not be read.
fn with_warnings(firing: &Firing<'_>, reply: HookReply) -> HookReply {
    let warnings = firing.profile.warnings.iter().map(ToString::to_string);
    let unverified = firing.around.believed.unverified().map(str::to_owned);
    warnings
        .chain(unverified)
        .fold(reply, |reply, warning| reply.telling(&format!("subcell: {warning}")))
}

/// The project's folder: what the client names, else the folder of the call. The client sets `CLAUDE_PROJECT_DIR` for its
/// hooks over what a repository's settings say (2.1.156, 2.1.332).
#[must_use]
pub fn project_folder(around: &Surroundings, event: &HookEvent) -> PathBuf {
    let named = around.environment.get("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let start = around.believed.start_cwd().map(Path::to_owned);
    named
        .filter(|folder| folder.is_absolute())
        .or(start)
        .or_else(|| event.cwd.clone())
        .unwrap_or_else(|| "/".into())
}

/// Whether `event` is none of this hook's business, so that nothing else need be looked at.
#[must_use]
pub fn ignores(event: &HookEvent) -> bool {
    event.name != "PreToolUse" || !event.tool.as_ref().is_some_and(|tool| is_agent_tool(&tool.name))
}

/// The redactor with the user's own patterns. The configuration has checked them; should one still not do, the built-in
/// kinds are masked all the same.
#[must_use]
pub(super) fn redactor(profile: &Profile) -> Redactor {
    let patterns = profile.redact_patterns.iter().map(|pattern| pattern.value.as_str());
    Redactor::with_patterns(patterns).unwrap_or_else(|_| Redactor::builtin())
}
