//! Which variables are judged, and how.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The recursion guard. fullsend's experiments set it to any value; a cell of ours carries the cell's id in it.
pub const GUARD: &str = "FULLSEND_HOOK_SPAWNED";
pub(crate) const DEPTH: &str = "SUBCELL_DEPTH";
/// The limits on agent types that a cell's sessions must keep to, because the sessions above had them.
pub(crate) const AGENT_LIMITS: &str = "SUBCELL_AGENT_LIMITS";
pub(crate) const CLAUDE_BIN: &str = "CLAUDE_BIN";
pub(crate) const OUTPUT_DIR: &str = "FULLSEND_OUTPUT_DIR";
pub(crate) const TRACEPARENT: &str = "TRACEPARENT";
pub(crate) const TRACESTATE: &str = "TRACESTATE";
pub(crate) const HOME: &str = "HOME";
pub(crate) const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
pub(crate) const CONFIG_HOME: &str = "XDG_CONFIG_HOME";
pub(crate) const STATE_HOME: &str = "XDG_STATE_HOME";
pub(crate) const DATA_HOME: &str = "XDG_DATA_HOME";
pub(crate) const OUR_PREFIX: &str = "SUBCELL_";
/// The knobs of the liveness guard: they name a program, folders and files.
const KNOB_PREFIXES: [&str; 2] = ["DELEGATION_KIT_", "GATE_SDK_"];

/// How a variable is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The recursion guard, the depth and the limits on agents: where nothing can be verified, they count.
    Guard,
    /// What finds the user's files: never from settings, for it is what finds the settings.
    Locating,
    /// Everything else that could redirect us: where nothing can be verified, it does not count.
    Directing,
}

/// The class of a variable that is judged; none for every other.
pub(crate) fn class(name: &OsStr) -> Option<Class> {
    match name.to_str()? {
        GUARD | DEPTH | AGENT_LIMITS => Some(Class::Guard),
        HOME | CONFIG_DIR | "PATH" => Some(Class::Locating),
        CLAUDE_BIN | OUTPUT_DIR | TRACEPARENT | TRACESTATE => Some(Class::Directing),
        name if name.starts_with("XDG_") => Some(Class::Locating),
        name if name.starts_with(OUR_PREFIX) => Some(Class::Directing),
        name if KNOB_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) => Some(Class::Directing),
        _ => None,
    }
}

/// Whether `name` is judged: a repository's value of it is not believed.
#[must_use]
pub fn is_judged(name: &OsStr) -> bool {
    class(name).is_some()
}

/// Variables by which a loader or an interpreter runs code of somebody's choice before its program: in a cell they
/// stand only as in the client's start environment.
const LOADER_PREFIXES: [&[u8]; 4] = [b"LD_", b"DYLD_", b"BUN_", b"BASH_FUNC_"];
const LOADER_NAMES: [&[u8]; 20] = [
    b"NODE_OPTIONS",
    b"NODE_PATH",
    b"NODE_REPL_EXTERNAL_MODULE",
    b"BASH_ENV",
    b"ENV",
    b"SHELLOPTS",
    b"BASHOPTS",
    b"PS4",
    b"PROMPT_COMMAND",
    b"GLIBC_TUNABLES",
    b"GCONV_PATH",
    b"LOCPATH",
    b"PYTHONSTARTUP",
    b"PYTHONPATH",
    b"PYTHONHOME",
    b"PERL5OPT",
    b"PERL5LIB",
    b"RUBYOPT",
    b"RUBYLIB",
    b"JAVA_TOOL_OPTIONS",
];

/// Whether `name` is a loader's or interpreter's hook (`LD_PRELOAD`, `NODE_OPTIONS`, `BASH_ENV`, …), which a cell
/// gets only as the client's start environment has it.
#[must_use]
pub fn is_start_only(name: &OsStr) -> bool {
    let name = name.as_bytes();
    LOADER_NAMES.contains(&name) || LOADER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
