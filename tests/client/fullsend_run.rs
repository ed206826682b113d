//! Whole runs in fullsend's manner, with the real client against the scripted model.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::NEWEST;
use crate::fullsend_stage::Stage;

macro_rules! on_fullsends_versions {
    ($($flow:ident),+ $(,)?) => {
        mod newest { $(#[test] fn $flow() { super::$flow(crate::NEWEST); })+ }
        mod oldest { $(#[test] fn $flow() { super::$flow(crate::OLDEST); })+ }
        mod v2_1_226 { $(#[test] fn $flow() { super::$flow(crate::BETWEEN[0]); })+ }
    };
}
on_fullsends_versions!(
    one_judge,
    a_panel_of_nine_and_a_tenth,
    a_verdict_against_its_schema,
    a_hook_that_is_not_there,
    a_second_iteration,
);

fn verdict() -> Value {
    json!({"scores": [{"criterion": "accuracy", "score": 4, "reason": "sk-true"}], "unread": [], "change": "add a figure"})
}

fn judge(prompt: &str) -> Value {
    json!({"description": "judge", "prompt": format!("JUDGE {prompt}"), "subagent_type": "judge", "run_in_background": false})
}

fn one_judge(version: &'static str) {
    let run = Stage::new(version, "judge-parent")
        .judging(&verdict())
        .parent(&[judge("one")])
        .run();
    run.assert_complete();
    let records = run.of_kind("completed");
    assert_eq!((records.len(), run.records().len()), (1, 1));
    // Parent, cell and echo.
    assert_eq!(run.transcripts(), 3);
    assert!(
        run.output("evaluation.md").contains("add a figure"),
        "{}",
        run.output("evaluation.md")
    );
    assert!(!run.output("topic.md").is_empty() && !run.output("summary.md").is_empty());
    assert_eq!(records[0]["asked"]["cost_limit"], json!({"usd": 0.5, "of": "cell"}));
    // fullsend's hooks ran in the parent and in the cell.
    let ran = fs::read_to_string(run.home.path().join("box/sandbox/workspace/.security/ran")).unwrap();
    let clients: BTreeSet<&str> = ran.lines().collect();
    assert!(clients.len() >= 2, "{ran}");
}

/// Three models, background asked for, an Explore agent among them; the budget is for nine.
fn a_panel_of_nine_and_a_tenth(version: &'static str) {
    let mut calls: Vec<Value> = (0..9)
        .map(|n| {
            let mut call = judge(&format!("{n}"));
            call["model"] = ["haiku", "sonnet", "opus"][n % 3].into();
            call["run_in_background"] = (n % 2 == 0).into();
            call
        })
        .collect();
    calls[4]["subagent_type"] = "Explore".into();
    calls.push(judge("the tenth"));
    let run = Stage::new(version, "judge-panel")
        .judging(&verdict())
        .parent(&calls)
        .run();
    run.assert_complete();
    assert_eq!(
        (run.of_kind("completed").len(), run.of_kind("refused").len()),
        (9, 1),
        "{:#?}",
        run.records()
    );
    let reason = run.of_kind("refused")[0]["state"]["reason"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(reason.contains("max_cells allows 9"), "{reason}");
    assert!(
        run.output("evaluation.md").contains("max_cells allows 9"),
        "{}",
        run.output("evaluation.md")
    );
    // The parent, nine cells, nine echoes.
    assert_eq!(run.transcripts(), 19);
    for family in ["haiku", "sonnet", "opus"] {
        let of_family = run
            .of_kind("completed")
            .into_iter()
            .filter(|record| record["state"]["model_used"].as_str().unwrap().contains(family));
        assert!(of_family.count() >= 2, "{family}");
    }
}

/// A judge that never meets its schema, and one that meets it with a score outside of it.
fn a_verdict_against_its_schema(version: &'static str) {
    let wrong = json!({"scores": [{"criterion": "accuracy", "score": 11, "reason": "more than all"}], "unread": [], "change": "none"});
    let run = Stage::new(version, "judge-parent")
        .judging(&wrong)
        .parent(&[judge("one")])
        .run();
    let records = run.records();
    assert_eq!(records.len(), 1);
    assert_ne!(records[0]["state"]["ending"]["kind"], "completed", "{records:#?}");
    assert!(!run.validation.status.success());
    assert!(
        run.told().contains("holds a failed cell, not a judgement"),
        "{}",
        run.told()
    );
    assert!(run.told().contains("nothing ran in isolation"), "{}", run.told());
}

/// A run bit that `expand` took: 2.1.332 blocks the call, older clients run it un-isolated, and both are told.
fn a_hook_that_is_not_there(version: &'static str) {
    let stage = Stage::new(version, "judge-parent");
    let harness = stage.path("fullsend/harness/judge-parent.yaml");
    let text = fs::read_to_string(&harness).unwrap();
    let dest = "dest: /sandbox/workspace/bin/subcell";
    fs::write(&harness, text.replacen(dest, &format!("{dest}\n    expand: true"), 1)).unwrap();
    let run = stage
        .rule(
            json!({"role": "subagent", "prompt_contains": "JUDGE"}),
            json!([{"text": "UNISOLATED"}]),
        )
        .judging(&verdict())
        .parent(&[judge("one")])
        .run();
    assert!(run.records().is_empty());
    assert!(run.told().contains("nothing ran in isolation"), "{}", run.told());
    assert_eq!(
        run.output("evaluation.md").contains("UNISOLATED"),
        version != NEWEST,
        "{}",
        run.output("evaluation.md")
    );
}

/// The records of the first iteration are still there in the second, each once.
fn a_second_iteration(version: &'static str) {
    let mut stage = Stage::new(version, "judge-parent");
    stage.iterations = 2;
    let run = stage.judging(&verdict()).parent(&[judge("one")]).run();
    run.assert_complete();
    let sessions: std::collections::BTreeSet<String> = run
        .records()
        .iter()
        .map(|record| record["child_session"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((run.records().len(), sessions.len()), (2, 2));
    assert!(!run.requests.is_empty());
}
