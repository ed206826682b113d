//! What everything cost.

use super::bar::{Bar, Origin, Outcome};
use crate::protocol::Tokens;

/// A sum over bars.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// How many.
    pub count: usize,
    /// How many of them failed.
    pub failed: usize,
    /// How many still run.
    pub running: usize,
    /// Tokens, of those that say.
    pub tokens: Tokens,
    /// Cost in US dollars; `None` where nobody says.
    pub cost_usd: Option<f64>,
    /// How many do not say what they cost.
    pub unknown: usize,
}

impl Totals {
    /// The sum over cells.
    #[must_use]
    pub fn of_cells<'a>(bars: impl IntoIterator<Item = &'a Bar>) -> Self {
        Self::of(bars.into_iter().filter(|bar| matches!(bar.origin, Origin::Cell { .. })))
    }

    /// What fullsend says of the run itself: the sum over its `agent` spans (one an iteration), which have tokens, or its
    /// `run` span where there are none. It knows nothing of cells: a process of its own is not in the client's figure.
    #[must_use]
    pub fn of_run<'a>(bars: impl IntoIterator<Item = &'a Bar>) -> Self {
        let run = bars
            .into_iter()
            .filter(|bar| bar.origin == Origin::Run && says(bar))
            .collect::<Vec<_>>();
        let named = |name: &str| run.iter().copied().filter(|bar| bar.name == name).collect::<Vec<_>>();
        let agents = named("agent");
        Self::of(if agents.is_empty() { named("run") } else { agents })
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            failed: self.failed + other.failed,
            running: self.running + other.running,
            tokens: self.tokens.plus(other.tokens),
            cost_usd: add(self.cost_usd, other.cost_usd),
            unknown: self.unknown + other.unknown,
        }
    }

    fn of<'a>(bars: impl IntoIterator<Item = &'a Bar>) -> Self {
        bars.into_iter().fold(Self::default(), |sum, bar| {
            sum.plus(Self {
                count: 1,
                failed: usize::from(matches!(bar.outcome, Outcome::Failed(_))),
                running: usize::from(bar.outcome == Outcome::Running),
                tokens: bar.facts.tokens,
                cost_usd: bar.facts.cost_usd,
                unknown: usize::from(bar.facts.cost_usd.is_none()),
            })
        })
    }
}

fn says(bar: &Bar) -> bool {
    bar.facts.cost_usd.is_some() || bar.facts.tokens != Tokens::default()
}

fn add(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (one, None) | (None, one) => one,
    }
}
