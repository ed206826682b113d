//! The environment of a cell, decided purely from the hook's own and what is believed of it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::believe::names::{self, class};
use super::believe::{Believed, GUARD, is_start_only};
use super::env::Environment;
use crate::base::{CellId, TraceContext};

/// What a cell's environment carries of the cell itself.
#[derive(Clone, Copy, Debug)]
pub struct CellMarks<'a> {
    /// The cell: the value of the recursion guard, by which a hook in it knows it for ours.
    pub cell: &'a CellId,
    /// The limits on agent types that bind it, as its own hook reads them; `None` where there are none.
    pub agent_limits: Option<&'a str>,
    /// How many cells deep it is; 1 for a cell that a session of its own starts.
    pub depth: u32,
    /// The folder that the child is started in: `PWD` names it, by which a hook in the cell can be sure of it.
    pub cwd: &'a Path,
    /// The span that the child's own spans hang under.
    pub trace: &'a TraceContext,
    /// Whether that span continues the believed trace context: only then does `TRACESTATE` go with it.
    pub continues_trace: bool,
}

/// The environment of a cell, and how it differs from the hook's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildEnv {
    /// Every variable of the child.
    pub vars: BTreeMap<OsString, OsString>,
    /// Names that the child has as the hook has them.
    pub kept: Vec<String>,
    /// Names whose value was set or replaced.
    pub set: Vec<String>,
    /// Names that the hook has and the child has not.
    pub removed: Vec<String>,
}

/// Identity and channels of the parent session (2.1.332; hooks and environment references): a child that inherited
/// them would write no transcript, refuse to start, or speak into the parent's session.
const PARENT_SESSION: [&str; 20] = [
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_BRIDGE_SESSION_ID",
    "CLAUDE_CODE_CHILD_NOTES_DIR",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_HOST_SESSION_ID",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    // Set, the child would run no hooks and load no CLAUDE.md; a parent that runs hooks does not have it.
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_JOB_DIR",
    "CLAUDE_PID",
    // The child sets it for its own hooks.
    "CLAUDE_PROJECT_DIR",
];

/// Variables that mark the cell itself: `[child.env]` may not set them.
pub(crate) const CELL_MARKS: [&str; 5] = [
    GUARD,
    names::DEPTH,
    names::AGENT_LIMITS,
    names::TRACEPARENT,
    names::TRACESTATE,
];

/// The environment of the cell `marks` of a hook with the environment `hook`; `extra` is `[child.env]` of the
/// configuration, whose names are not marks of the cell.
///
/// The base is the hook's environment, so credentials, provider switches, proxy and CA settings stay. What is judged
/// gets its believed value or goes, and `LD_*` and its like stand only as the client was started with them.
#[must_use]
pub fn child_environment(
    hook: &Environment,
    believed: &Believed,
    marks: &CellMarks<'_>,
    extra: &BTreeMap<String, String>,
) -> ChildEnv {
    let mut vars: BTreeMap<OsString, OsString> = hook
        .iter()
        .filter(|(name, _)| inherits(name))
        .map(|(name, text)| (name.clone(), text.clone()))
        .collect();
    vars.extend(believed_vars(believed));
    // The configuration is the user's, who may want another PATH or a loader for the cell; the marks come last.
    let settable = extra.iter().filter(|(name, _)| !CELL_MARKS.contains(&name.as_str()));
    vars.extend(settable.map(|(name, text)| (name.into(), text.into())));
    vars.extend(mark_vars(believed, marks));
    compare(hook, vars)
}

fn inherits(name: &OsStr) -> bool {
    let of_session = name.to_str().is_some_and(|name| PARENT_SESSION.contains(&name));
    !of_session && class(name).is_none() && !is_start_only(name)
}

fn believed_vars(believed: &Believed) -> impl Iterator<Item = (OsString, OsString)> {
    let judged = believed
        .values()
        .filter(|(name, _)| !name.to_str().is_some_and(|name| CELL_MARKS.contains(&name)))
        .filter_map(|(name, text)| Some((name.to_owned(), believed.portable_value(name, text)?)));
    let loaders = believed
        .start_only()
        .map(|(name, text)| (name.to_owned(), text.to_owned()));
    judged.chain(loaders)
}

fn mark_vars(believed: &Believed, marks: &CellMarks<'_>) -> impl Iterator<Item = (OsString, OsString)> {
    let state = believed.trace_state().filter(|_| marks.continues_trace);
    [
        (GUARD, marks.cell.as_str().into()),
        (names::DEPTH, marks.depth.to_string().into()),
        (names::TRACEPARENT, marks.trace.to_string().into()),
        ("PWD", marks.cwd.into()),
    ]
    .into_iter()
    .chain(state.map(|text| (names::TRACESTATE, text.to_owned())))
    .chain(marks.agent_limits.map(|limits| (names::AGENT_LIMITS, limits.into())))
    .map(|(name, text): (&str, OsString)| (name.into(), text))
}

fn compare(hook: &Environment, vars: BTreeMap<OsString, OsString>) -> ChildEnv {
    let shown = |name: &OsString| name.to_string_lossy().into_owned();
    let (kept, set): (Vec<_>, Vec<_>) = vars
        .iter()
        .partition(|(name, text)| hook.get(name) == Some(text.as_os_str()));
    let removed = hook.iter().filter(|(name, _)| !vars.contains_key(*name));
    ChildEnv {
        kept: kept.into_iter().map(|(name, _)| shown(name)).collect(),
        set: set.into_iter().map(|(name, _)| shown(name)).collect(),
        removed: removed.map(|(name, _)| shown(name)).collect(),
        vars,
    }
}

#[cfg(test)]
#[path = "child_env_tests.rs"]
mod tests;
