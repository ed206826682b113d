//! Configuration and harness: every rule that a staged folder could break, with fullsend's own words.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use regex::Regex;
use serde_json::{Map, Value};

const HARNESS_KEYS: [&str; 31] = [
    "agent",
    "role",
    "slug",
    "doc",
    "description",
    "base",
    "model",
    "effort",
    "image",
    "policy",
    "skills",
    "plugins",
    "providers",
    "openshell",
    "host_files",
    "api_servers",
    "pre_script",
    "post_script",
    "agent_input",
    "validation_loop",
    "env",
    "runner_env",
    "timeout_minutes",
    "sandbox_timeout_seconds",
    "readonly_repo",
    "allowed_remote_resources",
    "allow_runtime_fetch",
    "max_runtime_fetches",
    "security",
    "forge",
    "trigger",
];
const CONFIG_KEYS: [&str; 12] = [
    "version",
    "forge",
    "tracker",
    "kill_switch",
    "runtime",
    "roles",
    "agents",
    "allowed_remote_resources",
    "create_issues",
    "status_notifications",
    "mint_url",
    "inference",
];

/// A harness that fullsend takes.
#[derive(Debug, Clone)]
pub(crate) struct Harness {
    fields: Map<String, Value>,
    /// The agent's name: its file's.
    pub(crate) agent: String,
}

impl Harness {
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.fields.get(key)?.as_str()
    }

    pub(crate) fn host_files(&self) -> Vec<HostFile> {
        let entries = self.fields.get("host_files").and_then(Value::as_array);
        entries.into_iter().flatten().map(HostFile::of).collect()
    }

    pub(crate) fn validation_script(&self) -> Option<&str> {
        self.fields.get("validation_loop")?.get("script")?.as_str()
    }

    pub(crate) fn env(&self, side: &str) -> BTreeMap<String, String> {
        let env = self
            .fields
            .get("env")
            .and_then(|env| env.get(side))
            .and_then(Value::as_object);
        env.into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
            .collect()
    }

    pub(crate) fn has_security(&self) -> bool {
        self.fields.get("security").and_then(|security| security.get("enabled")) != Some(&Value::Bool(false))
    }

    pub(crate) fn has_plugins(&self) -> bool {
        self.fields.contains_key("plugins")
    }
}

#[derive(Debug, Clone)]
pub(crate) struct HostFile {
    pub(crate) src: String,
    pub(crate) dest: String,
    pub(crate) expand: bool,
    pub(crate) optional: bool,
}

impl HostFile {
    fn of(entry: &Value) -> Self {
        let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        let flag = |key: &str| entry[key].as_bool().unwrap_or_default();
        Self {
            src: text("src"),
            dest: text("dest"),
            expand: flag("expand"),
            optional: flag("optional"),
        }
    }
}

/// Finds `agent` through `config.yaml`, and reads and checks its harness and the agent files.
pub(crate) fn load(dir: &Path, agent: &str) -> Result<Harness, String> {
    let config = yaml(&dir.join("config.yaml")).map_err(|error| format!("loading config: {error}"))?;
    let source = registered(&config, agent)?;
    let wrong = |error: String| format!("loading harness: {error}");
    let fields = yaml(&dir.join(&source)).map_err(wrong)?;
    let invalid = |error: String| format!("loading harness: invalid harness: {error}");
    let name = check_harness(&fields).map_err(invalid)?;
    check_paths(dir, &fields)?;
    check_agent(dir, &fields, &name)?;
    Ok(Harness { fields, agent: name })
}

fn yaml(path: &Path) -> Result<Map<String, Value>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("reading harness file: {error}"))?;
    serde_saphyr::from_str(&text).map_err(|error| format!("parsing harness YAML: {error}"))
}

fn known(map: &Map<String, Value>, keys: &[&str], place: &str) -> Result<(), String> {
    match map.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => Err(format!(
            "{place}: unknown key {key:?} (fullsend passes over it in silence)"
        )),
        None => Ok(()),
    }
}

