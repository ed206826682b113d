//! The JSON schema that an agent's answer must meet: `[agent.NAME] json_schema = FILE` of the configuration.

use std::path::Path;

use crate::config::file::{self, Links};
use crate::protocol::agent_file::AgentDefinition;

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

/// The tool by which a client hands structured output in.
const TOOL: &str = "StructuredOutput";

/// Whether an agent of this definition has the tool that an answer by a schema takes.
pub(super) fn can_be_met(definition: &AgentDefinition) -> bool {
    let listed = definition.tools.as_ref();
    let has_it = listed.is_none_or(|tools| tools.iter().any(|tool| tool == TOOL));
    has_it && !definition.disallowed_tools.iter().any(|tool| tool == TOOL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_tools_has_to_name_the_one_for_the_answer() {
        for (front, expected) in [
            ("", true),
            ("tools: '*'\n", true),
            ("tools: Read, StructuredOutput\n", true),
            ("tools: Read\n", false),
            ("tools: []\n", false),
            ("disallowedTools: StructuredOutput\n", false),
        ] {
            let text = format!("---\nname: judge\ndescription: d\n{front}---\nJudge.\n");
            let definition = AgentDefinition::from_markdown(text.as_bytes()).unwrap();
            assert_eq!(can_be_met(&definition), expected, "{front}");
        }
    }

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
