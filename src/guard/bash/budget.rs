//! How much a command may cost to read: every loop of the guard draws on one of these.

/// Deepest nesting that is followed, two levels for each bracket: 64 brackets, substitutions or programs in programs.
///
/// The reader and the walk recurse once a level, so this bounds the stack: a level costs a few kilobytes.
pub(crate) const MAX_DEPTH: usize = 128;

/// Largest command in bytes that is read; a longer one is undecidable.
///
/// The kernel passes at most 128 KiB as one argument, so anything near this size reaches a shell by other ways only.
pub(crate) const MAX_SOURCE: usize = 2 * 1024 * 1024;

/// Largest text in bytes that is followed as a value (a variable, the output of a command).
pub(crate) const MAX_VALUE: usize = 64 * 1024;

/// Most values that one variable, glob or brace expression is followed through.
pub(crate) const MAX_CHOICES: usize = 64;

/// Steps (roughly a byte or a word looked at) that one decision may take.
const STEPS: usize = 5_000_000;

/// The steps that are left for one decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    left: usize,
}

impl Budget {
    /// A full budget for one decision.
    pub(crate) fn new() -> Self {
        Self { left: STEPS }
    }

    /// Takes `cost` steps; `false` when there are not so many left, and from then on always.
    pub(crate) fn take(&mut self, cost: usize) -> bool {
        if let Some(left) = self.left.checked_sub(cost) {
            self.left = left;
            true
        } else {
            self.left = 0;
            false
        }
    }
}
