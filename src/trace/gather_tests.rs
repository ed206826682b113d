use std::path::Path;

use super::*;
use crate::base::UnixNanos;
use crate::ledger::testing::running;
use crate::ledger::{End, Ending};

fn ended(mut record: Record) -> Record {
    record.state = State::Ended(Box::new(End::bare(Ending::Completed, UnixNanos::from_nanos(9))));
    record
}

fn sent(mut record: Record) -> Record {
    record.export = ExportState::Sent;
    record
}

fn put(dir: &Path, iteration: u32, record: &Record) {
    let cells = dir.join(format!("iteration-{iteration}/output/.subcell/cells"));
    std::fs::create_dir_all(&cells).unwrap();
    Store::open(&cells).unwrap().claim(record).unwrap();
}

fn folders(dir: &Path, home: Home) -> Vec<Folder> {
    let found = super::super::folders::in_dir(dir);
    found.into_iter().map(|folder| Folder { home, ..folder }).collect()
}

#[test]
fn a_record_that_reappears_is_one_cell_of_which_the_best_copy_counts() {
    let record = running("toolu_1", "s");
    for (first, second, standing, best) in [
        (ended(record.clone()), ended(record.clone()), Standing::Waits, 1),
        (record.clone(), ended(record.clone()), Standing::Waits, 1),
        (ended(record.clone()), record.clone(), Standing::Waits, 0),
        (sent(ended(record.clone())), ended(record.clone()), Standing::Sent, 1),
        (ended(record.clone()), sent(ended(record.clone())), Standing::Sent, 1),
        (sent(ended(record.clone())), record.clone(), Standing::Sent, 0),
        (sent(record.clone()), ended(record.clone()), Standing::Waits, 1),
        (sent(record.clone()), record.clone(), Standing::Sent, 1),
    ] {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), 1, &first);
        put(dir.path(), 2, &second);
        let gathered = gather(&folders(dir.path(), Home::Extracted), &|_| false);
        let found: Vec<_> = gathered
            .cells
            .iter()
            .map(|cell| (cell.standing, cell.copies.len(), cell.copies.last().unwrap().folder))
            .collect();
        assert_eq!(found, [(standing, 2, best)], "{:?} {:?}", first.state, second.state);
    }
}

#[test]
fn a_running_cell_is_lost_only_where_its_processes_are_gone() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), 1, &running("toolu_1", "s"));
    for (home, gone, standing) in [
        (Home::Here, false, Standing::Runs),
        (Home::Here, true, Standing::Waits),
        (Home::Extracted, false, Standing::Waits),
    ] {
        let gathered = gather(&folders(dir.path(), home), &|_| gone);
        assert_eq!(gathered.cells[0].standing, standing, "{home:?} {gone}");
    }
}

#[test]
fn a_broken_record_is_told_and_the_others_are_found() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), 1, &ended(running("toolu_1", "s")));
    put(dir.path(), 1, &ended(running("toolu_2", "s")));
    let cells = dir.path().join("iteration-1/output/.subcell/cells");
    std::fs::write(cells.join("toolu_1.json"), "{\"format\": 1, ").unwrap();
    std::fs::write(cells.join("toolu_3.json"), "{\"format\": 99}").unwrap();
    let gathered = gather(&folders(dir.path(), Home::Extracted), &|_| false);
    assert_eq!((gathered.cells.len(), gathered.broken.len()), (1, 2));
    assert!(gathered.broken[0].contains("toolu_1.json"), "{:?}", gathered.broken);
}

#[test]
fn calls_without_a_cell_have_no_span() {
    let dir = tempfile::tempdir().unwrap();
    let mut refused = running("toolu_1", "s");
    refused.state = State::Refused { reason: "no".into() };
    refused.trace = None;
    put(dir.path(), 1, &refused);
    let gathered = gather(&folders(dir.path(), Home::Extracted), &|_| true);
    assert_eq!(gathered.cells[0].standing, Standing::NoCell);
}

#[test]
fn cells_are_in_the_order_of_their_begin() {
    let dir = tempfile::tempdir().unwrap();
    for (name, began) in [("toolu_a", 30), ("toolu_b", 10), ("toolu_c", 20)] {
        let mut record = ended(running(name, "s"));
        record.started_unix_nano = UnixNanos::from_nanos(began);
        put(dir.path(), 1, &record);
    }
    let gathered = gather(&folders(dir.path(), Home::Extracted), &|_| false);
    let names: Vec<_> = gathered.cells.iter().map(|cell| cell.copies[0].name.as_str()).collect();
    assert_eq!(names, ["toolu_b", "toolu_c", "toolu_a"]);
}
