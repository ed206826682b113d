//! What cells may cost: checked and reserved before one starts, whoever asks at the same time.

use serde_json::{Value, json};

use crate::hook::{Run, Scene};

/// Each cell of the stand-in costs 0.0125.
const COST: f64 = 0.0125;

fn run_as(scene: &Scene, id: &str) -> Run {
    scene.start_as(id).wait()
}

fn count(scene: &Scene, kind: &str) -> usize {
    let records = scene.records();
    records
        .values()
        .filter(|record| record["state"]["kind"] == kind)
        .count()
}

#[test]
fn a_cell_is_told_what_it_may_cost() {
    let limits = ["--max-cell-cost-usd", "0.5", "--max-cost-usd", "2"];
    let shown = Scene::new("").flags(&limits).flags(&["--dry-run"]).dry_run();
    assert!(shown.contains("argument: --max-budget-usd=0.5\n"), "{shown}");
    let scene = Scene::new("").flags(&limits);
    scene.run().updated();
    assert_eq!(scene.record()["asked"]["cost_limit"], json!({"usd": 0.5, "of": "cell"}));
    let left = Scene::new("").flags(&["--max-cost-usd", "2"]);
    left.run().updated();
    assert_eq!(
        left.record()["asked"]["cost_limit"],
        json!({"usd": 2.0, "of": "session"})
    );
    let unlimited = Scene::new("").flags(&["--dry-run"]).dry_run();
    assert!(unlimited.contains("program: ") && !unlimited.contains("--max-budget-usd"));
}

#[test]
fn a_session_that_has_spent_its_budget_is_told_so() {
    let scene = Scene::new("").flags(&["--max-cost-usd", "0.03"]);
    for id in ["toolu_1", "toolu_2"] {
        run_as(&scene, id).updated();
    }
    // 0.005 is left, and a cell has cost 0.0125.
    let run = run_as(&scene, "toolu_3");
    for part in [
        "2 cell(s) of this session have cost $0.025",
        "max_cost_usd allows $0.03",
        "this cell would count $0.0125",
    ] {
        assert!(run.denied().contains(part), "{run:?}");
    }
    assert_eq!(scene.records()["toolu_3"]["state"]["kind"], "refused");
    assert_eq!(scene.records()["toolu_3"]["state"]["reason"], run.denied());
    // A second hook of the same call says the same, and another session has a budget of its own.
    assert_eq!(run_as(&scene, "toolu_3").denied(), run.denied());
    let other = scene.payload("session_id", json!("11111111-2222-4333-8444-555555555555"));
    run_as(&other, "toolu_4").updated();
}

#[test]
fn hooks_at_the_same_time_never_spend_the_same_rest() {
    for flags in [
        &["--max-cells", "9"][..],
        &["--max-cost-usd", "0.1125", "--max-cell-cost-usd", "0.0125"],
    ] {
        let scene = Scene::new("").flags(flags).flags(&["--max-parallel", "16"]);
        let running: Vec<_> = (0..14).map(|n| scene.start_as(&format!("toolu_{n}"))).collect();
        let runs: Vec<Run> = running
            .into_iter()
            .map(crate::hook::Running::wait_beside_others)
            .collect();
        let denied = runs
            .iter()
            .filter(|run| run.decision()["permissionDecision"] == "deny")
            .count();
        assert_eq!(
            (denied, count(&scene, "ended"), count(&scene, "refused")),
            (5, 9, 5),
            "{flags:?}"
        );
        let spent: f64 = scene
            .records()
            .values()
            .filter_map(|record| record["state"]["cost_usd"].as_f64())
            .sum();
        assert!((spent - 9.0 * COST).abs() < 1e-9, "{spent}");
    }
}

#[test]
fn a_budget_that_cannot_be_checked_lets_no_cell_start() {
    let scene = Scene::new("").flags(&["--max-cells", "5"]);
    run_as(&scene, "toolu_1").updated();
    std::fs::write(scene.cells().join("toolu_9.json"), "{\"format\":1").unwrap();
    let run = run_as(&scene, "toolu_2");
    assert!(
        run.denied().contains("cannot be checked") && run.denied().contains("toolu_9.json"),
        "{run:?}"
    );
    // Without a budget nobody asks.
    let free = Scene::new("");
    std::fs::create_dir_all(free.cells()).unwrap();
    std::fs::write(free.cells().join("toolu_9.json"), "{\"format\":1").unwrap();
    run_as(&free, "toolu_2").updated();
}

#[test]
fn a_child_that_its_limit_stopped_has_an_ending_of_its_own() {
    // As 2.1.332 prints it.
    let stopped: Value = json!({"type": "result", "subtype": "error_max_budget_usd", "is_error": true, "num_turns": 2,
        "session_id": "s", "total_cost_usd": 0.6, "errors": ["Reached maximum budget ($0.5)"], "modelUsage": {}});
    for on_failure in ["report", "builtin"] {
        let scene = Scene::new("");
        let file = scene.file("output.json", &stopped.to_string());
        let scene = scene
            .start_env("STANDIN", &format!("prints=file from={} ends=exit:1", file.display()))
            .flags(&["--max-cell-cost-usd", "0.5", "--on-failure", on_failure]);
        let text = scene.run().echoed();
        assert!(
            text.contains("Cause (over_budget): ") && text.contains("max_cell_cost_usd"),
            "{text}"
        );
        let record = scene.record();
        assert_eq!(record["state"]["ending"]["kind"], "over_budget");
        assert_eq!(record["state"]["cost_usd"], 0.6);
    }
}

#[test]
fn a_project_lowers_a_budget_and_does_not_raise_it() {
    for (limit, cells) in [("1", 1), ("9", 2)] {
        let scene = Scene::new("");
        scene.file(".config/subcell/subcell.toml", "[budget]\nmax_cells = 2\n");
        scene.file("project/.subcell.toml", &format!("[budget]\nmax_cells = {limit}\n"));
        for n in 0..3 {
            run_as(&scene, &format!("toolu_{n}"));
        }
        assert_eq!((count(&scene, "ended"), count(&scene, "refused")), (cells, 3 - cells));
    }
}
