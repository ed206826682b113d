use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::*;
use crate::base::UnixNanos;
use crate::ledger::testing::running;
use crate::ledger::{End, Ending, RecordName, Store};
use crate::telemetry::Value;
use crate::trace::folders::Home;

const BUDGET: Duration = Duration::from_secs(60);

struct Scene {
    dir: tempfile::TempDir,
    store: Store,
    calls: RefCell<Vec<Vec<Span>>>,
    waits: RefCell<Vec<Duration>>,
}

fn passing(retry_after: Option<u64>) -> Result<Sent, Failure> {
    Err(Failure::Passing {
        what: "down".into(),
        retry_after: retry_after.map(Duration::from_secs),
    })
}

fn lasting() -> Result<Sent, Failure> {
    Err(Failure::Lasting { what: "no".into() })
}

const GOOD: Result<Sent, Failure> = Ok(Sent { warning: None });

impl Scene {
    fn new(cells: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("cells")).unwrap();
        for n in 0..cells {
            let mut record = running(&format!("toolu_{n:04}"), "s");
            record.started_unix_nano = UnixNanos::from_nanos(n as u64 + 1);
            record.state = State::Ended(Box::new(End::bare(Ending::Completed, UnixNanos::from_nanos(9))));
            store.claim(&record).unwrap();
        }
        Self {
            dir,
            store,
            calls: RefCell::default(),
            waits: RefCell::default(),
        }
    }

    fn cells(&self) -> PathBuf {
        self.dir.path().join("cells")
    }

    fn emit_within(&self, budget: Duration, ours: Option<TraceContext>, outcomes: &[Result<Sent, Failure>]) -> Tally {
        let folders = [Folder {
            cells: self.cells(),
            home: Home::Here,
        }];
        let order = Order {
            folders: &folders,
            ours,
            content: None,
            budget,
            timeout: Duration::from_secs(10),
        };
        let send = |spans: &[Span], _: Duration| {
            let mut calls = self.calls.borrow_mut();
            calls.push(spans.to_vec());
            outcomes.get(calls.len() - 1).cloned().unwrap_or(GOOD)
        };
        let ways = Ways {
            send: &send,
            wait: &|pause| self.waits.borrow_mut().push(pause),
            is_lost: &|_| true,
        };
        emit(&order, &ways)
    }

    fn emit(&self, outcomes: &[Result<Sent, Failure>]) -> Tally {
        self.emit_within(BUDGET, None, outcomes)
    }

    fn record(&self, n: usize) -> Record {
        let name = RecordName::parse(&format!("toolu_{n:04}")).unwrap();
        self.store.read(&name).unwrap()
    }

    fn marked(&self) -> usize {
        let listing = self.store.list().unwrap();
        let sent = listing
            .records
            .iter()
            .filter(|(_, record)| record.export == ExportState::Sent);
        sent.count()
    }
}

#[test]
fn what_was_sent_is_marked_and_not_sent_again() {
    let scene = Scene::new(3);
    let tally = scene.emit(&[]);
    assert_eq!((tally.sent, tally.is_complete(), scene.marked()), (3, true, 3));
    let tally = scene.emit(&[]);
    assert_eq!((tally.sent, tally.before, scene.calls.borrow().len()), (0, 3, 1));
}

#[test]
fn a_failure_that_passes_is_tried_again_and_one_that_lasts_is_not() {
    for (outcomes, requests, sent, waits) in [
        (&[passing(None), passing(None), GOOD][..], 3, 1, &[200, 400][..]),
        (&[passing(Some(3)), GOOD], 2, 1, &[3000]),
        (&[passing(Some(0)), passing(Some(0)), GOOD], 3, 1, &[200, 400]),
        // More than there is time for: nothing is waited for in vain.
        (&[passing(Some(3600)), GOOD], 1, 0, &[]),
        (&[lasting(), GOOD], 1, 0, &[]),
    ] {
        let scene = Scene::new(1);
        let tally = scene.emit(outcomes);
        assert_eq!(
            (scene.calls.borrow().len(), tally.sent, scene.marked()),
            (requests, sent, sent)
        );
        assert_eq!((tally.waiting, tally.is_complete()), (1 - sent, sent == 1));
        let waited: Vec<_> = scene.waits.borrow().iter().map(Duration::as_millis).collect();
        assert_eq!(waited, waits);
    }
}

#[test]
fn no_request_is_made_without_time() {
    let scene = Scene::new(1);
    let tally = scene.emit_within(Duration::ZERO, None, &[]);
    assert_eq!((scene.calls.borrow().len(), tally.waiting), (0, 1));
}

