use serde_json::json;

use super::*;

fn entries(hooks: &[(&str, &[&str])]) -> Vec<OurEntry> {
    let mut document = json!({"hooks": {}});
    for (event, args) in hooks {
        document["hooks"][event] = json!([{"hooks": [{"type": "command", "command": "subcell", "args": args}]}]);
    }
    OurEntry::all(document.as_object().unwrap())
}

fn known() -> Known {
    Known {
        slot_wait_s: 60,
        timeout_s: 300,
        ..Known::default()
    }
}

fn choose(parts: &[Part], delivery: Option<Delivery>) -> Choice {
    Choice {
        parts: parts.iter().copied().collect(),
        delivery,
        fail_open: false,
    }
}

/// Each entry in short: event, words and flags.
fn shown(plan: &Plan) -> Vec<String> {
    let line = |wish: &Wanted| [&[wish.event][..], wish.work.words(), &wish.flags].concat().join(" ");
    plan.wanted.iter().map(line).collect()
}

#[test]
fn delivery_and_seal_fit_one_another() {
    use Delivery::{Auto, Deny, Echo, Receipt};
    let (seal, rival) = (Some("PostToolUse seal"), vec!["redact.py".to_owned()]);
    let none = Vec::new();
    for (asked, configured, rivals, flags, second, agent, notes) in [
        (None, None, &none, " --delivery receipt", seal, true, 0),
        (None, None, &rival, " --delivery echo", None, true, 1),
        (Some(Receipt), None, &rival, " --delivery receipt", seal, true, 1),
        (Some(Echo), Some(Receipt), &none, " --delivery echo", None, true, 0),
        (Some(Auto), None, &rival, " --delivery auto", seal, true, 0),
        (Some(Deny), None, &none, " --delivery deny", None, false, 0),
        (None, Some(Deny), &none, "", None, false, 0),
        (None, Some(Auto), &none, "", seal, true, 0),
    ] {
        let known = Known {
            configured,
            rivals: rivals.clone(),
            ..known()
        };
        let plan = Plan::make(&choose(&[Part::Isolate], asked), &known).unwrap();
        let first = format!("PreToolUse intercept{flags}");
        let expected: Vec<&str> = [Some(first.as_str()), second].into_iter().flatten().collect();
        assert_eq!(shown(&plan), expected, "{asked:?} {configured:?} {rivals:?}");
        assert_eq!(
            (plan.echo_agent, plan.notes.len()),
            (agent, notes),
            "{asked:?} {configured:?} {rivals:?}"
        );
        assert!(
            plan.works.contains(&Work::Seal),
            "a seal of an earlier choice is taken out"
        );
    }
}

#[test]
fn the_background_guard_never_contradicts_intercept() {
    let (alone, beside) = (
        "PreToolUse guard background",
        "PreToolUse guard background --beside-intercept",
    );
    let intercepts = entries(&[("PreToolUse", &["intercept"])]);
    let guards = entries(&[("PreToolUse", &["guard", "background", "--mode", "rewrite"])]);
    let fits = entries(&[("PreToolUse", &["guard", "background", "--beside-intercept"])]);
    for (parts, present, elsewhere, expected) in [
        (&[Part::Background][..], &[][..], false, Some(alone)),
        (&[Part::Background], &intercepts, false, Some(beside)),
        (&[Part::Background], &[], true, Some(beside)),
        (&[Part::Isolate, Part::Background], &[], false, Some(beside)),
        (&[Part::Isolate], &guards, false, Some(beside)),
        (&[Part::Isolate], &fits, false, None),
        (&[Part::Bash], &guards, false, None),
    ] {
        let known = Known {
            present: present.to_vec(),
            isolates_elsewhere: elsewhere,
            ..known()
        };
        let plan = Plan::make(&choose(parts, None), &known).unwrap();
        let guard = shown(&plan).into_iter().find(|line| line.contains("background"));
        assert_eq!(guard.as_deref(), expected, "{parts:?} {present:?} {elsewhere}");
    }
}

#[test]
fn the_liveness_guard_that_was_installed_alone_keeps_its_knobs() {
    let alone = entries(&[("SubagentStop", &["--hook", "subagent-stop-liveness", "--knobs", "/k"])]);
    for (present, expected) in [
        (vec![], vec!["SubagentStop guard liveness", "Stop guard liveness"]),
        (alone, vec!["Stop guard liveness"]),
    ] {
        let plan = Plan::make(&choose(&[Part::Liveness], None), &Known { present, ..known() }).unwrap();
        assert_eq!(shown(&plan), expected);
    }
}

#[test]
fn timeouts_are_longer_than_what_they_bound_and_failures_block() {
    let all = [Part::Isolate, Part::Background, Part::Liveness, Part::Bash];
    let known = Known {
        slot_wait_s: 100,
        timeout_s: 1000,
        ..Known::default()
    };
    let mut choice = choose(&all, None);
    for (fail_open, blocks) in [(false, true), (true, false)] {
        choice.fail_open = fail_open;
        for wish in Plan::make(&choice, &known).unwrap().wanted {
            let least = if wish.work == Work::Intercept { 1101 } else { 20 };
            assert!(wish.timeout_s >= least, "{wish:?}");
            assert_eq!(wish.blocks, blocks && wish.event == "PreToolUse", "{wish:?}");
            let wide = wish
                .matcher
                .is_none_or(|matcher| matcher == "Bash" || matcher == "Agent|Task");
            assert!(wide, "{wish:?}");
        }
    }
}

#[test]
fn an_entry_behind_another_command_is_left_to_its_owner() {
    let document = json!({"hooks": {"PreToolUse": [{"hooks": [{"command": "timeout 9 subcell intercept"}]}]}});
    let known = Known {
        present: OurEntry::all(document.as_object().unwrap()),
        ..known()
    };
    let made = |parts| Plan::make(&choose(parts, None), &known);
    assert!(matches!(made(&[Part::Isolate]), Err(HooksError::Conflict(what)) if what.contains("intercept")));
    assert!(made(&[Part::Bash]).is_ok());
}
