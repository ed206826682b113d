use super::*;
use crate::config::believe::test_support::{client, client_in, no_settings};

const CELL: &str = "cell-0190f3a0-0000-7000-8000-000000000001";
const OUTER: &str = "cell-0190f3a0-0000-7000-8000-000000000000";
const PARENT_SPAN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const OUR_SPAN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-53995c3f42cd8ad8-01";

fn environment(pairs: &[(&str, &str)]) -> Environment {
    pairs.iter().copied().collect()
}

fn built(hook: &Environment, believed: &Believed, extra: &[(&str, &str)]) -> ChildEnv {
    let (cell, trace) = (CELL.parse().unwrap(), OUR_SPAN.parse().unwrap());
    let marks = CellMarks {
        agent_limits: None,
        cell: &cell,
        depth: 1,
        cwd: Path::new("/repo"),
        trace: &trace,
        continues_trace: true,
    };
    let extra = extra
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    child_environment(hook, believed, &marks, &extra)
}

fn value<'a>(env: &'a ChildEnv, name: &str) -> Option<&'a str> {
    env.vars.get(OsStr::new(name)).map(|text| text.to_str().unwrap())
}

#[test]
fn a_repository_cannot_reach_into_a_cell() {
    let start = [
        ("HOME", "/home/ann"),
        ("PATH", "/usr/bin"),
        ("LD_LIBRARY_PATH", "/opt/lib"),
    ];
    let hook = environment(&[
        ("HOME", "/repo/evil"),
        ("PATH", "/repo/bin:/usr/bin"),
        ("XDG_CONFIG_HOME", "/repo/evil"),
        ("CLAUDE_CONFIG_DIR", "/repo/evil"),
        ("FULLSEND_HOOK_SPAWNED", "1"),
        ("FULLSEND_OUTPUT_DIR", "/repo/out"),
        ("SUBCELL_TIMEOUT_S", "1"),
        ("CLAUDE_BIN", "/repo/claude"),
        ("TRACEPARENT", PARENT_SPAN),
        ("TRACESTATE", "x=1"),
        ("LD_PRELOAD", "/repo/evil.so"),
        ("LD_LIBRARY_PATH", "/repo/lib"),
        ("NODE_OPTIONS", "--require /repo/evil.js"),
        ("BUN_OPTIONS", "--preload /repo/evil.js"),
        ("BASH_ENV", "/repo/evil.sh"),
        ("ENV", "/repo/evil.sh"),
        ("GLIBC_TUNABLES", "x"),
        ("DYLD_INSERT_LIBRARIES", "x"),
    ]);
    let believed = Believed::judge(&hook, Ok(&client(&start)), no_settings);
    let env = built(&hook, &believed, &[]);
    let expected: BTreeMap<OsString, OsString> = [
        ("HOME", "/home/ann"),
        ("PATH", "/usr/bin"),
        ("LD_LIBRARY_PATH", "/opt/lib"),
        ("FULLSEND_HOOK_SPAWNED", CELL),
        ("SUBCELL_DEPTH", "1"),
        ("TRACEPARENT", OUR_SPAN),
        ("PWD", "/repo"),
    ]
    .map(|(name, text)| (name.into(), text.into()))
    .into();
    assert_eq!(env.vars, expected);
}

#[test]
fn the_parents_identity_goes_and_its_credentials_stay() {
    // Every row of the client's environment for hooks (2.1.332), and of its documentation.
    let gone = [
        "CLAUDECODE",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_HOST_SESSION_ID",
        "CLAUDE_CODE_BRIDGE_SESSION_ID",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_EXECPATH",
        "CLAUDE_CODE_SSE_PORT",
        "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
        "CLAUDE_PID",
        "CLAUDE_EFFORT",
        "CLAUDE_JOB_DIR",
        "AI_AGENT",
        "CLAUDE_CODE_SIMPLE",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "CLAUDE_CODE_CHILD_NOTES_DIR",
        "CLAUDE_CODE_SESSION_ATTENDED",
        "CLAUDE_PROJECT_DIR",
    ];
    let stays = [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "AWS_PROFILE",
        "AWS_SECRET_ACCESS_KEY",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_FOUNDRY",
        "CLAUDE_CODE_USE_VERTEX",
        "CLOUD_ML_REGION",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "HTTPS_PROXY",
        "IS_SANDBOX",
        "LANG",
        "NODE_EXTRA_CA_CERTS",
        "SSL_CERT_FILE",
        "https_proxy",
    ];
    let hook: Environment = gone.into_iter().chain(stays).map(|name| (name, "x")).collect();
    let believed = Believed::judge(&hook, Ok(&client(&[("HOME", "/home/ann")])), no_settings);
    let env = built(&hook, &believed, &[]);
    assert_eq!(env.kept, stays);
    assert_eq!(
        env.set,
        ["FULLSEND_HOOK_SPAWNED", "HOME", "PWD", "SUBCELL_DEPTH", "TRACEPARENT"]
    );
    let mut sorted = gone.to_vec();
    sorted.sort_unstable();
    assert_eq!(env.removed, sorted);
}

