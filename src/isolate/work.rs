//! The cell at work: a slot, the child under supervision, and what it came to.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::books::Books;
use super::outcome::{Evidence, Outcome, judge};
use super::prepare::Prepared;
use super::run::{Firing, redactor};
use super::timed::Timed;
use super::worktree;
use crate::base::chain::Chain;
use crate::base::{ProcessIdentity, UnixNanos};
use crate::ledger::record::Phase;
use crate::ledger::{End, Ending, RecordName};
use crate::process::{Finished, Leftover, OWN_EXECUTABLE, Site, Slot, SlotError, Slots, supervise};
use crate::protocol::{ChildOutputError, ChildResult, transcript};

/// A cell that has ended.
#[derive(Debug)]
pub(super) struct Work {
    /// What the record says.
    pub end: End,
    /// The text to store.
    pub text: Option<Vec<u8>>,
    /// The phases that it went through.
    pub phases: Vec<(&'static str, Phase)>,
    /// What a reader of the record should know besides.
    pub notes: Vec<String>,
}

impl Work {
    fn not_begun(ending: Ending, phases: Vec<(&'static str, Phase)>) -> Self {
        Self {
            end: End::bare(ending, UnixNanos::now()),
            text: None,
            phases,
            notes: Vec::new(),
        }
    }
}

/// Runs the prepared cell to its end.
#[must_use]
pub(super) fn work(firing: &Firing<'_>, prepared: &Prepared, books: &mut Books, name: Option<&RecordName>) -> Work {
    let mut phases = Vec::new();
    let waiting = Timed::begin("slot");
    let slot = take_slot(firing, prepared, books);
    phases.push(waiting.end());
    let _slot = match slot {
        Ok(slot) => slot,
        Err(ending) => return Work::not_begun(ending, phases),
    };
    let scratch = books.folder().map_or_else(|| PathBuf::from("/tmp"), Path::to_owned);
    let (mut started, mut running) = (Some(Timed::begin("start")), None);
    let notice = name.map(|name| OsStr::new(name.as_str()));
    let site = Site {
        keeper: Path::new(OWN_EXECUTABLE),
        scratch: &scratch,
        signals: firing.signals,
        notice,
    };
    let finished = supervise(
        site,
        &prepared.plan.spawn,
        &prepared.plan.prompt,
        |keeper: &ProcessIdentity| {
            // One ends before the next begins: live phases are entered one inside of the other otherwise.
            phases.extend(started.take().map(Timed::end));
            running = Some(Timed::begin("run"));
            books.change(name, |record| record.keeper_process = Some(keeper.clone()));
        },
    );
    phases.extend(started.into_iter().chain(running).map(Timed::end));
    match finished {
        Ok(finished) => concluded(firing, prepared, finished, phases),
        Err(error) => Work::not_begun(
            Ending::CouldNotStart {
                detail: Chain(&error).to_string(),
            },
            phases,
        ),
    }
}

/// Takes a slot; a cell in a cell needs none, as its parent's is taken already and would wait for it. Where the state
/// folder cannot be written, the slots beside the records serve.
fn take_slot(firing: &Firing<'_>, prepared: &Prepared, books: &Books) -> Result<Option<Slot>, Ending> {
    let Some(folder) = &prepared.slots else { return Ok(None) };
    let beside = books.folder().and_then(Path::parent).map(|parent| parent.join("slots"));
    match slot_in(firing, folder) {
        Err(SlotError::Refused { .. } | SlotError::Io { .. })
            if beside.as_ref().is_some_and(|beside| beside != folder) =>
        {
            slot_in(firing, &beside.unwrap_or_default())
        }
        taken => taken,
    }
    .map(Some)
    .map_err(|error| match error {
        SlotError::NotInTime { waited, .. } => Ending::NoSlot {
            waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
        },
        SlotError::Interrupted { signal } => Ending::Interrupted {
            signal: signal.number(),
        },
        SlotError::Refused { .. } | SlotError::Io { .. } => Ending::CouldNotStart {
            detail: Chain(&error).to_string(),
        },
    })
}

fn slot_in(firing: &Firing<'_>, folder: &Path) -> Result<Slot, SlotError> {
    let intercept = &firing.profile.intercept;
    let usual = u32::try_from(Slots::usual()).unwrap_or(u32::MAX);
    let most = usize::try_from(intercept.parallel_cap(usual)).unwrap_or(usize::MAX);
    Slots::new(folder.to_owned(), most).acquire(intercept.slot_wait.value, firing.signals)
}

fn concluded(
    firing: &Firing<'_>,
    prepared: &Prepared,
    finished: Finished,
    phases: Vec<(&'static str, Phase)>,
) -> Work {
    let Finished {
        report,
        stdout,
        stdout_bytes,
    } = finished;
    let limits = prepared.plan.spawn.limits;
    let evidence = Evidence {
        process: &report.ending,
        output: read_output(stdout, stdout_bytes, limits.output_bytes),
        stderr_tail: &report.stderr_tail,
        needs_structure: prepared.needs_structure,
        run_limit: limits.run,
        output_limit: limits.output_bytes,
    };
    let redact = |text: &str| redactor(firing.profile).text(text).text;
    let Outcome { mut end, text } = judge(evidence, report.ended, &redact);
    end.leaked_count = report.leaked.count as u64;
    end.leaked_names = report.leaked.names;
    let config_dir = firing.around.believed.client_config_dir();
    end.child_transcript = config_dir.and_then(|dir| transcript::locate(&dir, &prepared.session));
    end.worktree =
        prepared.plan.worktree.as_deref().and_then(|name| {
            worktree::settle(&prepared.plan.spawn.cwd, name, &prepared.plan.spawn.env, firing.signals)
        });
    Work {
        end,
        text,
        phases,
        notes: survivors(&report.survivors),
    }
}

/// What even KILL did not end is stuck in the kernel; whoever reads the record has to look after it.
fn survivors(survivors: &Leftover) -> Vec<String> {
    if survivors.count == 0 {
        return Vec::new();
    }
    vec![format!(
        "{} process(es) outlived KILL: {}",
        survivors.count,
        survivors.names.join(", ")
    )]
}

fn read_output(stdout: File, bytes: u64, limit: u64) -> Result<ChildResult, ChildOutputError> {
    // More than the limit is a failure of its own; reading it would take the memory that the limit keeps.
    if bytes > limit {
        Err(ChildOutputError::NoResult)
    } else {
        ChildResult::read(stdout)
    }
}
