use std::path::{Path, PathBuf};

use super::names::{Class, class};
use super::test_support::{client, no_settings};
use super::*;
use crate::config::Environment;
use crate::config::proc::{Client, ClientError, StartEnv};

const CELL: &str = "cell-0190f3a0-0000-7000-8000-000000000000";
const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn environment(pairs: &[(&str, &str)]) -> Environment {
    pairs.iter().copied().collect()
}

fn unreadable() -> Client {
    Client {
        start_env: StartEnv::Unreadable("permission denied".to_owned()),
        ..client(&[])
    }
}

/// Everything that a repository can set to its advantage.
const HOSTILE: [(&str, &str); 12] = [
    ("CLAUDE_BIN", "/repo/claude"),
    ("CLAUDE_CONFIG_DIR", "/repo/.evil"),
    ("FULLSEND_HOOK_SPAWNED", "1"),
    ("FULLSEND_OUTPUT_DIR", "/repo/out"),
    ("HOME", "/repo"),
    ("PATH", "/repo/bin"),
    ("SUBCELL_CLAUDE", "/repo/claude"),
    ("SUBCELL_DEPTH", "9"),
    ("TRACEPARENT", TRACE),
    ("TRACESTATE", "x=1"),
    ("XDG_CONFIG_HOME", "/repo/.evil"),
    ("XDG_STATE_HOME", "/repo/.evil"),
];

#[test]
fn what_a_repository_sets_is_ignored_and_named() {
    let hook = environment(&HOSTILE);
    let start = client(&[("HOME", "/home/ann"), ("PATH", "/usr/bin")]);
    let believed = Believed::judge(&hook, Ok(&start), no_settings);
    assert_eq!(believed.guard(), Guard::None);
    assert_eq!(believed.depth(), 0);
    assert_eq!(believed.claude_bin(), None);
    assert_eq!(believed.output_dir(), None);
    assert_eq!(believed.trace_context(), None);
    assert_eq!(believed.subcell_vars().count(), 0);
    assert_eq!(believed.home(), Some(Path::new("/home/ann")));
    assert_eq!(
        believed.locating("PATH").and_then(|path| path.to_str()),
        Some("/usr/bin")
    );
    assert_eq!(believed.client_config_dir(), Some("/home/ann/.claude".into()));
    assert_eq!(
        believed.user_config_file(),
        Some("/home/ann/.config/subcell/subcell.toml".into())
    );
    assert_eq!(believed.state_dir(), Some("/home/ann/.local/state/subcell".into()));
    assert_eq!(believed.ignored(), HOSTILE.map(|(name, _)| name));
    assert!(believed.start_env_readable());
}

#[test]
fn the_start_environment_counts() {
    let hook = environment(&HOSTILE);
    let believed = Believed::judge(&hook, Ok(&client(&HOSTILE)), no_settings);
    assert_eq!(believed.guard(), Guard::Foreign { value: "1".to_owned() });
    assert_eq!(believed.depth(), 9);
    assert_eq!(believed.claude_bin(), Some(Path::new("/repo/claude")));
    assert_eq!(believed.output_dir(), Some("/repo/out".into()));
    assert_eq!(believed.trace_context().unwrap().to_string(), TRACE);
    assert_eq!(believed.client_config_dir(), Some("/repo/.evil".into()));
    assert!(believed.ignored().is_empty());
}

#[test]
fn the_users_settings_count_for_all_but_what_finds_them() {
    let hook = environment(&HOSTILE);
    let start = client(&[("HOME", "/home/ann"), ("FULLSEND_OUTPUT_DIR", "/start/out")]);
    let mut asked = None;
    let believed = Believed::judge(&hook, Ok(&start), |dir| {
        asked = Some(dir.to_owned());
        Ok(environment(&HOSTILE))
    });
    assert_eq!(asked, Some(PathBuf::from("/home/ann/.claude")));
    assert_eq!(believed.guard(), Guard::Foreign { value: "1".to_owned() });
    assert_eq!(believed.claude_bin(), Some(Path::new("/repo/claude")));
    assert_eq!(believed.origin("CLAUDE_BIN"), Some(Origin::UserSettings));
    assert_eq!(believed.subcell_vars().count(), 2);
    // The start environment wins.
    assert_eq!(believed.output_dir(), Some("/start/out".into()));
    assert_eq!(believed.origin("FULLSEND_OUTPUT_DIR"), Some(Origin::StartEnvironment));
    assert_eq!(believed.home(), Some(Path::new("/home/ann")));
    let expected = [
        "CLAUDE_CONFIG_DIR",
        "FULLSEND_OUTPUT_DIR",
        "HOME",
        "PATH",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
    ];
    assert_eq!(believed.ignored(), expected);
}

#[test]
fn settings_without_a_folder_to_find_them_in_are_not_asked_for() {
    let believed = Believed::judge(&environment(&HOSTILE), Ok(&client(&[("A", "1")])), |_| {
        panic!("there is no folder to ask about")
    });
    assert_eq!(believed.guard(), Guard::None);
    assert_eq!(believed.state_dir(), None);
}

