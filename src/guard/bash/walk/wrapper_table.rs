//! How a program that starts another one, given in its arguments, finds it; the rows are in the two tables beside.

use super::super::facts::Run;
use super::option::{Options, Valued};
use super::{system_wrappers, tool_wrappers};

/// How a program finds the program that it starts.
pub(crate) struct Wrapper {
    pub names: &'static [&'static str],
    /// Options that take a value.
    pub valued: Valued,
    /// The subcommand that must come first, where there is one.
    pub sub: &'static [&'static str],
    /// Words to leave out before the program.
    pub skip: usize,
    /// Whether assignments come before the program.
    pub assigns: bool,
    /// Whether the words are joined and given to a shell.
    pub shell: bool,
}

/// A plain wrapper, from which the table's other rows differ.
pub(crate) const PLAIN: Wrapper = Wrapper {
    names: &[],
    valued: Valued { short: "", long: &[] },
    sub: &[],
    skip: 0,
    assigns: false,
    shell: false,
};

pub(crate) const fn valued(short: &'static str, long: &'static [&'static str]) -> Valued {
    Valued { short, long }
}

impl Wrapper {
    /// The row for what `run` starts; `None` where it is no wrapper.
    pub(crate) fn of(run: &Run) -> Option<&'static Self> {
        let mut rows = system_wrappers::WRAPPERS.iter().chain(tool_wrappers::WRAPPERS);
        rows.find(|wrapper| wrapper.takes(run))
    }

    fn takes(&self, run: &Run) -> bool {
        let named = self.names.contains(&run.verb.as_str());
        named && (self.sub.is_empty() || self.sub_at(run).is_some())
    }

    /// Where the subcommand stands: the first argument that is no option.
    fn sub_at(&self, run: &Run) -> Option<usize> {
        let at = Options::parse(&run.args, self.valued, true).first_word;
        run.args
            .get(at)
            .filter(|arg| self.sub.contains(&arg.as_str()))
            .map(|_| at)
    }

    pub(crate) fn after_sub(&self, run: &Run) -> usize {
        if self.sub.is_empty() {
            0
        } else {
            self.sub_at(run).map_or(0, |at| at + 1)
        }
    }
}
