//! Which bars belong to one run.

use std::collections::HashMap;

use super::bar::{Bar, Origin};
use crate::base::TraceId;

/// What two bars of a run have in common.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Tie {
    Trace(TraceId),
    Session(String),
}

/// Divides `bars` into runs, the earliest first: bars of one trace, cells of one session, and a cell with those of its own
/// session. A parent that was given no trace makes one for each of its cells; its session is what holds them together.
#[must_use]
pub fn groups(bars: Vec<Bar>) -> Vec<Vec<Bar>> {
    let mut firsts: HashMap<Tie, usize> = HashMap::new();
    let mut heads: Vec<usize> = (0..bars.len()).collect();
    for (at, bar) in bars.iter().enumerate() {
        for tie in ties(bar) {
            let first = *firsts.entry(tie).or_insert(at);
            join(&mut heads, first, at);
        }
    }
    let mut found: HashMap<usize, Vec<Bar>> = HashMap::new();
    for (at, bar) in bars.into_iter().enumerate() {
        found.entry(head(&mut heads, at)).or_default().push(bar);
    }
    let mut groups: Vec<Vec<Bar>> = found.into_values().collect();
    groups.sort_by_key(|bars| bars.iter().map(|bar| (bar.start, bar.span_id.to_bytes())).min());
    groups
}

fn ties(bar: &Bar) -> Vec<Tie> {
    let mut ties = vec![Tie::Trace(bar.trace_id)];
    if let Origin::Cell {
        parent_session,
        child_session,
    } = &bar.origin
    {
        ties.push(Tie::Session(parent_session.clone()));
        ties.extend(child_session.clone().map(Tie::Session));
    }
    ties
}

/// The head of the group of `at`; every step halves the way for the next who asks.
fn head(heads: &mut [usize], mut at: usize) -> usize {
    while let Some(next) = heads.get(at).copied().filter(|next| *next != at) {
        let after = heads.get(next).copied().unwrap_or(next);
        if let Some(slot) = heads.get_mut(at) {
            *slot = after;
        }
        at = next;
    }
    at
}

fn join(heads: &mut [usize], one: usize, other: usize) {
    let (one, other) = (head(heads, one), head(heads, other));
    if let Some(slot) = heads.get_mut(other) {
        *slot = one;
    }
}

#[cfg(test)]
mod tests {
    use super::super::forest::tests::{cell, span};
    use super::*;

    fn names(groups: &[Vec<Bar>]) -> Vec<Vec<&str>> {
        let mut names: Vec<Vec<&str>> = groups
            .iter()
            .map(|bars| bars.iter().map(|bar| bar.name.as_str()).collect())
            .collect();
        for names in &mut names {
            names.sort_unstable();
        }
        names
    }

    #[test]
    fn traces_and_sessions_hold_a_run_together() {
        let bars = vec![
            cell(("b", "2"), None, "main", "child", 20),
            cell(("c", "3"), None, "child", "grandchild", 30),
            cell(("d", "4"), None, "other", "its-child", 5),
            span("run", ("b", "1"), None, 10),
        ];
        assert_eq!(
            names(&groups(bars)),
            [vec!["its-child"], vec!["child", "grandchild", "run"]]
        );
    }

    #[test]
    fn a_bar_that_ties_two_groups_makes_them_one() {
        let bars = vec![
            cell(("a", "1"), None, "one", "x", 1),
            cell(("b", "2"), None, "two", "y", 2),
            cell(("c", "3"), None, "one", "two", 3),
        ];
        assert_eq!(groups(bars).len(), 1);
        assert!(groups(Vec::new()).is_empty());
    }
}
