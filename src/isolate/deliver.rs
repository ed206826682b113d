//! From an ended cell to the hook's answer: pure.

use std::path::Path;

use super::echo::{self, Mark, Shown};
use super::intercept::AgentCall;
use crate::config::OnFailure;
use crate::ledger::record::{Delivery, DeliveryMode, DeliveryOutcome};
use crate::ledger::{End, Ending};
use crate::protocol::HookReply;

/// What an answer is made from.
#[derive(Debug)]
pub struct Ended<'a> {
    /// The call.
    pub call: &'a AgentCall,
    /// How its cell ended.
    pub end: &'a End,
    /// The answer's bytes, where the cell completed.
    pub answer: Option<&'a [u8]>,
    /// The record's file.
    pub record: Option<&'a Path>,
    /// The result's file.
    pub result: Option<&'a Path>,
    /// The agent that repeats, where the parent has it and may use it.
    pub echo_agent: Option<&'a str>,
    /// What is done with a failed cell.
    pub on_failure: OnFailure,
    /// The mark of an earlier answer to the same call, so that every hook of the call gives the same one.
    pub mark: Option<Mark>,
}

/// The hook's answer, and what the record keeps of it.
#[must_use]
pub fn deliver(ended: &Ended<'_>) -> (HookReply, Delivery) {
    let leaks = leak_note(ended.end);
    let (reply, delivery) = match (&ended.end.ending, ended.answer) {
        (Ending::Completed, Some(answer)) => by_echo(ended, &answer_text(ended, answer)),
        (ending, _) => failed(ended, ending),
    };
    (leaks.map_or(reply.clone(), |note| reply.telling(&note)), delivery)
}

/// The answer as it is shown; a kept worktree is named after it, also where it is cut.
fn answer_text<'a>(ended: &Ended<'a>, answer: &'a [u8]) -> Shown<'a> {
    let mut shown = echo::shown(answer, ended.result);
    if let Some(kept) = ended.end.worktree.as_ref().filter(|worktree| worktree.kept) {
        let branch = kept
            .branch
            .as_deref()
            .map(|branch| format!(", branch {branch}"))
            .unwrap_or_default();
        let note = format!("\n\n[subcell] The worktree was kept: {}{branch}", kept.folder.display());
        shown.text.to_mut().push_str(&note);
    }
    shown
}

fn by_echo(ended: &Ended<'_>, Shown { text, cut }: &Shown<'_>) -> (HookReply, Delivery) {
    let mark = ended.mark.clone().filter(|mark| !text.contains(mark.as_str()));
    let mark = mark.unwrap_or_else(|| Mark::absent_from(text));
    let echo = echo::echo(ended.call, text, &mark, ended.echo_agent);
    let delivery = Delivery {
        mode: DeliveryMode::Echo,
        outcome: DeliveryOutcome::None,
        agent: Some(echo.agent),
        cut: *cut,
        mark: Some(mark.as_str().to_owned()),
        rewrite_sha256: Some(echo.prompt_sha256),
    };
    (
        HookReply::Rewrite {
            input: echo.input,
            message: None,
        },
        delivery,
    )
}

fn failed(ended: &Ended<'_>, ending: &Ending) -> (HookReply, Delivery) {
    let (word, cause) = if ending.is_success() {
        // The cell did its part; what it gave cannot be had any more.
        (
            "result_missing",
            "its result could not be stored, or is not the one that was".to_owned(),
        )
    } else {
        (ending.word(), ending.cause())
    };
    let text = echo::failure_text(word, &cause, ended.record);
    match ended.on_failure {
        OnFailure::Report => {
            let text = text.into();
            by_echo(ended, &Shown { text, cut: false })
        }
        OnFailure::Deny => {
            let delivery = Delivery {
                mode: DeliveryMode::Deny,
                ..Delivery::none()
            };
            (
                HookReply::Deny {
                    reason: text,
                    message: None,
                },
                delivery,
            )
        }
        OnFailure::Builtin => {
            let message = format!(
                "subcell: the cell failed ({}: {}); the built-in subagent runs in the parent's process instead",
                ending.word(),
                ending.cause()
            );
            (HookReply::Note { message }, Delivery::none())
        }
    }
}

