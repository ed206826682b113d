//! What our records tell of the tree.

use std::path::{Path, PathBuf};

use super::join::JoinedBy;
use super::testing::{Played, played};
use super::tree::Kind;
use crate::base::UnixNanos;
use crate::ledger::record::{PassReason, State};
use crate::ledger::testing::running;
use crate::ledger::{End, Ending, Record};

const PARENT: &str = "e9759233-b7d4-4e0e-b067-558843bc2e73";
const CHILD: &str = "94a00563-4410-440a-b598-87838f83ba33";

fn transcripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/replay/echo/transcripts")
}

/// The parent of the recorded run in a folder of its own, its cell in another project's, and records beside them.
fn apart(records: &[Record]) -> (tempfile::TempDir, Played) {
    let dir = tempfile::tempdir().unwrap();
    let (own, other, cells) = (
        dir.path().join("projects/a"),
        dir.path().join("projects/b"),
        dir.path().join("cells"),
    );
    for folder in [&own, &other, &cells] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let name = |session: &str| format!("{session}.jsonl");
    let parent = own.join(name(PARENT));
    std::fs::copy(transcripts().join(name(PARENT)), &parent).unwrap();
    std::fs::copy(transcripts().join(name(CHILD)), other.join(name(CHILD))).unwrap();
    for (at, record) in records.iter().enumerate() {
        std::fs::write(cells.join(format!("{at}.json")), serde_json::to_vec(record).unwrap()).unwrap();
    }
    let played = played(&[parent], &[cells]);
    (dir, played)
}

fn record(state: State) -> Record {
    Record {
        child_session: Some(CHILD.parse().unwrap()),
        state,
        ..running("toolu_0000_0", PARENT)
    }
}

#[test]
fn a_record_leads_from_the_parents_file_to_the_cells() {
    let end = End {
        cost_usd: Some(0.049_924),
        ..End::bare(Ending::Completed, UnixNanos::from_nanos(2))
    };
    let (_dir, played) = apart(&[record(State::Ended(Box::new(end)))]);
    let cell = &played.sessions[1];
    assert_eq!(
        (cell.what, cell.joined_by, cell.depth),
        (Kind::Cell, JoinedBy::Record, 1)
    );
    assert_eq!(cell.session.as_deref(), Some(CHILD));
    assert_eq!(cell.call.as_deref(), Some("toolu_0000_0"));
    assert!(!cell.failed);
    assert!(played.events.iter().any(|(session, _)| *session == cell.index));
    // The parent's 0.13429 without its echo, and the cell's.
    let total = played.summary.totals.cost_usd.unwrap();
    assert!((total - (0.1719 + 0.049_924)).abs() < 1e-9, "{total}");
}

#[test]
fn a_cell_whose_transcript_is_gone_and_calls_without_a_cell_are_shown_by_their_records() {
    let gone = Record {
        child_session: Some("77777777-2222-4333-8444-555555555555".parse().unwrap()),
        ..record(State::Ended(Box::new(End::bare(
            Ending::TimedOut { limit_ms: 5000 },
            UnixNanos::from_nanos(9),
        ))))
    };
    let passed = Record {
        child_session: None,
        ..record(State::PassedThrough {
            reason: PassReason::Fork,
        })
    };
    let refused = Record {
        child_session: None,
        ..record(State::Refused {
            reason: "the budget is spent".into(),
        })
    };
    let (_dir, played) = apart(&[gone, passed, refused]);
    let under_call: Vec<_> = played.sessions[1..]
        .iter()
        .map(|view| (view.what, view.failed, view.depth))
        .collect();
    assert_eq!(
        under_call,
        [(Kind::Cell, true, 1), (Kind::NoCell, false, 1), (Kind::NoCell, true, 1)]
    );
    assert!(played.sessions[1].ending.as_deref().unwrap().contains("5 s"));
    assert!(
        played.sessions[3]
            .ending
            .as_deref()
            .unwrap()
            .contains("the budget is spent")
    );
}

#[test]
fn a_record_of_a_session_that_is_not_there_stands_alone() {
    let stray = Record {
        parent_session: "88888888-2222-4333-8444-555555555555".parse().unwrap(),
        child_session: None,
        ..record(State::Running)
    };
    let (_dir, played) = apart(&[stray]);
    let depths: Vec<_> = played.sessions.iter().map(|view| (view.what, view.depth)).collect();
    assert_eq!(depths.len(), 2);
    assert!(depths.contains(&(Kind::Cell, 0)), "{depths:?}");
}
