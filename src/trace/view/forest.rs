//! Which bar stands under which.

use std::collections::{HashMap, HashSet};

use super::bar::{Bar, Origin};

/// A line of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The bar's place in what was arranged.
    pub bar: usize,
    /// For every level above, and then for its own, whether more follow on it.
    pub more: Vec<bool>,
}

/// The tree of the bars of one run, a line each, in the order of their begin.
///
/// A cell whose parent span is not among them (the client's own tool span, which only a backend has) stands under the cell
/// that its calling session ran in, or else under the one root of fullsend's spans.
#[must_use]
pub fn arrange(bars: &[Bar]) -> Vec<Row> {
    let parents = parents(bars);
    let mut children: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for (at, parent) in parents.iter().enumerate() {
        children.entry(*parent).or_default().push(at);
    }
    let order = |at: &usize| bars.get(*at).map(|bar| (bar.start, bar.span_id.to_bytes()));
    for list in children.values_mut() {
        list.sort_by_key(order);
    }
    let mut walk = Walk {
        children: &children,
        seen: HashSet::new(),
        rows: Vec::new(),
    };
    walk.from(&children.get(&None).cloned().unwrap_or_default());
    // Spans that name each other as parents hang under no root.
    for at in 0..bars.len() {
        if !walk.seen.contains(&at) {
            walk.from(&[at]);
        }
    }
    walk.rows
}

fn parents(bars: &[Bar]) -> Vec<Option<usize>> {
    let ids: HashMap<_, _> = bars
        .iter()
        .enumerate()
        .map(|(at, bar)| ((bar.trace_id, bar.span_id), at))
        .collect();
    let mut sessions = HashMap::new();
    for (at, bar) in bars.iter().enumerate() {
        if let Origin::Cell {
            child_session: Some(child),
            ..
        } = &bar.origin
        {
            sessions.insert(child.as_str(), at);
        }
    }
    let named = |bar: &Bar| ids.get(&(bar.trace_id, bar.parent?)).copied();
    let mut roots = bars
        .iter()
        .enumerate()
        .filter(|(_, bar)| bar.origin == Origin::Run && named(bar).is_none());
    let root = roots.next().filter(|_| roots.next().is_none()).map(|(at, _)| at);
    bars.iter()
        .enumerate()
        .map(|(at, bar)| {
            let by_session = || match &bar.origin {
                Origin::Cell { parent_session, .. } => sessions.get(parent_session.as_str()).copied().or(root),
                Origin::Phase | Origin::Run => None,
            };
            named(bar).or_else(by_session).filter(|parent| *parent != at)
        })
        .collect()
}

struct Walk<'a> {
    children: &'a HashMap<Option<usize>, Vec<usize>>,
    seen: HashSet<usize>,
    rows: Vec<Row>,
}

impl Walk<'_> {
    /// With a stack of its own: a file may nest as deep as it likes.
    fn from(&mut self, roots: &[usize]) {
        let mut stack = Vec::new();
        push(&mut stack, roots, &[]);
        while let Some(row) = stack.pop() {
            if !self.seen.insert(row.bar) {
                continue;
            }
            if let Some(below) = self.children.get(&Some(row.bar)) {
                push(&mut stack, below, &row.more);
            }
            self.rows.push(row);
        }
    }
}

/// What is deeper is drawn as if it were at this level.
const DEEPEST: usize = 32;

