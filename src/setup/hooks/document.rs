//! Changes the hooks of a settings text and nothing else of it: what stands around them stays byte for byte.

use std::collections::BTreeSet;
use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

use super::wanted::Wanted;
use crate::setup::{Form, OurEntry, Work};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Why a text is not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Comments, trailing commas and the like: the client reads none of them.
    #[error(
        "it has comments or other things that JSON does not know ({0}): the client does not load such a file; take them out"
    )]
    NotStrict(String),
    /// It is no JSON.
    #[error("it is no JSON ({0}): mend it first")]
    NotJson(String),
    /// It is JSON of another shape.
    #[error("{0}: nothing can be put there without losing it; mend it first")]
    Shape(String),
}

/// A settings text that can be changed.
#[derive(Debug)]
pub(super) struct Document {
    text: String,
    value: Map<String, Value>,
}

impl Document {
    /// Reads a text; an empty one is an empty document, as the client takes it.
    pub(super) fn parse(text: &str) -> Result<Self, DocumentError> {
        let bare = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        if bare.trim().is_empty() {
            return Ok(Self {
                text: text.to_owned(),
                value: Map::new(),
            });
        }
        let value: Value = serde_json::from_str(bare).map_err(|error| not_json(bare, &error))?;
        let Value::Object(value) = value else {
            return Err(DocumentError::Shape("it is JSON, but no object".to_owned()));
        };
        let document = Self {
            text: text.to_owned(),
            value,
        };
        document.check_shape()?;
        Ok(document)
    }

    /// The value.
    pub(super) const fn value(&self) -> &Map<String, Value> {
        &self.value
    }

    /// Our entries.
    pub(super) fn ours(&self) -> Vec<OurEntry> {
        OurEntry::all(&self.value)
    }

    /// `hooks` and the events in it that hold nothing.
    pub(super) fn empty_places(&self) -> BTreeSet<String> {
        let hooks = self.value.get("hooks").and_then(Value::as_object);
        let whole = hooks.filter(|hooks| hooks.is_empty()).map(|_| "hooks".to_owned());
        let events = hooks.into_iter().flatten();
        let empty = events.filter(|(_, groups)| groups.as_array().is_some_and(Vec::is_empty));
        empty.map(|(event, _)| event.clone()).chain(whole).collect()
    }

    /// The text with the wanted entries in it, in place of those of the same hooks that it has, and without any other
    /// entry of the hooks in `works`. Where everything is as wanted it is the same text.
    pub(super) fn with(
        &self,
        wanted: &[Wanted],
        works: &BTreeSet<Work>,
        program: &Path,
    ) -> Result<String, DocumentError> {
        let root = self.tree()?;
        let top = root.object_value_or_set();
        let stale = |entry: &OurEntry| works.contains(&entry.work) && entry.form != Form::Wrapped;
        let mut taken = Vec::new();
        let mut missing = Vec::new();
        for wish in wanted {
            let group = wish.group(program);
            let mut of_it = self
                .ours()
                .into_iter()
                .filter(|entry| stale(entry) && wish.is_for(entry));
            match of_it.find(|entry| self.is_alone(entry)) {
                Some(entry) => {
                    if self.group(&entry) != Some(&group) {
                        replace_group(&top, &entry, &group);
                    }
                    taken.push((entry.event, entry.group, entry.hook));
                }
                None => missing.push((wish.event, group)),
            }
        }
        let gone: Vec<OurEntry> = self
            .ours()
            .into_iter()
            .filter(|entry| stale(entry) && !taken.contains(&(entry.event.clone(), entry.group, entry.hook)))
            .collect();
        remove_entries(&top, &gone, &BTreeSet::new());
        for (event, group) in missing {
            let events = top.object_value_or_set("hooks");
            events.array_value_or_set(event).append(input(&group));
        }
        self.finish(&root)
    }

    /// The text without our entries. A place that holds nothing then goes too, unless it is one of `keep`.
    pub(super) fn without(&self, keep: &BTreeSet<String>) -> Result<String, DocumentError> {
        let gone: Vec<OurEntry> = self
            .ours()
            .into_iter()
            .filter(|entry| entry.form != Form::Wrapped)
            .collect();
        if gone.is_empty() {
            return Ok(self.text.clone());
        }
        let root = self.tree()?;
        remove_entries(&root.object_value_or_set(), &gone, keep);
        self.finish(&root)
    }

