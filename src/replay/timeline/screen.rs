//! What an event passes before anyone sees it: secrets are taken out, and what was taken is counted.

use serde_json::Value;

use super::event::{Event, Part};
use super::tree::SessionView;
use crate::base::redact::{Redactor, Report, is_secret_name};

/// Takes secrets out of everything that is shown, unless it is switched off.
#[derive(Debug)]
pub struct Screen {
    redactor: Option<Redactor>,
    report: Report,
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
        let texts = [
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
            whole.push_str(line.get(1..).unwrap_or_default());
            whole.push('\n');
        }
        let before = self.report.total();
        self.text(&mut whole);
        if self.report.total() == before {
            return;
        }
        // Where a secret went over several lines they are fewer now, and the signs of the rest are not known any more:
        // the last known one goes on.
        let signs: Vec<char> = lines.iter().map(|line| line.chars().next().unwrap_or(' ')).collect();
        let fewer = whole.lines().count() != lines.len();
        *lines = whole
            .lines()
            .enumerate()
            .map(|(at, line)| {
                let sign = if fewer { signs.first() } else { signs.get(at) };
                format!("{}{line}", sign.copied().unwrap_or(' '))
            })
            .collect();
    }

    fn data(&mut self, data: &mut Value) {
        match data {
            Value::String(text) => self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.data(value)),
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    match value {
                        Value::String(text) => self.named(name, text),
                        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                            self.data(value);
                        }
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Screens a field's text: what its name gives away (`"password": "…"`) is judged with the name before it.
    fn named(&mut self, name: &str, text: &mut String) {
        let before = self.report.total();
        self.text(text);
        if self.report.total() > before || !is_secret_name(name) {
            return;
        }
        let Some(redactor) = &self.redactor else { return };
        let prefix = format!("{name}: ");
        let redacted = redactor.text(&format!("{prefix}{text}"));
        if let Some(value) = redacted.text.strip_prefix(&prefix) {
            self.report.add(&redacted.report);
            value.clone_into(text);
        }
    }
}
