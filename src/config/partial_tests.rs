use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::config::profile::{DEFAULTS_TOML, Intercept, OnFailure};
use crate::config::source::Source;
use crate::config::table_reader::Layer;

fn parse(text: &str) -> (FilePart, Vec<Problem>) {
    let mut problems = Vec::new();
    let origin = FileOrigin {
        path: Arc::from(Path::new("/etc/x/subcell.toml")),
        layer: Layer::User,
    };
    let reader = FileReader {
        origin: &origin,
        home: Some(Path::new("/home/ann")),
        problems: &mut problems,
    };
    (reader.read(text), problems)
}

fn line(problem: &Problem) -> u32 {
    let Source::User { line, .. } = problem.source else {
        panic!("{problem}")
    };
    line
}

fn shown(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(Problem::to_string).collect()
}

#[test]
fn the_embedded_defaults_are_the_defaults_of_the_code() {
    let (part, problems) = parse(DEFAULTS_TOML);
    assert_eq!(problems, []);
    let FilePart { intercept: said, .. } = part.clone();
    let code = Intercept::default();
    assert_eq!(said.timeout.unwrap().value, code.timeout.value);
    assert_eq!(said.slot_wait.unwrap().value, code.slot_wait.value);
    assert_eq!(said.max_depth.unwrap().value, code.max_depth.value);
    assert_eq!(said.on_failure.unwrap().value, code.on_failure.value);
    assert_eq!(said.on_pass.unwrap().value, code.on_pass.value);
    assert_eq!(said.delivery.unwrap().value, code.delivery.value);
    assert_eq!(
        (said.claude, said.max_parallel, said.require_sandbox),
        (None, None, None)
    );
    assert_eq!((part.child_env, part.agents), (BTreeMap::new(), BTreeMap::new()));
    assert_eq!(part.redact_patterns, []);
}

#[test]
fn what_the_embedded_defaults_show_as_comments_is_accepted() {
    let commented = |line: &str| {
        let bare = line.strip_prefix("# ")?;
        let key = bare.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
        (key || bare.starts_with('[')).then(|| bare.to_owned())
    };
    let mut shown_keys = 0;
    let text: Vec<String> = DEFAULTS_TOML
        .lines()
        .map(|line| {
            commented(line)
                .inspect(|_| shown_keys += 1)
                .unwrap_or_else(|| line.to_owned())
        })
        .collect();
    assert_eq!(shown_keys, 20);
    // A value without quotes before a comment without a mark would not be TOML: cut the explanations.
    let text: Vec<&str> = text
        .iter()
        .map(|line| line.split_once("  ").map_or(line.as_str(), |(kept, _)| kept))
        .collect();
    let (part, problems) = parse(&text.join("\n"));
    assert_eq!(problems, []);
    assert!(part.intercept.claude.is_some() && part.intercept.require_sandbox.is_some());
    assert_eq!(part.child_env["NAME"].value, "value");
    assert_eq!(
        part.agents[&"NAME".parse().unwrap()].json_schema.value,
        Path::new("/etc/x/verdict.json")
    );
}

#[test]
fn paths_of_a_file_are_meant_from_its_folder() {
    let claude = |text: &str| {
        let (part, problems) = parse(&format!("[intercept]\nclaude = {text:?}\n"));
        assert_eq!(problems, [], "{text}");
        part.intercept.claude.unwrap().value
    };
    assert_eq!(claude("claude"), Path::new("claude"));
    assert_eq!(claude("/opt/claude"), Path::new("/opt/claude"));
    assert_eq!(claude("bin/claude"), Path::new("/etc/x/bin/claude"));
    assert_eq!(claude("~/bin/claude"), Path::new("/home/ann/bin/claude"));
}

/// A mistake on almost every line, from line 1 on.
const WRONG: &str = r#"top = 1
[intercept]
timeout_s = 0
slot_wait_s = "60"
max_parallel = -1
max_depth = 17
on_failure = "ignore"
on_pass = 1
delivery = "pigeon"
claude = ""
require_sandbox = true
timeuot_s = 5
[child]
environment = {}
[child.env]
"A=B" = "x"
SUBCELL_DEPTH = "0"
FULLSEND_HOOK_SPAWNED = ""
LIST = []
[agent]
"-p" = { json_schema = "x" }
judge = "x.json"
[redact]
patterns = ["a", 1]
[guard.typo]
"#;

#[test]
fn every_mistake_of_the_users_file_is_named_with_its_line() {
    let (_, problems) = parse(WRONG);
    let expected = [
        "1: unknown key \"top\"; known here: agent, budget, child, guard, intercept, redact, telemetry",
        "3: intercept.timeout_s has to be an integer from 1 to 86400, not 0",
        "4: intercept.slot_wait_s has to be an integer from 0 to 3600, not \"60\"",
        "5: intercept.max_parallel has to be an integer from 1 to 1024, not -1",
        "6: intercept.max_depth has to be an integer from 1 to 16, not 17",
        "7: intercept.on_failure has to be \"report\" or \"deny\" or \"builtin\", not \"ignore\"",
        "8: intercept.on_pass has to be \"allow\" or \"deny\", not 1",
        "9: intercept.delivery has to be \"auto\" or \"echo\" or \"receipt\" or \"deny\", not \"pigeon\"",
        "10: intercept.claude is empty",
        "11: intercept.require_sandbox has to be a string, not a boolean",
        "12: unknown key \"intercept.timeuot_s\"; known here: claude, delivery, max_depth, max_parallel, on_failure, \
         on_pass, require_sandbox, slot_wait_s, timeout_s",
        "14: unknown key \"child.environment\"; known here: env",
        "16: child.env.\"A=B\": no variable can have that name",
        "17: child.env.SUBCELL_DEPTH cannot be set: subcell marks every cell with it",
        "18: child.env.FULLSEND_HOOK_SPAWNED cannot be set: subcell marks every cell with it",
        "19: child.env.LIST has to be a string, not an array",
        "21: \"agent.-p\" has to be a table with the name of an agent",
        "22: \"agent.judge\" has to be a table with the name of an agent",
        "24: redact.patterns has to be an array of strings, not an array",
        "25: unknown key \"guard.typo\"; known here: background, bash, liveness",
    ];
    let mut got = problems;
    got.sort_by_key(line);
    assert_eq!(shown(&got), expected.map(|text| format!("/etc/x/subcell.toml:{text}")));
}

#[test]
fn words_are_read_and_written_alike() {
    for (word, value) in crate::config::profile::ON_FAILURE {
        assert_eq!((value.word(), word.parse()), (word, Ok(value)));
    }
    let error = "Report".parse::<OnFailure>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "has to be \"report\" or \"deny\" or \"builtin\", not \"Report\""
    );
}

#[test]
fn a_pattern_that_cannot_be_used_is_named_and_takes_no_other_with_it() {
    let (part, problems) =
        parse("[redact]\npatterns = [\n  \"acme-[0-9]+\",\n  \"open(\",\n  \"b{9999}{9999}\",\n]\n");
    let kept: Vec<&str> = part.redact_patterns.iter().map(|kept| kept.value.as_str()).collect();
    assert_eq!(kept, ["acme-[0-9]+"]);
    assert_eq!(problems.iter().map(line).collect::<Vec<_>>(), [4, 5]);
    assert!(shown(&problems)[0].contains("open("));

    let many = format!("[redact]\npatterns = [{}]\n", "\"a\",".repeat(65));
    let (part, problems) = parse(&many);
    assert_eq!((part.redact_patterns.len(), problems.len()), (64, 1));
}
