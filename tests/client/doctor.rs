//! `subcell doctor --live`: a real client proves a good set-up, and shows what is wrong with others.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{clients, on_both_versions};

on_both_versions!(
    a_good_set_up_is_proved,
    an_echo_is_proved,
    a_hook_that_is_gone_is_shown,
    a_hook_of_a_project_that_is_switched_off_is_shown,
    the_real_account_and_address_stay_out,
);

/// A user's folders, and what doctor says of them.
struct User(tempfile::TempDir);

impl User {
    /// With the hooks as they are shipped, and this program.
    fn new(shipped: &str, program: &Path) -> Self {
        let user = Self(tempfile::Builder::new().prefix("subcell-doctor-").tempdir().unwrap());
        let named = format!("\"command\": {}", json!(program));
        user.file(
            "config/settings.json",
            &shipped.replace("\"command\": \"subcell\"", &named),
        );
        user.file(
            "config/agents/echo-through.md",
            include_str!("../../agents/echo-through.md"),
        );
        user.file("work/README", "");
        user
    }

    fn shipped(program: &Path) -> Self {
        Self::new(include_str!("../../config/claude-hooks.json"), program)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The exit code and the report.
    fn doctor(&self, version: &str, env: &[(&str, &str)]) -> (i32, Value) {
        let mut doctor = Command::new(built());
        doctor
            .args(["doctor", "--json", "--live", "--client"])
            .arg(clients::binary(version));
        doctor
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("IS_SANDBOX", "1");
        for (name, folder) in [
            ("HOME", "home"),
            ("CLAUDE_CONFIG_DIR", "config"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CONFIG_HOME", "xdg"),
        ] {
            doctor.env(name, self.at(folder));
        }
        doctor
            .env("ANTHROPIC_API_KEY", "the-users-own-key")
            .envs(env.iter().copied());
        let output = doctor
            .current_dir(self.at("work"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        let mut reports: Vec<Value> =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{complaint}"));
        (output.status.code().unwrap(), reports.remove(0))
    }
}

fn built() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_subcell"))
}

/// Which of the five steps were seen.
fn steps(report: &Value) -> Vec<bool> {
    let stages = report["live"]["stages"].as_array().unwrap();
    stages.iter().map(|stage| stage["seen"].as_bool().unwrap()).collect()
}

fn assert_proved(user: &User, version: &str, env: &[(&str, &str)]) {
    let (code, report) = user.doctor(version, env);
    assert_eq!(steps(&report), [true; 5], "{report}");
    assert_eq!(report["live"]["network_namespace"], true, "{report}");
    // An old client, and a disk that is not one of this machine, are worth a warning.
    assert!(code <= 1, "{report}");
    // The run is made in a copy: neither records nor sessions of it are the user's.
    assert!(!user.at("state").exists() && !user.at("config/projects").exists() && !user.at("home").exists());
}

fn a_good_set_up_is_proved(version: &'static str) {
    assert_proved(&User::shipped(built()), version, &[]);
}

fn an_echo_is_proved(version: &'static str) {
    let user = User::new(include_str!("../../config/claude-hooks-fullsend.json"), built());
    assert_proved(&user, version, &[]);
}

fn a_hook_that_is_gone_is_shown(version: &'static str) {
    let user = User::shipped(Path::new("/nowhere/subcell"));
    let (code, report) = user.doctor(version, &[]);
    assert_eq!(
        (code, steps(&report)),
        (2, vec![true, false, false, false, false]),
        "{report}"
    );
    let found = report["findings"].as_array().unwrap();
    assert!(
        found.iter().any(|finding| finding["id"] == "hook-path-gone"),
        "{report}"
    );
    // 2.1.156 runs the call in its own process; 2.1.332 heeds "onFailure": "block".
    let what = report["live"]["stages"][2]["what"].as_str().unwrap();
    assert_eq!(what.contains("own process"), version == crate::OLDEST, "{report}");
}

fn a_hook_of_a_project_that_is_switched_off_is_shown(version: &'static str) {
    let user = User::shipped(built());
    user.file("work/.claude/settings.json", r#"{"disableAllHooks": true}"#);
    let (code, report) = user.doctor(version, &[]);
    assert_eq!(
        (code, steps(&report)),
        (2, vec![true, false, false, false, false]),
        "{report}"
    );
}

/// Settings win over the environment that a client is started in, so an address in them would be asked.
fn the_real_account_and_address_stay_out(version: &'static str) {
    let user = User::shipped(built());
    let mut settings: Value =
        serde_json::from_slice(&std::fs::read(user.at("config/settings.json")).unwrap()).unwrap();
    settings["env"] = json!({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"});
    settings["apiKeyHelper"] = json!(format!("touch {}", user.at("helper-ran").display()));
    user.file("config/settings.json", &settings.to_string());
    user.file(
        "work/.claude/settings.json",
        r#"{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}}"#,
    );
    assert_proved(
        &user,
        version,
        &[
            ("ANTHROPIC_AUTH_TOKEN", "the-users-own-token"),
            ("CLAUDE_CODE_USE_BEDROCK", "1"),
        ],
    );
    assert!(!user.at("helper-ran").exists());
}
