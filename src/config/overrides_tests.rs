use std::path::Path;
use std::time::Duration;

use super::*;
use crate::config::believe::test_support::{client, no_settings};
use crate::config::profile::Intercept;
use crate::config::source::ConfigError;
use crate::config::{Environment, Profile};

fn load(start: &[(&str, &str)], flags: &Flags) -> Result<Profile, ConfigError> {
    let believed = Believed::judge(&Environment::default(), Ok(&client(start)), no_settings);
    Profile::load(&believed, None, flags)
}

fn from<T>(name: &str, value: T) -> Sourced<T> {
    Sourced {
        value,
        source: Source::Environment(name.to_owned()),
    }
}

fn shown(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(Problem::to_string).collect()
}

#[test]
fn variables_are_checked_as_strictly_as_files() {
    let good = [
        ("SUBCELL_CLAUDE", "/opt/claude"),
        ("CLAUDE_BIN", "/other/claude"),
        ("SUBCELL_TIMEOUT_S", "10"),
        ("SUBCELL_SLOT_WAIT_S", "0"),
        ("SUBCELL_MAX_PARALLEL", "3"),
        ("SUBCELL_MAX_DEPTH", "2"),
        ("SUBCELL_ON_FAILURE", "builtin"),
        ("SUBCELL_ON_PASS", "deny"),
        ("SUBCELL_DELIVERY", "receipt"),
        ("SUBCELL_REQUIRE_SANDBOX", "/sandbox"),
        ("SUBCELL_NEW_THING", "1"),
    ];
    let profile = load(&good, &Flags::default()).unwrap();
    let expected = Intercept {
        claude: Some(from("SUBCELL_CLAUDE", "/opt/claude".into())),
        timeout: from("SUBCELL_TIMEOUT_S", Duration::from_secs(10)),
        slot_wait: from("SUBCELL_SLOT_WAIT_S", Duration::ZERO),
        max_parallel: Some(from("SUBCELL_MAX_PARALLEL", 3)),
        max_depth: from("SUBCELL_MAX_DEPTH", 2),
        on_failure: from("SUBCELL_ON_FAILURE", OnFailure::Builtin),
        on_pass: from("SUBCELL_ON_PASS", OnPass::Deny),
        delivery: from("SUBCELL_DELIVERY", Delivery::Receipt),
        require_sandbox: Some(from("SUBCELL_REQUIRE_SANDBOX", "/sandbox".into())),
    };
    assert_eq!(profile.intercept, expected);
    assert_eq!(
        shown(&profile.warnings),
        ["environment variable SUBCELL_NEW_THING: is no setting of this version: it is ignored"]
    );

    let bad = [
        ("SUBCELL_CLAUDE", "bin/claude"),
        ("CLAUDE_BIN", "./claude"),
        ("SUBCELL_TIMEOUT_S", "5m"),
        ("SUBCELL_ON_FAILURE", "Deny"),
        ("SUBCELL_REQUIRE_SANDBOX", "sandbox"),
        ("SUBCELL_MAX_DEPTH", ""),
    ];
    let error = load(&bad, &Flags::default()).unwrap_err();
    let expected = [
        "environment variable CLAUDE_BIN: has to be an absolute path or a bare name, not \"./claude\"",
        "environment variable SUBCELL_CLAUDE: has to be an absolute path or a bare name, not \"bin/claude\"",
        "environment variable SUBCELL_ON_FAILURE: has to be \"report\" or \"deny\" or \"builtin\", not \"Deny\"",
        "environment variable SUBCELL_REQUIRE_SANDBOX: has to be an absolute path, not \"sandbox\"",
        "environment variable SUBCELL_TIMEOUT_S: has to be an integer from 1 to 86400, not \"5m\"",
    ];
    assert_eq!(shown(&error.problems), expected);
}

#[test]
fn claude_bin_stands_over_the_file_and_below_our_own_variable() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[intercept]\nclaude = \"/file\"\n").unwrap();
    let claude = |start: &[(&str, &str)], flags: &Flags| load(start, flags).unwrap().intercept.claude.unwrap().value;
    let none = Flags {
        config: Some(file.path().to_owned()),
        ..Flags::default()
    };
    let flag = Flags {
        claude: Some("./flag".into()),
        ..none.clone()
    };
    let bin = ("CLAUDE_BIN", "/bin");
    assert_eq!(claude(&[], &none), Path::new("/file"));
    assert_eq!(claude(&[bin], &none), Path::new("/bin"));
    assert_eq!(claude(&[bin, ("SUBCELL_CLAUDE", "mine")], &none), Path::new("mine"));
    assert_eq!(claude(&[bin], &flag), Path::new("./flag"));
}

#[test]
fn flags_have_the_same_bounds() {
    let flags = Flags {
        timeout_s: Some(86_401),
        max_parallel: Some(0),
        ..Flags::default()
    };
    let error = load(&[], &flags).unwrap_err();
    let expected = [
        "--timeout: has to be an integer from 1 to 86400, not 86401",
        "--max-parallel: has to be an integer from 1 to 1024, not 0",
    ];
    assert_eq!(shown(&error.problems), expected);
}
