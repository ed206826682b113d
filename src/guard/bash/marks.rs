//! Text in which what is not known is marked.
//!
//! A value is a `String`; characters of a private plane stand for what cannot be known before the command runs. So
//! values can be joined, split and compared like any text, and a rule sees at once what is unknown.

use std::borrow::Cow;

/// Unknown, possibly empty: a variable of the environment, the output of a program.
pub(crate) const ANY: char = '\u{F0000}';
/// Some name that is not empty: a file that was found, a user's name.
pub(crate) const ITEM: char = '\u{F0001}';
/// What came over the network.
pub(crate) const NETWORK: char = '\u{F0002}';
/// What was decoded from something unknown.
pub(crate) const DECODED: char = '\u{F0003}';
/// The user's home directory.
pub(crate) const HOME: char = '\u{F0004}';
/// A `*` that the shell expands.
pub(crate) const STAR: char = '\u{F0010}';
/// A `?` that the shell expands.
pub(crate) const QUESTION: char = '\u{F0011}';
/// A `[` that opens a set for the shell.
pub(crate) const SET: char = '\u{F0012}';
/// The process id of a background job; its number follows, then [`END`].
pub(crate) const JOB: char = '\u{F0020}';
/// Process ids found by a name; the name follows, then [`END`].
pub(crate) const PROCESS: char = '\u{F0021}';
/// Ends the text that belongs to a mark.
pub(crate) const END: char = '\u{F0022}';

/// Whether `c` is a mark.
pub(crate) fn is_mark(c: char) -> bool {
    ('\u{F0000}'..='\u{F00FF}').contains(&c)
}

/// Whether `c` stands for text that is not known.
pub(crate) fn is_unknown(c: char) -> bool {
    matches!(c, ANY | ITEM | NETWORK | DECODED)
}

/// Whether `c` is expanded to file names.
pub(crate) fn is_glob(c: char) -> bool {
    matches!(c, STAR | QUESTION | SET)
}

/// The text with its own characters of the private plane replaced, so that none is taken for a mark.
pub(crate) fn clean(source: &str) -> Cow<'_, str> {
    // Every mark's UTF-8 form begins with this byte.
    if source.as_bytes().contains(&0xF3) && source.chars().any(is_mark) {
        Cow::Owned(
            source
                .chars()
                .map(|c| if is_mark(c) { '\u{FFFD}' } else { c })
                .collect(),
        )
    } else {
        Cow::Borrowed(source)
    }
}

/// The text with glob marks as the characters they were.
pub(crate) fn unglob(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            STAR => '*',
            QUESTION => '?',
            SET => '[',
            other => other,
        })
        .collect()
}

/// Bare text with its glob characters marked.
pub(crate) fn glob(text: &str) -> Cow<'_, str> {
    if text.contains(['*', '?', '[']) {
        Cow::Owned(
            text.chars()
                .map(|c| match c {
                    '*' => STAR,
                    '?' => QUESTION,
                    '[' => SET,
                    other => other,
                })
                .collect(),
        )
    } else {
        Cow::Borrowed(text)
    }
}

/// The text as a person reads it: marks spelled out.
pub(crate) fn show(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ANY | ITEM => shown.push('…'),
            NETWORK => shown.push_str("(network)"),
            DECODED => shown.push_str("(decoded)"),
            HOME => shown.push('~'),
            STAR => shown.push('*'),
            QUESTION => shown.push('?'),
            SET => shown.push('['),
            JOB => shown.push_str("job "),
            PROCESS => shown.push_str("process of "),
            END => {}
            other => shown.push(other),
        }
    }
    shown
}

/// Whether anything in the text is unknown.
pub(crate) fn has_unknown(text: &str) -> bool {
    text.contains(is_unknown)
}

/// The numbers of the background jobs whose ids are in the text.
pub(crate) fn jobs_in(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.split(JOB)
        .skip(1)
        .filter_map(|rest| rest.split(END).next())
        .filter_map(|number| number.parse().ok())
}

/// Adds an unknown, once where several would follow each other.
pub(crate) fn push_mark(text: &mut String, mark: char) {
    if !text.ends_with(mark) {
        text.push(mark);
    }
}

/// Whether a pattern with glob marks matches `name`. Costs at most the product of both lengths.
pub(crate) fn glob_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        let (fits, width) = one_fits(pattern.get(p..).unwrap_or(&[]), name.get(n).copied());
        if pattern.get(p) == Some(&STAR) || pattern.get(p) == Some(&ANY) || pattern.get(p) == Some(&ITEM) {
            retry = Some((p + 1, n));
            p += 1;
        } else if fits {
            p += width;
            n += 1;
        } else if let Some((after, from)) = retry {
            p = after;
            n = from + 1;
            retry = Some((after, from + 1));
        } else {
            return false;
        }
    }
    pattern.get(p..).unwrap_or(&[]).iter().all(|c| matches!(*c, STAR | ANY))
}

/// Whether the first sign of `pattern` takes `c`, and how many characters of the pattern that sign has.
fn one_fits(pattern: &[char], c: Option<char>) -> (bool, usize) {
    match (pattern.first(), c) {
        (Some(&QUESTION), Some(_)) => (true, 1),
        (Some(&SET), Some(c)) => set_fits(pattern, c),
        (Some(sign), Some(c)) => (*sign == c, 1),
        _ => (false, 1),
    }
}

fn set_fits(pattern: &[char], c: char) -> (bool, usize) {
    let inner = pattern.get(1..).unwrap_or(&[]);
    let negated = matches!(inner.first(), Some('!' | '^'));
    let start = usize::from(negated);
    let Some(end) = inner
        .iter()
        .skip(start + 1)
        .position(|x| *x == ']')
        .map(|at| at + start + 1)
    else {
        return (c == '[', 1);
    };
    let members = inner.get(start..end).unwrap_or(&[]);
    let ranged = members
        .windows(3)
        .any(|w| matches!(w, [low, '-', high] if (*low..=*high).contains(&c)));
    let inside = members.contains(&c) || ranged;
    (inside != negated, end + 2)
}
