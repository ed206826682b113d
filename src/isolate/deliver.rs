//! From an ended cell to the hook's answer: pure.

use std::path::Path;

use super::echo::{self, Mark};
use super::handover::{Handover, Mode};
use super::intercept::AgentCall;
use super::result_text::{self, Shown};
use crate::config::OnFailure;
use crate::ledger::record::{Delivery, DeliveryMode};
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
    /// By which way the text is handed over.
    pub handover: Handover,
    /// What is done with a failed cell.
    pub on_failure: OnFailure,
    /// The mark of an earlier answer to the same call, so that every hook of the call gives the same one.
    pub mark: Option<Mark>,
}

/// What a denial that carries a result begins with: the client shows every denial as an error.
pub const NO_ERROR: &str = "[subcell] No error: this task was done in a process of its own, and its result follows. Do not \
                            repeat the call.\n\n";

/// The hook's answer, and what the record keeps of it.
#[must_use]
pub fn deliver(ended: &Ended<'_>) -> (HookReply, Delivery) {
    let leaks = leak_note(ended.end);
    let succeeded = ended.end.ending.is_success() && ended.answer.is_some();
    let (reply, delivery) = match ended.on_failure {
        OnFailure::Deny if !succeeded => by_denial(ended, ""),
        // A subagent in the parent's process would go on spending what the budget forbids.
        OnFailure::Builtin if !succeeded && !over_budget(&ended.end.ending) => by_the_built_in(&ended.end.ending),
        OnFailure::Report | OnFailure::Deny | OnFailure::Builtin => match ended.handover.mode {
            Mode::Echo => by_echo(ended),
            Mode::Receipt => by_receipt(ended, succeeded),
            Mode::Deny if succeeded => by_denial(ended, NO_ERROR),
            Mode::Deny => by_denial(ended, ""),
        },
    };
    (leaks.map_or(reply.clone(), |note| reply.telling(&note)), delivery)
}

const fn over_budget(ending: &Ending) -> bool {
    matches!(ending, Ending::OverBudget { .. })
}

fn mark(ended: &Ended<'_>, text: &str) -> Mark {
    let earlier = ended.mark.clone().filter(|mark| !text.contains(mark.as_str()));
    earlier.unwrap_or_else(|| Mark::absent_from(text))
}

/// What fits into a prompt or a denial.
fn shortened<'a>(ended: &Ended<'a>) -> Shown<'a> {
    result_text::shortened(ended.end, ended.answer, ended.record, ended.result)
}

fn by_echo(ended: &Ended<'_>) -> (HookReply, Delivery) {
    let Shown { text, cut } = shortened(ended);
    let mark = mark(ended, &text);
    let prompt = echo::echo_prompt(&text, &mark);
    rewritten(ended, (DeliveryMode::Echo, cut), prompt, &mark)
}

/// Without a record `seal` could not find the text, and without a stored result nobody could: then it is echoed.
fn by_receipt(ended: &Ended<'_>, succeeded: bool) -> (HookReply, Delivery) {
    let mark = mark(ended, "");
    let line = match (ended.record, ended.result) {
        (Some(_), Some(result)) if succeeded => echo::receipt_line(result, &mark),
        (Some(record), _) if !succeeded => echo::failure_receipt_line(&ended.end.ending, record, &mark),
        (Some(_) | None, _) => return by_echo(ended),
    };
    let prompt = echo::receipt_prompt(&line, &mark);
    rewritten(ended, (DeliveryMode::Receipt, false), prompt, &mark)
}

fn rewritten(
    ended: &Ended<'_>,
    (mode, cut): (DeliveryMode, bool),
    prompt: String,
    mark: &Mark,
) -> (HookReply, Delivery) {
    let rewrite = echo::rewrite(ended.call, prompt, ended.echo_agent);
    let delivery = Delivery {
        mode,
        agent: Some(rewrite.agent),
        cut,
        mark: Some(mark.as_str().to_owned()),
        rewrite_sha256: Some(rewrite.prompt_sha256),
        rivals: ended.handover.rivals.clone(),
        ..Delivery::none()
    };
    let reply = HookReply::Rewrite {
        input: rewrite.input,
        message: None,
    };
    (reply, delivery)
}

fn by_denial(ended: &Ended<'_>, before: &str) -> (HookReply, Delivery) {
    let Shown { text, cut } = shortened(ended);
    let delivery = Delivery {
        mode: DeliveryMode::Deny,
        cut,
        ..Delivery::none()
    };
    let reply = HookReply::Deny {
        reason: format!("{before}{text}"),
        message: None,
    };
    (reply, delivery)
}

