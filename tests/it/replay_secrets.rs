//! Secrets of common kinds are in neither output, wherever in a transcript they stand.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::replay::{printed, recorded, replay};

const SESSION: &str = "55555555-2222-4333-8444-555555555555";

/// The kind that the report names for each of [`secrets`].
const KINDS: [&str; 12] = [
    "anthropic-key",
    "github-token",
    "github-token",
    "aws-access-key-id",
    "assigned-secret",
    "slack-token",
    "authorization",
    "jwt",
    "private-key",
    "gitlab-token",
    "url-password",
    "google-key",
];

/// A secret of each kind as it stands in a text, and the part of it that may not be seen. Put together here, so that no
/// scanner takes this file for a leak.
fn secrets() -> Vec<(String, String)> {
    let alnum = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d";
    let pair = |before: &str, secret: String| (format!("{before}{secret}"), secret);
    vec![
        pair("", format!("sk-ant-api03-{alnum}{alnum}AA")),
        pair("", format!("ghp_{}", &alnum[..36])),
        pair("", format!("github_pat_{}_{alnum}{}", &alnum[..22], &alnum[..19])),
        pair("", format!("AKIA{}", "J5XK7QRT2MNP4VWZ")),
        pair("aws_secret_access_key = ", alnum.to_owned()),
        pair(
            "",
            format!("xoxb-{}-{}-{}", "123456789012", "123456789012", &alnum[..24]),
        ),
        pair("Authorization: Bearer ", format!("{}.{}", &alnum[..30], &alnum[5..30])),
        pair("", format!("eyJ{}.eyJ{}.{}", &alnum[..30], &alnum[..36], &alnum[..32])),
        pair(
            "",
            format!("-----BEGIN RSA PRIVATE KEY-----\nMII{alnum}\n{alnum}\n-----END RSA PRIVATE KEY-----"),
        ),
        pair("", format!("glpat-{}", &alnum[..20])),
        pair("postgres://admin:", format!("s3cr3t{}", &alnum[..14])),
        pair("", format!("AIza{}", &alnum[..35])),
    ]
}

/// A transcript in which each secret stands in a prompt, an answer, a call, a result, a change, a hook and an entry of a
/// kind that nobody knows.
fn transcript() -> String {
    let mut lines: Vec<Value> = Vec::new();
    for (at, (text, _)) in secrets().into_iter().enumerate() {
        let text = if text.starts_with("postgres") {
            format!("{text}@db.example.com/x")
        } else {
            text
        };
        let id = format!("toolu_{at}");
        let own = |kind: &str| json!({"type": kind, "sessionId": SESSION, "timestamp": "2026-11-30T18:50:00.000Z"});
        let with = |kind: &str, field: &str, value: Value| {
            let mut line = own(kind);
            line[field] = value;
            line
        };
        lines.push(with(
            "user",
            "message",
            json!({"role": "user", "content": format!("use {text} now")}),
        ));
        lines.push(with("assistant", "message", json!({"id": format!("m{at}"), "role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("so {text}")},
            {"type": "text", "text": format!("it is\n{text}\n")},
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("curl -H '{text}' x"), "list": [text]}},
            {"type": "tool_use", "id": format!("{id}e"), "name": "Edit", "input": {"file_path": "a", "old_string": text, "new_string": format!("a\n{text}\nb")}}]})));
        let mut result = with(
            "user",
            "message",
            json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": text}]}]}),
        );
        let patch: Vec<String> = text.lines().map(|line| format!("+{line}")).collect();
        result["toolUseResult"] =
            json!({"filePath": "a", "structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": patch}]});
        lines.push(result);
        lines.push(with(
            "attachment",
            "attachment",
            json!({"type": "hook_success", "stdout": text, "toolUseID": id}),
        ));
        lines.push(with("from-tomorrow", "deep", json!({"er": [{"still": text}]})));
    }
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn twelve_kinds_of_secrets_are_in_no_output_and_each_in_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("{SESSION}.jsonl"));
    fs::write(&path, transcript()).unwrap();
    let page = dir.path().join("page.html");
    printed(replay(["html", "-o"]).args([&page, &path]));
    let outputs = [
        printed(replay(["show", "--json"]).arg(&path)),
        printed(replay(["show", "--full"]).arg(&path)),
        fs::read_to_string(&page).unwrap(),
    ];
    for (_, secret) in secrets() {
        // A key goes over several lines, and is written in several ways: no line of it may be seen.
        for part in secret.lines().filter(|line| !line.starts_with("-----")) {
            for (at, output) in outputs.iter().enumerate() {
                assert!(!output.contains(part), "{part} in output {at}");
            }
        }
    }
    let summary: Value = serde_json::from_str(outputs[0].lines().last().unwrap()).unwrap();
    let kinds = summary["summary"]["redaction"]["kinds"].as_object().unwrap();
    assert!(kinds.len() >= 10, "{kinds:?}");
    // Each of the 12 stands in at least 9 places.
    let total: u64 = kinds.values().map(|count| count.as_u64().unwrap()).sum();
    assert!(total >= 12 * 9, "{total}");
    for output in &outputs[1..] {
        assert!(
            kinds.keys().all(|kind| output.contains(kind)),
            "the report lacks a kind"
        );
    }
}

