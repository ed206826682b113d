//! A real run of the client for `subcell doctor --live`: in a copy of the configuration, against the scripted model, and
//! where that is allowed in a network namespace that has loopback alone.
//!
//! Whatever could name another address or a real account is left out of the copy and of the environment: settings win
//! over the client's start environment, so a base URL in them would lead elsewhere.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::base::chain::Chain;
use crate::base::{CellId, Deadline, Links, read_bounded};
use crate::config::{Believed, Environment, PROJECT_FILE};
use crate::process::{Helper, Signals, run_bounded};
use crate::protocol::command_line::ParentFlags;
use crate::protocol::command_line::inherit::is_json;
use crate::setup::doctor::{Evidence, Traces, live};

/// The client itself has a minute.
const WHOLE: Duration = Duration::from_secs(90);
const PROBE: Duration = Duration::from_secs(5);
const OUTPUT_BYTES: u64 = 64 << 20;
/// A settings file, an agent, a log.
const FILE_LIMIT: u64 = 64 << 20;
/// How much of a folder is copied.
const COPY_FILES: usize = 2000;
const COPY_DEPTH: usize = 12;

/// What a run is made with.
pub(super) struct Stage<'a> {
    pub(super) client: &'a Path,
    pub(super) folder: &'a Path,
    pub(super) believed: &'a Believed,
    pub(super) env: &'a Environment,
    pub(super) command_line: &'a [OsString],
    pub(super) signals: &'a Signals,
}

/// The evidence of a run that was not made.
pub(super) fn not_run(why: &str) -> Evidence {
    Evidence {
        network_namespace: false,
        stages: vec![live::Stage {
            name: "the client ran",
            seen: false,
            what: why.to_owned(),
        }],
    }
}

/// Makes the copy, runs the client in it, and judges what it left.
pub(super) fn run(stage: &Stage<'_>) -> Result<Evidence, String> {
    let scratch = tempfile::Builder::new()
        .prefix("subcell-doctor-")
        .tempdir()
        .map_err(|error| format!("make a folder for the run: {error}"))?;
    let root = scratch.path();
    let namespace = namespace(stage);
    if namespace.is_none() && Path::new("/etc/claude-code").exists() {
        return Err(
            "managed settings may name another address, and no network namespace may be made here".to_owned(),
        );
    }
    let traces = copy(stage, root).map_err(|error| format!("copy the configuration: {error}"))?;
    let mut words: Vec<OsString> = namespace.clone().unwrap_or_default();
    // A path of its own: between here and there is a shell, whose /proc/self/exe is another program.
    let own = std::env::current_exe().map_err(|error| format!("find this program: {error}"))?;
    words.extend([
        own.into_os_string(),
        "doctor-live".into(),
        "--scratch".into(),
        root.into(),
        "--client".into(),
        stage.client.into(),
    ]);
    words.push("--".into());
    words.extend(options(stage, root).map_err(|error| format!("copy the configuration: {error}"))?);
    let (program, args) = words.split_first().ok_or_else(|| "nothing to run".to_owned())?;
    let helper = Helper {
        program: program.into(),
        args: args.to_vec(),
        env: environment(stage, root, namespace.is_some()),
        cwd: root.join("work"),
        output_bytes: OUTPUT_BYTES,
    };
    let output =
        run_bounded(&helper, Deadline::after(WHOLE), stage.signals).map_err(|error| Chain(&error).to_string())?;
    let trouble = (!output.success).then(|| last_line(&output.stderr));
    Ok(Evidence::of(&read(root, traces, trouble), namespace.is_some()))
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("it ended without a word")
        .chars()
        .take(300)
        .collect()
}

/// The words before a command that give it a network namespace with loopback up; none where that is not allowed.
fn namespace(stage: &Stage<'_>) -> Option<Vec<OsString>> {
    // Who is not root may make a network namespace in a user namespace only.
    ["-n", "-rn"].into_iter().find_map(|how| {
        let words = ["unshare", how, "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"].map(OsString::from);
        let helper = Helper {
            program: "unshare".into(),
            args: words.iter().skip(1).cloned().chain(["true".into()]).collect(),
            env: path_only(stage.env),
            cwd: PathBuf::from("/"),
            output_bytes: 4096,
        };
        let output = run_bounded(&helper, Deadline::after(PROBE), stage.signals).ok()?;
        output.success.then(|| words.to_vec())
    })
}

