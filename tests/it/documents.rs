//! What README and HOW_TO say about exit codes, files and flags is what the program does.

use std::path::Path;
use std::process::Command;

use subcell::exit::Exit;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

#[test]
fn the_table_of_exit_codes_is_complete() {
    let how_to = text("HOW_TO.md");
    let all = [
        Exit::Done,
        Exit::Negative,
        Exit::Refused,
        Exit::Usage,
        Exit::BadInput,
        Exit::NoInput,
        Exit::Internal,
        Exit::Io,
        Exit::Config,
    ];
    for exit in all {
        let row = format!("| {} | ", exit.code());
        assert_eq!(how_to.matches(&row).count(), 1, "{row:?} in HOW_TO.md");
    }
}

#[test]
fn the_files_that_the_documents_name_are_there() {
    for name in [
        "scripts/demo.sh",
        "scripts/build.sh",
        "scripts/get-client.sh",
        "scripts/validate-output.sh",
        "scripts/figures.sh",
        "scripts/stage-fullsend.sh",
        "agents/judge.md",
        "agents/judge-panel.md",
        "config/verdict.schema.json",
        "scripts/startup-figures.sh",
        "scripts/post-emit-cost",
        "scripts/plugin.sh",
        "config/guard-bash.json",
        "config/guard-background.json",
        "config/guard-liveness.json",
        "agents/echo-through.md",
        "agents/judge-parent.md",
        "config/claude-hooks.json",
        "config/defaults.toml",
        "harness/judge-parent.yaml",
        "tests/fixtures/record.schema.json",
        "tests/fixtures/payloads/pre-tool-use-agent.json",
    ] {
        let named = [text("README.md"), text("HOW_TO.md")]
            .iter()
            .any(|document| document.contains(name));
        assert!(named && root().join(name).is_file(), "{name}");
    }
}

/// An output folder as a run leaves it, whose evaluation is `evaluation`.
fn validated(evaluation: &str) -> (bool, String) {
    let run = tempfile::tempdir().unwrap();
    let cells = run.path().join("output/.subcell/cells");
    std::fs::create_dir_all(&cells).unwrap();
    let record = "{\n  \"state\": {\n    \"kind\": \"ended\",\n    \"ending\": {\n      \"kind\": \"completed\"\n    }\n  }\n}\n";
    std::fs::write(cells.join("toolu_1.json"), record).unwrap();
    let write = |name: &str, text: &str| std::fs::write(run.path().join("output").join(name), text).unwrap();
    write("topic.md", "a topic");
    write("summary.md", "a summary");
    write(".spawned-cost.json", "{}");
    write("evaluation.md", evaluation);
    let output = Command::new(root().join("scripts/validate-output.sh"))
        .current_dir(run.path())
        .env_clear()
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_failed_cell_is_no_evaluation_however_the_client_frames_it() {
    let failed = "[subcell] The isolated subagent FAILED: there is no result of this task.\nCause (timed_out): x";
    let framed = format!(
        "[Subagent hand-back] The text below is the final report.\n\n  {}",
        failed.replace('\n', "\n  ")
    );
    assert_eq!(
        validated("accuracy 4/5"),
        (true, "validate-output: complete, 1 completed cell(s)\n".into())
    );
    for text in [failed, &framed] {
        let (passed, said) = validated(text);
        assert!(!passed && said.contains("holds a failed cell"), "{said}");
    }
    let (passed, said) = validated("");
    assert!(!passed && said.contains("evaluation.md is missing or empty"), "{said}");
}

#[test]
fn every_flag_that_the_documents_name_is_known() {
    let help = Command::new(env!("CARGO_BIN_EXE_subcell"))
        .args(["intercept", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for flag in ["--dry-run", "--require-sandbox", "--timeout", "--config"] {
        assert!(
            text("HOW_TO.md").contains(flag) || text("README.md").contains(flag),
            "{flag} is documented"
        );
        assert!(help.contains(flag), "{flag} is in\n{help}");
    }
}

#[test]
fn the_shipped_hook_entry_fits_the_defaults() {
    let hooks: serde_json::Value = serde_json::from_str(&text("config/claude-hooks.json")).unwrap();
    let entry = &hooks["hooks"]["PreToolUse"][0];
    assert_eq!(entry["matcher"], "Agent|Task");
    let hook = &entry["hooks"][0];
    assert_eq!(hook["onFailure"], "block");
    let intercept = subcell::config::Intercept::default();
    let needed = intercept.slot_wait.value.as_secs() + intercept.timeout.value.as_secs() + 40;
    assert!(
        hook["timeout"].as_u64().unwrap() >= needed,
        "the entry's timeout is below wait + run + 40 s"
    );
}

#[test]
fn a_payload_tried_by_hand_shows_its_child() {
    let home = tempfile::tempdir().unwrap();
    let payload = std::fs::File::open(root().join("tests/fixtures/payloads/pre-tool-use-agent.json")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_subcell"))
        .args(["intercept", "--dry-run", "--claude"])
        .arg(env!("CARGO_BIN_EXE_subcell-standin"))
        .env("HOME", home.path())
        .stdin(payload)
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for line in [
        "argument: --agent=general-purpose",
        "argument: --permission-mode=bypassPermissions",
        "run deadline: 300 s",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line:?} is not in\n{shown}");
    }
}
