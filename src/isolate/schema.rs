//! The JSON schema that an agent's answer must meet: `[agent.NAME] json_schema = FILE` of the configuration.

use std::path::Path;

use crate::config::file::{self, Links};

/// Reads a schema as the text for `--json-schema`. A client of 2.1.156 takes a broken one, prints nothing and exits with
/// 0; so it is checked here.
///
/// # Errors
/// What is wrong with the file, naming it.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let named = |problem: String| format!("the JSON schema {} {problem}", path.display());
    let text = file::read(path, Links::Follow)
        .map_err(|error| named(format!("cannot be read: {}", crate::base::chain::Chain(&error))))?
        .ok_or_else(|| named("does not exist".to_owned()))?;
    let schema: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| named(format!("is not JSON: {error}")))?;
    if schema.is_object() {
        Ok(schema.to_string())
    } else {
        Err(named("is not a JSON object".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_json_object_is_a_schema() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("schema.json");
        for (text, expected) in [
            ("{ \"type\": \"object\" }", Ok("{\"type\":\"object\"}")),
            ("[]", Err("is not a JSON object")),
            ("{bad", Err("is not JSON")),
        ] {
            std::fs::write(&path, text).unwrap();
            match (read(&path), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(found), Err(expected)) => assert!(found.contains(expected) && found.contains("schema.json")),
                (found, expected) => panic!("{found:?}, expected {expected:?}"),
            }
        }
        assert!(read(&dir.path().join("none")).unwrap_err().contains("does not exist"));
    }
}
