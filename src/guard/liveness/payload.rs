//! What of a payload is read: `SubagentStop` and `Stop` (2.1.156 to 2.1.332), and nothing at all where it is none.

use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use crate::guard::raw_object::{RawObject, text_of};

/// Which event a payload is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// `Stop`: the main session ends its turn.
    Main,
    /// Any other, and none: decided as the end of a subagent's turn.
    Subagent,
}

/// A background shell that runs, in the whole session (`background_tasks`, from 2.1.145 on).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunningShell {
    /// Its id; none where the payload has no usable one.
    pub(super) id: Option<String>,
}

/// `background_tasks` of a payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tasks {
    /// The shells that run.
    pub(super) shells: Vec<RunningShell>,
    /// The ids of the elements of type `subagent`, whatever their status.
    pub(super) subagents: Vec<String>,
}

/// What a firing says, as far as it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Payload {
    /// `hook_event_name`, as it is logged.
    pub(super) event: String,
    /// `session_id`, as it is logged.
    pub(super) session: String,
    /// `stop_hook_active`: an earlier end of this turn was refused.
    pub(super) stop_hook_active: bool,
    /// `agent_id`.
    pub(super) agent_id: Option<String>,
    /// `agent_type`.
    pub(super) agent_type: Option<String>,
    /// `agent_transcript_path`.
    pub(super) agent_transcript: Option<PathBuf>,
    /// `transcript_path`: the main session's.
    pub(super) transcript: Option<PathBuf>,
    /// `background_tasks`; none where it is missing or no array.
    pub(super) tasks: Option<Tasks>,
    /// The names of the fields, sorted.
    pub(super) keys: Vec<String>,
}

impl Payload {
    /// Reads what came on stdin. What is no JSON object says nothing: the launch records decide alone then.
    #[must_use]
    pub(super) fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let Ok(object) = RawObject::parse(&text) else {
            return Self::default();
        };
        let mut keys: Vec<String> = object.names().map(str::to_owned).collect();
        keys.sort_unstable();
        keys.dedup();
        Self {
            event: object.get("hook_event_name").map(logged).unwrap_or_default(),
            session: object.get("session_id").map(logged).unwrap_or_default(),
            stop_hook_active: object.is_boolean("stop_hook_active", true),
            agent_id: object.text("agent_id"),
            agent_type: object.text("agent_type"),
            agent_transcript: path(&object, "agent_transcript_path"),
            transcript: path(&object, "transcript_path"),
            tasks: object.get("background_tasks").and_then(Tasks::read),
            keys,
        }
    }

    /// Which event it is of.
    #[must_use]
    pub(super) fn event(&self) -> Event {
        if self.event == "Stop" {
            Event::Main
        } else {
            Event::Subagent
        }
    }

    /// The background shells that run in the session.
    #[must_use]
    pub(super) fn running_shells(&self) -> &[RunningShell] {
        self.tasks
            .as_ref()
            .map(|tasks| tasks.shells.as_slice())
            .unwrap_or_default()
    }

    /// Whether a helper of the client fired, one that sums a subagent's progress up about every 30 s while it runs: no
    /// type, a transcript that was never written, and an id that is no task's. All three marks have to be there.
    #[must_use]
    pub(super) fn is_helper(&self, does_not_exist: impl FnOnce(&Path) -> bool) -> bool {
        let no_type = self.agent_type.as_deref() == Some("");
        let id = self.agent_id.as_deref().filter(|id| !id.is_empty());
        let no_task = match (id, &self.tasks) {
            (Some(id), Some(tasks)) => !tasks.subagents.iter().any(|task| task == id),
            (None, _) | (_, None) => false,
        };
        no_type && no_task && self.agent_transcript.as_deref().is_some_and(does_not_exist)
    }
}

impl Tasks {
    fn read(raw: &RawValue) -> Option<Self> {
        let elements: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
        let mut tasks = Self::default();
        for element in elements {
            // What is no object is no task.
            let Ok(task) = RawObject::parse(element.get()) else {
                continue;
            };
            let id = task.text("id").filter(|id| !id.is_empty());
            match (task.text("type").as_deref(), task.text("status").as_deref()) {
                (Some("shell"), Some("running")) => tasks.shells.push(RunningShell { id }),
                (Some("subagent"), _) => tasks.subagents.extend(id),
                (Some(_) | None, _) => {}
            }
        }
        Some(tasks)
    }
}

