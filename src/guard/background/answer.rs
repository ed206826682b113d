//! From a payload to an answer.

use super::call::Call;
use super::decide::{Decision, decide};
use super::policy::Told;
use super::reason;
use crate::guard::Answer;
use crate::protocol::HookReply;

/// Answers a `PreToolUse` payload. `policy` is asked only for calls that it decides.
#[must_use]
pub fn answer(payload: &[u8], policy: impl FnOnce() -> Told) -> Answer {
    let payload = String::from_utf8_lossy(payload);
    let call = match Call::read(&payload) {
        Ok(Some(call)) => call,
        Ok(None) => return Answer::silent(),
        Err(error) => {
            return Answer::aside(&format!(
                "subcell guard background: the payload on stdin is no JSON object, so nothing was decided: {error}"
            ));
        }
    };
    let mut problem = None;
    let decision = decide(&call, || {
        let told = policy();
        problem = told.problem;
        (told.policy, told.flag)
    });
    let reply = reply(decision, &call);
    Answer::reply(&match problem {
        Some(problem) => reply.telling(&format!(
            "subcell guard background denies, since its configuration cannot be used: {problem}"
        )),
        None => reply,
    })
}

/// The answer after a panic: what was not checked is not let through.
#[must_use]
pub fn defect() -> Answer {
    Answer::reply(&denial(reason::DEFECT.to_owned()))
}

fn reply(decision: Decision, call: &Call<'_>) -> HookReply {
    match decision {
        Decision::Pass => HookReply::Silent,
        Decision::DenyRemote => denial(reason::REMOTE.to_owned()),
        Decision::DenyForced => denial(reason::FORCED.to_owned()),
        Decision::DenyBackground => denial(reason::BACKGROUND.to_owned()),
        Decision::Rewrite => call.in_foreground().map_or_else(
            || denial(format!("{}\n\n{}", reason::BACKGROUND, reason::NOT_REWRITTEN)),
            |input| HookReply::Rewrite { input, message: None },
        ),
    }
}

const fn denial(reason: String) -> HookReply {
    HookReply::Deny { reason, message: None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::decide::{Flag, Policy};
    use super::*;
    use crate::exit::Exit;

    fn answered(payload: &str, policy: Policy) -> Value {
        let answer = answer(payload.as_bytes(), || Told {
            policy,
            problem: None,
            flag: Flag::Counts,
        });
        assert_eq!((answer.exit, answer.stderr.as_str()), (Exit::Done, ""));
        if answer.stdout.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(&answer.stdout).unwrap()
        }
    }

    #[test]
    fn a_denial_says_why_and_what_to_do_in_the_events_own_field() {
        for (input, says) in [
            ("{}", "\"run_in_background\": false"),
            (r#"{"isolation":"remote"}"#, "without `isolation`"),
        ] {
            let reply = answered(
                &format!(r#"{{"tool_name":"Agent","tool_input":{input}}}"#),
                Policy::Deny,
            );
            let decision = &reply["hookSpecificOutput"];
            assert_eq!(decision["hookEventName"], "PreToolUse");
            assert_eq!(decision["permissionDecision"], "deny");
            let reason = decision["permissionDecisionReason"].as_str().unwrap();
            assert!(
                reason.contains(says) && reason.contains("Why:") && reason.contains("takes long"),
                "{reason}"
            );
        }
    }

    #[test]
    fn a_rewrite_hands_the_whole_input_back_and_decides_nothing_else() {
        let input = json!({"description": "d", "prompt": "p \u{2028} \"x\"", "subagent_type": "Explore", "model": "opus",
            "run_in_background": true, "isolation": "worktree", "n": 1.50, "big": 12_345_678_901_234_567_890_u64});
        let reply = answered(
            &json!({"tool_name": "Task", "tool_input": input}).to_string(),
            Policy::Rewrite,
        );
        let mut expected = input;
        expected["run_in_background"] = json!(false);
        let specific = json!({"hookEventName": "PreToolUse", "updatedInput": expected});
        assert_eq!(reply, json!({"hookSpecificOutput": specific}));
    }

    #[test]
    fn an_input_that_cannot_be_handed_back_is_denied() {
        for input in [r#"{"prompt":"\ud800"}"#, r#""text""#, "null"] {
            let reply = answered(
                &format!(r#"{{"tool_name":"Agent","tool_input":{input}}}"#),
                Policy::Rewrite,
            );
            assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "{input}");
        }
    }

    #[test]
    fn malformed_input_is_a_line_on_stderr_and_nothing_else() {
        for payload in [
            &b""[..],
            b"  ",
            b"nonsense",
            b"[]",
            b"{\"tool_name\":",
            b"\xff\xfe",
            b"\"Agent\"",
        ] {
            let answer = answer(payload, || panic!("asked"));
            assert_eq!((answer.exit, answer.stdout.as_str()), (Exit::Done, ""));
            assert_eq!(answer.stderr.lines().count(), 1, "{answer:?}");
        }
    }

    #[test]
    fn a_configuration_problem_is_told_beside_the_denial() {
        let told = Told {
            policy: Policy::Deny,
            problem: Some("subcell.toml:3: wrong".to_owned()),
            flag: Flag::Counts,
        };
        let answer = answer(br#"{"tool_name":"Agent"}"#, || told);
        let reply: Value = serde_json::from_str(&answer.stdout).unwrap();
        assert!(
            reply["systemMessage"]
                .as_str()
                .unwrap()
                .contains("subcell.toml:3: wrong")
        );
        assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny");
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_exit_0_and_json_or_nothing(payload in proptest::collection::vec(any::<u8>(), 0..300)) {
            let answer = answer(&payload, || Told { policy: Policy::Deny, problem: None, flag: Flag::Counts });
            prop_assert_eq!(answer.exit, Exit::Done);
            prop_assert!(answer.stdout.is_empty() || serde_json::from_str::<Value>(&answer.stdout).is_ok());
        }

        #[test]
        fn no_flag_but_false_ever_passes(flag in "\\PC{0,12}", key in "[a-z_]{0,20}") {
            let payload = json!({"tool_name": "Agent", "tool_input": {key: 1, "run_in_background": flag}}).to_string();
            let answer = answer(payload.as_bytes(), || Told { policy: Policy::Deny, problem: None, flag: Flag::Counts });
            prop_assert!(answer.stdout.contains("\"deny\""));
        }
    }
}
