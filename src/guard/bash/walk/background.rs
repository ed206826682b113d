//! Jobs beside the shell: started, waited for, ended, or left.

use super::super::facts::{Fact, Job, JobKind};
use super::super::marks::{END, JOB, jobs_in};
use super::super::syntax::Span;
use super::state::Walk;

/// How many times traps that set traps are followed.
const MAX_TRAPS: usize = 8;

/// The pseudo number that stands for every job (`jobs -p`).
const EVERY: usize = usize::MAX;

/// One shell process: its jobs and its traps.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    jobs: Vec<Started>,
    /// Code of traps, to be followed when the shell ends.
    pub traps: Vec<(String, Span)>,
    /// Whether the shell has ended, so that no later `wait` is reached.
    pub ended: bool,
}

#[derive(Debug)]
struct Started {
    number: usize,
    how: JobKind,
    span: Span,
    /// The conditional parts it was started in.
    conditions: Vec<u32>,
    settled: bool,
}

impl Walk<'_> {
    /// Notes a job of the present shell and returns its process id as a value; it is also `$!`.
    pub(crate) fn start_job(&mut self, how: JobKind, span: Span) -> String {
        self.next_condition += 1;
        let number = self.next_condition as usize;
        let conditions = self.conditions.clone();
        if let Some(frame) = self.frames.last_mut() {
            frame.jobs.push(Started {
                number,
                how,
                span,
                conditions,
                settled: false,
            });
        }
        let id = format!("{JOB}{number}{END}");
        self.vars.set_text("!", &id);
        id
    }

    /// The value that stands for the ids of all jobs.
    pub(crate) fn every_job() -> String {
        format!("{JOB}{EVERY}{END}")
    }

    /// Ends a shell process: follows its traps, and writes its jobs down.
    pub(crate) fn close_frame(&mut self) {
        self.spring_traps();
        let Some(frame) = self.frames.pop() else { return };
        for job in frame.jobs {
            self.note(Fact::Job(Job {
                how: job.how,
                settled: job.settled,
                span: job.span,
            }));
        }
    }

    /// Follows the code of the present shell's traps, and of traps that it sets.
    pub(crate) fn spring_traps(&mut self) {
        let conditions = std::mem::take(&mut self.conditions);
        for _ in 0..MAX_TRAPS {
            let Some(frame) = self.frames.last_mut() else { break };
            frame.ended = false;
            let traps = std::mem::take(&mut frame.traps);
            if traps.is_empty() {
                break;
            }
            for (code, span) in traps {
                self.code(&code, "trap", span, &None);
            }
        }
        self.conditions = conditions;
    }

    /// `wait` with its arguments.
    pub(crate) fn wait(&mut self, args: &[String]) {
        let named: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
        let only_next = args.iter().any(|arg| arg == "-n") && self.loops == 0;
        if named.is_empty() {
            self.settle(|_, _| true, only_next);
            return;
        }
        for arg in named {
            if let Some(spec) = arg.strip_prefix('%') {
                let at = spec.parse::<usize>().ok();
                self.settle(|index, last| at.map_or(last, |at| index + 1 == at), false);
            } else {
                self.settle_ids(arg);
            }
        }
    }

    /// Settles the jobs whose ids are in `text`.
    pub(crate) fn settle_ids(&mut self, text: &str) {
        for wanted in jobs_in(text) {
            let every = wanted == EVERY;
            let reached = self.reached();
            let Some(frame) = self.frames.last_mut() else { return };
            for job in &mut frame.jobs {
                job.settled |= (every || job.number == wanted) && reached.covers(&job.conditions);
            }
        }
    }

    /// Settles the jobs of this shell that `picks` takes (by index, and whether it is the last).
    fn settle(&mut self, picks: impl Fn(usize, bool) -> bool, only_one: bool) {
        let reached = self.reached();
        let Some(frame) = self.frames.last_mut() else { return };
        let last = frame.jobs.len().saturating_sub(1);
        for (index, job) in frame.jobs.iter_mut().enumerate() {
            if picks(index, index == last) && !job.settled && reached.covers(&job.conditions) {
                job.settled = true;
                if only_one {
                    return;
                }
            }
        }
    }

    fn reached(&self) -> Reached {
        let ended = self.frames.last().is_none_or(|frame| frame.ended);
        Reached {
            conditions: self.conditions.clone(),
            ended,
        }
    }

    /// Notes that this shell ends here, if that is certain.
    pub(crate) fn end_shell(&mut self) {
        if self.conditions.is_empty()
            && let Some(frame) = self.frames.last_mut()
        {
            frame.ended = true;
        }
    }

    /// `disown`: the jobs of this shell are let go, so that no `wait` reaches them.
    pub(crate) fn disown(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        let jobs = std::mem::take(&mut frame.jobs);
        for job in jobs {
            self.note(Fact::Job(Job {
                how: job.how,
                settled: false,
                span: job.span,
            }));
        }
    }
}

/// The circumstances under which a `wait` is reached.
struct Reached {
    conditions: Vec<u32>,
    ended: bool,
}

impl Reached {
    /// Whether it is reached whenever a job was started under `conditions`.
    fn covers(&self, conditions: &[u32]) -> bool {
        !self.ended && conditions.starts_with(&self.conditions)
    }
}
