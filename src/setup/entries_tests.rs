use serde_json::json;

use super::*;

fn ours(document: &Value) -> Vec<OurEntry> {
    OurEntry::all(document.as_object().unwrap())
}

fn one(hook: &Value) -> Option<OurEntry> {
    ours(&json!({"hooks": {"PreToolUse": [{"matcher": "Agent|Task", "hooks": [hook]}]}})).pop()
}

/// An entry: its command and arguments, and what is to be read in it.
type Case = (
    &'static str,
    Option<&'static [&'static str]>,
    &'static str,
    Work,
    &'static [&'static str],
);

fn check(form: Form, cases: &[Case]) {
    for (command, args, program, work, flags) in cases {
        let mut hook = json!({"type": "command", "command": command});
        if let Some(args) = args {
            hook["args"] = json!(args);
        }
        let found = one(&hook).unwrap_or_else(|| panic!("{command} is not known"));
        assert_eq!(
            (found.program.as_str(), found.form, found.work, found.flags.join(" ")),
            (*program, form, *work, flags.join(" ")),
            "{command} {args:?}"
        );
    }
}

#[test]
#[rustfmt::skip]
fn our_entries_are_known_without_a_shell() {
    check(Form::Exec, &[
        ("subcell", Some(&["intercept"]), "subcell", Work::Intercept, &[]),
        ("/o/subcell", Some(&["intercept", "--delivery", "echo"]), "/o/subcell", Work::Intercept, &["--delivery", "echo"]),
        ("/o/subcell", Some(&["seal"]), "/o/subcell", Work::Seal, &[]),
        ("subcell", Some(&["guard", "background", "--beside-intercept"]), "subcell", Work::Background, &["--beside-intercept"]),
        ("subcell", Some(&["guard", "bash"]), "subcell", Work::Bash, &[]),
        ("subcell", Some(&["--hook", "subagent-stop-liveness", "--knobs", "/k"]), "subcell", Work::LivenessAlone, &["--knobs", "/k"]),
    ]);
}

#[test]
#[rustfmt::skip]
fn our_entries_are_known_in_a_shell_command() {
    check(Form::Shell, &[
        ("subcell guard liveness --observe", None, "subcell", Work::Liveness, &["--observe"]),
        ("subcell --hook=subagent-stop-liveness", None, "subcell", Work::LivenessAlone, &[]),
        ("\"/a b/subcell\" seal", None, "/a b/subcell", Work::Seal, &[]),
        ("/a\\ b/subcell seal", None, "/a b/subcell", Work::Seal, &[]),
        ("subcell seal 2>&1", None, "subcell", Work::Seal, &["2>&1"]),
    ]);
    check(Form::Wrapped, &[
        ("subcell seal || true", None, "subcell", Work::Seal, &["||", "true"]),
        ("env A=1 subcell intercept", None, "subcell", Work::Intercept, &[]),
        ("/usr/bin/env", Some(&["A=1", "/o/subcell", "intercept"]), "/o/subcell", Work::Intercept, &[]),
    ]);
}

#[test]
fn what_is_not_ours_is_left_alone() {
    for hook in [
        json!({"type": "command", "command": "subcell"}),
        json!({"type": "command", "command": "subcell", "args": []}),
        json!({"type": "command", "command": "subcell replay /x"}),
        json!({"type": "command", "command": "subcell", "args": ["guard"]}),
        json!({"type": "command", "command": "subcell-x intercept"}),
        json!({"type": "command", "command": "/subcell/other intercept"}),
        json!({"type": "command", "command": "echo 'subcell intercept'"}),
        json!({"type": "http", "url": "http://subcell intercept"}),
        json!(7),
    ] {
        assert_eq!(one(&hook), None, "{hook}");
    }
    for document in [
        json!({}),
        json!({"hooks": 7}),
        json!({"hooks": {"Stop": 7}}),
        json!({"hooks": {"Stop": [7, {"hooks": 7}]}}),
    ] {
        assert_eq!(ours(&document), []);
    }
}

#[test]
fn an_entry_is_told_with_its_place_and_its_limits() {
    let found = ours(&json!({"hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]},
            {"matcher": "Agent|Task", "hooks": [
                {"type": "command", "command": "x"},
                {"type": "command", "command": "subcell", "args": ["intercept"], "timeout": 400, "onFailure": "block"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "subcell", "args": ["guard", "liveness"], "timeout": 0.5}]}]}}));
    let told: Vec<_> = found
        .iter()
        .map(|entry| {
            (
                entry.event.as_str(),
                entry.group,
                entry.hook,
                entry.matcher.as_deref(),
                entry.timeout_s,
                entry.blocks,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("PreToolUse", 1, 1, Some("Agent|Task"), Some(400.0), true),
            ("Stop", 0, 0, None, Some(0.5), false),
        ]
    );
    assert_eq!(
        (found[0].takes("Task"), found[0].takes("Bash"), found[1].takes("Bash")),
        (Takes::Yes, Takes::No, Takes::Yes)
    );
}

#[test]
fn options_are_read_in_both_forms() {
    let of = |args: &[&str]| one(&json!({"command": "subcell", "args": args})).unwrap();
    let apart = of(&["intercept", "--delivery", "echo", "--dry-run"]);
    let joined = of(&["intercept", "--delivery=echo"]);
    assert_eq!(
        (apart.option("--delivery"), joined.option("--delivery")),
        (Some("echo"), Some("echo"))
    );
    assert_eq!(
        (
            apart.option("--timeout"),
            of(&["intercept", "--delivery"]).option("--delivery")
        ),
        (None, None)
    );
    assert!(apart.has_flag("--dry-run") && !joined.has_flag("--dry-run"));
    assert!(!apart.runs_once_beside(&joined) && apart.runs_once_beside(&apart.clone()));
}
