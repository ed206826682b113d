//! How cells end that do not simply complete, with a real parent and a real child.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::cells::{VERDICT, assert_completed, assert_delivered, isolating, only_record};
use crate::run::{Exit, Run};
use crate::scene::{Scene, call};
use crate::settings::shipped_hooks_with_timeout;
use crate::{OLDEST, on_both_versions};

on_both_versions!(
    a_failing_child,
    a_child_that_takes_too_long,
    a_child_that_leaves_a_process,
    a_hook_timeout_below_ours,
    a_parent_that_is_terminated,
    a_parent_that_is_killed,
);

/// What every failed cell's text begins with.
const FAILURE: &str = "[subcell] The isolated subagent FAILED: there is no result of this task.";

/// Fails unless the one call failed in this way and the parent was told so, and nothing else.
fn assert_reported(run: &Run, ending: &str) -> Value {
    run.assert_ended_well();
    let (id, record) = only_record(run);
    assert_eq!(record["state"]["ending"]["kind"], ending, "{run:?}");
    assert_delivered(run, &id, FAILURE);
    assert!(
        run.tool_results()[&id].contains(&format!("Cause ({ending})")),
        "{run:?}"
    );
    record
}

fn a_failing_child(version: &'static str) {
    let error = json!({"status": 400, "type": "invalid_request_error", "message": "scripted"});
    let rule = json!({"when": {"role": "main", "prompt_contains": "JUDGE"}, "answer": {"error": error}});
    let run = isolating(version).raw_rule(rule).parent_calls(&[call("JUDGE")]).run();
    let record = assert_reported(&run, "child_error");
    assert_eq!(record["state"]["ending"]["fault"], "is_error", "{run:?}");
}

fn a_child_that_takes_too_long(version: &'static str) {
    let rule = json!({"when": {"role": "main", "prompt_contains": "JUDGE"}, "answer": "hang"});
    let run = isolating(version)
        .raw_rule(rule)
        .parent_calls(&[call("JUDGE")])
        .env("SUBCELL_TIMEOUT_S", "4")
        .deadline(Duration::from_mins(1))
        .run();
    let record = assert_reported(&run, "timed_out");
    assert_eq!(record["state"]["ending"]["limit_ms"], 4000, "{run:?}");
}

fn a_child_that_leaves_a_process(version: &'static str) {
    // In a session of its own, as a daemon is.
    let leave =
        json!({"command": "setsid -f sleep 272 </dev/null >/dev/null 2>&1", "description": "Leave a process"});
    let judge = |done: bool| json!({"role": "main", "prompt_contains": "JUDGE", "has_tool_result": done});
    let run = isolating(version)
        .rule(judge(false), json!([{"tool_use": {"name": "Bash", "input": leave}}]))
        .rule(judge(true), json!([{"text": VERDICT}]))
        .parent_calls(&[call("JUDGE")])
        .run();
    // Nothing is left, which ended_well holds.
    run.assert_ended_well();
    let (id, record) = only_record(&run);
    assert_completed(&run, &record, VERDICT);
    assert_delivered(&run, &id, VERDICT);
    let end = &record["state"];
    assert_eq!(
        (&end["leaked_count"], &end["leaked_names"]),
        (&json!(1), &json!(["sleep"])),
        "{run:?}"
    );
}

/// The client's own timeout ends the hook first: nothing is left running, the record says so, and what the parent gets
/// is no answer of an un-isolated subagent.
fn a_hook_timeout_below_ours(version: &'static str) {
    let hang = json!({"when": {"role": "main", "prompt_contains": "JUDGE"}, "answer": "hang"});
    let echo = json!({"role": "subagent", "prompt_contains": "\nBEGIN-"});
    let run = Scene::new(version)
        .settings(shipped_hooks_with_timeout(3))
        .echo_agent()
        .rule(echo, json!([{"echo": {}}]))
        .raw_rule(hang)
        .parent_calls(&[call("JUDGE")])
        .deadline(Duration::from_mins(1))
        .run();
    let (_, record) = only_record(&run);
    assert_eq!(run.left, [] as [String; 0], "{run:?}");
    if version == OLDEST {
        // It sends SIGKILL at once, to the hook and to everything below it, whatever its session: as a rule nobody is
        // left to end the record, which then reads as lost. It does not know "onFailure" either: the original call runs.
        assert_ne!(record["state"]["ending"]["kind"], "completed", "{run:?}");
    } else {
        assert_eq!(record["state"]["ending"]["kind"], "interrupted", "{run:?}");
        assert!(run.payloads("SubagentStart").is_empty(), "{run:?}");
    }
}

/// The signal that a cell's record says it was ended for, where its parent got `signal` while it ran.
fn ended_for(version: &'static str, signal: Signal) -> i32 {
    let hang = json!({"when": {"role": "main", "prompt_contains": "JUDGE"}, "answer": "hang"});
    let run = isolating(version)
        .raw_rule(hang)
        .parent_calls(&[call("JUDGE")])
        .parent_gets(signal)
        .deadline(Duration::from_mins(1))
        .run();
    assert_ne!(run.exit, Exit::Code(0), "{run:?}");
    assert_eq!(run.left, [] as [String; 0], "{run:?}");
    let (_, record) = only_record(&run);
    let ending = &record["state"]["ending"];
    assert_eq!(ending["kind"], "interrupted", "{run:?}");
    i32::try_from(ending["signal"].as_i64().unwrap()).unwrap()
}

/// 2.1.332 hands it on to its hooks; 2.1.156 ends without a word, and its hook sees that it has gone.
fn a_parent_that_is_terminated(version: &'static str) {
    let expected = if version == OLDEST { Signal::HUP } else { Signal::TERM };
    assert_eq!(ended_for(version, Signal::TERM), expected.as_raw());
}

fn a_parent_that_is_killed(version: &'static str) {
    assert_eq!(ended_for(version, Signal::KILL), Signal::HUP.as_raw());
}
