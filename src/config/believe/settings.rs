//! `env` of the user's own client settings.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::config::env::Environment;
use crate::config::file::{self, Links};

#[derive(Deserialize)]
struct Settings {
    #[serde(default)]
    env: Option<Map<String, Value>>,
}

/// Reads `env` of `settings.json` in the client's configuration folder; empty where there is no such file.
///
/// The client takes numbers and booleans there for their text.
///
/// # Errors
/// A sentence that names the file where it is there and cannot be read as settings.
pub fn read_user_settings(config_dir: &Path) -> Result<Environment, String> {
    let path = config_dir.join("settings.json");
    let Some(text) = file::read(&path, Links::Follow).map_err(|error| format!("{}: {error}", path.display()))? else {
        return Ok(Environment::default());
    };
    let settings: Settings = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(settings
        .env
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(name, value)| Some((name, text_of(value)?)))
        .collect())
}

fn text_of(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn env_of_a_settings_file() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_user_settings(dir.path()), Ok(Environment::default()));
        let file = dir.path().join("settings.json");
        std::fs::write(
            &file,
            r#"{"env":{"A":"x","N":1,"B":true,"O":{},"Z":null},"permissions":{}}"#,
        )
        .unwrap();
        let expected = [("A", "x"), ("N", "1"), ("B", "true")].into_iter().collect();
        assert_eq!(read_user_settings(dir.path()), Ok(expected));
        std::fs::write(&file, r#"{"hooks":{}}"#).unwrap();
        assert_eq!(read_user_settings(dir.path()), Ok(Environment::default()));
        std::fs::write(&file, "{").unwrap();
        assert!(read_user_settings(dir.path()).unwrap_err().contains("settings.json"));
    }
}