fn leak_note(end: &End) -> Option<String> {
    (end.leaked_count > 0).then(|| {
        format!(
            "subcell: the cell had left {} process(es) running ({}); they were ended",
            end.leaked_count,
            end.leaked_names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::base::UnixNanos;
    use crate::isolate::intercept::Isolation;
    use crate::ledger::record::Worktree;
    use crate::protocol::PermissionMode;

    fn call() -> AgentCall {
        AgentCall {
            tool_use_id: "toolu_1".parse().unwrap(),
            description: "d".into(),
            prompt: "p".into(),
            agent_type: "judge".parse().unwrap(),
            model: None,
            effort: None,
            isolation: Isolation::None,
            input: Map::from_iter([("prompt".to_owned(), json!("p"))]),
            depth: 1,
            permission_mode: PermissionMode::Default,
        }
    }

    fn end(ending: Ending) -> End {
        End::bare(ending, UnixNanos::from_nanos(1))
    }

    fn answer(end: &End, answer: Option<&[u8]>, on_failure: OnFailure) -> (HookReply, Delivery) {
        let (call, record) = (call(), Path::new("/r.json"));
        deliver(&Ended {
            call: &call,
            end,
            answer,
            record: Some(record),
            result: None,
            echo_agent: Some("echo-through"),
            on_failure,
            mark: None,
        })
    }

    fn prompt(reply: &HookReply) -> &str {
        let HookReply::Rewrite { input, .. } = reply else {
            panic!("{reply:?}")
        };
        input["prompt"].as_str().unwrap()
    }

    #[test]
    fn a_success_is_handed_on_and_a_failure_never_reads_as_one() {
        let (reply, delivery) = answer(&end(Ending::Completed), Some(b"VERDICT 4/5"), OnFailure::Report);
        assert!(prompt(&reply).contains("\nVERDICT 4/5\nEND-"));
        assert_eq!((delivery.mode, delivery.cut), (DeliveryMode::Echo, false));

        // A failed child's own text is no answer, whatever it says.
        let timed_out = end(Ending::TimedOut { limit_ms: 300_000 });
        let (reply, _) = answer(&timed_out, Some(b"VERDICT 5/5"), OnFailure::Report);
        assert!(prompt(&reply).contains(&format!("\n{}\n", echo::FAILURE_LINE)));
        assert!(!prompt(&reply).contains("VERDICT"));

        // A completed cell whose answer is not there is not handed on as an empty one.
        let (reply, _) = answer(&end(Ending::Completed), None, OnFailure::Report);
        assert!(prompt(&reply).contains(echo::FAILURE_LINE));
    }

    #[test]
    fn a_failure_is_delivered_as_the_policy_says() {
        let lost = end(Ending::Lost);
        let (reply, delivery) = answer(&lost, None, OnFailure::Deny);
        let HookReply::Deny { reason, .. } = reply else {
            panic!()
        };
        assert!(reason.starts_with(echo::FAILURE_LINE) && reason.contains("/r.json"));
        assert_eq!(delivery.mode, DeliveryMode::Deny);
        let (reply, delivery) = answer(&lost, None, OnFailure::Builtin);
        assert!(matches!(reply, HookReply::Note { message } if message.contains("built-in subagent runs")));
        assert_eq!(delivery, Delivery::none());
    }

    #[test]
    fn a_kept_worktree_is_named_also_where_the_result_is_cut() {
        let mut completed = end(Ending::Completed);
        completed.worktree = Some(Worktree {
            folder: "/w/t".into(),
            branch: None,
            kept: true,
        });
        let long = vec![b'x'; echo::WHOLE_LIMIT + 1];
        let (reply, delivery) = answer(&completed, Some(&long), OnFailure::Report);
        assert!(
            delivery.cut
                && prompt(&reply).contains("could not be stored]\n\n[subcell] The worktree was kept: /w/t\nEND-")
        );
    }

    #[test]
    fn a_kept_worktree_and_a_leak_are_named() {
        let mut completed = end(Ending::Completed);
        completed.worktree = Some(Worktree {
            folder: "/w/t".into(),
            branch: Some("worktree-x".into()),
            kept: true,
        });
        completed.leaked_count = 1;
        completed.leaked_names = vec!["sleep".into()];
        let (reply, _) = answer(&completed, Some(b"done"), OnFailure::Report);
        assert!(prompt(&reply).contains("done\n\n[subcell] The worktree was kept: /w/t, branch worktree-x\nEND-"));
        assert!(matches!(reply, HookReply::Rewrite { message: Some(message), .. } if message.contains("(sleep)")));
    }
}
