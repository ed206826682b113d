use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use super::test_support::{client, client_in, no_settings};
use super::*;
use crate::config::Environment;
use crate::config::proc::{Client, LiveProc, StartEnv};

const CELL: &str = "cell-0190f3a0-0000-7000-8000-000000000000";

type Start = &'static [(&'static str, &'static str)];

fn believed(start: &[(&str, &str)]) -> Believed {
    judged(&client(start))
}

fn judged(client: &Client) -> Believed {
    Believed::judge(&Environment::default(), Ok(client), no_settings)
}

#[test]
fn guard_and_depth() {
    let foreign = |value: &str| Guard::Foreign {
        value: value.to_owned(),
    };
    let ours = || Guard::Ours {
        cell: CELL.parse().unwrap(),
    };
    let cases: [(Start, Guard, u32); 9] = [
        (&[("A", "")], Guard::None, 0),
        (&[(GUARD, "")], Guard::None, 0),
        (&[(GUARD, "1")], foreign("1"), 0),
        (&[(GUARD, "cell-1")], foreign("cell-1"), 0),
        (&[(GUARD, CELL)], ours(), 1),
        (&[(GUARD, CELL), ("SUBCELL_DEPTH", "3")], ours(), 3),
        (&[(GUARD, CELL), ("SUBCELL_DEPTH", "0")], ours(), 1),
        (&[(GUARD, CELL), ("SUBCELL_DEPTH", "-1")], ours(), u32::MAX),
        (&[("SUBCELL_DEPTH", "99999999999")], Guard::None, u32::MAX),
    ];
    for (start, guard, depth) in cases {
        let believed = believed(start);
        assert_eq!((believed.guard(), believed.depth()), (guard, depth), "{start:?}");
    }
}

#[test]
fn a_guard_that_is_not_utf8_is_foreign() {
    let start_env = StartEnv::Known([(GUARD, OsString::from_vec(vec![0xff]))].into_iter().collect());
    let believed = judged(&Client {
        start_env,
        ..client(&[])
    });
    assert_eq!(
        believed.guard(),
        Guard::Foreign {
            value: "\u{fffd}".to_owned()
        }
    );
}

#[test]
fn places_follow_the_base_directory_specification() {
    const HOME: (&str, &str) = ("HOME", "/home/ann");
    let cases: [(Start, Option<&str>, Option<&str>); 6] = [
        (
            &[HOME],
            Some("/home/ann/.config/subcell/subcell.toml"),
            Some("/home/ann/.local/state/subcell"),
        ),
        (
            &[HOME, ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "/s")],
            Some("/c/subcell/subcell.toml"),
            Some("/s/subcell"),
        ),
        (
            &[HOME, ("XDG_CONFIG_HOME", "c"), ("XDG_STATE_HOME", "")],
            Some("/home/ann/.config/subcell/subcell.toml"),
            Some("/home/ann/.local/state/subcell"),
        ),
        (&[("XDG_CONFIG_HOME", "/c")], Some("/c/subcell/subcell.toml"), None),
        (&[("HOME", "ann")], None, None),
        (&[("A", "1")], None, None),
    ];
    for (start, config, state) in cases {
        let believed = believed(start);
        assert_eq!(
            believed.user_config_file().as_deref(),
            config.map(Path::new),
            "{start:?}"
        );
        assert_eq!(believed.state_dir().as_deref(), state.map(Path::new), "{start:?}");
    }
}

#[test]
fn relative_paths_are_resolved_only_where_their_folder_is_known_and_reported_otherwise() {
    let start = [("FULLSEND_OUTPUT_DIR", "out"), ("CLAUDE_CONFIG_DIR", "conf")];
    let known = judged(&client_in("/repo", &start));
    assert_eq!(known.output_dir(), Some("/repo/out".into()));
    assert_eq!(known.client_config_dir(), Some("/repo/conf".into()));
    assert!(known.problems().is_empty());
    let unknown = judged(&client(&start));
    assert_eq!(unknown.output_dir(), None);
    assert_eq!(unknown.client_config_dir(), None);
    assert_eq!(unknown.problems().len(), 2);
    assert!(unknown.problems()[0].starts_with("FULLSEND_OUTPUT_DIR is a relative path"));
    let home = believed(&[("HOME", "ann"), ("XDG_STATE_HOME", "s")]);
    let expected = ["HOME", "XDG_STATE_HOME"].map(|name| format!("{name} is a relative path: it is ignored"));
    assert_eq!(home.problems(), expected);
}

#[test]
fn only_what_locates_is_asked_for_as_locating() {
    let believed = believed(&[("PATH", "/bin"), ("XDG_DATA_HOME", "/d"), ("CLAUDE_BIN", "/c")]);
    assert_eq!(believed.locating("PATH"), Some("/bin".as_ref()));
    assert_eq!(believed.locating("XDG_DATA_HOME"), Some("/d".as_ref()));
    assert_eq!(believed.locating("CLAUDE_BIN"), None);
    assert_eq!(believed.locating("HOME"), None);
}

#[test]
fn loaders_of_the_start_environment_are_kept_apart() {
    let believed = believed(&[
        ("LD_PRELOAD", "/x.so"),
        ("NODE_OPTIONS", "-r y"),
        ("LDFLAGS", "-L."),
        ("ENVIRONMENT", "prod"),
    ]);
    let names: Vec<_> = believed.start_only().map(|(name, _)| name).collect();
    assert_eq!(names, ["LD_PRELOAD", "NODE_OPTIONS"]);
}

#[test]
fn looking_around_in_a_real_process() {
    // The test's own parent stands for the client: whatever it is, its environment is readable and has a PATH.
    let surroundings = Surroundings::look(&LiveProc);
    let client = surroundings.client.unwrap();
    assert!(matches!(client.start_env, StartEnv::Known(_)));
    assert!(surroundings.believed.start_env_readable());
    assert!(surroundings.believed.locating("PATH").is_some());
}

#[test]
fn the_liveness_guards_knobs_count_only_where_the_client_or_the_user_set_them() {
    let hook = [
        ("DELEGATION_KIT_LIVENESS_CMD", "/repo/evil"),
        ("GATE_SDK_TMP_DIR", "/repo/tmp"),
    ]
    .into_iter()
    .collect();
    let started = client(&[("DELEGATION_KIT_STOP_LOG", "/var/log/stop")]);
    let believed = Believed::judge(&hook, Ok(&started), no_settings);
    assert_eq!(
        believed.value("DELEGATION_KIT_STOP_LOG"),
        Some("/var/log/stop".as_ref())
    );
    assert_eq!(believed.value("GATE_SDK_TMP_DIR"), None);
    assert_eq!(believed.ignored(), ["DELEGATION_KIT_LIVENESS_CMD", "GATE_SDK_TMP_DIR"]);
}

#[test]
fn installed_guards_lie_in_the_users_data_folder() {
    let home = believed(&[("HOME", "/home/ann")]);
    assert_eq!(
        home.data_dir().as_deref(),
        Some(Path::new("/home/ann/.local/share/subcell"))
    );
    let xdg = believed(&[("HOME", "/home/ann"), ("XDG_DATA_HOME", "/data")]);
    assert_eq!(xdg.data_dir().as_deref(), Some(Path::new("/data/subcell")));
}