fn push(stack: &mut Vec<Row>, bars: &[usize], above: &[bool]) {
    for (back, bar) in bars.iter().rev().enumerate() {
        let mut more = above.to_vec();
        more.truncate(DEEPEST);
        more.push(back > 0);
        stack.push(Row { bar: *bar, more });
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::bar::{Facts, Outcome};
    use super::*;
    use crate::base::UnixNanos;

    /// A bar of fullsend's: name, trace and span by digit, parent, begin.
    pub(crate) fn span(name: &str, (trace, id): (&str, &str), parent: Option<&str>, start: u64) -> Bar {
        Bar {
            trace_id: trace.repeat(32).parse().unwrap(),
            span_id: id.repeat(16).parse().unwrap(),
            parent: parent.map(|id| id.repeat(16).parse().unwrap()),
            name: name.to_owned(),
            origin: Origin::Run,
            start: UnixNanos::from_nanos(start),
            end: UnixNanos::from_nanos(start + 10),
            outcome: Outcome::Fine,
            facts: Facts::default(),
        }
    }

    /// A cell, named after its session.
    pub(crate) fn cell(ids: (&str, &str), parent: Option<&str>, session: &str, child: &str, start: u64) -> Bar {
        Bar {
            origin: Origin::Cell {
                parent_session: session.to_owned(),
                child_session: Some(child.to_owned()),
            },
            ..span(child, ids, parent, start)
        }
    }

    fn tree(bars: &[Bar]) -> Vec<(usize, &str)> {
        let rows = arrange(bars);
        rows.iter()
            .map(|row| (row.more.len() - 1, bars[row.bar].name.as_str()))
            .collect()
    }

    #[test]
    fn spans_stand_under_their_parents_in_the_order_of_their_begin() {
        let bars = [
            cell(("a", "5"), Some("3"), "main", "second", 40),
            cell(("a", "4"), Some("3"), "main", "first", 30),
            span("agent", ("a", "3"), Some("1"), 20),
            span("sandbox_create", ("a", "2"), Some("1"), 10),
            span("run", ("a", "1"), None, 0),
        ];
        let expected = [
            (0, "run"),
            (1, "sandbox_create"),
            (1, "agent"),
            (2, "first"),
            (2, "second"),
        ];
        assert_eq!(tree(&bars), expected);
        let more: Vec<_> = arrange(&bars).into_iter().map(|row| row.more).collect();
        assert_eq!(more[1], [false, true]);
        assert_eq!(more[3], [false, false, true]);
        assert_eq!(more[4], [false, false, false]);
    }

    #[test]
    fn a_cell_under_a_span_that_is_not_here_stands_under_its_session_or_the_root() {
        let bars = [
            span("run", ("a", "1"), Some("f"), 0),
            cell(("a", "2"), Some("e"), "main", "child", 10),
            cell(("a", "3"), Some("d"), "child", "grandchild", 20),
        ];
        assert_eq!(tree(&bars), [(0, "run"), (1, "child"), (2, "grandchild")]);
        // While the run's root is not written yet, its spans have none in common.
        let bars = [
            span("sandbox_create", ("a", "2"), Some("1"), 0),
            span("agent", ("a", "3"), Some("1"), 10),
            cell(("a", "4"), Some("1"), "main", "child", 20),
        ];
        assert_eq!(tree(&bars), [(0, "sandbox_create"), (0, "agent"), (0, "child")]);
    }

    #[test]
    fn spans_that_are_their_own_ancestors_are_shown_once() {
        let bars = [
            span("a", ("a", "1"), Some("2"), 0),
            span("b", ("a", "2"), Some("1"), 1),
            span("self", ("a", "3"), Some("3"), 2),
        ];
        assert_eq!(tree(&bars), [(0, "self"), (0, "a"), (1, "b")]);
        let session = [cell(("a", "1"), None, "same", "same", 0)];
        assert_eq!(tree(&session), [(0, "same")]);
    }

    #[test]
    fn a_chain_of_any_length_is_drawn() {
        let mut bars = Vec::new();
        for at in 1_u64..=5000 {
            let mut bar = span("deep", ("a", "1"), None, at);
            bar.span_id = format!("{at:016x}").parse().unwrap();
            bar.parent = (at > 1).then(|| format!("{:016x}", at - 1).parse().unwrap());
            bars.push(bar);
        }
        let rows = arrange(&bars);
        assert_eq!(rows.len(), 5000);
        assert!(rows.iter().all(|row| row.more.len() <= DEEPEST + 1));
    }
}