/// The outputs for a transcript: lines of JSON, the long form for people, and the page.
fn outputs(path: &Path) -> [String; 3] {
    let page = path.with_extension("html");
    printed(replay(["html", "-o"]).args([&page, path]));
    [
        printed(replay(["show", "--json"]).arg(path)),
        printed(replay(["show", "--full"]).arg(path)),
        fs::read_to_string(page).unwrap(),
    ]
}

#[test]
fn each_kind_alone_is_in_no_output_and_named_in_each_report() {
    for ((text, secret), kind) in secrets().into_iter().zip(KINDS) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(format!("{SESSION}.jsonl"));
        let text = if kind == "url-password" {
            format!("{text}@db.example.com/x")
        } else {
            text
        };
        let line = json!({"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": format!("use {text} now")}});
        fs::write(&path, format!("{line}\n")).unwrap();
        let outputs = outputs(&path);
        for output in &outputs {
            for part in secret.lines().filter(|line| !line.starts_with("-----")) {
                assert!(!output.contains(part), "{kind}: {part}");
            }
            assert!(output.contains(&format!("[redacted:{kind}]")), "{kind}");
        }
        let summary: Value = serde_json::from_str(outputs[0].lines().last().unwrap()).unwrap();
        assert_eq!(summary["summary"]["redaction"]["kinds"], json!({ kind: 1 }));
        assert!(outputs[1].contains(&format!("secrets taken out: 1 {kind}")), "{kind}");
        assert!(outputs[2].contains(&format!("\"kinds\":{{\"{kind}\":1}}")), "{kind}");
    }
}

#[test]
fn what_stands_before_a_value_tells_that_it_is_a_secret() {
    for (input, secret) in [
        (json!({"password": "correct horse battery"}), "horse"),
        (json!({"password": "two\nhunter2"}), "hunter2"),
        (json!({"password": 12_345_678_901_u64}), "12345678901"),
        (json!({"api_key": ["hunter2"]}), "hunter2"),
        (json!({"env": [{"name": "DB_PASSWORD", "value": "hunter2"}]}), "hunter2"),
        (
            json!({"headers": [{"key": "X-Api-Key", "value": "hunter2"}]}),
            "hunter2",
        ),
        (json!({"args": ["tool", "--password", "hunter2", "-v"]}), "hunter2"),
        (
            json!({"headers": [["Authorization", "Basic aHVudGVyMjp4"]]}),
            "aHVudGVyMjp4",
        ),
        (json!({secrets()[1].1.clone(): true}), secrets()[1].1.as_str()),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(format!("{SESSION}.jsonl"));
        let line = json!({"type": "assistant", "sessionId": SESSION, "message": {"id": "m", "content": [
            {"type": "tool_use", "id": "t", "name": "Tool", "input": input}]}});
        fs::write(&path, format!("{line}\n")).unwrap();
        for output in outputs(&path) {
            assert!(!output.contains(secret), "{input}");
            assert!(output.contains("[redacted:"), "{input}");
        }
    }
}

