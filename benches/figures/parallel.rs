//! Thirty hooks at once on two processors: every record, and the right total.

use std::time::Instant;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use serde_json::Value;

use crate::scene::{handed_back, home, hook};
use crate::table::Row;

const HOOKS: usize = 30;
/// What the stand-in child says that it cost, in US dollars.
const COST: f64 = 0.0125;

/// The row of the parallel hooks.
pub(crate) fn measure() -> Vec<Row> {
    two_processors();
    let began = Instant::now();
    let running: Vec<_> = (0..HOOKS)
        .map(|n| hook(&format!("toolu_{n}"), "").spawn().unwrap())
        .collect();
    for running in running {
        handed_back(&running.wait_with_output().unwrap());
    }
    let wall = began.elapsed();
    let cells = std::fs::read_dir(home().join("output/.subcell/cells")).unwrap();
    let ended = cells
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            path.extension().is_some_and(|ending| ending == "json").then_some(path)
        })
        .filter(|path| {
            let record: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            record.pointer("/state/ending/kind").and_then(Value::as_str) == Some("completed")
        })
        .count();
    let costs = std::fs::read(home().join("output/.spawned-cost.json")).unwrap();
    let costs: Value = serde_json::from_slice(&costs).unwrap();
    let total = costs.get("total_cost_usd").and_then(Value::as_f64).unwrap_or(f64::NAN);
    let right = f64::from(u32::try_from(HOOKS).unwrap()) * COST;
    let measured = format!("{ended} completed records, total ${total:.4}, {} ms", wall.as_millis());
    vec![
        Row::told(format!("{HOOKS} hooks at once on 2 processors"), measured).held_to(
            format!("{HOOKS} records, total ${right:.4}"),
            ended == HOOKS && (total - right).abs() < 1e-9,
        ),
    ]
}

/// Leaves this process, and what it starts, two of its processors.
fn two_processors() {
    let this = Pid::from_raw(0);
    let allowed = sched_getaffinity(this).unwrap();
    let mut two = CpuSet::new();
    let first_two = (0..CpuSet::count()).filter(|n| allowed.is_set(*n).unwrap()).take(2);
    for processor in first_two {
        two.set(processor).unwrap();
    }
    sched_setaffinity(this, &two).unwrap();
}
