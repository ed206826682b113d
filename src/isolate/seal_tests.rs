use super::*;
use crate::base::UnixNanos;
use crate::isolate::result_text::FAILURE_LINE;
use crate::ledger::record::{Delivery, ResultFile};
use crate::ledger::testing::running;
use crate::protocol::HookEvent;

/// Recorded on 2.1.332.
const FOREGROUND: &[u8] = include_bytes!("../../tests/fixtures/payloads/post-tool-use-agent.json");
const BACKGROUND: &[u8] = include_bytes!("../../tests/fixtures/payloads/post-tool-use-agent-background.json");

/// The prompt and the answer of both payloads.
const PROMPT: &str = "EVALUATE-X";
const ANSWER: &str = "JUDGE-VERDICT 4/5 accuracy <b>fine</b>\n  indented & \"quoted\"\nEND-OF-VERDICT";

struct Case {
    tool: ToolUse,
    record: Record,
    stored: Option<Stored>,
}

impl Case {
    /// A call that was rewritten to [`PROMPT`] in this mode, whose cell answered `answer`.
    fn new(mode: DeliveryMode, answer: &[u8]) -> Self {
        let mut record = running("toolu_1", "session-a");
        let mut end = End::bare(Ending::Completed, UnixNanos::from_nanos(2));
        end.result = Some(ResultFile {
            file: "toolu_1.result".into(),
            bytes: answer.len() as u64,
            sha256: sha256_hex(answer),
            utf8: true,
        });
        record.state = State::Ended(Box::new(end));
        record.delivery = Delivery {
            mode,
            rewrite_sha256: Some(sha256_hex(PROMPT.as_bytes())),
            ..Delivery::none()
        };
        Self {
            tool: HookEvent::parse(FOREGROUND).unwrap().tool.unwrap(),
            record,
            stored: Some(Stored::Intact(answer.to_vec())),
        }
    }

    fn payload(mut self, payload: &[u8]) -> Self {
        self.tool = HookEvent::parse(payload).unwrap().tool.unwrap();
        self
    }

    fn prompt(mut self, prompt: Value) -> Self {
        self.tool.input.insert("prompt".into(), prompt);
        self
    }

    fn response(mut self, response: Option<Value>) -> Self {
        self.tool.response = response;
        self
    }

    fn stored(mut self, stored: Option<Stored>) -> Self {
        self.stored = stored;
        self
    }

    fn state(mut self, state: State) -> Self {
        self.record.state = state;
        self
    }

    fn ending(self, ending: Ending) -> Self {
        self.state(State::Ended(Box::new(End::bare(ending, UnixNanos::from_nanos(2)))))
    }

    fn delivery(mut self, change: impl FnOnce(&mut Delivery)) -> Self {
        change(&mut self.record.delivery);
        self
    }

    fn seal(&self) -> Sealed {
        seal(&Sealing {
            tool: &self.tool,
            record: &self.record,
            record_path: Path::new("/cells/toolu_1.json"),
            result_path: Path::new("/cells/toolu_1.result"),
            stored: self.stored.as_ref(),
        })
    }

