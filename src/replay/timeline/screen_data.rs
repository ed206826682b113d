//! Structured data on its way through the screen: what stands before a value may be what tells that it is a secret.

use serde_json::{Map, Value};

use super::screen::Screen;
use crate::base::redact::is_secret_name;

/// A longer text names nothing.
const NAME: usize = 64;
/// The fields of an entry that name its `value`: variables of a container, headers of a request.
const NAMES: [&str; 3] = ["name", "key", "header"];

impl Screen {
    /// Screens structured data.
    pub(super) fn data(&mut self, data: &mut Value) {
        match data {
            Value::String(text) => self.text(text),
            Value::Array(values) => self.list(values),
            Value::Object(fields) => self.fields(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn fields(&mut self, fields: &mut Map<String, Value>) {
        let named_by = NAMES.iter().find_map(|name| telling(fields.get(*name)?.as_str()?));
        if let (Some(name), Some(Value::String(text))) = (named_by, fields.get_mut("value")) {
            self.named(&name, text);
        }
        for (name, value) in fields.iter_mut() {
            self.field(name, value);
        }
        self.names(fields);
    }

    fn field(&mut self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) => self.named(name, text),
            Value::Array(values) if is_secret_name(name) => {
                for value in values {
                    self.field(name, value);
                }
            }
            Value::Number(number) if is_secret_name(name) => {
                let (written, mut text) = (number.to_string(), number.to_string());
                self.named(name, &mut text);
                if text != written {
                    *value = Value::String(text);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => self.data(value),
        }
    }

    /// Screens the names of fields, which a map of tokens has for keys.
    fn names(&mut self, fields: &mut Map<String, Value>) {
        let before = self.report.total();
        let mut names: Vec<String> = fields.keys().cloned().collect();
        for name in &mut names {
            self.text(name);
        }
        if self.report.total() == before {
            return;
        }
        for (mut name, (_, value)) in names.into_iter().zip(std::mem::take(fields)) {
            // Two names that differ in their secret alone stay two.
            while fields.contains_key(&name) {
                name.push('\'');
            }
            fields.insert(name, value);
        }
    }

    /// Screens a list: the arguments of a command (`--password`, then the password), or a header and its value.
    fn list(&mut self, values: &mut [Value]) {
        let pair = values.len() == 2;
        let mut before: Option<String> = None;
        for value in values {
            let name = before.take();
            let Value::String(text) = value else {
                self.data(value);
                continue;
            };
            let own = telling(text).filter(|own| own.starts_with('-') || (pair && is_header(own)));
            match name {
                Some(name) if names_value(&name, text) => self.named(name.trim_start_matches('-'), text),
                Some(_) | None => self.text(text),
            }
            before = own;
        }
    }

    /// Screens a field's text: what its name gives away (`"password": "…"`) is judged with the name before it, as JSON
    /// writes them, so that a value of several words or lines is taken whole.
    fn named(&mut self, name: &str, text: &mut String) {
        let judged = self
            .redactor
            .as_ref()
            .filter(|_| is_secret_name(name))
            .and_then(|redactor| {
                let prefix = format!("{}: ", Value::from(name));
                let redacted = redactor.text(&format!("{prefix}{}", Value::from(text.as_str())));
                let value: String = serde_json::from_str(redacted.text.strip_prefix(&prefix)?).ok()?;
                (redacted.report.total() > 0).then_some((value, redacted.report))
            });
        match judged {
            Some((value, report)) => {
                self.report.add(&report);
                *text = value;
            }
            None => self.text(text),
        }
    }
}

/// A text that may be the name of a secret.
fn telling(text: &str) -> Option<String> {
    (text.len() <= NAME && !text.contains('=') && is_secret_name(text)).then(|| text.to_owned())
}

/// Whether a name is one of a header: what else stands in a list of two may be a list of names.
fn is_header(name: &str) -> bool {
    name.contains('-')
        || ["authorization", "cookie"]
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether what follows a name in a list is its value: a list of names (`["x-api-key", "host"]`) holds none.
fn names_value(name: &str, text: &str) -> bool {
    if name.starts_with('-') {
        return !text.starts_with('-');
    }
    text.len() >= 8 && text.bytes().any(|byte| byte.is_ascii_digit() || byte == b'=')
}
