use super::*;
use crate::guard::liveness::testing::believed;

struct Case {
    dir: tempfile::TempDir,
    file: bool,
    repository: bool,
    env: &'static [(&'static str, &'static str)],
}

impl Case {
    fn new(file: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        if let Some(text) = file {
            std::fs::write(dir.path().join("k"), text).unwrap();
        }
        Self {
            dir,
            file: file.is_some(),
            repository: false,
            env: &[],
        }
    }

    fn in_repository(self) -> Self {
        Self {
            repository: true,
            ..self
        }
    }

    fn env(self, env: &'static [(&'static str, &'static str)]) -> Self {
        Self { env, ..self }
    }

    fn resolve(&self) -> Result<Knobs, KnobFault> {
        let file = self.dir.path().join("k");
        Knobs::resolve(&KnobSources {
            file: self.file.then_some(file.as_path()),
            believed: &believed(self.env),
            repository: self.repository.then_some(Path::new("/repo")),
        })
    }
}

const BOTH: &str = "DELEGATION_KIT_STOP_LOG = /l/log\nGATE_SDK_TMP_DIR = /s\n";

fn absolute(path: &str) -> LogFile {
    LogFile {
        path: path.into(),
        within: None,
    }
}

#[test]
fn in_a_repository_the_defaults_lie_in_it() {
    let knobs = Case::new(None).in_repository().resolve().unwrap();
    let inside = |path: &str| LogFile {
        path: path.into(),
        within: Some("/repo".into()),
    };
    let expected = Knobs {
        scratch: "/repo/.tmp".into(),
        stop_log: inside("/repo/.workflow/subagent-stop-liveness.log"),
        wait: Wait::Refuse,
        check: Vec::new(),
        observe_log: inside("/repo/.tmp/subagent-stop-liveness.observe.log"),
    };
    assert_eq!(knobs, expected);
}

#[test]
fn a_knob_file_gives_absolute_paths_and_no_repository_is_looked_at() {
    let more = format!("{BOTH}DELEGATION_KIT_STOP_WAIT = resume-wait\nDELEGATION_KIT_LIVENESS_CMD[] = check\n");
    for case in [Case::new(Some(&more)), Case::new(Some(&more)).in_repository()] {
        let expected = Knobs {
            scratch: "/s".into(),
            stop_log: absolute("/l/log"),
            wait: Wait::ResumeWait,
            check: vec!["check".to_owned()],
            observe_log: absolute("/s/subagent-stop-liveness.observe.log"),
        };
        assert_eq!(case.resolve().unwrap(), expected);
    }
}

#[test]
fn the_environment_wins_and_its_empty_values_count() {
    let over = Case::new(Some(BOTH)).env(&[
        ("GATE_SDK_TMP_DIR", "/other"),
        ("DELEGATION_KIT_STOP_WAIT", "resume-wait"),
        ("GATE_SDK_HOOK_OBSERVE_LOG", "/o/log"),
        // A list never comes from the environment.
        ("DELEGATION_KIT_LIVENESS_CMD", "/evil"),
    ]);
    let knobs = over.resolve().unwrap();
    assert_eq!(
        (knobs.scratch.as_path(), knobs.wait),
        (Path::new("/other"), Wait::ResumeWait)
    );
    assert_eq!((knobs.observe_log, knobs.check), (absolute("/o/log"), Vec::new()));
    let empty = Case::new(Some(BOTH))
        .env(&[("GATE_SDK_TMP_DIR", "")])
        .resolve()
        .unwrap_err();
    assert!(empty.reason.contains("GATE_SDK_TMP_DIR"), "{empty}");
    let default = Case::new(Some(BOTH))
        .env(&[("GATE_SDK_HOOK_OBSERVE_LOG", "")])
        .resolve()
        .unwrap();
    assert_eq!(default.observe_log, absolute("/s/subagent-stop-liveness.observe.log"));
}

#[test]
fn a_knob_that_cannot_be_used_is_named_and_a_good_log_is_kept_for_the_line() {
    for (file, knob, has_log) in [
        ("GATE_SDK_TMP_DIR = /s", "DELEGATION_KIT_STOP_LOG", false),
        ("DELEGATION_KIT_STOP_LOG = /l", "GATE_SDK_TMP_DIR", true),
        (
            "DELEGATION_KIT_STOP_LOG = l\nGATE_SDK_TMP_DIR = /s",
            "DELEGATION_KIT_STOP_LOG",
            false,
        ),
        (
            "DELEGATION_KIT_STOP_LOG = /l\nGATE_SDK_TMP_DIR = .tmp",
            "GATE_SDK_TMP_DIR",
            true,
        ),
        (
            "DELEGATION_KIT_STOP_LOG = /l\nGATE_SDK_TMP_DIR =",
            "GATE_SDK_TMP_DIR",
            true,
        ),
        (
            "DELEGATION_KIT_STOP_LOG = /l\nGATE_SDK_TMP_DIR = /s\nDELEGATION_KIT_STOP_WAIT = wait",
            "DELEGATION_KIT_STOP_WAIT",
            true,
        ),
        (
            "DELEGATION_KIT_STOP_LOG = /l\nGATE_SDK_TMP_DIR = /s\nDELEGATION_KIT_STOP_WAIT =",
            "DELEGATION_KIT_STOP_WAIT",
            true,
        ),
        (
            "DELEGATION_KIT_STOP_LOG = /l\nGATE_SDK_TMP_DIR = /s\nGATE_SDK_HOOK_OBSERVE_LOG = o",
            "GATE_SDK_HOOK_OBSERVE_LOG",
            true,
        ),
        ("NO_SUCH_KNOB = 1", "NO_SUCH_KNOB", false),
    ] {
        for case in [Case::new(Some(file)), Case::new(Some(file)).in_repository()] {
            let fault = case.resolve().unwrap_err();
            assert!(fault.to_string().contains(knob), "{file}: {fault}");
            assert_eq!(fault.stop_log.is_some(), has_log, "{file}");
        }
    }
    let outside = Case::new(None).resolve().unwrap_err();
    assert!(outside.to_string().contains("DELEGATION_KIT_STOP_LOG"), "{outside}");
}

#[test]
fn writers_of_records_need_the_scratch_directory_alone() {
    let scratch = |env| {
        Knobs::scratch(&KnobSources {
            file: None,
            believed: &believed(env),
            repository: None,
        })
    };
    assert_eq!(scratch(&[("GATE_SDK_TMP_DIR", "/s")]), Ok("/s".into()));
    assert!(scratch(&[]).unwrap_err().contains("GATE_SDK_TMP_DIR"));
}