    /// The text that is put in.
    fn put_in(&self, outcome: DeliveryOutcome) -> String {
        let sealed = self.seal();
        assert_eq!(sealed.outcome, Some(outcome));
        let PostReply::Replace { output, .. } = sealed.reply else {
            panic!("{:?}", sealed.reply)
        };
        assert_eq!(output["content"].as_array().unwrap().len(), 1);
        output["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// What the user is told where nothing is put in.
    fn untouched(&self, outcome: Option<DeliveryOutcome>) -> String {
        let sealed = self.seal();
        assert_eq!(sealed.outcome, outcome);
        match sealed.reply {
            PostReply::Silent => String::new(),
            PostReply::Note { message } => message,
            PostReply::Replace { .. } => panic!("{:?}", sealed.reply),
        }
    }
}

fn receipt(answer: &[u8]) -> Case {
    Case::new(DeliveryMode::Receipt, answer)
}

fn echo(answer: &[u8]) -> Case {
    Case::new(DeliveryMode::Echo, answer)
}

#[test]
fn a_receipt_is_replaced_by_the_exact_text_in_the_response_that_came() {
    let case = receipt(b"exact\r\ntext \xff");
    assert_eq!(case.put_in(DeliveryOutcome::Sealed), "exact\r\ntext \u{fffd}");

    let PostReply::Replace { output, message } = case.seal().reply else {
        panic!()
    };
    assert_eq!(message, None);
    let mut expected = case.tool.response.clone().unwrap();
    let fields = expected.as_object_mut().unwrap();
    for counter in ["harnessNoteCount", "harnessTailCount", "harnessSectionHash"] {
        assert!(fields.remove(counter).is_some());
    }
    fields.insert(
        "content".into(),
        json!([{"type": "text", "text": "exact\r\ntext \u{fffd}"}]),
    );
    assert_eq!(Value::Object(output), expected);
}

#[test]
fn an_echo_is_compared_and_repaired() {
    assert_eq!(echo(ANSWER.as_bytes()).untouched(Some(DeliveryOutcome::Faithful)), "");
    let spaced = format!("{ANSWER}\n");
    assert_eq!(echo(spaced.as_bytes()).put_in(DeliveryOutcome::Repaired), spaced);
    for came in [
        json!([]),
        json!([{"type": "text", "text": "I cannot repeat that."}]),
        json!([{"type": "text", "text": ANSWER.split_at(20).0}]),
        json!([{"type": "image"}]),
    ] {
        let response = json!({"status": "completed", "content": came});
        let case = echo(ANSWER.as_bytes()).response(Some(response));
        assert_eq!(case.put_in(DeliveryOutcome::Repaired), ANSWER);
    }
}

#[test]
fn an_echo_of_the_beginning_becomes_the_whole() {
    let long = "line\n".repeat(60_000);
    let case = echo(long.as_bytes()).delivery(|delivery| delivery.cut = true);
    assert_eq!(case.put_in(DeliveryOutcome::Sealed), long);
}

#[test]
fn beside_another_rewriter_an_echo_is_compared_only() {
    let beside = |delivery: &mut Delivery| delivery.rivals = vec!["redact.py".into()];
    let faithful = echo(ANSWER.as_bytes()).delivery(beside);
    assert_eq!(faithful.untouched(Some(DeliveryOutcome::Faithful)), "");
    let told = echo(b"other")
        .delivery(beside)
        .untouched(Some(DeliveryOutcome::Unfaithful));
    assert!(
        told.contains("redact.py") && told.contains("/cells/toolu_1.result"),
        "{told}"
    );

    let long = "x".repeat(result_text::WHOLE_LIMIT + 1);
    let cut = |text: &str| {
        let response = json!({"status": "completed", "content": [{"type": "text", "text": text}]});
        let case = echo(long.as_bytes()).response(Some(response)).delivery(beside);
        case.delivery(|delivery| delivery.cut = true)
    };
    let repeated = result_text::shown(long.as_bytes(), Some(Path::new("/cells/toolu_1.result")));
    assert_eq!(cut(&repeated.text).untouched(Some(DeliveryOutcome::Faithful)), "");
    assert!(!cut("other").untouched(Some(DeliveryOutcome::Unfaithful)).is_empty());

    // Whoever asks for a receipt by name gets one.
    assert_eq!(receipt(b"r").delivery(beside).put_in(DeliveryOutcome::Sealed), "r");
}

#[test]
fn a_failed_cell_never_reads_as_a_success() {
    // What it left behind is stored, and is no answer.
    for mode in [DeliveryMode::Receipt, DeliveryMode::Echo] {
        let case = Case::new(mode, b"VERDICT 5/5").ending(Ending::TimedOut { limit_ms: 300_000 });
        let outcome = match mode {
            DeliveryMode::Receipt => DeliveryOutcome::Sealed,
            DeliveryMode::None | DeliveryMode::Echo | DeliveryMode::Deny => DeliveryOutcome::Repaired,
        };
        let text = case.put_in(outcome);
        assert!(
            text.starts_with(FAILURE_LINE) && text.ends_with("Record: /cells/toolu_1.json"),
            "{text}"
        );
        assert!(text.contains("timed_out") && !text.contains("VERDICT"));
    }
}

#[test]
fn a_call_that_is_not_our_rewrite_is_left_and_recorded() {
    let lost = Some(DeliveryOutcome::RewriteLost);
    for prompt in [json!("another"), json!(""), json!(7), Value::Null] {
        assert!(receipt(b"r").prompt(prompt).untouched(lost).contains("another input"));
    }
    let mut without = receipt(b"r");
    without.tool.input.clear();
    assert!(!without.untouched(lost).is_empty());
    // Other fields than the prompt do not matter.
    let mut other_model = receipt(b"r");
    other_model.tool.input.insert("model".into(), json!("opus"));
    assert_eq!(other_model.put_in(DeliveryOutcome::Sealed), "r");
}

#[test]
fn a_response_of_another_shape_is_left_and_recorded() {
    let launched = receipt(b"r").payload(BACKGROUND);
    assert!(
        launched
            .untouched(Some(DeliveryOutcome::AsyncLaunched))
            .contains("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS")
    );
    for response in [
        None,
        Some(Value::Null),
        Some(json!("text")),
        Some(json!([{"type": "text", "text": "t"}])),
        Some(json!({})),
        Some(json!({"status": "completed"})),
        Some(json!({"status": "completed", "content": "text"})),
        Some(json!({"status": "later", "content": []})),
    ] {
        let case = receipt(b"r").response(response);
        assert!(!case.untouched(Some(DeliveryOutcome::UnknownShape)).is_empty());
    }
}

#[test]
fn a_result_that_is_not_the_recorded_one_is_not_put_in() {
    let changed = receipt(b"r").stored(Some(Stored::Changed(b"****".to_vec())));
    assert!(changed.untouched(Some(DeliveryOutcome::Redacted)).contains("redacted"));
    let missing = Stored::Missing(crate::base::BoundedReadError::Missing);
    let missing = receipt(b"r").stored(Some(missing));
    assert!(
        missing
            .untouched(Some(DeliveryOutcome::ResultMissing))
            .contains("/cells/toolu_1.result")
    );
    let never = receipt(b"r").stored(None);
    assert!(!never.untouched(Some(DeliveryOutcome::ResultMissing)).is_empty());
}

#[test]
fn calls_that_nothing_was_handed_back_for_are_left() {
    let none = || receipt(b"r").delivery(|delivery| *delivery = Delivery::none());
    let reason = crate::ledger::PassReason::Fork;
    // Who let it pass has said so.
    assert_eq!(none().state(State::PassedThrough { reason }).untouched(None), "");
    assert_eq!(none().ending(Ending::TimedOut { limit_ms: 1 }).untouched(None), "");
    // A hook that was killed has not.
    let lost = Some(DeliveryOutcome::RewriteLost);
    for case in [
        none().state(State::Running),
        none().ending(Ending::Interrupted { signal: 15 }),
        none().ending(Ending::Lost),
    ] {
        assert!(case.untouched(lost).contains("in the parent's process"));
    }
    let denied = receipt(b"r").delivery(|delivery| delivery.mode = DeliveryMode::Deny);
    assert_eq!(denied.untouched(None), "");
    assert!(!receipt(b"r").state(State::Running).untouched(None).is_empty());
}
