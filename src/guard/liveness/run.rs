//! One firing, from its payload to its answer.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::decide::{Decision, Facts, Hold, Pardon, Turn, decide};
use super::echo::is_echo;
use super::knobs::{HOOK, KnobFault, KnobSources, Knobs};
use super::log::{self, Firing};
use super::memory::Memory;
use super::ownership::{Own, own_tasks};
use super::payload::{Event, Payload};
use super::reading::Reading;
use super::refusal::{Refusal, capped, no_scratch};
use super::settings::{MAX_REFUSALS, Settings};
use crate::base::UnixNanos;
use crate::config::{Believed, Guard, Origin, Profile, Surroundings, believe};
use crate::exit::Exit;
use crate::guard::Answer;

/// How the guard was called.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// What came on stdin.
    pub payload: &'a [u8],
    /// What flags set.
    pub settings: &'a Settings,
    /// `--observe`: nothing is refused, and what would be is logged.
    pub observe: bool,
    /// Where it was called.
    pub around: &'a Surroundings,
    /// The folder of this process.
    pub cwd: Option<&'a Path>,
    /// The user's configuration; asked only for what no flag sets and this call needs.
    pub profile: &'a dyn Fn() -> Result<Profile, String>,
}

/// Runs one firing.
#[must_use]
pub fn run(call: &Call<'_>) -> Answer {
    let at = UnixNanos::now();
    let payload = Payload::read(call.payload);
    let knobs = match resolve(call) {
        Ok(knobs) => knobs,
        Err(fault) => return unguarded(at, call, &payload, &fault),
    };
    let reading = read(call, &knobs);
    let own = own_tasks(&payload);
    let facts = Facts {
        turn: turn(&payload, &call.around.believed),
        verdict: &reading.verdict,
        own_tasks: own.count,
        stop_hook_active: payload.stop_hook_active,
        wait: knobs.wait,
    };
    let seen = Seen {
        call,
        knobs: &knobs,
        payload: &payload,
        reading: &reading,
        own: &own,
    };
    let (decision, repeat) = seen.settle(decide(&facts));
    let firing = Firing {
        at,
        payload: &payload,
        reading: &reading,
        own_tasks: own.count,
        decision,
        repeat,
    };
    seen.log(&firing);
    seen.answer(decision, repeat, facts.turn)
}

/// The answer after a panic: the turn may end, and somebody is told that nobody checked it.
#[must_use]
pub fn defect() -> Answer {
    notice(
        "",
        &format!(
            "{HOOK}: it failed inside (a defect of subcell), so the rule could not be enforced on this call, and the call was allowed."
        ),
    )
}

fn resolve(call: &Call<'_>) -> Result<Knobs, KnobFault> {
    let file = match &call.settings.knobs {
        Some(file) => Some(file.clone()),
        None => configured(call).map_err(KnobFault::of_configuration)?.knobs,
    };
    let repository = match &file {
        Some(_) => None,
        None => repository(call.cwd, call.around.believed.start_cwd()),
    };
    Knobs::resolve(&KnobSources {
        file: file.as_deref(),
        believed: &call.around.believed,
        repository: repository.as_deref(),
    })
}

fn configured(call: &Call<'_>) -> Result<Settings, String> {
    (call.profile)().and_then(|profile| Settings::read(&profile))
}

/// A configuration that cannot be used leaves the usual limit: it is needed on the way to a refusal only, which is not
/// the place to report it.
fn max_refusals(call: &Call<'_>) -> u32 {
    let configured = || configured(call).ok().and_then(|settings| settings.max_refusals);
    call.settings.max_refusals.or_else(configured).unwrap_or(MAX_REFUSALS)
}

/// The root of the repository that the session stands in, or was started in.
#[must_use]
pub fn repository(cwd: Option<&Path>, start_cwd: Option<&Path>) -> Option<PathBuf> {
    let root = |dir: &Path| {
        dir.ancestors()
            .find(|dir| dir.join(".git").exists())
            .map(Path::to_owned)
    };
    cwd.and_then(root).or_else(|| start_cwd.and_then(root))
}

fn read(call: &Call<'_>, knobs: &Knobs) -> Reading {
    if knobs.check.is_empty() {
        Reading::own(&knobs.scratch)
    } else {
        Reading::by_program(&knobs.scratch, &knobs.check, call.around)
    }
}

fn turn(payload: &Payload, believed: &Believed) -> Turn {
    match payload.event() {
        Event::Main if is_in_cell(believed) => Turn::CellMain,
        Event::Main => Turn::Main,
        Event::Subagent if payload.is_helper(|path| !exists(path)) => Turn::Helper,
        Event::Subagent => Turn::Subagent,
    }
}

