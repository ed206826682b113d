//! A folder that stands for the sandbox's file system: what is copied into it, what is set, and what is taken out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use regex::Regex;
use serde_json::{Value, json};

use super::check::Harness;

/// Copies of about this size and more fail silently.
const MOST_BYTES: u64 = 16_000_000;

/// The machine that fullsend runs on.
#[derive(Debug, Default, Clone)]
pub(crate) struct Host {
    /// Its environment.
    pub(crate) env: BTreeMap<String, String>,
}

/// The sandbox. Its paths stand below a folder of the test, and texts that name them are changed so.
#[derive(Debug)]
pub(crate) struct Sandbox {
    root: PathBuf,
}

impl Sandbox {
    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.root.join(inside.trim_start_matches('/'))
    }

    /// Makes a sandbox in `root` in fullsend's order: folders, `.env`, host files, agent, hooks, repository.
    pub(crate) fn assemble(root: &Path, dir: &Path, harness: &Harness, host: &Host) -> Result<Self, String> {
        let sandbox = Self { root: root.to_owned() };
        for folder in [
            "workspace/bin",
            "workspace/.env.d",
            "workspace/output",
            "workspace/repo",
            "claude-config/agents",
        ] {
            fs::create_dir_all(sandbox.path(&format!("/sandbox/{folder}"))).unwrap();
        }
        fs::create_dir_all(sandbox.path("/tmp")).unwrap();
        for (at, file) in harness.host_files().iter().enumerate() {
            sandbox.copy(dir, host, at, file)?;
        }
        let agent = fs::read(dir.join(harness.text("agent").unwrap())).unwrap();
        fs::write(
            sandbox.path(&format!("/sandbox/claude-config/agents/{}.md", harness.agent)),
            agent,
        )
        .unwrap();
        if harness.has_plugins() {
            sandbox.write(
                "/sandbox/claude-config/settings.json",
                &json!({"enabledPlugins": {}}).to_string(),
            );
        }
        if harness.has_security() {
            let hooks = sandbox.security_hooks();
            sandbox.write("/sandbox/claude-config/hooks.json", &hooks.to_string());
        }
        sandbox.write_env(harness, host)?;
        Ok(sandbox)
    }

    fn write(&self, inside: &str, text: &str) {
        fs::write(self.path(inside), text).unwrap();
    }

    fn here(&self, text: &str) -> String {
        let sandbox = format!("{}/sandbox/", self.root.display());
        text.replace("/sandbox/", &sandbox)
    }

    fn copy(&self, dir: &Path, host: &Host, at: usize, file: &super::check::HostFile) -> Result<(), String> {
        let src = match file.src.strip_prefix("${").and_then(|name| name.strip_suffix('}')) {
            None => dir.join(&file.src),
            Some(name) => match host.env.get(name).filter(|value| !value.is_empty()) {
                Some(value) => PathBuf::from(value),
                None if file.optional => return Ok(()),
                None => {
                    return Err(format!(
                        "host_files[{at}].src: host variable {name} is not set (referenced in {:?})",
                        file.src
                    ));
                }
            },
        };
        let Ok(meta) = fs::metadata(&src) else {
            return if file.optional {
                Ok(())
            } else {
                Err(format!(
                    "host_files[{at}].src: stat {}: no such file or directory",
                    src.display()
                ))
            };
        };
        let dest = self.path(&file.dest);
        if !meta.is_file() {
            return Err(format!("checking for file: {}", file.dest));
        }
        if meta.len() >= MOST_BYTES {
            // In silence: nothing arrives.
            return Ok(());
        }
        fs::create_dir_all(dest.parent().unwrap()).unwrap();
        let bytes = fs::read(&src).unwrap();
        let mut mode = meta.permissions().mode() & 0o777 & !0o022;
        let bytes = match String::from_utf8(bytes) {
            Ok(text) if file.expand => {
                mode = 0o600;
                self.here(&expand(&text, &host.env)).into_bytes()
            }
            Ok(text) => self.here(&text).into_bytes(),
            Err(binary) => binary.into_bytes(),
        };
        if file.dest.contains("/bin/") && !file.expand {
            mode |= 0o111;
        }
        fs::write(&dest, bytes).unwrap();
        fs::set_permissions(&dest, Permissions::from_mode(mode)).unwrap();
        Ok(())
    }

    /// Two of fullsend's hooks, as scripts that write down that they ran: what a cell must get as well.
    fn security_hooks(&self) -> Value {
        let log = self.path("/sandbox/workspace/.security");
        fs::create_dir_all(&log).unwrap();
        let note = format!("cat >/dev/null; echo \"$PPID\" >>{}/ran", log.display());
        let entry = |matcher: &str| json!([{"matcher": matcher, "hooks": [{"type": "command", "command": note}]}]);
        json!({"hooks": {"PreToolUse": entry("*"), "PostToolUse": entry("Bash|WebFetch|Read")}})
    }

    fn write_env(&self, harness: &Harness, host: &Host) -> Result<(), String> {
        let at = |inside: &str| self.path(inside).display().to_string();
        let mut text = format!(
            "export PATH={}:$PATH\nexport CLAUDE_CONFIG_DIR={}\nexport FULLSEND_OUTPUT_DIR={}\nexport FULLSEND_TARGET_REPO_DIR={}\nexport FULLSEND_ROLE={}\n",
            at("/sandbox/workspace/bin"),
            at("/sandbox/claude-config"),
            at("/sandbox/workspace/output"),
            at("/sandbox/workspace/repo"),
            harness.text("role").unwrap(),
        );
        writeln!(
            text,
            "for f in {}/*.env; do [ -f \"$f\" ] && . \"$f\"; done",
            at("/sandbox/workspace/.env.d")
        )
        .unwrap();
        for (name, value) in harness.env("sandbox") {
            let value = resolve("env.sandbox", &value, &host.env)?;
            writeln!(text, "export {name}=\"{value}\"").unwrap();
        }
        text += "export FULLSEND_TRACE_ID=7d4a3c52-0000-4000-8000-000000000000\n";
        self.write("/sandbox/workspace/.env", &text);
        Ok(())
    }
}

/// `${NAME}` and `$NAME`; what is not set is empty.
fn expand(text: &str, env: &BTreeMap<String, String>) -> String {
    let name = Regex::new(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))").unwrap();
    let value = |found: &regex::Captures<'_>| {
        let name = found.get(1).or(found.get(2)).unwrap().as_str();
        let value = env.get(name).cloned().unwrap_or_default();
        value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('$', "\\$")
            .replace('`', "\\`")
    };
    name.replace_all(text, value).into_owned()
}

/// `${NAME}` of an `env` value; what is not set is an error.
fn resolve(field: &str, text: &str, env: &BTreeMap<String, String>) -> Result<String, String> {
    let name = Regex::new(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}").unwrap();
    if let Some(found) = name.captures_iter(text).find(|found| !env.contains_key(&found[1])) {
        return Err(format!(
            "{field}: host variable {} is not set (referenced in {text:?})",
            &found[1]
        ));
    }
    Ok(expand(text, env))
}

/// Runs a script of the harness on the host: made executable, no input, nothing in its environment but what is given.
pub(crate) fn run_script(script: &Path, cwd: &Path, env: &[(&str, &str)]) -> Output {
    fs::set_permissions(script, Permissions::from_mode(0o755)).unwrap();
    Command::new(script)
        .current_dir(cwd)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .envs(env.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}