fn registered(config: &Map<String, Value>, agent: &str) -> Result<String, String> {
    known(config, &CONFIG_KEYS, "config.yaml")?;
    match config.get("version") {
        None => {}
        Some(Value::String(version)) if version == "1" => {}
        Some(other) => return Err(format!("unsupported version {other}: must be \"1\"")),
    }
    let agents = config.get("agents").and_then(Value::as_array);
    let mut found = None;
    for (at, entry) in agents.into_iter().flatten().enumerate() {
        let source = entry.as_str().or(entry["source"].as_str()).unwrap_or_default();
        let stem = Path::new(source)
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let name = entry["name"].as_str().map_or(stem, str::to_owned);
        let complain = |what: &str| Err(format!("agents[{at}] ({name}): {what}"));
        if source.starts_with('/') {
            return complain("absolute paths are not allowed");
        }
        if source.contains('\\') {
            return complain("local path must not contain backslashes");
        }
        if Path::new(source).components().any(|part| part == Component::ParentDir) {
            return complain("local path must not contain path traversal (..)");
        }
        if name.eq_ignore_ascii_case(agent) && found.replace(source.to_owned()).is_some() {
            return complain("duplicate agent name");
        }
    }
    found.ok_or_else(|| format!("resolving agent {agent:?}: not in config and agents-repo fallback unavailable"))
}

fn matches(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).unwrap().is_match(text)
}

/// Gives the agent's name.
fn check_harness(fields: &Map<String, Value>) -> Result<String, String> {
    known(fields, &HARNESS_KEYS, "harness")?;
    let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("agent").is_empty() {
        return Err("agent field is required".to_owned());
    }
    let name = Path::new(text("agent")).file_name().unwrap().to_string_lossy();
    let name = name.strip_suffix(".md").unwrap_or(&name).to_owned();
    if !matches("^[a-zA-Z0-9_-]+$", &name) {
        return Err(format!(
            "agent name {name:?} contains invalid characters (allowed: a-z, A-Z, 0-9, _, -)"
        ));
    }
    let role = text("role");
    if role.is_empty() {
        return Err("role field is required".to_owned());
    }
    if !matches("^[a-z][a-z0-9_-]*$", role) {
        return Err(format!(
            "role {role:?} contains invalid characters (allowed: a-z, 0-9, _, -; must start with a lowercase letter)"
        ));
    }
    if role.contains("--") {
        return Err(format!("role {role:?} must not contain double hyphens"));
    }
    let model = text("model");
    if !matches("^[a-zA-Z0-9_.@-]*$", model) {
        return Err(format!(
            "model {model:?} contains invalid characters (allowed: a-z, A-Z, 0-9, _, -, ., @)"
        ));
    }
    let effort = text("effort");
    if !["", "low", "medium", "high", "xhigh", "max"].contains(&effort) {
        return Err(format!(
            "effort {effort:?} is not valid (allowed: low, medium, high, xhigh, max)"
        ));
    }
    if text("policy").contains("://") && !text("policy").contains("#sha256=") {
        return Err("policy URL must include #sha256=... integrity hash".to_owned());
    }
    for key in ["pre_script", "post_script", "agent_input"] {
        if text(key).contains("://") {
            return Err(format!("{key} must be a local path, not a URL"));
        }
    }
    check_numbers(fields)?;
    check_parts(fields)?;
    Ok(name)
}

fn check_numbers(fields: &Map<String, Value>) -> Result<(), String> {
    let number = |key: &str| fields.get(key).and_then(Value::as_i64).unwrap_or_default();
    if number("timeout_minutes") < 0 {
        return Err(format!(
            "timeout_minutes must be non-negative, got {}",
            number("timeout_minutes")
        ));
    }
    let seconds = number("sandbox_timeout_seconds");
    if seconds != 0 && !(30..=600).contains(&seconds) {
        return Err(format!(
            "sandbox_timeout_seconds must be 0 (default) or between 30 and 600, got {seconds}"
        ));
    }
    if fields.get("allow_runtime_fetch") == Some(&Value::Bool(true))
        && !fields.contains_key("allowed_remote_resources")
    {
        return Err("allow_runtime_fetch requires at least one entry in allowed_remote_resources".to_owned());
    }
    Ok(())
}

