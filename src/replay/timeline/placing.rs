//! Places of files and records in the tree, as plain data.

use jiff::Timestamp;

use super::join::JoinedBy;

/// A call in a transcript: the node it stands in, and its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallPlace {
    pub(super) node: usize,
    pub(super) id: String,
}

/// Where a node hangs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The node above; none for a root.
    pub(super) parent: Option<usize>,
    /// The call that started it, where it is known.
    pub(super) call: Option<String>,
    /// What told so.
    pub(super) by: JoinedBy,
}

impl Place {
    pub(super) const fn root() -> Self {
        Self {
            parent: None,
            call: None,
            by: JoinedBy::Nothing,
        }
    }

    pub(super) fn under(call: &CallPlace, by: JoinedBy) -> Self {
        Self {
            parent: Some(call.node),
            call: Some(call.id.clone()),
            by,
        }
    }

    pub(super) const fn in_node(node: usize, by: JoinedBy) -> Self {
        Self {
            parent: Some(node),
            call: None,
            by,
        }
    }
}

/// Makes roots of the nodes that hang in a circle, or deeper than `limit`: what is named in files need not make sense.
pub(super) fn break_circles(places: &mut [Place], limit: usize) {
    for node in 0..places.len() {
        let mut above = places.get(node).and_then(|place| place.parent);
        let mut depth = 0;
        while let Some(parent) = above {
            depth += 1;
            if parent == node || depth > limit {
                if let Some(place) = places.get_mut(node) {
                    *place = Place::root();
                }
                break;
            }
            above = places.get(parent).and_then(|place| place.parent);
        }
    }
}

/// The order in which siblings are shown.
pub(super) fn order_key(first: Option<Timestamp>, shown: &str) -> (bool, Option<Timestamp>, &str) {
    (first.is_none(), first, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_and_bottomless_chains_are_cut() {
        let chain = |parents: &[Option<usize>]| -> Vec<Option<usize>> {
            let mut places: Vec<Place> = parents
                .iter()
                .map(|parent| parent.map_or(Place::root(), |node| Place::in_node(node, JoinedBy::AgentId)))
                .collect();
            break_circles(&mut places, 2);
            places.iter().map(|place| place.parent).collect()
        };
        assert_eq!(chain(&[Some(0)]), [None]);
        assert_eq!(chain(&[Some(1), Some(0)]), [None, Some(0)]);
        assert_eq!(
            chain(&[None, Some(0), Some(1), Some(2)]),
            [None, Some(0), Some(1), None]
        );
    }
}