fn path_only(env: &Environment) -> BTreeMap<OsString, OsString> {
    env.get("PATH")
        .map(|path| ("PATH".into(), path.to_owned()))
        .into_iter()
        .collect()
}

/// Whether a variable may come along: none that names an account, an address, a proxy or a collector.
fn comes_along(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let account = [
        "ANTHROPIC_",
        "AWS_",
        "GOOGLE_",
        "GCLOUD_",
        "AZURE_",
        "OTEL_",
        "CLAUDE_CODE_OAUTH",
        "CLAUDE_CODE_USE_",
        "CLAUDE_CODE_API",
        "CLAUDE_CODE_ENABLE_TELEMETRY",
        "CLAUDE_CODE_ENHANCED_TELEMETRY",
    ];
    !(account.iter().any(|prefix| name.starts_with(prefix)) || name.ends_with("_PROXY") || name == "TRACEPARENT")
}

/// The environment of the run: the user's, but for accounts, addresses and what finds files.
fn environment(stage: &Stage<'_>, root: &Path, in_namespace: bool) -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<OsString, OsString> = stage
        .env
        .iter()
        .filter(|(name, _)| comes_along(name) && *name != "FULLSEND_OUTPUT_DIR")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    // Where the run could reach a real address, the user's configuration, which may name one, is left out.
    let config = stage.believed.user_config_file().filter(|_| in_namespace);
    let config = config
        .as_deref()
        .and_then(Path::parent)
        .and_then(Path::parent)
        .map(Path::to_owned);
    for (name, folder) in [
        ("HOME", root.join("home")),
        ("CLAUDE_CONFIG_DIR", root.join("config")),
        ("XDG_STATE_HOME", root.join("state")),
        ("XDG_CONFIG_HOME", config.unwrap_or_else(|| root.join("home/.config"))),
        ("TMPDIR", root.join("tmp")),
        ("CLAUDE_CODE_TMPDIR", root.join("tmp")),
        ("PWD", root.join("work")),
    ] {
        env.insert(name.into(), folder.into());
    }
    for name in [
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
    ] {
        env.insert(name.into(), "1".into());
    }
    env.insert("ANTHROPIC_API_KEY".into(), "not-a-real-key".into());
    env
}

/// Copies what the client would load, and writes the model's script.
fn copy(stage: &Stage<'_>, root: &Path) -> std::io::Result<Traces> {
    for folder in ["home/.config", "config", "state", "tmp", "work/.claude"] {
        fs::create_dir_all(root.join(folder))?;
    }
    if let Some(config) = stage.believed.client_config_dir() {
        settings(&config.join("settings.json"), &root.join("config/settings.json"))?;
        let mut budget = COPY_FILES;
        for folder in ["agents", "plugins"] {
            tree(
                &config.join(folder),
                &root.join("config").join(folder),
                (&mut budget, COPY_DEPTH),
            )?;
        }
    }
    for name in ["settings.json", "settings.local.json"] {
        let name = Path::new(".claude").join(name);
        settings(&stage.folder.join(&name), &root.join("work").join(&name))?;
    }
    let mut budget = COPY_FILES;
    tree(
        &stage.folder.join(".claude/agents"),
        &root.join("work/.claude/agents"),
        (&mut budget, COPY_DEPTH),
    )?;
    if let Ok(bytes) = read_bounded(&stage.folder.join(PROJECT_FILE), FILE_LIMIT, Links::Refuse) {
        fs::write(root.join("work").join(PROJECT_FILE), bytes)?;
    }
    let run = CellId::new();
    let traces = Traces {
        task: format!("SUBCELL-DOCTOR-TASK-{}", run.as_str()),
        answer: format!("SUBCELL-DOCTOR-ANSWER-{}", run.as_str()),
        ..Traces::default()
    };
    fs::write(root.join("script.json"), script(&traces).to_string())?;
    Ok(traces)
}

