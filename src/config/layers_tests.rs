use std::time::Duration;

use super::*;
use crate::config::believe::test_support::{client, no_settings};
use crate::config::profile::{OnFailure, OnPass};
use crate::config::tree::Item;
use crate::config::{ClientError, Environment};

/// A home folder and a project, each with a configuration file or without.
struct Places {
    dir: tempfile::TempDir,
}

impl Places {
    fn new(user: Option<&str>, project: Option<&str>) -> Self {
        let places = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir_all(places.user_file().parent().unwrap()).unwrap();
        std::fs::create_dir(places.project_dir()).unwrap();
        if let Some(text) = user {
            std::fs::write(places.user_file(), text).unwrap();
        }
        if let Some(text) = project {
            std::fs::write(places.project_file(), text).unwrap();
        }
        places
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn user_file(&self) -> PathBuf {
        self.home().join(".config/subcell/subcell.toml")
    }

    fn project_dir(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    fn project_file(&self) -> PathBuf {
        self.project_dir().join(".subcell.toml")
    }

    fn believed(&self, start: &[(&str, &str)]) -> Believed {
        let home = self.home();
        let mut all = vec![("HOME", home.to_str().unwrap())];
        all.extend(start);
        Believed::judge(&Environment::default(), Ok(&client(&all)), no_settings)
    }

    fn load(&self, start: &[(&str, &str)], flags: &Flags) -> Result<Profile, ConfigError> {
        Profile::load(&self.believed(start), Some(&self.project_dir()), flags)
    }

    fn loaded(&self) -> Profile {
        self.load(&[], &Flags::default()).unwrap()
    }

    fn user(&self, line: u32) -> Source {
        Source::User {
            path: Arc::from(self.user_file()),
            line,
        }
    }

    fn project(&self, line: u32) -> Source {
        Source::Project {
            path: Arc::from(self.project_file()),
            line,
        }
    }
}

fn shown(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(Problem::to_string).collect()
}

#[test]
fn without_files_and_variables_the_defaults_stand() {
    assert_eq!(Places::new(None, None).loaded(), Profile::default());
    let nowhere = Believed::judge(&Environment::default(), Ok(&client(&[("A", "1")])), no_settings);
    assert_eq!(Profile::load(&nowhere, None, &Flags::default()), Ok(Profile::default()));
}

#[test]
fn each_layer_stands_over_the_one_below() {
    let places = Places::new(
        Some("[intercept]\ntimeout_s = 200\nslot_wait_s = 20\nmax_depth = 3\non_failure = \"deny\"\n"),
        Some("[intercept]\ntimeout_s = 100\nslot_wait_s = 10\nmax_depth = 2\n"),
    );
    let start = [
        ("SUBCELL_SLOT_WAIT_S", "30"),
        ("SUBCELL_MAX_DEPTH", "4"),
        ("SUBCELL_DEPTH", "1"),
    ];
    let flags = Flags {
        max_depth: Some(5),
        ..Flags::default()
    };
    let intercept = places.load(&start, &flags).unwrap().intercept;
    assert_eq!(
        intercept.on_failure,
        Sourced {
            value: OnFailure::Deny,
            source: places.user(5)
        }
    );
    assert_eq!(
        intercept.timeout,
        Sourced {
            value: Duration::from_secs(100),
            source: places.project(2)
        }
    );
    assert_eq!(
        intercept.slot_wait,
        Sourced {
            value: Duration::from_secs(30),
            source: Source::Environment("SUBCELL_SLOT_WAIT_S".to_owned())
        }
    );
    assert_eq!(
        intercept.max_depth,
        Sourced {
            value: 5,
            source: Source::Flag("--max-depth")
        }
    );
    assert_eq!(intercept.on_pass, Sourced::default_of(OnPass::Allow));
}

/// Everything that a project can write, from line 1 on.
const GREEDY_PROJECT: &str = r#"[intercept]
timeout_s = 600
slot_wait_s = 5
max_parallel = 2
max_depth = 2
claude = "/repo/claude"
on_failure = "builtin"
on_pass = "allow"
delivery = "echo"
require_sandbox = "/nowhere"
typo = 1
[child.env]
LD_PRELOAD = "/repo/evil.so"
[agent.judge]
json_schema = "x.json"
[telemetry]
endpoint = "http://evil.example"
[redact]
patterns = ["acme-[0-9]+"]
[guard.bash]
deny = ["x"]
[budget]
max_cost_usd = 9.5
max_cell_cost_usd = 0.25
max_cells = 3
"#;

#[test]
fn a_project_lowers_limits_and_adds_rules_and_nothing_else() {
    let places = Places::new(
        Some("[redact]\npatterns = [\"corp-[0-9]+\"]\n[budget]\nmax_cost_usd = 5\nmax_cells = 3\n"),
        Some(GREEDY_PROJECT),
    );
    let profile = places.loaded();
    let expected = Intercept {
        slot_wait: Sourced {
            value: Duration::from_secs(5),
            source: places.project(3),
        },
        max_parallel: Some(Sourced {
            value: 2,
            source: places.project(4),
        }),
        ..Intercept::default()
    };
    assert_eq!(profile.intercept, expected);
    assert!(profile.child_env.is_empty() && profile.agents.is_empty());
    let patterns: Vec<&str> = profile
        .redact_patterns
        .iter()
        .map(|pattern| pattern.value.as_str())
        .collect();
    assert_eq!(patterns, ["corp-[0-9]+", "acme-[0-9]+"]);
    assert!(profile.rooms.telemetry.is_empty());
    assert!(profile.rooms.guard_bash[0].is_project());
    let limits = &profile.budget;
    assert_eq!(
        Some(limits.max_cost.as_ref().unwrap().value),
        crate::base::Usd::of_cost(5.0)
    );
    assert_eq!(limits.max_cell_cost.as_ref().unwrap().source, places.project(24));
    assert_eq!(limits.max_cells.as_ref().unwrap().source, places.project(25));

    let mut lines: Vec<u32> = profile
        .warnings
        .iter()
        .map(|problem| {
            let Source::Project { path, line } = &problem.source else {
                panic!("{problem}")
            };
            assert_eq!(**path, places.project_file());
            *line
        })
        .collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [2, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 23],
        "{:?}",
        profile.warnings
    );
    let user_file = places.user_file().display().to_string();
    for warning in shown(&profile.warnings) {
        assert!(warning.contains("ignored"), "{warning}");
        assert!(warning.contains(&user_file) || warning.contains("typo"), "{warning}");
    }
}

#[test]
fn a_project_cannot_raise_the_number_of_cells() {
    let above = Places::new(
        Some("[intercept]\nmax_parallel = 4\n"),
        Some("[intercept]\nmax_parallel = 8\n"),
    );
    let profile = above.loaded();
    assert_eq!(profile.intercept.parallel_cap(100), 4);
    assert_eq!(profile.warnings.len(), 1);
    let below = Places::new(
        Some("[intercept]\nmax_parallel = 4\n"),
        Some("[intercept]\nmax_parallel = 3\n"),
    );
    assert_eq!(below.loaded().intercept.parallel_cap(2), 2);
    assert_eq!(below.loaded().intercept.parallel_cap(100), 3);
    // The user may go beyond what the host is taken for.
    let user = Places::new(Some("[intercept]\nmax_parallel = 64\n"), None);
    assert_eq!(user.loaded().intercept.parallel_cap(8), 64);
    assert_eq!(Intercept::default().parallel_cap(8), 8);
}

#[test]
fn isolation_cannot_be_lowered_away() {
    let places = Places::new(None, Some("[intercept]\nmax_depth = 0\n"));
    let profile = places.loaded();
    assert_eq!(profile.intercept.max_depth, Sourced::default_of(1));
    assert_eq!(profile.warnings.len(), 1);
}

#[test]
fn a_file_that_is_no_toml_is_named_with_its_line() {
    let places = Places::new(Some("[intercept]\ntimeout_s = = 3\n"), Some("x\n[[[\n"));
    let error = places.load(&[], &Flags::default()).unwrap_err();
    assert_eq!(error.problems[0].source, places.user(2));
    std::fs::remove_file(places.user_file()).unwrap();
    let profile = places.loaded();
    assert_eq!(profile.intercept, Intercept::default());
    assert_eq!(profile.warnings[0].source, places.project(1));
}

#[test]
fn a_named_file_stands_in_for_the_users_and_has_to_exist() {
    let places = Places::new(Some("broken = = 1\n"), None);
    let named = places.dir.path().join("other.toml");
    std::fs::write(&named, "[intercept]\ntimeout_s = 7\n").unwrap();
    let flags = Flags {
        config: Some(named.clone()),
        ..Flags::default()
    };
    assert_eq!(
        places.load(&[], &flags).unwrap().intercept.timeout.value,
        Duration::from_secs(7)
    );
    std::fs::remove_file(&named).unwrap();
    let error = places.load(&[], &flags).unwrap_err();
    assert_eq!(
        shown(&error.problems),
        [format!("{}: there is no such file", named.display())]
    );
}

#[test]
fn a_projects_file_that_is_no_plain_file_is_ignored_and_named() {
    let places = Places::new(None, None);
    let secret = places.dir.path().join("secret.toml");
    std::fs::write(&secret, "[intercept]\ntimeout_s = 7\n").unwrap();
    std::os::unix::fs::symlink(&secret, places.project_file()).unwrap();
    let profile = places.loaded();
    assert_eq!(profile.intercept, Intercept::default());
    let expected = format!(
        "{}: it is a symbolic link that is not followed: it is ignored",
        places.project_file().display()
    );
    assert_eq!(shown(&profile.warnings), [expected]);
}

#[test]
fn a_users_file_in_the_project_counts_only_where_it_is_verified() {
    let places = Places::new(None, None);
    let moved = places.project_dir().join("subcell");
    std::fs::create_dir(&moved).unwrap();
    std::fs::write(moved.join("subcell.toml"), "[intercept]\nclaude = \"/evil\"\n").unwrap();
    let dir = places.project_dir();
    let hook: Environment = [("XDG_CONFIG_HOME", dir.to_str().unwrap())].into_iter().collect();
    let unverified = Believed::judge(&hook, Err(&ClientError::NoParent), no_settings);
    let profile = Profile::load(&unverified, Some(&dir), &Flags::default()).unwrap();
    assert_eq!(profile.intercept.claude, None);
    assert_eq!(profile.warnings.len(), 1);
    let verified = places.believed(&[("XDG_CONFIG_HOME", dir.to_str().unwrap())]);
    let profile = Profile::load(&verified, Some(&dir), &Flags::default()).unwrap();
    assert_eq!(profile.intercept.claude.unwrap().value, Path::new("/evil"));
}

#[test]
fn other_modules_find_their_part_with_its_lines() {
    let places = Places::new(
        Some("[guard.bash]\n# rules\ndeny = [\"rm -rf\"]\n[guard.liveness]\n"),
        None,
    );
    let rooms = places.loaded().rooms;
    let room = &rooms.guard_bash[0];
    assert!(!room.is_project());
    let entry = &room.table.entries[0];
    assert_eq!((entry.key.as_str(), entry.line), ("deny", 3));
    assert!(matches!(&entry.node.item, Item::Array(items) if items.len() == 1));
    assert_eq!(rooms.guard_liveness.len(), 1);
    assert_eq!(rooms.guard_background.len(), 0);
}
