use proptest::prelude::*;
use serde_json::json;

use super::*;

const PROGRAM: &str = "/opt/sub cell/subcell";

fn intercept(flags: Vec<&'static str>) -> Wanted {
    Wanted {
        event: "PreToolUse",
        matcher: Some("Agent|Task"),
        work: Work::Intercept,
        flags,
        timeout_s: 400,
        blocks: true,
    }
}

fn everything() -> (Vec<Wanted>, BTreeSet<Work>) {
    let deciding = |event, matcher, work| Wanted {
        event,
        matcher,
        work,
        flags: Vec::new(),
        timeout_s: 30,
        blocks: false,
    };
    let wanted = vec![
        intercept(vec!["--delivery", "receipt"]),
        deciding("PostToolUse", Some("Agent|Task"), Work::Seal),
        deciding("PreToolUse", Some("Bash"), Work::Bash),
        deciding("SubagentStop", None, Work::Liveness),
        deciding("Stop", None, Work::Liveness),
    ];
    let works = wanted.iter().map(|wish| wish.work).collect();
    (wanted, works)
}

fn put(text: &str, wanted: &[Wanted], works: &BTreeSet<Work>) -> String {
    Document::parse(text)
        .unwrap()
        .with(wanted, works, Path::new(PROGRAM))
        .unwrap()
}

fn put_intercept(text: &str) -> String {
    put(text, &[intercept(Vec::new())], &[Work::Intercept, Work::Seal].into())
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn what_stands_around_the_hooks_stays_byte_for_byte() {
    let text = "{\r\n\t\"n\": 1e5, \"u\": \"\\u00e9\",\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [{\"hooks\": [{\"command\": \"x\"}]}]\r\n\t},\r\n\t\"z\": [1,2,\r\n 3]\r\n}\r\n";
    let fresh = put_intercept(text);
    let (head, rest) = text.split_once("\"hooks\": {").unwrap();
    assert!(fresh.starts_with(head), "{fresh:?}");
    assert!(fresh.ends_with(&rest[rest.find("\r\n\t},").unwrap()..]), "{fresh:?}");
    assert!(
        fresh.contains("\r\n\t\t\"PreToolUse\": [\r\n\t\t\t{\r\n\t\t\t\t\"matcher\""),
        "{fresh:?}"
    );
}

#[test]
fn a_new_document_is_indented_and_ends_with_a_line_feed() {
    let expected = r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Agent|Task",
        "hooks": [
          {
            "type": "command",
            "command": "/opt/sub cell/subcell",
            "args": ["intercept"],
            "timeout": 400,
            "onFailure": "block"
          }
        ]
      }
    ]
  }
}
"#;
    assert_eq!(put_intercept(""), expected);
    assert_eq!(
        value(&put_intercept("\u{feff}{}").replace('\u{feff}', "")),
        value(expected)
    );
    assert!(put_intercept("\u{feff}{}").starts_with('\u{feff}'));
}

#[test]
fn older_entries_of_ours_are_replaced_where_they_stand() {
    let other = json!({"type": "command", "command": "./other.sh"});
    let old = |command: &str| json!({"type": "command", "command": command, "timeout": 60});
    let before = json!({"hooks": {
        "PreToolUse": [
            {"matcher": "Task", "hooks": [old("/old/subcell intercept --timeout 50")]},
            {"matcher": "Bash", "hooks": [other]},
            {"matcher": "Agent", "hooks": [other, old("subcell intercept")]},
            {"hooks": [old("env A=1 subcell intercept")]}],
        "PostToolUse": [{"matcher": "Agent", "hooks": [old("subcell seal")]}]}});
    let ours = intercept(Vec::new()).group(Path::new(PROGRAM));
    let after = json!({"hooks": {"PreToolUse": [
        ours,
        {"matcher": "Bash", "hooks": [other]},
        {"matcher": "Agent", "hooks": [other]},
        {"hooks": [old("env A=1 subcell intercept")]}]}});
    let text = put_intercept(&serde_json::to_string_pretty(&before).unwrap());
    assert_eq!(value(&text), after);
    assert_eq!(
        text,
        serde_json::to_string_pretty(&after)
            .unwrap()
            .replace("[\n            \"intercept\"\n          ]", "[\"intercept\"]")
            .replace("[\n              \"intercept\"\n            ]", "[\"intercept\"]")
    );
    assert_eq!(put_intercept(&text), text);
}

