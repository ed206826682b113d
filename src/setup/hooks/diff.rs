//! What would change in a file, for people.

use std::path::Path;

use similar::TextDiff;

use crate::base::redact::Redactor;
use crate::base::visible;

/// The change as a unified diff, secrets masked and control characters shown.
pub(super) fn diff(path: &Path, before: &str, after: &str) -> String {
    let name = path.display().to_string();
    let lines = TextDiff::from_lines(before, after);
    let text = lines.unified_diff().context_radius(3).header(&name, &name).to_string();
    let masked = Redactor::default().text(&text).text;
    visible(&masked).into_owned()
}
