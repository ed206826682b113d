//! A configuration file as a tree whose every node knows its line. The only file that names the toml crate.

use toml::de::{DeTable, DeValue};

/// A value and the line that it starts on.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The line, from 1.
    pub line: u32,
    /// The value.
    pub item: Item,
}

/// A TOML value.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A string.
    Text(String),
    /// An integer that fits 64 bits.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date or time, as written.
    Datetime(String),
    /// An array.
    Array(Vec<Node>),
    /// A table.
    Table(Table),
}

impl Item {
    /// What a message calls a value of this kind.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Boolean(_) => "a boolean",
            Self::Datetime(_) => "a date",
            Self::Array(_) => "an array",
            Self::Table(_) => "a table",
        }
    }

    /// The string that it is.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The integer that it is.
    #[must_use]
    pub const fn as_integer(&self) -> Option<i64> {
        if let Self::Integer(number) = self {
            Some(*number)
        } else {
            None
        }
    }

    /// The boolean that it is.
    #[must_use]
    pub const fn as_boolean(&self) -> Option<bool> {
        if let Self::Boolean(flag) = self {
            Some(*flag)
        } else {
            None
        }
    }

    /// The array that it is.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Node]> {
        if let Self::Array(nodes) = self {
            Some(nodes)
        } else {
            None
        }
    }

    /// The table that it is.
    #[must_use]
    pub const fn as_table(&self) -> Option<&Table> {
        if let Self::Table(table) = self {
            Some(table)
        } else {
            None
        }
    }
}

/// The keys of one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The entries, in the order of their keys.
    pub entries: Vec<Entry>,
}

/// One key of a table, with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The line that the key stands on.
    pub line: u32,
    /// The value.
    pub node: Node,
}

/// A text that is not TOML: what is wrong, and on which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
}

impl Table {
    /// Reads a TOML document (1.1).
    ///
    /// # Errors
    /// Every [`SyntaxError`] of the text; never an empty list.
    pub fn parse(text: &str) -> Result<Self, Vec<SyntaxError>> {
        let lines = Lines::of(text);
        let (document, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let described = errors.iter().map(|error| SyntaxError {
                line: error.span().map_or(1, |span| lines.at(span.start)),
                message: error.message().to_owned(),
            });
            return Err(described.collect());
        }
        let mut errors = Vec::new();
        let table = convert_table(document.into_inner(), &lines, &mut errors);
        if errors.is_empty() { Ok(table) } else { Err(errors) }
    }
}

fn convert_table(table: DeTable<'_>, lines: &Lines, errors: &mut Vec<SyntaxError>) -> Table {
    let entry = |(key, value): (toml::Spanned<toml::de::DeString<'_>>, toml::Spanned<DeValue<'_>>)| Entry {
        line: lines.at(key.span().start),
        key: key.into_inner().into_owned(),
        node: convert(value, lines, errors),
    };
    Table {
        entries: table.into_iter().map(entry).collect(),
    }
}

fn convert(value: toml::Spanned<DeValue<'_>>, lines: &Lines, errors: &mut Vec<SyntaxError>) -> Node {
    let line = lines.at(value.span().start);
    let mut out_of_range = |text: &str| {
        errors.push(SyntaxError {
            line,
            message: format!("{text} is out of range"),
        });
    };
    let item = match value.into_inner() {
        DeValue::String(text) => Item::Text(text.into_owned()),
        DeValue::Boolean(flag) => Item::Boolean(flag),
        DeValue::Datetime(datetime) => Item::Datetime(datetime.to_string()),
        DeValue::Integer(integer) => Item::Integer(
            i64::from_str_radix(integer.as_str(), integer.radix())
                .inspect_err(|_| out_of_range(integer.as_str()))
                .unwrap_or_default(),
        ),
        DeValue::Float(float) => Item::Float(
            float
                .as_str()
                .parse()
                .inspect_err(|_| out_of_range(float.as_str()))
                .unwrap_or_default(),
        ),
        DeValue::Array(array) => Item::Array(array.into_iter().map(|node| convert(node, lines, errors)).collect()),
        DeValue::Table(table) => Item::Table(convert_table(table, lines, errors)),
    };
    Node { line, item }
}

/// Where each line of a text begins.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(after_breaks).collect())
    }

    fn at(&self, offset: usize) -> u32 {
        let line = self.0.partition_point(|start| *start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_knows_its_line() {
        let text = "a = 1\n\n[t]\nb = \"x\"\nc = [\n  true,\n  0x1F,\n]\n[t.u]\nd = 1.5\ne = 1979-05-27\n";
        let table = Table::parse(text).unwrap();
        let found = |table: &Table, key: &str| table.entries.iter().find(|entry| entry.key == key).cloned().unwrap();
        let below = |table: &Table, key: &str| found(table, key).node.item.as_table().cloned().unwrap();
        let top = found(&table, "a");
        assert_eq!((top.line, top.node.item), (1, Item::Integer(1)));
        let first = below(&table, "t");
        let text = found(&first, "b");
        assert_eq!((text.line, text.node.item), (4, Item::Text("x".into())));
        let array = found(&first, "c");
        let items: Vec<_> = array.node.item.as_array().unwrap().iter().collect();
        assert_eq!((items[0].line, &items[0].item), (6, &Item::Boolean(true)));
        assert_eq!((items[1].line, &items[1].item), (7, &Item::Integer(31)));
        let second = below(&first, "u");
        assert_eq!(found(&second, "d").node.item, Item::Float(1.5));
        let date = found(&second, "e");
        assert_eq!((date.line, date.node.item), (11, Item::Datetime("1979-05-27".into())));
    }

    #[test]
    fn each_syntax_error_is_named_with_its_line() {
        let errors = Table::parse("a = 1\nb = \nc = 2\nc = 3\n").unwrap_err();
        let lines: Vec<u32> = errors.iter().map(|error| error.line).collect();
        assert_eq!(lines, [2, 4], "{errors:?}");
        let errors = Table::parse("x = 1\ny = 99999999999999999999\n").unwrap_err();
        assert_eq!(errors[0].line, 2);
        assert!(errors[0].message.contains("out of range"));
    }

    #[test]
    fn depth_that_would_exhaust_the_stack_is_an_error() {
        assert!(Table::parse(&format!("a = {}{}", "[".repeat(50_000), "]".repeat(50_000))).is_err());
    }
}