/// A settings document without what could lead to an account or an address.
fn harmless(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut document: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
    for key in [
        "apiKeyHelper",
        "otelHeadersHelper",
        "awsAuthRefresh",
        "awsCredentialExport",
        "gcpAuthRefresh",
        "proxyAuthHelper",
        "statusLine",
        "forceLoginMethod",
    ] {
        document.remove(key);
    }
    if let Some(Value::Object(env)) = document.get_mut("env") {
        env.retain(|name, _| comes_along(name.as_ref()));
    }
    serde_json::to_vec(&document).ok()
}

/// A document that is no JSON names nothing and is copied as it is: the client drops it here too.
fn settings(from: &Path, to: &Path) -> std::io::Result<()> {
    match read_bounded(from, FILE_LIMIT, Links::Follow) {
        Ok(bytes) => fs::write(to, harmless(&bytes).unwrap_or(bytes)),
        Err(_) => Ok(()),
    }
}

fn tree(from: &Path, to: &Path, (budget, depth): (&mut usize, usize)) -> std::io::Result<()> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    fs::create_dir_all(to)?;
    for entry in entries.flatten() {
        if *budget == 0 || depth == 0 {
            break;
        }
        *budget -= 1;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            tree(&path, &to, (budget, depth - 1))?;
        } else if let Ok(bytes) = read_bounded(&path, FILE_LIMIT, Links::Follow) {
            fs::write(to, bytes)?;
        }
    }
    Ok(())
}

/// Those of the client's options that decide what it loads; a `--settings` file as its harmless copy.
fn options(stage: &Stage<'_>, root: &Path) -> std::io::Result<Vec<OsString>> {
    let flags = ParentFlags::parse(stage.command_line);
    let mut words = Vec::new();
    for (index, value) in flags.settings.iter().enumerate() {
        let copy = root.join(format!("flag-{index}.json"));
        if is_json(value) {
            fs::write(&copy, harmless(value.as_bytes()).unwrap_or_default())?;
        } else {
            settings(&stage.folder.join(value), &copy)?;
        }
        words.extend(["--settings".into(), copy.into_os_string()]);
    }
    for value in &flags.setting_sources {
        words.extend(["--setting-sources".into(), value.clone()]);
    }
    let switches = [
        (flags.bare, "--bare"),
        (flags.safe_mode, "--safe-mode"),
        (flags.restricted, "--restricted"),
    ];
    words.extend(
        switches
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, name)| OsString::from(name)),
    );
    for folder in &flags.plugin_dir {
        words.extend(["--plugin-dir".into(), stage.folder.join(folder).into_os_string()]);
    }
    Ok(words)
}

fn script(traces: &Traces) -> Value {
    let input = json!({"description": "prove isolation", "prompt": traces.task, "subagent_type": "general-purpose", "run_in_background": false});
    json!({"rules": [
        {"when": {"role": "subagent", "prompt_contains": "\nBEGIN-"}, "answer": {"blocks": [{"echo": {}}]}},
        {"when": {"role": "main", "prompt_contains": "SUBCELL-DOCTOR-PARENT", "has_tool_result": false},
         "answer": {"blocks": [{"tool_use": {"name": "Agent", "input": input}}]}},
        {"when": {"role": "main", "prompt_contains": "SUBCELL-DOCTOR-PARENT"}, "answer": {"blocks": [{"text": "done"}]}},
        {"when": {"role": "main", "prompt_contains": traces.task}, "answer": {"blocks": [{"text": traces.answer}]}}],
      "default": {"blocks": [{"text": "nothing"}]}})
}

fn read(root: &Path, traces: Traces, trouble: Option<String>) -> Traces {
    let bytes = |path: &Path| read_bounded(path, FILE_LIMIT, Links::Refuse).unwrap_or_default();
    let requests = String::from_utf8_lossy(&bytes(&root.join("requests.jsonl"))).into_owned();
    let records = fs::read_dir(root.join("state/subcell/cells"))
        .into_iter()
        .flatten()
        .flatten();
    let records = records
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some(OsStr::new("json")));
    Traces {
        result: serde_json::from_slice(&bytes(&root.join("result.json"))).unwrap_or_default(),
        trouble,
        requests: requests
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect(),
        records: records
            .filter_map(|path| serde_json::from_slice(&bytes(&path)).ok())
            .collect(),
        ..traces
    }
}