fn check_parts(fields: &Map<String, Value>) -> Result<(), String> {
    let entries = fields.get("host_files").and_then(Value::as_array);
    for (at, entry) in entries.into_iter().flatten().enumerate() {
        let entry_fields = entry
            .as_object()
            .ok_or_else(|| format!("host_files[{at}]: not a map"))?;
        known(
            entry_fields,
            &["src", "dest", "expand", "optional"],
            &format!("host_files[{at}]"),
        )?;
        let file = HostFile::of(entry);
        if file.src.is_empty() {
            return Err(format!("host_files[{at}]: src is required"));
        }
        if file.src.contains("://") {
            return Err(format!("host_files[{at}].src must be a local path, not a URL"));
        }
        if file.dest.is_empty() {
            return Err(format!("host_files[{at}]: dest is required"));
        }
    }
    if let Some(validation) = fields.get("validation_loop").and_then(Value::as_object) {
        let keys = ["script", "schema", "max_iterations", "feedback_mode", "preflight_check"];
        known(validation, &keys, "validation_loop")?;
        if validation
            .get("script")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .is_empty()
        {
            return Err("validation_loop.script is required when validation_loop is set".to_owned());
        }
    }
    if let Some(env) = fields.get("env").and_then(Value::as_object) {
        known(env, &["runner", "sandbox"], "env")?;
    }
    if let Some(forge) = fields.get("forge").and_then(Value::as_object)
        && let Some(key) = forge
            .keys()
            .find(|key| !["github", "gitlab", "jira"].contains(&key.as_str()))
    {
        return Err(format!("forge: unrecognized key {key:?} (valid: github, gitlab, jira)"));
    }
    Ok(())
}

/// Paths lie in the folder, and the files are there.
fn check_paths(dir: &Path, fields: &Map<String, Value>) -> Result<(), String> {
    let mut paths: Vec<(String, String)> = ["agent", "policy", "pre_script", "post_script", "agent_input"]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), fields.get(key)?.as_str()?.to_owned())))
        .collect();
    let validation = fields.get("validation_loop").and_then(|part| part.get("script"));
    paths.extend(
        validation
            .and_then(Value::as_str)
            .map(|path| ("validation_loop.script".into(), path.to_owned())),
    );
    let files = fields.get("host_files").and_then(Value::as_array);
    for (at, entry) in files.into_iter().flatten().enumerate() {
        let file = HostFile::of(entry);
        if !file.src.contains("${") && !file.optional {
            paths.push((format!("host_files[{at}].src"), file.src));
        }
    }
    for (field, path) in paths.iter().filter(|(_, path)| !path.contains("://")) {
        if Path::new(path).components().any(|part| part == Component::ParentDir) {
            return Err(format!("{field}: path {path:?} resolves outside fullsend directory"));
        }
        let full: PathBuf = dir.join(path);
        if !full.exists() {
            return Err(format!("{field}: stat {}: no such file or directory", full.display()));
        }
    }
    Ok(())
}

/// The scan of agent files, and the name in the front matter (a hard error in later versions).
fn check_agent(dir: &Path, fields: &Map<String, Value>, name: &str) -> Result<(), String> {
    let path = dir.join(fields["agent"].as_str().unwrap());
    let text = std::fs::read_to_string(path).unwrap();
    if is_injection(&text) {
        return Err(format!(
            "agent definition {name:?} blocked: critical injection findings"
        ));
    }
    let mut front = text.lines().skip(1).take_while(|line| *line != "---");
    let named = front.find_map(|line| line.strip_prefix("name: "));
    if named != Some(name) {
        return Err(format!("agent {name:?}: frontmatter name {named:?} does not match"));
    }
    Ok(())
}

pub(crate) fn is_injection(text: &str) -> bool {
    [
        r"(?i)\b(ignore|override|disregard)\b.{0,30}\b(previous|your|all)\b.{0,30}\b(instructions|rules|prompts)\b",
        r"(?i)\b(override|change|replace)\b.{0,20}system prompt|system prompt.{0,20}\b(override|change|replace)",
        r"(?i)\b(curl|base64)\b.*\$\{?[A-Z_]*(KEY|TOKEN|SECRET)",
    ]
    .iter()
    .any(|pattern| matches(pattern, text))
}
