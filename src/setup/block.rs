//! What the user is told to do with the client's settings. They are never written.

use serde_json::json;

use super::places::{GUARD, Places};

/// The block that follows an installation.
#[must_use]
pub fn block(places: &Places) -> String {
    let binary = places.binary.to_string_lossy();
    let knobs = places.knobs.to_string_lossy();
    let entry = json!({"SubagentStop": [{"hooks": [{
        "type": "command",
        "command": binary,
        "args": ["--hook", GUARD, "--knobs", knobs],
        "timeout": 30,
    }]}]});
    format!(
        "settings:\n\
         \x20 needs: Claude Code 2.1.139 or later (2.1.145 or later to see background tasks)\n\
         \x20 merge into the \"hooks\" object of: {settings}\n\
         {entry}\n\
         trial: put \"--observe\" after \"{GUARD}\" in args; nothing is refused then, and {scratch}/{GUARD}.observe.log \
         says what would be\n\
         launch records: {scratch}\n",
        settings = places.settings.display(),
        scratch = places.scratch.display(),
    )
}