#[test]
fn five_hundred_cells_go_batch_after_batch_and_none_is_lost() {
    let scene = Scene::new(500);
    let tally = scene.emit(&[]);
    assert_eq!((tally.sent, scene.marked()), (500, 500));
    let calls = scene.calls.borrow();
    assert!(calls.iter().all(|spans| spans.len() <= 50 * 6) && calls.len() == 10);
}

#[test]
fn large_records_go_in_requests_that_a_collector_takes() {
    let scene = Scene::new(6);
    for n in 0..6 {
        let name = RecordName::parse(&format!("toolu_{n:04}")).unwrap();
        let detail = "x".repeat(3 * 1024 * 1024);
        let ending = Ending::Unreadable { detail };
        let end = End::bare(ending, UnixNanos::from_nanos(9));
        let changed = scene.store.change(&name, |record| {
            record.state = State::Ended(Box::new(end));
        });
        changed.unwrap();
    }
    let tally = scene.emit(&[lasting()]);
    assert_eq!((tally.sent, tally.waiting, scene.marked()), (4, 2, 4));
    assert_eq!(scene.calls.borrow().len(), 3);
}

#[test]
fn one_bad_batch_does_not_keep_the_others_and_a_dead_collector_keeps_all() {
    let scene = Scene::new(120);
    let tally = scene.emit(&[GOOD, lasting(), GOOD]);
    assert_eq!((tally.sent, tally.waiting, scene.marked()), (70, 50, 70));
    let scene = Scene::new(120);
    let tally = scene.emit(&[GOOD, passing(Some(3600))]);
    assert_eq!((tally.sent, tally.waiting, scene.marked()), (50, 70, 50));
    assert_eq!(scene.calls.borrow().len(), 2);
    assert_eq!(tally.troubles, ["down"]);
}

#[test]
fn sending_again_sends_the_same() {
    let scene = Scene::new(2);
    let ours: TraceContext = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        .parse()
        .unwrap();
    for ours in [None, Some(ours)] {
        scene.calls.borrow_mut().clear();
        let refused = scene.emit_within(BUDGET, ours, &[lasting()]);
        assert_eq!(refused.waiting, 2);
        let again = scene.emit_within(BUDGET, ours, &[lasting(), lasting()]);
        assert_eq!(again.waiting, 2);
        let calls = scene.calls.borrow();
        assert_eq!(calls[0], calls[1]);
        assert_eq!(
            calls[0][0].trace_id,
            ours.map_or(scene.record(0).trace.unwrap().trace_id, |ours| ours.trace_id)
        );
    }
}

#[test]
fn a_trace_that_is_not_sampled_is_not_sent() {
    let scene = Scene::new(1);
    let ours: TraceContext = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
        .parse()
        .unwrap();
    let tally = scene.emit_within(BUDGET, Some(ours), &[]);
    assert_eq!((tally.unsampled, tally.sent, scene.marked()), (1, 0, 0));
    assert!(scene.calls.borrow().is_empty() && tally.is_complete());
}

#[test]
fn a_record_that_changed_while_it_was_sent_waits() {
    let scene = Scene::new(1);
    let name = RecordName::parse("toolu_0000").unwrap();
    scene
        .store
        .change(&name, |record| record.state = State::Running)
        .unwrap();
    let folders = [Folder::here(scene.cells())];
    let order = Order {
        folders: &folders,
        ours: None,
        content: None,
        budget: BUDGET,
        timeout: BUDGET,
    };
    let end = State::Ended(Box::new(End::bare(Ending::Completed, UnixNanos::from_nanos(9))));
    let send = |spans: &[Span], _: Duration| {
        assert_eq!(spans[0].attribute("error.type"), Some(&Value::from("lost")));
        scene.store.change(&name, |record| record.state = end.clone()).unwrap();
        GOOD
    };
    let ways = Ways {
        send: &send,
        wait: &|_| {},
        is_lost: &|_| true,
    };
    assert_eq!(emit(&order, &ways).sent, 1);
    assert_eq!(scene.record(0).export, ExportState::None);
}

#[test]
fn broken_records_are_told_and_the_others_go() {
    let scene = Scene::new(2);
    std::fs::write(scene.cells().join("toolu_0000.json"), "{").unwrap();
    let tally = scene.emit(&[]);
    assert_eq!((tally.sent, tally.broken, tally.is_complete()), (1, 1, false));
    assert!(tally.troubles[0].contains("toolu_0000.json"));
}

#[test]
fn a_folder_that_is_not_there_is_no_trouble() {
    let folders = [Folder::here(Path::new("/nonexistent/cells").to_owned())];
    let order = Order {
        folders: &folders,
        ours: None,
        content: None,
        budget: BUDGET,
        timeout: BUDGET,
    };
    let ways = Ways {
        send: &|_, _| lasting(),
        wait: &|_| {},
        is_lost: &|_| true,
    };
    assert_eq!(emit(&order, &ways), Tally::default());
}
