use serde_json::{Value, json};

use super::Decision::{DenyBackground, DenyForced, DenyRemote, Pass, Rewrite};
use super::*;

fn decided(tool: &str, input: &Value, policy: Policy) -> Option<Decision> {
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input}).to_string();
    let call = Call::read(&payload).unwrap();
    call.map(|call| decide(&call, || (policy, Flag::Counts)))
}

/// `tool_input` and what becomes of it under each policy: deny, rewrite, beside-intercept.
fn table() -> Vec<(Value, [Decision; 3])> {
    let background = [DenyBackground, Rewrite, Pass];
    let remote = [DenyRemote; 3];
    let flag = |value: Value| json!({"description": "d", "prompt": "p", "run_in_background": value});
    let isolated = |flag: Value, isolation: Value| json!({"run_in_background": flag, "isolation": isolation});
    vec![
        (flag(json!(false)), [Pass; 3]),
        (flag(json!(true)), background),
        (flag(Value::Null), background),
        (flag(json!("false")), background),
        (flag(json!("true")), background),
        (flag(json!("False")), background),
        (flag(json!("")), background),
        (flag(json!(" false ")), background),
        (flag(json!("no")), background),
        (flag(json!(0)), background),
        (flag(json!(-0.0)), background),
        (flag(json!(1)), background),
        (flag(json!(1e300)), background),
        (flag(json!({})), background),
        (flag(json!({"run_in_background": false})), background),
        (flag(json!([])), background),
        (flag(json!([false])), background),
        (json!({"prompt": "p"}), background),
        (json!({"Run_In_Background": false}), background),
        (json!({"run_in_background ": false}), background),
        (json!({"prompt": "\"run_in_background\": false"}), background),
        (json!({"nested": {"run_in_background": false}}), background),
        (json!({}), background),
        (json!(null), background),
        (json!("run_in_background: false"), background),
        (json!([{"run_in_background": false}]), background),
        (json!(false), background),
        (isolated(json!(false), json!("remote")), remote),
        (isolated(json!(true), json!("remote")), remote),
        (json!({"isolation": "remote"}), remote),
        (isolated(json!("false"), json!("remote")), remote),
        (isolated(json!(false), json!("worktree")), [Pass; 3]),
        (isolated(json!(true), json!("worktree")), background),
        (isolated(json!(false), json!(null)), [Pass; 3]),
        (isolated(json!(false), json!("Remote")), [Pass; 3]),
        (isolated(json!(false), json!("")), [Pass; 3]),
        (isolated(json!(false), json!(["remote"])), [Pass; 3]),
        (isolated(json!(false), json!({"remote": true})), [Pass; 3]),
        (isolated(json!(false), json!(true)), [Pass; 3]),
        (json!({"run_in_background": false, "subagent_type": "fork"}), [Pass; 3]),
        (json!({"run_in_background": true, "subagent_type": "fork"}), background),
    ]
}

#[test]
fn every_input_is_decided_as_the_contract_says() {
    for (input, expected) in table() {
        for (policy, expected) in [Policy::Deny, Policy::Rewrite, Policy::BesideIntercept]
            .into_iter()
            .zip(expected)
        {
            for tool in ["Agent", "Task"] {
                assert_eq!(
                    decided(tool, &input, policy),
                    Some(expected),
                    "{tool} {input} {policy:?}"
                );
            }
        }
    }
}

#[test]
fn where_the_client_drops_the_flag_nothing_is_rewritten() {
    let payload = r#"{"tool_name":"Agent","tool_input":{"prompt":"p"}}"#;
    let call = Call::read(payload).unwrap().unwrap();
    for (policy, expected) in [
        (Policy::Deny, DenyForced),
        (Policy::Rewrite, DenyForced),
        (Policy::BesideIntercept, Pass),
    ] {
        assert_eq!(decide(&call, || (policy, Flag::IsDropped)), expected, "{policy:?}");
    }
}

#[test]
fn other_tools_pass() {
    for tool in [
        "Bash",
        "agent",
        "AGENT",
        "Agent ",
        "TaskOutput",
        "TaskCreate",
        "mcp__x__Agent",
        "",
    ] {
        assert_eq!(
            decided(tool, &json!({"run_in_background": true}), Policy::Deny),
            None,
            "{tool}"
        );
    }
    for payload in [
        "{}",
        r#"{"tool_name":null}"#,
        r#"{"tool_name":["Agent"]}"#,
        r#"{"tool_name":7}"#,
    ] {
        assert!(Call::read(payload).unwrap().is_none(), "{payload}");
    }
}

#[test]
fn what_stands_twice_counts_as_it_stands_last() {
    for (input, expected) in [
        (r#"{"run_in_background":true,"run_in_background":false}"#, Pass),
        (
            r#"{"run_in_background":false,"run_in_background":true}"#,
            DenyBackground,
        ),
        (
            r#"{"run_in_background":false,"isolation":"remote","isolation":"worktree"}"#,
            Pass,
        ),
    ] {
        let payload = format!(r#"{{"tool_name":"Bash","tool_name":"Agent","tool_input":{input}}}"#);
        let call = Call::read(&payload).unwrap().unwrap();
        assert_eq!(decide(&call, || (Policy::Deny, Flag::Counts)), expected, "{input}");
    }
}

#[test]
fn a_prompt_that_no_strict_parser_takes_does_not_open_the_guard() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for prompt in [r#""\ud800""#, r#""\udead\u0000""#, &deep] {
        for (flag, expected) in [("true", DenyBackground), ("false", Pass)] {
            let payload =
                format!(r#"{{"tool_name":"Agent","tool_input":{{"prompt":{prompt},"run_in_background":{flag}}}}}"#);
            let call = Call::read(&payload).unwrap().unwrap();
            assert_eq!(decide(&call, || (Policy::Deny, Flag::Counts)), expected);
        }
    }
}

#[test]
fn the_policy_is_not_asked_where_it_does_not_matter() {
    for input in [r#"{"run_in_background":false}"#, r#"{"isolation":"remote"}"#] {
        let payload = format!(r#"{{"tool_name":"Agent","tool_input":{input}}}"#);
        let call = Call::read(&payload).unwrap().unwrap();
        decide(&call, || panic!("asked"));
    }
}
