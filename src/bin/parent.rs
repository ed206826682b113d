//! A stand-in for the client that calls a hook: its command line and its environment at start are a test's to choose,
//! and the hook gets that environment with the changes that a settings file's `env` would make.
//!
//! `STANDIN_PARENT` holds JSON: `{"hook": [program, args…], "env": {"NAME": "value or null to remove"}, "pid_file": path}`.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a stand-in that cannot do its part must fail the test loudly"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "it plays the client, which starts processes and has an environment"
)]

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let script = std::env::var("STANDIN_PARENT").expect("STANDIN_PARENT holds the script");
    let script: serde_json::Value = serde_json::from_str(&script).expect("STANDIN_PARENT is JSON");
    let words: Vec<&str> = script["hook"]
        .as_array()
        .expect("hook")
        .iter()
        .filter_map(|word| word.as_str())
        .collect();
    let (program, args) = words.split_first().expect("hook names a program");
    let mut command = Command::new(program);
    command.args(args).env_remove("STANDIN_PARENT");
    for (name, value) in script["env"].as_object().into_iter().flatten() {
        match value.as_str() {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut hook = command
        .spawn()
        .unwrap_or_else(|error| panic!("start {program}: {error}"));
    if let Some(path) = script["pid_file"].as_str() {
        let fresh = format!("{path}.new");
        std::fs::write(&fresh, hook.id().to_string()).expect("write the pid file");
        std::fs::rename(fresh, path).expect("rename the pid file");
    }
    let status = hook.wait().expect("wait for the hook");
    ExitCode::from(status.code().map_or(99, |code| u8::try_from(code).unwrap_or(98)))
}