#[test]
fn broken_settings_are_a_problem_and_not_a_failure() {
    let start = client(&[("HOME", "/home/ann")]);
    let believed = Believed::judge(&environment(&[]), Ok(&start), |_| Err("settings.json: bad".to_owned()));
    assert_eq!(believed.problems(), ["settings.json: bad"]);
}

#[test]
fn where_nothing_can_be_verified_a_guard_counts_and_nothing_that_directs_us() {
    let hook = environment(&HOSTILE);
    let no_asking = |_: &Path| -> Result<Environment, String> { panic!("a repository may have moved them") };
    let unreadable = Believed::judge(&hook, Ok(&unreadable()), no_asking);
    let missing = Believed::judge(&hook, Err(&ClientError::OnlyShells), no_asking);
    for believed in [&unreadable, &missing] {
        assert!(!believed.start_env_readable());
        assert_eq!(believed.guard(), Guard::Foreign { value: "1".to_owned() });
        assert_eq!(believed.depth(), 9);
        assert_eq!(believed.origin("HOME"), Some(Origin::HookEnvironment));
        assert_eq!(believed.client_config_dir(), Some("/repo/.evil".into()));
        assert_eq!(believed.claude_bin(), None);
        assert_eq!(believed.output_dir(), None);
        assert_eq!(believed.trace_context(), None);
        let expected = [
            "CLAUDE_BIN",
            "FULLSEND_OUTPUT_DIR",
            "SUBCELL_CLAUDE",
            "TRACEPARENT",
            "TRACESTATE",
        ];
        assert_eq!(believed.ignored(), expected);
    }
    assert_eq!(unreadable.unverified(), Some("permission denied"));
    assert_eq!(missing.unverified(), Some("every process above the hook is a shell"));
}

#[test]
fn a_contradicting_claude_pid_changes_nothing() {
    // 2.1.156 lets a repository set it: were it a reason to distrust, the repository's guard would count.
    let start = Client {
        confirmed: Some(false),
        ..client(&[("HOME", "/home/ann")])
    };
    let hook = environment(&[("FULLSEND_HOOK_SPAWNED", CELL), ("CLAUDE_PID", "1")]);
    let believed = Believed::judge(&hook, Ok(&start), no_settings);
    assert_eq!(believed.guard(), Guard::None);
    assert_eq!(believed.ignored(), ["FULLSEND_HOOK_SPAWNED"]);
}

#[test]
fn values_that_say_nothing_new_are_not_reported() {
    let start = client(&[("HOME", "/home/ann"), ("XDG_STATE_HOME", "")]);
    let hook = environment(&[
        ("HOME", "/home/ann"),
        ("CLAUDE_CONFIG_DIR", "/home/ann/.claude"),
        ("FULLSEND_HOOK_SPAWNED", ""),
    ]);
    let believed = Believed::judge(&hook, Ok(&start), no_settings);
    assert!(believed.ignored().is_empty(), "{:?}", believed.ignored());
    let emptied = environment(&[("HOME", "")]);
    let believed = Believed::judge(&emptied, Ok(&start), no_settings);
    assert_eq!(believed.ignored(), ["HOME"]);
}

#[test]
fn a_trace_state_belongs_to_the_trace_parent_it_came_with() {
    let start = client(&[("HOME", "/home/ann"), ("TRACEPARENT", TRACE)]);
    let settings = environment(&[("TRACESTATE", "other=1")]);
    let believed = Believed::judge(&environment(&[]), Ok(&start), |_| Ok(settings));
    assert_eq!(believed.trace_state(), None);
}

#[test]
fn each_judged_variable_has_its_class() {
    for (name, expected) in [
        ("FULLSEND_HOOK_SPAWNED", Some(Class::Guard)),
        ("SUBCELL_DEPTH", Some(Class::Guard)),
        ("HOME", Some(Class::Locating)),
        ("PATH", Some(Class::Locating)),
        ("CLAUDE_CONFIG_DIR", Some(Class::Locating)),
        ("XDG_DATA_DIRS", Some(Class::Locating)),
        ("XDG_", Some(Class::Locating)),
        ("SUBCELL_", Some(Class::Directing)),
        ("SUBCELL_ANYTHING", Some(Class::Directing)),
        ("CLAUDE_BIN", Some(Class::Directing)),
        ("FULLSEND_OUTPUT_DIR", Some(Class::Directing)),
        ("TRACEPARENT", Some(Class::Directing)),
        ("TRACESTATE", Some(Class::Directing)),
        ("CLAUDE_PID", None),
        ("FULLSEND_ROLE", None),
        ("subcell_depth", None),
        ("HOMEDRIVE", None),
        ("ANTHROPIC_API_KEY", None),
    ] {
        assert_eq!(class(name.as_ref()), expected, "{name}");
    }
}
