use serde_json::json;

use super::*;

const PROGRAM: &str = "/opt/subcell";

fn wish(work: Work, event: &'static str, flags: Vec<&'static str>) -> Wanted {
    Wanted {
        event,
        matcher: None,
        work,
        flags,
        timeout_s: 30,
        blocks: true,
    }
}

fn entry(event: &str, program: &str, args: &[&str]) -> OurEntry {
    let document = json!({"hooks": {event: [{"hooks": [{"type": "command", "command": program, "args": args}]}]}});
    OurEntry::all(document.as_object().unwrap()).pop().unwrap()
}

#[test]
fn entries_clash_where_both_would_run_or_contradict_one_another() {
    let intercept = || wish(Work::Intercept, "PreToolUse", vec!["--delivery", "echo"]);
    let guard = || wish(Work::Background, "PreToolUse", vec![]);
    let liveness = || wish(Work::Liveness, "SubagentStop", vec![]);
    let pre = |program: &str, args: &[&str]| entry("PreToolUse", program, args);
    for (wish, entry, expected) in [
        (intercept(), pre(PROGRAM, &["intercept", "--delivery", "echo"]), false),
        (
            intercept(),
            pre("/other/subcell", &["intercept", "--delivery", "echo"]),
            true,
        ),
        (intercept(), pre(PROGRAM, &["intercept"]), true),
        (intercept(), pre(PROGRAM, &["guard", "bash"]), false),
        (intercept(), pre(PROGRAM, &["guard", "background"]), true),
        (
            intercept(),
            pre(PROGRAM, &["guard", "background", "--beside-intercept"]),
            false,
        ),
        (guard(), pre(PROGRAM, &["intercept"]), true),
        (guard(), pre(PROGRAM, &["guard", "background"]), false),
        (
            liveness(),
            entry("Stop", PROGRAM, &["guard", "liveness", "--observe"]),
            false,
        ),
        (
            liveness(),
            entry("SubagentStop", PROGRAM, &["guard", "liveness", "--observe"]),
            true,
        ),
        (
            liveness(),
            entry("SubagentStop", PROGRAM, &["--hook", "subagent-stop-liveness"]),
            true,
        ),
    ] {
        assert_eq!(clash(&wish, &entry, Path::new(PROGRAM)), expected, "{wish:?} {entry:?}");
    }
}

/// A home folder with settings, and a project in it.
struct Scene {
    _dir: tempfile::TempDir,
    home: PathBuf,
    project: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let project = home.join("project");
        for folder in [
            home.join(".claude"),
            project.join(".claude"),
            home.join("other/.claude"),
        ] {
            std::fs::create_dir_all(folder).unwrap();
        }
        Self {
            _dir: dir,
            home,
            project,
        }
    }

    fn write(&self, path: &str, document: &Value) {
        std::fs::write(self.home.join(path), document.to_string()).unwrap();
    }

    fn ask<T>(&self, answer: impl FnOnce(&Ground<'_>) -> T) -> T {
        let believed = Believed::of_person(&[("HOME", self.home.to_str().unwrap())]);
        answer(&Ground {
            believed: &believed,
            profile: &Profile::default(),
            cwd: &self.project,
            managed: &self.home.join("etc"),
            program: Path::new(PROGRAM),
        })
    }

    fn target(&self, path: &str) -> Target {
        let settings = self.home.join(path);
        Target {
            agents: settings.with_file_name("agents"),
            settings,
        }
    }
}

fn intercepting() -> Value {
    json!({"hooks": {"PreToolUse": [{"hooks": [{"command": "subcell intercept"}]}]}})
}

#[test]
fn settings_that_are_never_loaded_together_do_not_count() {
    let (user, mine, local, other) = (
        ".claude/settings.json",
        "project/.claude/settings.json",
        "project/.claude/settings.local.json",
        "other/.claude/settings.json",
    );
    let scene = Scene::new();
    for path in [user, mine, local, other] {
        scene.write(path, &intercepting());
    }
    let receipts = [Receipt::new(&scene.home.join(other))];
    for (target, expected) in [
        (user, vec![other, mine, local]),
        (mine, vec![user, local]),
        (other, vec![user]),
        ("flag.json", vec![user, other, mine, local]),
    ] {
        let found = scene.ask(|ground| ground.neighbours(&scene.target(target), &receipts));
        let found: Vec<PathBuf> = found.into_iter().map(|neighbour| neighbour.path).collect();
        let expected: Vec<PathBuf> = expected.into_iter().map(|path| scene.home.join(path)).collect();
        assert_eq!(found, expected, "{target}");
    }
}

#[test]
fn a_plugin_that_is_on_brings_the_same_hooks() {
    let scene = Scene::new();
    for (on, refused) in [(json!(true), true), (json!(["1.0"]), true), (json!(false), false)] {
        scene.write(
            ".claude/settings.json",
            &json!({"enabledPlugins": {"subcell@local": on}}),
        );
        let found = scene.ask(|ground| ground.neighbours(&scene.target("project/.claude/settings.json"), &[]));
        let answers: Vec<bool> = found
            .iter()
            .map(|found| found.check(&[], Path::new(PROGRAM)).is_err())
            .collect();
        assert_eq!(answers.contains(&true), refused, "{on}");
    }
}

#[test]
fn hooks_of_others_after_agent_calls_are_found() {
    let scene = Scene::new();
    let after = |matcher: &str, command: &str| json!({"hooks": {"PostToolUse": [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}]}});
    scene.write(".claude/settings.json", &after("Bash", "./a.sh"));
    scene.write("project/.claude/settings.json", &after("*", "/x/redact.sh"));
    let own = after("Agent", "/x/own.sh").to_string();
    let known = scene.ask(|ground| ground.known(&Document::parse(&own).unwrap(), &[]));
    assert_eq!(known.rivals, ["own.sh", "redact.sh"]);
    assert_eq!((known.slot_wait_s, known.timeout_s, known.configured), (60, 300, None));
}
