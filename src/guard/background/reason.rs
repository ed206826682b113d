//! What the model reads. The client hands a denial's reason on whole (50 KB tried, 2.1.332).

/// Why a call that is not a foreground one is denied.
pub(super) const BACKGROUND: &str = "\
This subagent was not started: here every subagent runs in the foreground, and `run_in_background` of this call is not \
the boolean false. Leaving it out asks for the background on current clients and is refused too, as is a text such as \
\"false\".

Why: nobody waits for a background subagent. When the session or the machine under it ends, the subagent is ended in \
the middle of its work, what it found is lost, and no error says so.

What to do: make the same call again with \"run_in_background\": false. For calls that are independent of each other, \
put them into one message: they run side by side.

Work that takes long does not belong in a background subagent. Start it as a job that lives by itself and can be asked \
after later, such as a CI run, a queue, or `subcell run-record --detach -- COMMAND`, and look at its state when you need \
it.";

/// Why a remote call is denied.
pub(super) const REMOTE: &str = "\
This subagent was not started: `isolation: \"remote\"` always runs in the background, whatever `run_in_background` says, \
and here every subagent runs in the foreground.

Why: nobody waits for a background subagent. When the session or the machine under it ends, what it found is lost, and \
no error says so.

What to do: make the call again without `isolation` (or with \"worktree\", for a copy of the repository of its own) and \
with \"run_in_background\": false. For work that takes long, start a job that lives by itself and can be asked after \
later.";

/// Why a call is denied that no flag can make a foreground one.
pub(super) const FORCED: &str = "\
This subagent was not started: this client is set to run every subagent in the background (CLAUDE_CODE_FORK_SUBAGENT) \
and drops `run_in_background` from every call, and here subagents have to run in the foreground.

Why: nobody waits for a background subagent. When the session or the machine under it ends, what it found is lost, and \
no error says so.

What to do: do not make the call again, it would be refused again. Do the work yourself, and tell the user that this \
setting and the guard exclude each other. For work that takes long, start a job that lives by itself and can be asked \
after later.";

/// Why a call is denied that could not be rewritten.
pub(super) const NOT_REWRITTEN: &str = "\
The input of this call could not be handed back unchanged, so it was not turned into a foreground call either.";

/// Why every call is denied after a defect.
pub(super) const DEFECT: &str = "\
The guard against background subagents failed inside (a defect of subcell; its message is on the hook's stderr), and a \
call that nobody checked is not let through. Nothing was started. Tell the user; do not repeat the call.";