    fn tree(&self) -> Result<CstRootNode, DocumentError> {
        let text = self.text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.text);
        CstRootNode::parse(text, &strict()).map_err(|error| DocumentError::NotJson(error.to_string()))
    }

    /// The new text, where it is JSON and differs from the old one in hooks alone.
    fn finish(&self, root: &CstRootNode) -> Result<String, DocumentError> {
        let mark = if self.text.starts_with(BYTE_ORDER_MARK) {
            "\u{feff}"
        } else {
            ""
        };
        let text = format!("{mark}{root}");
        let fresh = Self::parse(&text)?;
        let rest = |value: &Map<String, Value>| {
            let mut rest = value.clone();
            rest.shift_remove("hooks");
            rest
        };
        if rest(&fresh.value) == rest(&self.value) {
            Ok(text)
        } else {
            Err(DocumentError::Shape("it would change beside its hooks".to_owned()))
        }
    }

    fn group(&self, entry: &OurEntry) -> Option<&Value> {
        self.value.get("hooks")?.get(&entry.event)?.get(entry.group)
    }

    fn is_alone(&self, entry: &OurEntry) -> bool {
        let hooks = self.group(entry).and_then(|group| group.get("hooks"));
        hooks.and_then(Value::as_array).is_some_and(|hooks| hooks.len() == 1)
    }

    fn check_shape(&self) -> Result<(), DocumentError> {
        let shape = |what: String| Err(DocumentError::Shape(what));
        let Some(hooks) = self.value.get("hooks") else {
            return self.check_names("hooks", 0);
        };
        let Some(hooks) = hooks.as_object() else {
            return shape("\"hooks\" is no object".to_owned());
        };
        if let Some((event, _)) = hooks.iter().find(|(_, groups)| !groups.is_array()) {
            return shape(format!("\"hooks\".{event:?} is no list"));
        }
        self.check_names("hooks", 1)
    }

    /// A name that stands twice means its last place to the client and its first to an editor of text.
    fn check_names(&self, name: &str, times: usize) -> Result<(), DocumentError> {
        let root = self.tree()?;
        let twice = |name: &str| Err(DocumentError::Shape(format!("{name:?} stands in it more than once")));
        let top = root.object_value();
        let named = |object: &CstObject| -> Vec<String> {
            object
                .properties()
                .iter()
                .filter_map(jsonc_parser::cst::CstObjectProp::decoded_name)
                .collect()
        };
        if top
            .as_ref()
            .is_some_and(|top| named(top).iter().filter(|found| *found == name).count() > times)
        {
            return twice(name);
        }
        let events = top
            .and_then(|top| top.object_value(name))
            .map(|hooks| named(&hooks))
            .unwrap_or_default();
        let distinct: BTreeSet<&String> = events.iter().collect();
        if distinct.len() < events.len() {
            return twice("an event of \"hooks\"");
        }
        Ok(())
    }
}

const fn strict() -> ParseOptions {
    ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The lenient reader tells a file with comments from one that is broken. It nests as deep as the text does, so a text
/// that the strict one gave up on for its depth is not handed to it.
fn not_json(text: &str, error: &serde_json::Error) -> DocumentError {
    let too_deep = error.to_string().starts_with("recursion limit");
    if !too_deep && CstRootNode::parse(text, &ParseOptions::default()).is_ok() {
        DocumentError::NotStrict(error.to_string())
    } else {
        DocumentError::NotJson(error.to_string())
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => CstInputValue::Object(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), input(value)))
                .collect(),
        ),
    }
}

fn groups_of(top: &CstObject, event: &str) -> Option<CstArray> {
    top.object_value("hooks")?.array_value(event)
}

/// The fresh group is inserted and the old one removed: a replacement would not be indented as its neighbours are.
fn replace_group(top: &CstObject, entry: &OurEntry, group: &Value) {
    let Some(groups) = groups_of(top, &entry.event) else {
        return;
    };
    groups.insert(entry.group, input(group));
    if let Some(old) = groups.elements().into_iter().nth(entry.group + 1) {
        old.remove();
    }
}

/// Takes entries out, the last first so that the places of the others stay true, and then what holds nothing any more.
fn remove_entries(top: &CstObject, gone: &[OurEntry], keep: &BTreeSet<String>) {
    for entry in gone.iter().rev() {
        remove_entry(top, entry, keep);
    }
    let hooks = top
        .object_value("hooks")
        .filter(|_| !gone.is_empty() && !keep.contains("hooks"));
    let empty = hooks.is_some_and(|hooks| hooks.properties().is_empty());
    if let Some(property) = top.get("hooks").filter(|_| empty) {
        property.remove();
    }
}

fn remove_entry(top: &CstObject, entry: &OurEntry, keep: &BTreeSet<String>) -> Option<()> {
    let groups = groups_of(top, &entry.event)?;
    let group = groups.elements().into_iter().nth(entry.group)?;
    let hooks = group.as_object()?.array_value("hooks")?;
    hooks.elements().into_iter().nth(entry.hook)?.remove();
    if hooks.elements().is_empty() {
        group.remove();
    }
    if groups.elements().is_empty() && !keep.contains(&entry.event) {
        top.object_value("hooks")?.get(&entry.event)?.remove();
    }
    Some(())
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
