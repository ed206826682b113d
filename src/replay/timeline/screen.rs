//! What an event passes before anyone sees it: secrets are taken out, and what was taken is counted.

use super::event::{Event, Part};
use super::play::Summary;
use super::totals::Totals;
use super::tree::SessionView;
use crate::base::redact::{Redactor, Report};

/// Takes secrets out of everything that is shown, unless it is switched off.
#[derive(Debug)]
pub struct Screen {
    pub(super) redactor: Option<Redactor>,
    pub(super) report: Report,
}

/// What was taken out.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Masked {
    /// Whether redaction was on.
    pub on: bool,
    /// How many secrets of each kind.
    pub kinds: Report,
}

impl Screen {
    /// A screen with `redactor`; none lets everything through.
    #[must_use]
    pub fn new(redactor: Option<Redactor>) -> Self {
        Self {
            redactor,
            report: Report::default(),
        }
    }

    /// What was taken out so far.
    #[must_use]
    pub fn masked(&self) -> Masked {
        Masked {
            on: self.redactor.is_some(),
            kinds: self.report.clone(),
        }
    }

    /// Screens an event.
    pub(super) fn event(&mut self, event: &mut Event) {
        if self.redactor.is_none() {
            return;
        }
        self.text(&mut event.label);
        if let Some(at) = event.at.as_mut().filter(|at| !is_time(at)) {
            self.text(at);
        }
        let turn = event.turn.as_mut();
        let named = turn.map(|turn| [Some(&mut turn.message), turn.model.as_mut()]);
        let ids = named.into_iter().flatten().flatten().chain(event.tool_use_id.as_mut());
        ids.for_each(|id| self.text(id));
        for part in &mut event.parts {
            match part {
                Part::Text(text) => self.text(text),
                Part::Data(data) => self.data(data),
                Part::Diff(diff) => {
                    self.text(&mut diff.path);
                    for hunk in &mut diff.hunks {
                        self.lines(&mut hunk.lines);
                    }
                }
                Part::Image(image) => self.text(&mut image.media_type),
            }
        }
    }

    /// Screens what is said of sessions that are played later: what is taken out is counted then.
    pub fn beforehand(&mut self, views: &mut [SessionView]) {
        let report = self.report.clone();
        for view in views {
            self.session(view);
        }
        self.report = report;
    }

    /// Screens what is said of a session.
    pub(super) fn session(&mut self, view: &mut SessionView) {
        self.totals(&mut view.totals);
        let texts = [
            &mut view.session,
            &mut view.agent,
            &mut view.call,
            &mut view.agent_type,
            &mut view.description,
            &mut view.ending,
            &mut view.file,
            &mut view.unreadable,
        ];
        for text in texts.into_iter().flatten() {
            self.text(text);
        }
    }

    /// Screens what is said at the end: names of files and models, and what a parser says of a line it cannot read.
    pub(super) fn summary(&mut self, summary: &mut Summary) {
        self.totals(&mut summary.totals);
        for broken in &mut summary.broken_lines {
            self.text(&mut broken.file);
            self.text(&mut broken.error);
        }
        for skipped in &mut summary.skipped {
            self.text(&mut skipped.file);
            self.text(&mut skipped.reason);
        }
    }

    fn totals(&mut self, totals: &mut Totals) {
        if self.redactor.is_none() {
            return;
        }
        for (mut model, part) in std::mem::take(&mut totals.models) {
            self.text(&mut model);
            // Two names that differ in their secret alone stay two.
            while totals.models.contains_key(&model) {
                model.push('\'');
            }
            totals.models.insert(model, part);
        }
    }

    /// Screens a text.
    pub(super) fn text(&mut self, text: &mut String) {
        if let Some(redactor) = self.redactor.as_ref().filter(|_| !text.is_empty()) {
            let redacted = redactor.text(text);
            self.report.add(&redacted.report);
            *text = redacted.text;
        }
    }

    /// Screens the lines of a change as one text: a key may span them. Their signs stay out of it.
    fn lines(&mut self, lines: &mut Vec<String>) {
        let mut whole = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
        for line in lines.iter() {
            whole.push_str(parted(line).1);
            whole.push('\n');
        }
        let before = self.report.total();
        self.text(&mut whole);
        if self.report.total() == before {
            return;
        }
        // Where a secret went over several lines they are fewer now, and the signs of the rest are not known any more:
        // the first one goes on.
        let signs: Vec<&str> = lines.iter().map(|line| parted(line).0).collect();
        let fewer = whole.lines().count() != lines.len();
        let screened = whole.lines().enumerate().map(|(at, line)| {
            let sign = if fewer { signs.first() } else { signs.get(at) };
            format!("{}{line}", sign.copied().unwrap_or(" "))
        });
        *lines = screened.collect();
    }
}

/// A line of a change: its sign, and what follows. A line without a sign is all content.
fn parted(line: &str) -> (&str, &str) {
    let sign = usize::from(line.starts_with([' ', '+', '-', '\\']));
    line.split_at_checked(sign).unwrap_or(("", line))
}

/// Whether a text is made of what a time is made of: nothing in it can be a secret that a rule knows.
fn is_time(text: &str) -> bool {
    let made_of = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b'.' | b'+' | b'T' | b'Z');
    text.len() <= 35 && text.bytes().all(made_of)
}
