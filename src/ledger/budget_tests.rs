use super::*;
use crate::base::UnixNanos;
use crate::ledger::record::End;
use crate::ledger::testing::running;

fn usd(dollars: f64) -> Usd {
    Usd::of_cost(dollars).unwrap()
}

/// A record of `session`: `end` is its ending and cost, none while it runs; `limit` its own limit.
fn record(id: &str, session: &str, end: Option<(Ending, Option<f64>)>, limit: Option<f64>) -> Record {
    let mut record = running(id, session);
    record.asked.cost_limit = limit.map(|limit| CostLimit {
        usd: usd(limit),
        of: LimitOf::Cell,
    });
    if let Some((ending, cost)) = end {
        let mut end = End::bare(ending, UnixNanos::from_nanos(2));
        end.cost_usd = cost;
        record.state = State::Ended(Box::new(end));
    }
    record
}

fn standing(records: &[Record]) -> Standing {
    Standing::of(&"s".parse().unwrap(), records.iter())
}

const DONE: Ending = Ending::Completed;

#[test]
fn what_is_not_known_counts_its_own_limit_or_the_dearest() {
    let timed_out = || Ending::TimedOut { limit_ms: 1 };
    let records = [
        record("a", "s", Some((DONE, Some(0.2))), None),
        record("b", "s", Some((DONE, Some(0.3))), Some(9.0)),
        record("c", "s", None, Some(0.5)),
        record("d", "s", None, None),
        record("e", "s", Some((timed_out(), None)), Some(0.7)),
        record("f", "s", Some((Ending::Lost, None)), None),
        // Costs nothing, and is no cell.
        record("g", "s", Some((Ending::NoSlot { waited_ms: 1 }, None)), Some(1.0)),
        record(
            "h",
            "s",
            Some((Ending::CouldNotStart { detail: String::new() }, None)),
            None,
        ),
        // Another session's.
        record("i", "other", Some((DONE, Some(50.0))), None),
        record("j", "other", None, None),
    ];
    let expected = Standing {
        cells: 6,
        spent: usd(0.5),
        open: 4,
        reserved: usd(0.5 + 0.3 + 0.7 + 0.3),
        dearest: usd(0.3),
    };
    assert_eq!(standing(&records), expected);
}

#[test]
fn refused_calls_are_no_cells() {
    let mut refused = record("a", "s", None, Some(1.0));
    refused.state = State::Refused { reason: "no".into() };
    assert_eq!(standing(&[refused]), Standing::default());
}

#[test]
fn cells_of_cells_count_for_the_session_at_the_top() {
    let outer = record("a", "s", None, Some(1.0));
    let inner = outer.child_session.clone().unwrap();
    let nested = record("b", inner.as_str(), Some((DONE, Some(0.25))), None);
    let records = [outer, nested];
    let seen_from = |session: &SessionId| Standing::of(session, records.iter());
    assert_eq!(seen_from(&"s".parse().unwrap()).cells, 2);
    assert_eq!(seen_from(&"s".parse().unwrap()).spent, usd(0.25));
    assert_eq!(seen_from(&inner), seen_from(&"s".parse().unwrap()));
}

#[test]
fn records_that_go_round_in_a_circle_end() {
    let mut a = record("a", "s", None, None);
    let mut b = record("b", "t", None, None);
    a.child_session = Some("t".parse().unwrap());
    b.child_session = Some("s".parse().unwrap());
    assert!(standing(&[a, b]).cells <= 2);
}

/// `standing` by (cells, spent, reserved, dearest).
fn at(cells: u32, spent: f64, reserved: f64, dearest: f64) -> Standing {
    Standing {
        cells,
        spent: usd(spent),
        open: u32::from(reserved > 0.0),
        reserved: usd(reserved),
        dearest: usd(dearest),
    }
}

#[test]
fn a_cell_is_admitted_while_all_that_may_be_spent_fits() {
    let cell = |dollars: f64| {
        Ok(Some(CostLimit {
            usd: usd(dollars),
            of: LimitOf::Cell,
        }))
    };
    let session = |dollars: f64| {
        Ok(Some(CostLimit {
            usd: usd(dollars),
            of: LimitOf::Session,
        }))
    };
    // (session, cell, cells) of the budget, the standing, what is allowed (Err: the word of the limit that is met).
    for (budget, standing, expected) in [
        ((None, None, None), at(99, 99.0, 9.0, 9.0), Ok(None)),
        ((None, Some(0.5), None), at(99, 99.0, 9.0, 9.0), cell(0.5)),
        ((None, None, Some(3)), at(2, 1.0, 0.0, 1.0), Ok(None)),
        ((None, None, Some(3)), at(3, 1.0, 0.0, 1.0), Err("max_cells")),
        ((Some(1.0), Some(0.1), None), at(9, 0.9, 0.0, 0.1), cell(0.1)),
        ((Some(1.0), Some(0.1), None), at(9, 0.0, 0.9, 0.1), cell(0.1)),
        ((Some(1.0), Some(0.1), None), at(10, 0.3, 0.7, 0.1), Err("max_cost_usd")),
        (
            (Some(1.0), Some(0.1), None),
            at(9, 0.900_001, 0.0, 0.1),
            Err("max_cost_usd"),
        ),
        ((Some(1.0), Some(5.0), None), at(0, 0.0, 0.0, 0.0), cell(1.0)),
        ((Some(1.0), None, None), at(0, 0.0, 0.0, 0.0), session(1.0)),
        ((Some(1.0), None, None), at(2, 0.5, 0.25, 0.25), session(0.25)),
        ((Some(1.0), None, None), at(2, 0.5, 0.3, 0.3), Err("max_cost_usd")),
        ((Some(1.0), None, None), at(1, 1.5, 0.0, 1.5), Err("max_cost_usd")),
    ] {
        let (total, one, cells) = budget;
        let found = Budget {
            session: total.map(usd),
            cell: one.map(usd),
            cells,
        }
        .admit(standing);
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{budget:?} {standing:?}"),
            (Err(found), Err(word)) => assert!(found.reason().contains(word), "{}", found.reason()),
            (found, expected) => panic!("{budget:?} {standing:?}: {found:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn the_reason_says_what_was_spent() {
    let reason = Budget {
        session: Some(usd(1.0)),
        cell: Some(usd(0.25)),
        cells: None,
    }
    .admit(at(4, 0.6, 0.25, 0.25))
    .unwrap_err()
    .reason();
    for part in [
        "3 cell(s) of this session have cost $0.60",
        "1 whose cost is not known yet count $0.25",
        "allows $1.00",
        "count $0.25",
    ] {
        assert!(reason.contains(part), "{part} is not in {reason}");
    }
}
