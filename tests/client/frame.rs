//! What the client makes of a tool's output before its model sees it.

use std::fs;

use serde_json::Value;

use crate::BETWEEN;
use crate::OLDEST;
use crate::run::text_of;

/// From 2.1.295 on these end a line of the frame, which gets a new line of the client's.
const LINE_ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Fails unless `given`, the tool result that the parent's request held, or the file that it says the rest is in, holds
/// `text` and nothing else but the client's own frame.
pub(crate) fn assert_holds(version: &str, given: &str, text: &str, what: &str) {
    let whole = saved(given).unwrap_or_else(|| given.to_owned());
    let cut = |text: &str| text.chars().take(1500).collect::<String>();
    let (head, report) = if version == OLDEST || version == BETWEEN[0] {
        ("", text.to_owned())
    } else {
        ("The report follows:\n", indented(text))
    };
    let body = whole.split_once(head).map(|(_, body)| body);
    let body = body.and_then(|body| body.strip_prefix(&report));
    assert!(
        body.is_some_and(|rest| rest.starts_with("\nagentId: ")),
        "{what}: {:?} is not the frame of {:?}",
        cut(&whole),
        cut(&report)
    );
}

/// The content of the file that a large output was saved to (2.1.156 to 2.1.332: JSON of the blocks).
fn saved(given: &str) -> Option<String> {
    let (_, rest) = given
        .strip_prefix("<persisted-output>")?
        .split_once("Full output saved to: ")?;
    let path = rest.lines().next()?;
    let blocks: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    Some(text_of(&blocks))
}

/// The lines of `text`, as the client indents them.
fn indented(text: &str) -> String {
    let one_end = text.replace("\r\n", "\n");
    let lines: Vec<String> = one_end.split(LINE_ENDS).map(|line| format!("  {line}")).collect();
    lines.join("\n")
}
