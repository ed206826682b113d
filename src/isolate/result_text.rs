//! The text that the parent should get for an ended cell: the same for every way of handing it over.

use std::borrow::Cow;
use std::path::Path;

use crate::ledger::{End, Ending};

/// The first line of every failed cell's text. It never changes, so that people and programs can look for it.
pub const FAILURE_LINE: &str = "[subcell] The isolated subagent FAILED: there is no result of this task.";

/// Above this a result is not put into a prompt or a denial: a model's output limit would cut it somewhere unmarked.
pub const WHOLE_LIMIT: usize = 100 * 1024;
/// What is put in of a longer one.
pub const CUT_TO: usize = 2 * 1024;

/// The answer of a completed cell, decoded once; of any other, why there is none. `answer` is what the result's file
/// holds. A kept worktree is named after it.
#[must_use]
pub fn for_parent(end: &End, answer: Option<&[u8]>, record: Option<&Path>) -> String {
    match (&end.ending, answer) {
        (Ending::Completed, Some(answer)) => {
            let mut text = String::from_utf8_lossy(answer).into_owned();
            text.push_str(&worktree_note(end).unwrap_or_default());
            text
        }
        (ending, _) => failure(ending, record),
    }
}

/// The same where it has to fit into a prompt or a denial: of a long answer the beginning, marked as cut.
#[must_use]
pub fn shortened<'a>(
    end: &End,
    answer: Option<&'a [u8]>,
    record: Option<&Path>,
    result_file: Option<&Path>,
) -> Shown<'a> {
    match (&end.ending, answer) {
        (Ending::Completed, Some(answer)) => {
            let mut shown = shown(answer, result_file);
            if let Some(note) = worktree_note(end) {
                shown.text.to_mut().push_str(&note);
            }
            shown
        }
        (ending, _) => Shown {
            text: failure(ending, record).into(),
            cut: false,
        },
    }
}

fn worktree_note(end: &End) -> Option<String> {
    let kept = end.worktree.as_ref().filter(|worktree| worktree.kept)?;
    let branch = kept
        .branch
        .as_deref()
        .map(|branch| format!(", branch {branch}"))
        .unwrap_or_default();
    Some(format!(
        "\n\n[subcell] The worktree was kept: {}{branch}",
        kept.folder.display()
    ))
}

/// What the parent is told of a failed cell: the fixed line, the cause, and where the record is.
#[must_use]
pub fn failure(ending: &Ending, record: Option<&Path>) -> String {
    let place = record.map_or_else(
        || "No record could be written.".to_owned(),
        |path| format!("Record: {}", path.display()),
    );
    let cause = if ending.is_success() {
        "its result could not be stored, or is not the one that was".to_owned()
    } else {
        ending.cause()
    };
    format!("{FAILURE_LINE}\nCause ({}): {cause}\n{place}", failure_word(ending))
}

/// One stable word for why there is no result. A cell that completed did its part: what it gave cannot be had any more.
#[must_use]
pub const fn failure_word(ending: &Ending) -> &'static str {
    if ending.is_success() {
        "result_missing"
    } else {
        ending.word()
    }
}

/// What of a text is put into a prompt or a denial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown<'t> {
    /// The text; where it is cut, a last line says so.
    pub text: Cow<'t, str>,
    /// Whether only the beginning of the result is in it.
    pub cut: bool,
}

/// The text that stands for a result's bytes. Of a long one no more is looked at than is shown: it may be as large as a
/// child's output.
#[must_use]
pub fn shown<'t>(result: &'t [u8], result_file: Option<&Path>) -> Shown<'t> {
    if result.len() <= WHOLE_LIMIT {
        let text = String::from_utf8_lossy(result);
        // Bytes that are no text are shown as three each.
        if text.len() <= WHOLE_LIMIT {
            return Shown { text, cut: false };
        }
    }
    let head = head(result);
    let place = result_file.map_or_else(
        || "the whole could not be stored".to_owned(),
        |path| format!("the whole is in the file {}", path.display()),
    );
    let text = format!(
        "{}\n[cut by subcell: the first {} of {} bytes; {place}]",
        String::from_utf8_lossy(head),
        head.len(),
        result.len()
    );
    Shown {
        text: text.into(),
        cut: true,
    }
}

/// The first [`CUT_TO`] bytes, less a character that does not end there.
fn head(result: &[u8]) -> &[u8] {
    const LONGEST_CHARACTER: usize = 4;
    let continues = |at: &usize| result.get(*at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    let end = (CUT_TO.saturating_sub(LONGEST_CHARACTER - 1)..=CUT_TO)
        .rev()
        .find(|at| !continues(at))
        .unwrap_or(CUT_TO);
    result.get(..end).unwrap_or(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::UnixNanos;
    use crate::ledger::record::Worktree;

    #[test]
    fn a_failure_never_begins_as_a_result_could() {
        let end = End::bare(Ending::TimedOut { limit_ms: 300_000 }, UnixNanos::from_nanos(1));
        // What a failed child left is no answer.
        let text = for_parent(&end, Some(b"VERDICT 5/5"), Some(Path::new("/r.json")));
        assert_eq!(text.lines().next(), Some(FAILURE_LINE));
        assert!(text.contains("timed_out") && text.ends_with("Record: /r.json") && !text.contains("VERDICT"));
    }

    #[test]
    fn an_answer_is_decoded_once_and_a_kept_worktree_named() {
        let mut end = End::bare(Ending::Completed, UnixNanos::from_nanos(1));
        assert_eq!(for_parent(&end, Some(b"a\xff\r\n"), None), "a\u{fffd}\r\n");
        end.worktree = Some(Worktree {
            folder: "/w/t".into(),
            branch: Some("worktree-x".into()),
            kept: true,
        });
        assert_eq!(
            for_parent(&end, Some(b"done"), None),
            "done\n\n[subcell] The worktree was kept: /w/t, branch worktree-x"
        );
    }

    #[test]
    fn a_long_result_is_cut_at_a_character_and_says_where_the_whole_is() {
        let exact = "x".repeat(WHOLE_LIMIT);
        let whole = Shown {
            text: exact.as_str().into(),
            cut: false,
        };
        assert_eq!(shown(exact.as_bytes(), None), whole);
        let path = Path::new("/state/toolu_1.result");
        for (long, first) in [
            (format!("{exact}x"), 2048),
            (format!("x{}", "é".repeat(WHOLE_LIMIT)), 2047),
            (format!("xx{}", "\u{1f600}".repeat(WHOLE_LIMIT)), 2046),
        ] {
            let Shown { text, cut } = shown(long.as_bytes(), Some(path));
            let note = format!(
                "\n[cut by subcell: the first {first} of {} bytes; the whole is in the file /state/toolu_1.result]",
                long.len(),
            );
            assert_eq!((cut, text.strip_suffix(&note)), (true, long.get(..first)));
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_cut_by_what_they_are_shown_as() {
        let bytes = vec![0xff; WHOLE_LIMIT / 3];
        assert!(!shown(&bytes, None).cut);
        let bytes = vec![0x80; WHOLE_LIMIT / 3 + 1];
        let Shown { text, cut } = shown(&bytes, None);
        assert!(
            cut && text.contains(&format!("the first 2048 of {} bytes", bytes.len())),
            "{text}"
        );
        assert_eq!(text.matches('\u{fffd}').count(), CUT_TO);
    }
}
