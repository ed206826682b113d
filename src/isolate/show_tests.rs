use super::*;
use crate::base::UnixNanos;
use crate::ledger::Ending;
use crate::ledger::record::{DeliveryMode as Mode, DeliveryOutcome as Outcome};
use crate::ledger::testing::running;

fn ended(store: &Store, session: &str, result: &[u8]) -> RecordName {
    let record = running("toolu_1", session);
    let crate::ledger::Claim::Created(name) = store.claim(&record).unwrap() else {
        panic!()
    };
    let mut end = End::bare(Ending::Completed, UnixNanos::from_nanos(2_500_000_001));
    end.result = Some(store.store_result(&name, result).unwrap());
    store
        .change(&name, |record| {
            record.state = State::Ended(Box::new(end));
            record.delivery.mode = DeliveryMode::Receipt;
            record.delivery.outcome = DeliveryOutcome::Sealed;
        })
        .unwrap();
    name
}

#[test]
fn a_cell_is_found_by_call_and_by_either_session_in_all_folders() {
    let dir = tempfile::tempdir().unwrap();
    let (state, output) = (dir.path().join("s/cells"), dir.path().join("o/.subcell/cells"));
    let stores = [&state, &output].map(|folder| Store::open(folder).unwrap());
    ended(&stores[0], "session-a", b"one");
    ended(&stores[0], "session-b", b"two");
    ended(&stores[1], "session-a", b"three");
    let folders = [state.clone(), output, dir.path().join("absent")];
    let count = |query: &str| find(query, &folders).cells.len();
    assert_eq!(
        ["toolu_1", "toolu_1.session-b", "session-a", "session-c", "", "toolu_"].map(count),
        [3, 1, 2, 0, 0, 0]
    );
    let one = &find("session-b", &folders).cells[0];
    let child = one.record.child_session.clone().unwrap();
    assert_eq!(find(child.as_str(), &folders).cells.len(), 1);
    // A folder that is named may be the state folder or the output folder itself.
    assert_eq!(find("toolu_1", &folders_in(&dir.path().join("s"))).cells.len(), 2);
    assert_eq!(find("toolu_1", &folders_in(&dir.path().join("o"))).cells.len(), 1);
    assert_eq!(find("toolu_1", &folders_in(&state)).cells.len(), 2);
}

#[test]
fn what_cannot_be_read_is_told_beside_what_can() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("cells")).unwrap();
    ended(&store, "session-a", b"one");
    std::fs::write(store.folder().join("toolu_2.json"), "{").unwrap();
    let found = find("toolu_1", &[store.folder().to_owned()]);
    assert_eq!((found.cells.len(), found.troubles.len()), (1, 1));
}

#[test]
fn a_result_cannot_drive_the_terminal_and_a_changed_one_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("cells")).unwrap();
    let name = ended(&store, "session-a", b"\x1b[2Jgone\x07 \xff\nlast");
    let shown = || render(&find("toolu_1", &[store.folder().to_owned()]).cells[0]);
    let text = shown();
    assert!(text.ends_with("\n␛[2Jgone␇ \u{fffd}\nlast\n"), "{text}");
    for line in [
        "call        toolu_1 of session session-a",
        "state       completed",
        "took        2.5 s",
        "cost        unknown, unknown tokens in, unknown out",
        "delivery    receipt; the exact text was put in",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line:?} is not in\n{text}");
    }
    assert!(text.contains("not all UTF-8"));
    std::fs::write(store.result_path(&name), "****").unwrap();
    assert!(shown().contains("4 bytes, CHANGED since"), "{}", shown());
    std::fs::remove_file(store.result_path(&name)).unwrap();
    assert!(shown().contains("cannot be read: there is no such file"), "{}", shown());
}

#[test]
fn every_delivery_reads_as_what_it_is() {
    let delivery = |mode, outcome, cut, rivals: &[&str]| {
        delivery_text(&Delivery {
            mode,
            outcome,
            cut,
            rivals: rivals.iter().map(|rival| (*rival).to_owned()).collect(),
            ..Delivery::none()
        })
    };
    for (shown, expected) in [
        (
            delivery(Mode::None, Outcome::None, false, &[]),
            "nothing was handed back",
        ),
        (
            delivery(Mode::Deny, Outcome::None, true, &[]),
            "reason of a denial; the beginning only",
        ),
        (
            delivery(Mode::Echo, Outcome::None, false, &["redact.py"]),
            "echo; not delivered, or not confirmed by subcell seal; beside redact.py",
        ),
        (
            delivery(Mode::Echo, Outcome::Sealed, true, &[]),
            "echo; the exact text was put in",
        ),
        (
            delivery(Mode::Receipt, Outcome::RewriteLost, false, &[]),
            "receipt; LOST: the call ran with another input than the one handed back",
        ),
    ] {
        assert_eq!(shown, expected);
    }
}