#[test]
fn believed_values_reach_the_cell_also_where_the_hook_lacks_them() {
    let start = [
        ("HOME", "/home/ann"),
        ("CLAUDE_CONFIG_DIR", "conf"),
        ("FULLSEND_OUTPUT_DIR", "out"),
        ("SUBCELL_ON_FAILURE", "deny"),
        ("NODE_OPTIONS", "--max-old-space-size=4096"),
    ];
    let hook = environment(&[("HOME", "/home/ann")]);
    let believed = Believed::judge(&hook, Ok(&client_in("/repo", &start)), no_settings);
    let env = built(&hook, &believed, &[]);
    assert_eq!(value(&env, "CLAUDE_CONFIG_DIR"), Some("/repo/conf"));
    assert_eq!(value(&env, "FULLSEND_OUTPUT_DIR"), Some("/repo/out"));
    assert_eq!(value(&env, "SUBCELL_ON_FAILURE"), Some("deny"));
    assert_eq!(value(&env, "NODE_OPTIONS"), Some("--max-old-space-size=4096"));
    assert_eq!(env.kept, ["HOME"]);
    // Without a certain start folder records do not go to a guessed place, and the account stays the same.
    let believed = Believed::judge(&hook, Ok(&client(&start)), no_settings);
    let env = built(&hook, &believed, &[]);
    assert_eq!(value(&env, "FULLSEND_OUTPUT_DIR"), None);
    assert_eq!(value(&env, "CLAUDE_CONFIG_DIR"), Some("conf"));
}

#[test]
fn a_cell_in_a_cell_gets_marks_of_its_own_and_one_trace_parent() {
    let start = [
        ("FULLSEND_HOOK_SPAWNED", OUTER),
        ("SUBCELL_DEPTH", "1"),
        ("TRACEPARENT", PARENT_SPAN),
        ("TRACESTATE", "vendor=1"),
    ];
    let hook = environment(&start);
    let believed = Believed::judge(&hook, Ok(&client(&start)), no_settings);
    let (cell, trace) = (CELL.parse().unwrap(), OUR_SPAN.parse().unwrap());
    let marks = |continues_trace| CellMarks {
        agent_limits: None,
        cell: &cell,
        depth: 2,
        cwd: Path::new("/repo"),
        trace: &trace,
        continues_trace,
    };
    let env = child_environment(&hook, &believed, &marks(true), &BTreeMap::new());
    assert_eq!(value(&env, "FULLSEND_HOOK_SPAWNED"), Some(CELL));
    assert_eq!(value(&env, "SUBCELL_DEPTH"), Some("2"));
    assert_eq!(value(&env, "TRACEPARENT"), Some(OUR_SPAN));
    assert_eq!(value(&env, "TRACESTATE"), Some("vendor=1"));
    assert_eq!(env.kept, ["TRACESTATE"]);
    let env = child_environment(&hook, &believed, &marks(false), &BTreeMap::new());
    assert_eq!(value(&env, "TRACESTATE"), None);
}

#[test]
fn trace_state_goes_without_a_valid_trace_context() {
    let start = [("TRACEPARENT", "00-broken"), ("TRACESTATE", "vendor=1")];
    let hook = environment(&start);
    let believed = Believed::judge(&hook, Ok(&client(&start)), no_settings);
    let env = built(&hook, &believed, &[]);
    assert_eq!(value(&env, "TRACEPARENT"), Some(OUR_SPAN));
    assert_eq!(env.removed, ["TRACESTATE"]);
}

#[test]
fn the_configuration_adds_variables_but_no_marks() {
    let hook = environment(&[("HOME", "/home/ann"), ("LANG", "C")]);
    let believed = Believed::judge(&hook, Ok(&client(&[("HOME", "/home/ann")])), no_settings);
    let extra = [
        ("LANG", "C.UTF-8"),
        ("OTEL_TRACES_EXPORTER", "otlp"),
        ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
        ("FULLSEND_HOOK_SPAWNED", "0"),
        ("SUBCELL_DEPTH", "0"),
        ("TRACEPARENT", PARENT_SPAN),
        ("TRACESTATE", "x=1"),
    ];
    let env = built(&hook, &believed, &extra);
    assert_eq!(value(&env, "LANG"), Some("C.UTF-8"));
    assert_eq!(value(&env, "OTEL_TRACES_EXPORTER"), Some("otlp"));
    assert_eq!(value(&env, "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"), Some("1"));
    assert_eq!(value(&env, "FULLSEND_HOOK_SPAWNED"), Some(CELL));
    assert_eq!(value(&env, "SUBCELL_DEPTH"), Some("1"));
    assert_eq!(value(&env, "TRACEPARENT"), Some(OUR_SPAN));
    assert_eq!(value(&env, "TRACESTATE"), None);
    let plain = built(&hook, &believed, &[]);
    assert_eq!(value(&plain, "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"), None);
}

#[test]
fn without_a_start_environment_no_loader_is_let_in() {
    let hook = environment(&[("HOME", "/home/ann"), ("LD_PRELOAD", "/x.so"), ("NODE_OPTIONS", "-r x")]);
    let believed = Believed::judge(&hook, Err(&crate::config::ClientError::NoParent), no_settings);
    let env = built(&hook, &believed, &[]);
    assert_eq!(env.removed, ["LD_PRELOAD", "NODE_OPTIONS"]);
    assert_eq!(value(&env, "HOME"), Some("/home/ann"));
}