/// A guard variable of ours makes a main session one that can be refused, so only the client's start environment
/// counts: a settings file could put it there too.
fn is_in_cell(believed: &Believed) -> bool {
    matches!(believed.guard(), Guard::Ours { .. })
        && believed.origin(believe::GUARD) == Some(Origin::StartEnvironment)
}

/// False only where the file system says so itself.
fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).map_or_else(|error| error.kind() != std::io::ErrorKind::NotFound, |_| true)
}

/// A firing with all that was seen of it.
struct Seen<'a> {
    call: &'a Call<'a>,
    knobs: &'a Knobs,
    payload: &'a Payload,
    reading: &'a Reading,
    own: &'a Own,
}

impl Seen<'_> {
    fn memory(&self) -> Memory {
        Memory::new(self.call.around.believed.state_dir().as_deref(), &self.payload.session)
    }

    /// Looks at what only a refusal needs: whether the subagent is an echo, and how often it was refused already.
    fn settle(&self, decision: Decision) -> (Decision, u32) {
        let turn = self.payload.agent_id.as_deref();
        match decision {
            Decision::Refuse(_) if is_echo(self.payload, &self.call.around.believed) => {
                (Decision::Pardoned(Pardon::Echo), 0)
            }
            // A trial leaves no trace that a later refusal would count.
            Decision::Refuse(hold) if self.call.observe => (Decision::Refuse(hold), 0),
            Decision::Refuse(hold) => {
                let repeat = self.memory().refused(turn, &self.cause(hold)).unwrap_or_default();
                if repeat > max_refusals(self.call) {
                    (Decision::Pardoned(Pardon::Capped), repeat)
                } else {
                    (Decision::Refuse(hold), repeat)
                }
            }
            Decision::Free | Decision::Pardoned(_) => {
                if self.payload.stop_hook_active && !self.call.observe {
                    self.memory().released(turn);
                }
                (decision, 0)
            }
        }
    }

    /// What holds the turn, so that a refusal for something else is not taken for the same.
    fn cause(&self, hold: Hold) -> String {
        match hold {
            Hold::Task => {
                let mut ids = self.own.ids.clone();
                ids.sort_unstable();
                format!("task {ids:?} {}", self.own.count)
            }
            // Records that hold nobody come and go in a scratch directory that sessions share: they change nothing.
            Hold::Live | Hold::Corrupt | Hold::Unresolved if self.reading.holding.is_empty() => {
                format!("{hold:?} {:?}", self.reading.keys)
            }
            Hold::Live | Hold::Corrupt | Hold::Unresolved => format!("{hold:?} {:?}", self.reading.holding),
        }
    }

    /// A log that cannot be written changes nothing.
    fn log(&self, firing: &Firing<'_>) {
        let _ = if self.call.observe {
            log::append(&self.knobs.observe_log, &firing.observe_line())
        } else {
            log::append(&self.knobs.stop_log, &firing.stop_line())
        };
    }

    fn answer(&self, decision: Decision, repeat: u32, turn: Turn) -> Answer {
        let scratch = &self.knobs.scratch;
        match decision {
            Decision::Refuse(hold) if !self.call.observe => Answer {
                stdout: String::new(),
                stderr: self.refusal(hold),
                exit: Exit::Refused,
            },
            Decision::Pardoned(Pardon::Capped) => notice(&self.payload.event, &capped(repeat - 1, scratch)),
            Decision::Refuse(_) | Decision::Free | Decision::Pardoned(_) => match self.reading.no_scratch {
                Some(none) if is_guarded(turn) && self.memory().first_time("scratch") => {
                    notice(&self.payload.event, &no_scratch(none, scratch))
                }
                Some(_) | None => Answer::silent(),
            },
        }
    }

    fn refusal(&self, hold: Hold) -> String {
        let refusal = Refusal {
            hold,
            scratch: &self.knobs.scratch,
            reading: self.reading,
            own: self.own,
            check: &self.knobs.check,
        };
        refusal.text()
    }
}

const fn is_guarded(turn: Turn) -> bool {
    match turn {
        Turn::Subagent | Turn::CellMain => true,
        Turn::Main | Turn::Helper => false,
    }
}

fn unguarded(at: UnixNanos, call: &Call<'_>, payload: &Payload, fault: &KnobFault) -> Answer {
    let log = if call.observe {
        &fault.observe_log
    } else {
        &fault.stop_log
    };
    if let Some(log) = log {
        // A log that cannot be written changes nothing.
        let _ = log::append(log, &log::fault_line(at, payload, &fault.reason, call.observe));
    }
    notice(&payload.event, &fault.to_string())
}

/// Allows, and tells: on stderr for who looks there, and in the field that the event has for it.
fn notice(event: &str, text: &str) -> Answer {
    let told = if event == "PreToolUse" {
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": text}})
    } else {
        json!({"systemMessage": text})
    };
    Answer {
        stdout: format!("{told}\n"),
        ..Answer::aside(text)
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
