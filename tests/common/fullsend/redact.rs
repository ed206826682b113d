//! What fullsend does to every file of a run before the post script sees it.

use std::fs;
use std::path::Path;

use regex::{Captures, Regex};

/// Rewrites the files below `folder`. Only `run-telemetry.jsonl` and folders named `security` are left as they are.
pub(crate) fn redact_folder(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            if name != "security" {
                redact_folder(&path);
            }
        } else if name != "run-telemetry.jsonl"
            && let Ok(text) = fs::read_to_string(&path)
        {
            let redacted = redact(&text);
            if redacted != text {
                fs::write(&path, redacted).unwrap();
            }
        }
    }
}

/// A text value of eight characters and more whose key names a secret keeps its first four; what looks like a model's key
/// is masked wherever it stands; bytes that cannot be seen are taken out.
pub(crate) fn redact(text: &str) -> String {
    let named = r#"(?i)("[^"]*(?:key|token|secret|password|credential|auth)[^"]*"\s*:\s*")([^"]{8,})""#;
    let masked = Regex::new(named).unwrap().replace_all(text, |found: &Captures<'_>| {
        let kept: String = found[2].chars().take(4).collect();
        format!("{}{kept}...\"", &found[1])
    });
    let masked = Regex::new(r"sk-[A-Za-z0-9_-]{20,}")
        .unwrap()
        .replace_all(&masked, "sk-...");
    masked.replace(['\0', '\u{200b}', '\u{200c}', '\u{200d}', '\u{feff}'], "")
}