fn by_the_built_in(ending: &Ending) -> (HookReply, Delivery) {
    let message = format!(
        "subcell: the cell failed ({}: {}); the built-in subagent runs in the parent's process instead",
        ending.word(),
        ending.cause()
    );
    (HookReply::Note { message }, Delivery::none())
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

    use super::result_text::FAILURE_LINE;
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
        answer_by(Mode::Echo, end, answer, on_failure)
    }

    fn answer_by(mode: Mode, end: &End, answer: Option<&[u8]>, on_failure: OnFailure) -> (HookReply, Delivery) {
        let (call, record, result) = (call(), Path::new("/r.json"), Path::new("/r.result"));
        deliver(&Ended {
            call: &call,
            end,
            answer,
            record: Some(record),
            result: Some(result),
            echo_agent: Some("echo-through"),
            handover: Handover {
                mode,
                rivals: vec!["redact.py".into()],
            },
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
        assert!(prompt(&reply).contains(&format!("\n{FAILURE_LINE}\n")));
        assert!(!prompt(&reply).contains("VERDICT"));

        // A completed cell whose answer is not there is not handed on as an empty one.
        let (reply, _) = answer(&end(Ending::Completed), None, OnFailure::Report);
        assert!(prompt(&reply).contains(FAILURE_LINE));
    }

    #[test]
    fn a_failure_is_delivered_as_the_policy_says() {
        let lost = end(Ending::Lost);
        let (reply, delivery) = answer(&lost, None, OnFailure::Deny);
        let HookReply::Deny { reason, .. } = reply else {
            panic!()
        };
        assert!(reason.starts_with(FAILURE_LINE) && reason.contains("/r.json"));
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
        let long = vec![b'x'; result_text::WHOLE_LIMIT + 1];
        let (reply, delivery) = answer(&completed, Some(&long), OnFailure::Report);
        assert!(delivery.cut && prompt(&reply).contains("/r.result]\n\n[subcell] The worktree was kept: /w/t\nEND-"));
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

    #[test]
    fn a_receipt_has_the_same_size_for_every_result_and_never_hides_a_failure() {
        let completed = end(Ending::Completed);
        let sizes = [0, 1 << 10, 1 << 20].map(|size| {
            let (reply, delivery) = answer_by(
                Mode::Receipt,
                &completed,
                Some("x".repeat(size).as_bytes()),
                OnFailure::Report,
            );
            assert_eq!((delivery.mode, delivery.cut), (DeliveryMode::Receipt, false));
            assert_eq!(delivery.rivals, ["redact.py"]);
            let prompt = prompt(&reply);
            assert!(prompt.contains("/r.result"));
            assert_eq!(
                delivery.rewrite_sha256,
                Some(crate::base::digest::sha256_hex(prompt.as_bytes()))
            );
            prompt.len()
        });
        assert_eq!(sizes, [sizes[0]; 3]);

        let (reply, _) = answer_by(Mode::Receipt, &end(Ending::Lost), Some(b"VERDICT"), OnFailure::Report);
        assert!(prompt(&reply).contains(&format!("\n{FAILURE_LINE} Cause: lost. Record: /r.json (receipt ")));
    }

    #[test]
    fn what_is_not_stored_is_echoed_in_place_of_a_receipt() {
        let (call, completed) = (call(), end(Ending::Completed));
        let ended = |record, result| Ended {
            call: &call,
            end: &completed,
            answer: Some(b"VERDICT"),
            record,
            result,
            echo_agent: None,
            handover: Handover {
                mode: Mode::Receipt,
                rivals: Vec::new(),
            },
            on_failure: OnFailure::Report,
            mark: None,
        };
        let path = Some(Path::new("/r"));
        for (record, result, mode) in [
            (path, path, DeliveryMode::Receipt),
            (path, None, DeliveryMode::Echo),
            (None, None, DeliveryMode::Echo),
        ] {
            assert_eq!(deliver(&ended(record, result)).1.mode, mode);
        }
    }

    #[test]
    fn a_denial_carries_the_result_and_says_that_it_is_none() {
        let completed = end(Ending::Completed);
        let denied = |answer: &[u8]| {
            let (reply, delivery) = answer_by(Mode::Deny, &completed, Some(answer), OnFailure::Report);
            let HookReply::Deny { reason, .. } = reply else {
                panic!()
            };
            (reason, delivery)
        };
        let (reason, delivery) = denied(b"VERDICT 4/5");
        assert_eq!(reason, format!("{NO_ERROR}VERDICT 4/5"));
        assert_eq!((delivery.mode, delivery.cut), (DeliveryMode::Deny, false));
        let (reason, delivery) = denied("x".repeat(result_text::WHOLE_LIMIT + 1).as_bytes());
        assert!(delivery.cut && reason.len() < 3 * 1024 && reason.contains("/r.result"));
        let (reply, _) = answer_by(Mode::Deny, &end(Ending::Lost), None, OnFailure::Report);
        assert!(matches!(reply, HookReply::Deny { reason, .. } if reason.starts_with(FAILURE_LINE)));
    }
}