fn path(object: &RawObject<'_>, name: &str) -> Option<PathBuf> {
    object.text(name).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// A value as a log shows it: a string bare, a number as it was written, everything without a spelling of its own
/// empty.
fn logged(raw: &RawValue) -> String {
    let written = raw.get();
    text_of(raw).unwrap_or_else(|| match written {
        "null" | "false" => String::new(),
        _ if written.starts_with(['{', '[']) => String::new(),
        _ => written.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(payload: &Value) -> Payload {
        Payload::read(payload.to_string().as_bytes())
    }

    #[test]
    fn a_recorded_payload_is_read() {
        let payload = Payload::read(include_bytes!("../../../tests/fixtures/payloads/subagent-stop.json"));
        assert_eq!(
            (payload.event.as_str(), payload.event()),
            ("SubagentStop", Event::Subagent)
        );
        assert_eq!(payload.session, "ecde4762-85e4-4fe0-a2f0-8f160f639d0b");
        assert_eq!(payload.agent_id.as_deref(), Some("abf84d171445a5ea6"));
        let ids: Vec<_> = payload
            .running_shells()
            .iter()
            .filter_map(|shell| shell.id.as_deref())
            .collect();
        assert_eq!(ids, ["b2wyyxby3", "b9xayq9k2", "bl30d3qt4"]);
        assert!(!payload.stop_hook_active);
        assert_eq!((payload.keys.len(), payload.keys[0].as_str()), (13, "agent_id"));
    }

    #[test]
    fn what_is_no_object_says_nothing() {
        for bytes in [&b""[..], b" \n", b"{", b"[]", b"null", b"7", b"\xff\xff", b"{}x"] {
            assert_eq!(Payload::read(bytes), Payload::default(), "{bytes:?}");
        }
    }

    #[test]
    fn logged_values_have_one_spelling_each() {
        for (value, event) in [
            (json!("Stop"), "Stop"),
            (json!(7), "7"),
            (json!(1.50), "1.5"),
            (json!(true), "true"),
            (json!(false), ""),
            (Value::Null, ""),
            (json!({"a": 1}), ""),
            (json!(["Stop"]), ""),
        ] {
            assert_eq!(read(&json!({"hook_event_name": value})).event, event);
        }
    }

    #[test]
    fn only_running_shells_count_and_a_wrong_type_counts_as_missing() {
        let tasks = json!([
            {"id": "a", "type": "shell", "status": "running"},
            {"id": "b", "type": "shell", "status": "completed"},
            {"id": "c", "type": "shell", "status": "Running"},
            {"id": "d", "type": "shell"},
            {"id": "e", "type": "monitor", "status": "running"},
            {"id": "f", "type": "subagent", "status": "running"},
            {"id": "g", "type": ["shell"], "status": "running"},
            {"id": "h", "type": "shell", "status": "running", "command": "x"},
            {"id": 7, "type": "shell", "status": "running"},
            {"id": "", "type": "shell", "status": "running"},
            {"type": "shell", "status": "running"},
            "shell", null, 7, []
        ]);
        let payload = read(&json!({"background_tasks": tasks, "stop_hook_active": "true"}));
        let ids: Vec<_> = payload
            .running_shells()
            .iter()
            .map(|shell| shell.id.as_deref())
            .collect();
        assert_eq!(ids, [Some("a"), Some("h"), None, None, None]);
        assert!(!payload.stop_hook_active);
        for tasks in [json!({}), json!("x"), json!(null), json!(7)] {
            assert_eq!(read(&json!({"background_tasks": tasks})).tasks, None);
        }
    }

    #[test]
    fn a_helper_has_all_three_marks() {
        let whole =
            json!({"agent_type": "", "agent_id": "a1", "agent_transcript_path": "/t", "background_tasks": []});
        let helper = |payload: &Value, missing: bool| read(payload).is_helper(|_| missing);
        let with = |name: &str, value: Value| {
            let mut payload = whole.clone();
            payload[name] = value;
            payload
        };
        let without = |name: &str| {
            let mut payload = whole.clone();
            payload.as_object_mut().unwrap().remove(name);
            payload
        };
        assert!(helper(&whole, true));
        assert!(!helper(&whole, false));
        for name in ["agent_type", "agent_id", "agent_transcript_path", "background_tasks"] {
            assert!(!helper(&without(name), true), "{name}");
        }
        assert!(!helper(&with("agent_type", json!("Explore")), true));
        assert!(!helper(&with("agent_type", json!(null)), true));
        assert!(!helper(&with("agent_id", json!("")), true));
        assert!(!helper(&with("agent_transcript_path", json!("")), true));
        assert!(!helper(&with("background_tasks", json!({})), true));
        assert!(!helper(
            &with("background_tasks", json!([{"id": "a1", "type": "subagent"}])),
            true
        ));
        assert!(helper(
            &with(
                "background_tasks",
                json!([{"id": "a2", "type": "subagent"}, {"id": "a1", "type": "shell"}])
            ),
            true
        ));
    }
}
