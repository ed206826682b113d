//! What the flows of the isolation share: scenes whose `Agent` calls run in cells, and what has to be true of a cell.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use subcell::base::digest::sha256_hex;

use crate::run::Run;
use crate::scene::Scene;

pub(crate) const VERDICT: &str = "VERDICT 4/5 <b>fine</b> & \"quoted\"";

/// A scene with our hook, and an echo that repeats what it is given. Cells are sessions of their own, so a rule for one
/// says `main`; a subagent of the parent's that is asked anything else gets "no rule of the script matches".
pub(crate) fn isolating(version: &'static str) -> Scene {
    echoing(Scene::new(version).isolated())
}

/// A scene whose small subagents repeat what they are given.
pub(crate) fn echoing(scene: Scene) -> Scene {
    let echo = json!({"role": "subagent", "prompt_contains": "\nBEGIN-"});
    scene.rule(echo, json!([{"echo": {}}]))
}

/// The same, whose cells answer `JUDGE` with the verdict and their prompt.
pub(crate) fn judging(version: &'static str) -> Scene {
    isolating(version).rule(
        json!({"role": "main", "prompt_contains": "JUDGE"}),
        json!([{"text": format!("{VERDICT} on {{{{prompt}}}}")}]),
    )
}

/// The one record of a run, with the id of its call.
pub(crate) fn only_record(run: &Run) -> (String, Value) {
    let mut records = run.records();
    let (name, record) = records
        .pop_first()
        .unwrap_or_else(|| panic!("there is no record; {run:?}"));
    assert!(records.is_empty(), "there are more records; {run:?}");
    (name.trim_end_matches(".json").to_owned(), record)
}

/// Fails unless the record is of a cell that completed in a session of its own with this result, which is on disk.
pub(crate) fn assert_completed(run: &Run, record: &Value, result: &str) {
    let end = &record["state"];
    assert_eq!(
        (&end["kind"], &end["ending"]["kind"]),
        (&json!("ended"), &json!("completed")),
        "{run:?}"
    );
    assert_eq!(record["parent_session"], run.parent(), "{run:?}");
    let session = record["child_session"].as_str().unwrap();
    assert_ne!(session, run.parent());
    let requests = run.requests_of(session);
    assert!(!requests.is_empty(), "the cell asked the model nothing; {run:?}");
    assert!(
        !run.transcript(session).is_empty(),
        "the cell has no transcript; {run:?}"
    );
    let bytes = fs::read(
        run.path("state/subcell/cells")
            .join(end["result"]["file"].as_str().unwrap()),
    )
    .unwrap();
    assert_eq!(bytes, result.as_bytes(), "{run:?}");
    assert_eq!(end["result"]["sha256"], sha256_hex(result.as_bytes()), "{run:?}");
}

/// Fails unless every line of `text` stands in the result of the call that the parent was given: 2.1.295 and later
/// indent each line.
pub(crate) fn assert_delivered(run: &Run, call: &str, text: &str) {
    let results = run.tool_results();
    let lines: BTreeSet<&str> = results[call].lines().map(str::trim).collect();
    let missing: Vec<&str> = text.lines().filter(|line| !lines.contains(line.trim())).collect();
    assert!(missing.is_empty(), "{missing:?} did not reach the parent; {run:?}");
}