#[test]
fn data_that_only_looks_telling_stays() {
    let input = json!({"required": ["token", "password1"], "author": "Ann", "max_tokens": 4096, "key": "Enter",
        "name": "cache_key", "value": "abc", "args": ["--token", "--verbose"], "keyboard": ["a", "b1"]});
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("{SESSION}.jsonl"));
    let line = json!({"type": "assistant", "sessionId": SESSION, "message": {"id": "m", "content": [
        {"type": "tool_use", "id": "t", "name": "Tool", "input": input}]}});
    fs::write(&path, format!("{line}\n")).unwrap();
    assert!(printed(replay(["show"]).arg(&path)).contains("no secrets found"));
}

/// Places that are no text of a message: ids, times, models, names of files, lines of a change, and what a parser says.
#[test]
fn no_field_of_an_entry_lets_a_secret_through() {
    let secret = &secrets()[1].1;
    let user = || json!({"type": "user", "sessionId": SESSION, "message": {"content": "x"}});
    let with = |field: &str, value: Value| {
        let mut line = user();
        line[field] = value;
        line.to_string()
    };
    let change = json!({"filePath": secret, "structuredPatch": [{"lines": [format!("é {secret}"), secret]}]});
    let mut edited = json!({"type": "user", "sessionId": SESSION, "message": {"content": [
        {"type": "tool_result", "tool_use_id": secret, "content": "x"}]}});
    edited["toolUseResult"] = change;
    let lines = [
        with("timestamp", json!(secret)),
        with("message", json!(secret)),
        with("message", json!({"content": {"deep": secret}})),
        edited.to_string(),
        json!({"type": "assistant", "sessionId": SESSION, "message": {"id": secret, "model": secret,
            "usage": {"output_tokens": 1}, "content": [{"type": "tool_use", "id": secret, "name": secret, "input": {}}]}})
        .to_string(),
        json!(secret).to_string(),
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("{SESSION}.jsonl"));
    fs::write(&path, lines.join("\n")).unwrap();
    let subagents = dir.path().join(SESSION).join("subagents");
    fs::create_dir_all(&subagents).unwrap();
    fs::write(subagents.join(format!("agent-{secret}.jsonl")), user().to_string()).unwrap();
    fs::write(subagents.join(format!("{secret}.jsonl")), "{").unwrap();
    for output in outputs(&path) {
        assert!(!output.contains(secret.as_str()));
        assert!(output.contains("deep"), "a message of another form is shown");
    }
}

#[test]
fn without_redaction_everything_stands_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("{SESSION}.jsonl"));
    fs::write(&path, transcript()).unwrap();
    let text = printed(replay(["show", "--json", "--no-redact"]).arg(&path));
    for (_, secret) in secrets() {
        assert!(text.contains(secret.lines().nth(1).unwrap_or(&secret)), "{secret}");
    }
    assert!(text.contains(r#""redaction":{"on":false"#));
}

#[test]
fn patterns_of_the_configuration_and_the_command_line_are_taken_out_too() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("config/subcell");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("subcell.toml"), "[redact]\npatterns = ['tenant-(\\d+)']\n").unwrap();
    let path = dir.path().join(format!("{SESSION}.jsonl"));
    let line = json!({"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": "tenant-4711 and PROJECT-X"}});
    fs::write(&path, format!("{line}\n")).unwrap();
    let mut show = replay(["show", "--json", "--redact", "PROJECT-[A-Z]"]);
    let text = printed(show.arg(&path).env("XDG_CONFIG_HOME", dir.path().join("config")));
    assert!(!text.contains("4711") && !text.contains("PROJECT-X"), "{text}");
    assert!(text.contains("tenant-"));
}

#[test]
fn ordinary_identifiers_of_recorded_runs_stay() {
    for run in ["echo", "agent-nested-with-bash", "fork"] {
        let masked = printed(replay(["show", "--json"]).arg(recorded(run)));
        let plain = printed(replay(["show", "--json", "--no-redact"]).arg(recorded(run)));
        let without_last = |text: &str| {
            text.lines()
                .filter(|line| !line.contains(r#""kind":"summary""#))
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(without_last(&masked), without_last(&plain), "{run}");
    }
}
