use std::cell::Cell;
use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::config::{ClientError, Environment};
use crate::guard::liveness::testing::believed;

const CELL: &str = "cell-0190f3a0-0000-7000-8000-000000000000";
const LIVE: &[u8] = b"pid=1 run=k\n";

struct Scene {
    dir: tempfile::TempDir,
    env: Vec<(&'static str, String)>,
    observe: bool,
    asked: Cell<u32>,
    max_refusals: Option<u32>,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("s")).unwrap();
        let knobs = format!(
            "GATE_SDK_TMP_DIR = {0}/s\nDELEGATION_KIT_STOP_LOG = {0}/stop.log\n",
            dir.path().display()
        );
        fs::write(dir.path().join("knobs"), knobs).unwrap();
        let state = dir.path().join("state").to_str().unwrap().to_owned();
        Self {
            dir,
            env: vec![("XDG_STATE_HOME", state)],
            observe: false,
            asked: Cell::new(0),
            max_refusals: Some(3),
        }
    }

    fn env(mut self, name: &'static str, value: &str) -> Self {
        self.env.push((name, value.to_owned()));
        self
    }

    fn record(&self, key: &str, content: &[u8]) {
        fs::write(self.dir.path().join("s").join(format!("{key}.run")), content).unwrap();
    }

    fn fire_bytes(&self, payload: &[u8]) -> Answer {
        let env: Vec<(&str, &str)> = self.env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let around = Surroundings {
            environment: Environment::default(),
            client: Err(ClientError::NoParent),
            believed: believed(&env),
        };
        let settings = Settings {
            knobs: Some(self.dir.path().join("knobs")),
            max_refusals: self.max_refusals,
        };
        let answer = run(&Call {
            payload,
            settings: &settings,
            observe: self.observe,
            around: &around,
            cwd: None,
            profile: &|| {
                self.asked.set(self.asked.get() + 1);
                Ok(Profile::default())
            },
        });
        if answer.exit == Exit::Refused {
            assert!(answer.stdout.is_empty() && !answer.stderr.is_empty(), "{answer:?}");
        } else {
            assert_eq!(answer.exit, Exit::Done);
        }
        answer
    }

    fn fire(&self, payload: &Value) -> Answer {
        self.fire_bytes(payload.to_string().as_bytes())
    }

    fn refuses(&self, payload: &Value) -> bool {
        self.fire(payload).exit == Exit::Refused
    }

    fn lines(&self, log: &str) -> Vec<String> {
        let text = fs::read_to_string(self.dir.path().join(log)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn stop(more: &Value) -> Value {
    let mut payload = json!({"hook_event_name": "SubagentStop", "session_id": "s", "agent_id": "a", "agent_type": "general-purpose"});
    for (name, value) in more.as_object().unwrap() {
        payload[name] = value.clone();
    }
    payload
}

fn shell() -> Value {
    json!([{"id": "b1", "type": "shell", "status": "running"}])
}

#[test]
fn every_firing_logs_one_line_and_an_allowed_one_says_nothing() {
    let scene = Scene::new();
    assert_eq!(scene.fire(&stop(&json!({}))), Answer::silent());
    scene.record("k", LIVE);
    assert!(scene.refuses(&stop(&json!({}))));
    assert!(scene.refuses(&stop(&json!({"stop_hook_active": true}))));
    let lines = scene.lines("stop.log");
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("verdict=green") && lines[0].contains("decision=allow"));
    assert!(lines[1].contains("verdict=red") && lines[1].contains("decision=refuse") && lines[1].contains("runs=k"));
    assert!(lines[2].contains("repeat=2"));
}

#[test]
fn without_a_payload_the_records_decide() {
    for payload in [&b""[..], b" ", b"{", b"[1]", b"\xff"] {
        let scene = Scene::new();
        assert_eq!(scene.fire_bytes(payload), Answer::silent());
        scene.record("k", LIVE);
        assert_eq!(scene.fire_bytes(payload).exit, Exit::Refused);
        assert!(scene.lines("stop.log")[1].contains("event=-  session=-"));
    }
}

#[test]
fn the_main_sessions_end_is_refused_in_a_cell_alone() {
    let main = json!({"hook_event_name": "Stop", "session_id": "s", "background_tasks": shell()});
    for (env, refused) in [
        (None, false),
        (Some("1"), false),
        (Some("cell-x"), false),
        (Some(CELL), true),
    ] {
        let scene = Scene::new();
        let scene = match env {
            Some(value) => scene.env("FULLSEND_HOOK_SPAWNED", value),
            None => scene,
        };
        assert_eq!(scene.refuses(&main), refused, "{env:?}");
        scene.record("k", LIVE);
        assert_eq!(scene.refuses(&main), refused, "{env:?}");
        assert_eq!(scene.lines("stop.log").len(), 2);
    }
}

#[test]
fn a_guard_variable_that_is_not_from_the_start_makes_no_cell() {
    let hook = [("FULLSEND_HOOK_SPAWNED", CELL)].into_iter().collect();
    // Nothing can be verified: the variable counts against recursion, and for nothing else.
    let unverified = Believed::judge(
        &hook,
        Err(&ClientError::NoParent),
        |_: &Path| Ok(Environment::default()),
    );
    assert!(matches!(unverified.guard(), Guard::Ours { .. }) && !is_in_cell(&unverified));
}

#[test]
fn a_helper_is_let_go_and_keeps_its_reading_in_the_log() {
    let scene = Scene::new();
    scene.record("k", LIVE);
    let helper =
        stop(&json!({"agent_type": "", "agent_transcript_path": "/nowhere/a.jsonl", "background_tasks": []}));
    assert_eq!(scene.fire(&helper), Answer::silent());
    let lines = scene.lines("stop.log");
    assert!(
        lines[0].contains("verdict=red") && lines[0].contains("decision=allow") && lines[0].contains("pardon=helper")
    );
}

#[test]
fn one_cause_refuses_one_turn_so_many_times_and_no_more() {
    let scene = Scene::new();
    let held = stop(&json!({"background_tasks": shell(), "stop_hook_active": true}));
    assert_eq!([(); 3].map(|()| scene.refuses(&held)), [true; 3]);
    let allowed = scene.fire(&held);
    assert_eq!(allowed.exit, Exit::Done);
    let told: Value = serde_json::from_str(&allowed.stdout).unwrap();
    assert!(
        told["systemMessage"].as_str().unwrap().contains("refused 3 times"),
        "{told}"
    );
    assert!(scene.lines("stop.log")[3].contains("decision=allow  held=-  pardon=capped"));
    // Another agent, and another cause, are counted for themselves.
    assert!(scene.refuses(&stop(&json!({"background_tasks": shell(), "agent_id": "b"}))));
    scene.record("k", LIVE);
    assert!(scene.refuses(&held));
}

#[test]
fn a_free_end_begins_the_count_anew() {
    let scene = Scene::new();
    let held = stop(&json!({"background_tasks": shell()}));
    let free = stop(&json!({"stop_hook_active": true}));
    for _ in 0..4 {
        assert!(scene.refuses(&held) && scene.refuses(&held) && !scene.refuses(&free));
    }
}

#[test]
fn the_configuration_is_read_only_on_the_way_to_a_refusal_and_the_usual_limit_is_8() {
    let scene = Scene {
        max_refusals: None,
        ..Scene::new()
    };
    scene.fire(&stop(&json!({})));
    assert_eq!(scene.asked.get(), 0);
    let held = stop(&json!({"background_tasks": shell()}));
    assert_eq!([(); 8].map(|()| scene.refuses(&held)), [true; 8]);
    assert!(!scene.refuses(&held));
    assert_eq!(scene.asked.get(), 9);
}

#[test]
fn on_trial_nothing_is_refused_and_one_line_says_what_would_be() {
    let scene = Scene {
        observe: true,
        ..Scene::new()
    };
    scene.record("k", LIVE);
    for _ in 0..5 {
        assert_eq!(scene.fire(&stop(&json!({}))), Answer::silent());
    }
    fs::remove_file(scene.dir.path().join("s/k.run")).unwrap();
    assert_eq!(scene.fire(&stop(&json!({}))), Answer::silent());
    assert!(scene.lines("stop.log").is_empty());
    let lines = scene.lines("s/subagent-stop-liveness.observe.log");
    assert_eq!(lines.len(), 6);
    assert!(lines[..5].iter().all(|line| line.contains("  would=refuse  ")) && lines[5].contains("  would=allow  "));
}

#[test]
fn on_trial_a_knob_that_cannot_be_used_is_a_line_of_the_observe_log() {
    let scene = Scene {
        observe: true,
        ..Scene::new()
    };
    let scene = scene.env("DELEGATION_KIT_STOP_WAIT", "nonsense");
    assert!(
        scene
            .fire(&stop(&json!({})))
            .stdout
            .contains("DELEGATION_KIT_STOP_WAIT")
    );
    assert!(scene.lines("stop.log").is_empty());
    let lines = scene.lines("s/subagent-stop-liveness.observe.log");
    let shown = |line: &String| line.contains("  would=allow  fault=DELEGATION_KIT_STOP_WAIT");
    assert!(lines.len() == 1 && shown(&lines[0]), "{lines:?}");
}

#[test]
fn records_that_hold_nobody_do_not_start_the_count_again() {
    let scene = Scene {
        max_refusals: Some(2),
        ..Scene::new()
    };
    scene.record("k", LIVE);
    let mut refusals = Vec::new();
    for other in ["a", "b", "c"] {
        scene.record(other, b"pid=2147483646 run=other\n");
        refusals.push(scene.refuses(&stop(&json!({}))));
    }
    assert_eq!(refusals, [true, true, false]);
}

#[test]
fn a_scratch_directory_that_is_missing_is_reported_once_a_session() {
    let scene = Scene::new();
    fs::remove_dir(scene.dir.path().join("s")).unwrap();
    let told = |session: &str| {
        scene
            .fire(&stop(&json!({"session_id": session})))
            .stdout
            .contains("systemMessage")
    };
    assert_eq!([told("s"), told("s"), told("t")], [true, false, true]);
    assert!(
        scene
            .lines("stop.log")
            .iter()
            .all(|line| line.contains("verdict=green") && line.contains("scratch=missing"))
    );
    let main = json!({"hook_event_name": "Stop", "session_id": "u"});
    assert_eq!(scene.fire(&main), Answer::silent());
}

#[test]
fn a_knob_that_cannot_be_used_allows_with_a_notice() {
    for (event, field) in [
        ("SubagentStop", "/systemMessage"),
        ("PreToolUse", "/hookSpecificOutput/additionalContext"),
    ] {
        let scene = Scene::new().env("GATE_SDK_TMP_DIR", "relative");
        scene.record("k", LIVE);
        let answer = scene.fire(&stop(&json!({"hook_event_name": event})));
        assert_eq!(answer.exit, Exit::Done);
        let told: Value = serde_json::from_str(&answer.stdout).unwrap();
        let notice = told.pointer(field).and_then(Value::as_str).unwrap();
        assert!(
            notice.contains("GATE_SDK_TMP_DIR") && notice.contains("the call was allowed"),
            "{notice}"
        );
        assert_eq!(answer.stderr.trim_end(), notice);
        let lines = scene.lines("stop.log");
        assert!(
            lines.len() == 1 && lines[0].contains("fault=GATE_SDK_TMP_DIR"),
            "{lines:?}"
        );
    }
}

#[test]
fn a_log_that_cannot_be_written_changes_nothing() {
    let scene = Scene::new().env("DELEGATION_KIT_STOP_LOG", "/proc/none/log");
    assert_eq!(scene.fire(&stop(&json!({}))), Answer::silent());
    scene.record("k", LIVE);
    assert!(scene.refuses(&stop(&json!({}))));
}

#[test]
fn a_record_outweighs_a_task_in_the_text() {
    let scene = Scene::new();
    scene.record("k", LIVE);
    let text = scene.fire(&stop(&json!({"background_tasks": shell()}))).stderr;
    assert!(
        text.contains("live producer") && !text.contains("background shell task"),
        "{text}"
    );
}

#[test]
fn the_repository_is_the_sessions_or_the_clients() {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at("repo/sub")).unwrap();
    fs::create_dir_all(at("outside")).unwrap();
    fs::write(at("repo/.git"), "gitdir: elsewhere").unwrap();
    assert_eq!(repository(Some(&at("repo/sub")), None), Some(at("repo")));
    assert_eq!(repository(Some(&at("outside")), Some(&at("repo"))), Some(at("repo")));
    assert_eq!(repository(Some(&at("outside")), None), None);
    assert_eq!(repository(None, None), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_payload_record_and_knob_file_end_in_a_documented_code(
        payload in proptest::collection::vec(any::<u8>(), 0..200),
        record in proptest::collection::vec(any::<u8>(), 0..60),
        knobs in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..60)),
    ) {
        let scene = Scene::new();
        scene.record("k", &record);
        if let Some(knobs) = knobs {
            fs::write(scene.dir.path().join("knobs"), knobs).unwrap();
        }
        // `fire_bytes` asserts the codes and what goes where.
        let answer = scene.fire_bytes(&payload);
        prop_assert!(answer.stdout.is_empty() || serde_json::from_str::<Value>(&answer.stdout).is_ok());
    }

    #[test]
    fn payloads_near_the_real_ones_end_in_a_documented_code(
        event in "(Stop|SubagentStop|\\PC{0,4})", kind in "(shell|subagent|)", status in "(running|done)",
        id in "\\PC{0,4}", path in "(/tmp/|/proc/|\\PC){0,5}",
    ) {
        let payload = json!({"hook_event_name": event, "session_id": id, "agent_id": id, "agent_type": kind,
            "agent_transcript_path": path, "transcript_path": path,
            "background_tasks": [{"id": id, "type": kind, "status": status}]});
        Scene::new().fire(&payload);
    }
}
