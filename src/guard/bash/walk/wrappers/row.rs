//! A row of the tables of wrappers.

use super::super::super::facts::Run;
use super::super::option::{Options, Valued};

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
pub(super) const PLAIN: Wrapper = Wrapper {
    names: &[],
    valued: Valued { short: "", long: &[] },
    sub: &[],
    skip: 0,
    assigns: false,
    shell: false,
};

pub(super) const fn valued(short: &'static str, long: &'static [&'static str]) -> Valued {
    Valued { short, long }
}

impl Wrapper {
    pub(crate) fn takes(&self, run: &Run) -> bool {
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
