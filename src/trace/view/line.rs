//! The words of a line: names, times, tokens and money; every text of another made harmless.

use std::time::Duration;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::bar::{Bar, Origin, Outcome};
use super::totals::Totals;
use crate::base::visible;
use crate::protocol::Tokens;

/// Of a text of another, so many characters are shown at most.
const LONGEST: usize = 300;

/// A text of another in one line.
pub(super) fn harmless(text: &str) -> String {
    let short: String = text.chars().take(LONGEST).collect();
    let cut = if short.len() < text.len() { "…" } else { "" };
    let shown = visible(&short).replace(['\n', '\t'], " ");
    format!("{shown}{cut}")
}

/// What a bar is called.
pub(super) fn label(bar: &Bar) -> String {
    let agent = bar.facts.agent.as_deref().map(harmless).unwrap_or_default();
    match &bar.origin {
        Origin::Cell { .. } => format!("cell {agent}"),
        Origin::Phase => harmless(&bar.name),
        Origin::Run => format!("{} {agent}", harmless(&bar.name)).trim_end().to_owned(),
    }
}

/// What a bar says besides, a part each.
pub(super) fn facts(bar: &Bar) -> Vec<String> {
    let mut parts = Vec::new();
    match &bar.outcome {
        Outcome::Fine => {}
        Outcome::Running => parts.push("running".to_owned()),
        Outcome::Failed(why) => parts.push(format!("FAILED {}", harmless(why)).trim_end().to_owned()),
    }
    match (bar.facts.cost_usd, &bar.origin) {
        (Some(usd), _) => parts.push(dollars(usd)),
        (None, Origin::Cell { .. }) => parts.push("cost unknown".to_owned()),
        (None, Origin::Phase | Origin::Run) => {}
    }
    parts.extend(tokens(&bar.facts.tokens));
    parts.extend(bar.facts.model.as_deref().map(harmless));
    parts.extend(bar.facts.description.as_deref().map(harmless));
    parts
}

/// A sum, in one line.
pub(super) fn sum(totals: &Totals) -> String {
    let cost = match (totals.cost_usd, totals.unknown) {
        (None, _) => "cost unknown".to_owned(),
        (Some(usd), 0) => dollars(usd),
        (Some(usd), unknown) => format!("at least {} ({unknown} unknown)", dollars(usd)),
    };
    let parts: Vec<String> = tokens(&totals.tokens).into_iter().chain([cost]).collect();
    parts.join(" · ")
}

/// `21853 in, 45 out, 7 from the cache`, of those that are known; cache counts of 0 say nothing.
fn tokens(tokens: &Tokens) -> Option<String> {
    let some = |count: Option<u64>| count.filter(|count| *count > 0);
    let counts = [
        (tokens.input, "in"),
        (tokens.output, "out"),
        (some(tokens.cache_read), "from the cache"),
        (some(tokens.cache_creation), "to the cache"),
    ];
    let known = counts
        .iter()
        .filter_map(|(count, what)| count.map(|count| format!("{count} {what}")));
    let parts: Vec<String> = known.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// To the ten-thousandth of a dollar, and further where there is nothing before that.
fn dollars(usd: f64) -> String {
    if usd > 0.0 && usd < 0.001 {
        format!("${usd:.7}")
    } else {
        format!("${usd:.4}")
    }
}

/// A length of time, at most nine characters.
pub(super) fn length(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => format!("{} ms", time.as_millis()),
        1..=99 => format!("{seconds}.{} s", time.subsec_millis() / 100),
        100..=5999 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        6000.. => format!("{} h {:02} m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// `text` in exactly `columns` columns of a terminal.
pub(super) fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return format!("{text}{}", " ".repeat(columns - text.width()));
    }
    let (begin, _) = split(text, columns.saturating_sub(1));
    format!("{begin}…{}", " ".repeat(columns.saturating_sub(begin.width() + 1)))
}

/// The longest beginning of `text` that fits into `columns`, and the rest.
fn split(text: &str, columns: usize) -> (&str, &str) {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > columns {
            return text.split_at_checked(at).unwrap_or((text, ""));
        }
    }
    (text, "")
}

/// The parts in lines of at most `columns`, broken between parts where that is possible.
pub(super) fn wrap(parts: &[String], columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for part in parts {
        let joined = if line.is_empty() {
            part.clone()
        } else {
            format!("{line} · {part}")
        };
        if joined.width() <= columns {
            line = joined;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        let mut rest = part.as_str();
        while rest.width() > columns {
            let (begin, after) = split(rest, columns);
            // Between words, where there are several.
            let words = begin.rfind(' ').filter(|at| *at > 0 && !after.starts_with(' '));
            let (begin, after) = words.and_then(|at| rest.split_at_checked(at)).unwrap_or((begin, after));
            lines.push(begin.to_owned());
            rest = after.trim_start_matches(' ');
        }
        rest.clone_into(&mut line);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::forest::tests::{cell, span};
    use super::*;

    #[test]
    fn lengths_of_time_read_well() {
        for (millis, text) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1000, "1.0 s"),
            (99_990, "99.9 s"),
            (125_000, "2 m 05 s"),
            (6_000_000, "1 h 40 m"),
        ] {
            assert_eq!(length(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn what_is_known_is_said_and_no_zero_is_made_up() {
        let mut bar = cell(("a", "1"), None, "main", "child", 0);
        assert_eq!(facts(&bar), ["cost unknown"]);
        bar.facts.tokens.output = Some(0);
        bar.facts.tokens.cache_read = Some(7);
        bar.facts.cost_usd = Some(0.000_061_2);
        bar.facts.model = Some("claude\u{1b}[31m".into());
        bar.outcome = Outcome::Failed("timed\nout".into());
        let expected = [
            "FAILED timed out",
            "$0.0000612",
            "0 out, 7 from the cache",
            "claude␛[31m",
        ];
        assert_eq!(facts(&bar), expected);
        assert!(facts(&span("sandbox_create", ("a", "1"), None, 0)).is_empty());
    }

    #[test]
    fn sums_say_what_they_do_not_know() {
        let mut totals = Totals {
            cost_usd: Some(0.5),
            ..Totals::default()
        };
        totals.tokens.input = Some(3);
        assert_eq!(sum(&totals), "3 in · $0.5000");
        totals.unknown = 2;
        assert_eq!(sum(&totals), "3 in · at least $0.5000 (2 unknown)");
        totals.cost_usd = None;
        assert_eq!(sum(&totals), "3 in · cost unknown");
    }

    #[test]
    fn texts_fit_by_columns_and_not_by_characters() {
        for (text, columns, expected) in [
            ("ab", 4, "ab  "),
            ("abcdef", 4, "abc…"),
            ("漢字漢", 4, "漢… "),
            ("漢字", 4, "漢字"),
            ("", 2, "  "),
        ] {
            assert_eq!(fit(text, columns), expected);
        }
        let parts = ["one".to_owned(), "two".to_owned(), "漢字漢字漢字".to_owned()];
        assert_eq!(wrap(&parts, 9), ["one · two", "漢字漢字", "漢字"]);
        assert_eq!(wrap(&["gone and lost".to_owned()], 10), ["gone and", "lost"]);
        assert_eq!(wrap(&["gone and lost".to_owned()], 8), ["gone and", "lost"]);
        assert_eq!(wrap(&parts, 40), ["one · two · 漢字漢字漢字"]);
    }
}