#[test]
fn places_that_were_empty_before_stay() {
    for text in [
        r#"{"hooks": {}}"#,
        r#"{"hooks": {"PreToolUse": []}}"#,
        r#"{"hooks": {"Other": [], "Stop": [{"hooks": []}]}}"#,
        "{}",
    ] {
        let (wanted, works) = everything();
        let keep = Document::parse(text).unwrap().empty_places();
        let installed = put(text, &wanted, &works);
        let removed = Document::parse(&installed).unwrap().without(&keep).unwrap();
        assert_eq!(value(&removed), value(text), "{text}");
    }
}

#[test]
fn what_cannot_be_changed_without_loss_is_refused() {
    for (text, says) in [
        ("{\n // mine\n \"a\": 1}", "it has comments"),
        ("{\"a\": 1,}", "it has comments"),
        ("{\"a\": }", "it is no JSON"),
        ("[]", "it is JSON, but no object"),
        (r#"{"hooks": []}"#, "\"hooks\" is no object"),
        (r#"{"hooks": {"Stop": {}}}"#, "\"hooks\".\"Stop\" is no list"),
        (r#"{"hooks": {}, "hooks": {}}"#, "\"hooks\" stands in it more than once"),
        (
            r#"{"hooks": {"Stop": [], "Stop": []}}"#,
            "\"an event of \\\"hooks\\\"\" stands",
        ),
    ] {
        let error = Document::parse(text).unwrap_err().to_string();
        assert!(error.starts_with(says), "{text}: {error}");
    }
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(Document::parse(&deep), Err(DocumentError::NotJson(_))));
}

/// Any JSON value of some depth.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

/// A group of an event's list, well-formed or not, that is not ours.
fn any_group() -> impl Strategy<Value = Value> {
    let hook = prop_oneof![
        "[a-z/ .]{0,12}".prop_map(|command| json!({"type": "command", "command": command})),
        any_value(),
    ];
    let hooks = prop::collection::vec(hook, 0..3);
    let matcher = prop::option::of(prop_oneof![Just("Agent|Task".to_owned()), any::<String>()]);
    let group = (matcher, hooks).prop_map(|(matcher, hooks)| match matcher {
        Some(matcher) => json!({"matcher": matcher, "hooks": hooks}),
        None => json!({"hooks": hooks}),
    });
    prop_oneof![4 => group, 1 => any_value()]
}

/// A settings document, and how it is written.
fn any_settings() -> impl Strategy<Value = String> {
    let event = prop_oneof![
        Just("PreToolUse".to_owned()),
        Just("PostToolUse".to_owned()),
        Just("Stop".to_owned()),
        any::<String>(),
    ];
    let hooks = prop::collection::vec((event, prop::collection::vec(any_group(), 0..3)), 0..4);
    let hooks = hooks.prop_map(|events| {
        events
            .into_iter()
            .map(|(event, groups)| (event, Value::from(groups)))
            .collect()
    });
    let rest = prop::collection::vec((any::<String>(), any_value()), 0..4);
    (prop::option::of(hooks), rest, 0..3_u8, any::<bool>()).prop_map(
        |(hooks, rest, style, last): (Option<Value>, _, _, _)| {
            let mut document: Map<String, Value> = rest.into_iter().collect();
            document.shift_remove("hooks");
            if let Some(hooks) = hooks {
                document.insert("hooks".to_owned(), hooks);
            }
            let text = match style {
                0 => serde_json::to_string(&document),
                _ => serde_json::to_string_pretty(&document),
            };
            let text = text.unwrap();
            let text = if style == 2 { text.replace('\n', "\r\n") } else { text };
            if last { text + "\n" } else { text }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_was_installed_and_removed_leaves_the_same_value(text in any_settings()) {
        let (wanted, works) = everything();
        let document = Document::parse(&text).unwrap();
        let keep = document.empty_places();
        let installed = document.with(&wanted, &works, Path::new(PROGRAM)).unwrap();
        let again = Document::parse(&installed).unwrap();
        prop_assert_eq!(again.ours().len(), wanted.len());
        prop_assert_eq!(&again.with(&wanted, &works, Path::new(PROGRAM)).unwrap(), &installed);
        let removed = again.without(&keep).unwrap();
        prop_assert_eq!(value(&removed), value(&text));
        prop_assert_eq!(removed.ends_with('\n'), text.ends_with('\n'));
    }
}
