//! Secrets of common kinds are in neither output, wherever in a transcript they stand.

use std::fs;

use serde_json::{Value, json};

use crate::replay::{printed, recorded, replay};

const SESSION: &str = "55555555-2222-4333-8444-555555555555";

/// A secret of one kind.
struct Secret {
    /// What the report calls it.
    kind: &'static str,
    /// How it stands in a text.
    text: String,
    /// The part that may not be seen.
    hidden: String,
}

/// A secret of each kind. Put together here, so that no scanner takes this file for a leak.
fn secrets() -> Vec<Secret> {
    let alnum = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d";
    let pair = |kind, before: &str, hidden: String, after: &str| Secret {
        kind,
        text: format!("{before}{hidden}{after}"),
        hidden,
    };
    vec![
        pair("anthropic-key", "", format!("sk-ant-api03-{alnum}{alnum}AA"), ""),
        pair("github-token", "", format!("ghp_{}", &alnum[..36]), ""),
        pair(
            "github-token",
            "",
            format!("github_pat_{}_{alnum}{}", &alnum[..22], &alnum[..19]),
            "",
        ),
        pair("aws-access-key-id", "", format!("AKIA{}", "J5XK7QRT2MNP4VWZ"), ""),
        pair("assigned-secret", "aws_secret_access_key = ", alnum.to_owned(), ""),
        pair(
            "slack-token",
            "",
            format!("xoxb-{}-{}-{}", "123456789012", "123456789012", &alnum[..24]),
            "",
        ),
        pair(
            "authorization",
            "Authorization: Bearer ",
            format!("{}.{}", &alnum[..30], &alnum[5..30]),
            "",
        ),
        pair(
            "jwt",
            "",
            format!("eyJ{}.eyJ{}.{}", &alnum[..30], &alnum[..36], &alnum[..32]),
            "",
        ),
        pair(
            "private-key",
            "",
            format!("-----BEGIN RSA PRIVATE KEY-----\nMII{alnum}\n{alnum}\n-----END RSA PRIVATE KEY-----"),
            "",
        ),
        pair("gitlab-token", "", format!("glpat-{}", &alnum[..20]), ""),
        pair(
            "url-password",
            "postgres://admin:",
            format!("s3cr3t{}", &alnum[..14]),
            "@db.example.com/x",
        ),
        pair("google-key", "", format!("AIza{}", &alnum[..35]), ""),
    ]
}

/// A transcript in which each secret stands in a prompt, an answer, a call, a result, a change, a hook and an entry of a
/// kind that nobody knows.
fn transcript(secrets: &[Secret]) -> String {
    let mut lines: Vec<Value> = Vec::new();
    for (at, Secret { text, .. }) in secrets.iter().enumerate() {
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
    fs::write(&path, transcript(&secrets())).unwrap();
    let page = dir.path().join("page.html");
    printed(replay(["html", "-o"]).args([&page, &path]));
    let outputs = [
        printed(replay(["show", "--json"]).arg(&path)),
        printed(replay(["show", "--full"]).arg(&path)),
        fs::read_to_string(&page).unwrap(),
    ];
    for Secret { hidden, .. } in secrets() {
        // A key goes over several lines, and is written in several ways: no line of it may be seen.
        for part in hidden.lines().filter(|line| !line.starts_with("-----")) {
            for (at, output) in outputs.iter().enumerate() {
                assert!(!output.contains(part), "{part} in output {at}");
            }
        }
    }
    let summary: Value = serde_json::from_str(outputs[0].lines().last().unwrap()).unwrap();
    let kinds = summary["summary"]["redaction"]["kinds"].as_object().unwrap();
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

#[test]
fn each_kind_alone_is_masked_wherever_it_stands_and_reported_by_its_name() {
    for one in secrets() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(format!("{SESSION}.jsonl"));
        fs::write(&path, transcript(std::slice::from_ref(&one))).unwrap();
        let page = dir.path().join("page.html");
        printed(replay(["html", "-o"]).args([&page, &path]));
        let json = printed(replay(["show", "--json"]).arg(&path));
        let outputs = [
            &json,
            &printed(replay(["show", "--full"]).arg(&path)),
            &fs::read_to_string(&page).unwrap(),
        ];
        let hidden: Vec<&str> = one.hidden.lines().filter(|line| !line.starts_with("-----")).collect();
        for output in outputs {
            assert!(!hidden.iter().any(|part| output.contains(part)), "{}", one.kind);
            assert!(output.contains(one.kind), "{} is not in the report", one.kind);
        }
        let summary: Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
        let kinds = summary["summary"]["redaction"]["kinds"].as_object().unwrap();
        let names: Vec<&str> = kinds.keys().map(String::as_str).collect();
        assert_eq!(names, [one.kind], "{kinds:?}");
        // In a prompt, a thought, an answer, two calls (one names it twice), a result, a change and a hook's output.
        assert!(kinds[one.kind].as_u64().unwrap() >= 9, "{kinds:?}");
    }
}

#[test]
fn without_redaction_everything_stands_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("{SESSION}.jsonl"));
    fs::write(&path, transcript(&secrets())).unwrap();
    let text = printed(replay(["show", "--json", "--no-redact"]).arg(&path));
    for Secret { hidden, .. } in secrets() {
        assert!(text.contains(hidden.lines().nth(1).unwrap_or(&hidden)), "{hidden}");
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
