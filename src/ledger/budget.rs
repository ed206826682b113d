//! Whether a further cell fits into its session's budget: pure, decided from the records.
//!
//! A session's budget covers its cells and theirs: a cell in a cell is a process whose cost no result above it holds. What
//! counts for each record is its cost. Where that is not known (it runs, it was ended, its hook is gone) it is the limit
//! that the cell was given for itself, or the cost of the dearest cell that has ended: a cell may have spent as much.

use std::collections::{BTreeMap, BTreeSet};

use super::ending::Ending;
use super::record::{CostLimit, LimitOf, Record, State};
use crate::base::{SessionId, Usd};

/// The limits of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// What all cells of a session may cost.
    pub session: Option<Usd>,
    /// What one cell may cost.
    pub cell: Option<Usd>,
    /// How many cells a session may have.
    pub cells: Option<u32>,
}

/// What a session's cells have come to so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Cells that were started, or are about to be.
    pub cells: u32,
    /// What those cost whose cost is known.
    pub spent: Usd,
    /// Cells whose cost is not known.
    pub open: u32,
    /// What those count.
    pub reserved: Usd,
    /// The cost of the dearest cell that has ended.
    pub dearest: Usd,
}

/// Why a cell does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// The session has as many cells as it may have.
    Cells {
        /// How many that is.
        limit: u32,
        /// What they have cost.
        standing: Standing,
    },
    /// The session's cells would cost more than they may.
    Cost {
        /// What they may cost.
        limit: Usd,
        /// What this cell would count.
        wanted: Usd,
        /// What they have cost.
        standing: Standing,
    },
}

impl Budget {
    /// Whether there is anything to check.
    #[must_use]
    pub const fn is_unlimited(&self) -> bool {
        self.session.is_none() && self.cell.is_none() && self.cells.is_none()
    }

    /// The limit that a cell is given for itself, before it is known what is left.
    #[must_use]
    pub fn of_a_cell(&self) -> Option<Usd> {
        let own = self.cell?;
        Some(self.session.map_or(own, |session| own.min(session)))
    }

    /// Admits a cell beside those of `records`, and says what it may cost.
    ///
    /// # Errors
    /// [`Exceeded`].
    pub fn admit(&self, standing: Standing) -> Result<Option<CostLimit>, Exceeded> {
        if let Some(limit) = self.cells.filter(|limit| standing.cells >= *limit) {
            return Err(Exceeded::Cells { limit, standing });
        }
        let own = self.of_a_cell();
        let Some(limit) = self.session else {
            return Ok(own.map(|usd| CostLimit { usd, of: LimitOf::Cell }));
        };
        let left = limit.less(standing.spent.plus(standing.reserved));
        let wanted = own.unwrap_or(standing.dearest);
        if left == Usd::ZERO || wanted > left {
            return Err(Exceeded::Cost {
                limit,
                wanted,
                standing,
            });
        }
        // Without a limit of its own it is given what is left, but counts no more than the dearest: else one cell would
        // keep all others from running beside it.
        Ok(Some(own.map_or(
            CostLimit {
                usd: left,
                of: LimitOf::Session,
            },
            |usd| CostLimit { usd, of: LimitOf::Cell },
        )))
    }
}

impl Standing {
    /// What the cells below the session at the top of `session`'s tree have come to.
    #[must_use]
    pub fn of<'a>(session: &SessionId, records: impl Iterator<Item = &'a Record> + Clone) -> Self {
        let parents: BTreeMap<&SessionId, &SessionId> = records
            .clone()
            .filter_map(|record| Some((record.child_session.as_ref()?, &record.parent_session)))
            .collect();
        let root = top_of(&parents, session);
        let started =
            records.filter(|record| was_started(record) && top_of(&parents, &record.parent_session) == root);
        let (known, open): (Vec<_>, Vec<_>) = started.partition(|record| cost_of(record).is_some());
        let costs = known.iter().filter_map(|record| cost_of(record));
        let dearest = costs.clone().max().unwrap_or_default();
        let counted = open.iter().map(|record| own_limit(record).unwrap_or(dearest));
        Self {
            cells: number(known.len()).saturating_add(number(open.len())),
            spent: costs.fold(Usd::ZERO, Usd::plus),
            open: number(open.len()),
            reserved: counted.fold(Usd::ZERO, Usd::plus),
            dearest,
        }
    }
}

impl Exceeded {
    /// What the parent is told.
    #[must_use]
    pub fn reason(&self) -> String {
        let (Self::Cells { standing, .. } | Self::Cost { standing, .. }) = self;
        let open = match standing.open {
            0 => String::new(),
            open => format!(", and {open} whose cost is not known yet count {}", standing.reserved),
        };
        let spent = format!(
            "{} cell(s) of this session have cost {}{open}",
            standing.cells.saturating_sub(standing.open),
            standing.spent
        );
        let limit = match self {
            Self::Cells { limit, .. } => format!("max_cells allows {limit}"),
            Self::Cost { limit, wanted, .. } if *wanted > Usd::ZERO => {
                format!("max_cost_usd allows {limit}, and this cell would count {wanted}")
            }
            Self::Cost { limit, .. } => format!("max_cost_usd allows {limit}"),
        };
        format!(
            "subcell: the budget of this session is used up, so no cell is made: {spent}; {limit}. Do not repeat the call: \
             go on without it, and say so in your answer."
        )
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The session above all cells. Records are files that a cell could write: a circle in them ends where it closes.
fn top_of<'a>(parents: &BTreeMap<&'a SessionId, &'a SessionId>, session: &'a SessionId) -> &'a SessionId {
    let mut seen = BTreeSet::new();
    let mut top = session;
    while let Some(above) = parents.get(top).filter(|_| seen.insert(top)) {
        top = above;
    }
    top
}

/// A cell that never had a process has cost nothing and is none.
fn was_started(record: &Record) -> bool {
    match &record.state {
        State::Running => true,
        State::Ended(end) => !matches!(end.ending, Ending::NoSlot { .. } | Ending::CouldNotStart { .. }),
        State::PassedThrough { .. } | State::Refused { .. } => false,
    }
}

fn cost_of(record: &Record) -> Option<Usd> {
    record.end()?.cost_usd.and_then(Usd::of_cost)
}

/// What the cell itself was allowed; what was left of the session's budget is no measure of one cell.
fn own_limit(record: &Record) -> Option<Usd> {
    let limit = record.asked.cost_limit.as_ref()?;
    (limit.of == LimitOf::Cell).then_some(limit.usd)
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
