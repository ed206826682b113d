//! Agent definitions: Markdown files with YAML front matter, and the `--agents` JSON.

pub mod definition;
pub mod front_matter;
pub mod json;

pub use definition::{AgentDefinition, AgentFileError};
pub use json::agents_of_json;
