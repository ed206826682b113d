//! Labelled commands: a file of commands with the decision they should get, so that people test their own rules.
//!
//! A line is `id`, `label` (`deny` or `allow`), `family`, `command` and anything more, with tabs between; the command is
//! a JSON string, or a JSON object that stands for the whole `tool_input`. The first line names the columns.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

/// A labelled command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// Its id.
    pub id: String,
    /// Whether it should be refused.
    pub refuse: bool,
    /// Family, for the table.
    pub family: String,
    /// The command.
    pub command: String,
    /// Whether it is to run in the background.
    pub in_background: bool,
}

/// A line that is no labelled command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} {what}")]
pub struct LabelledError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

/// Reads a file of labelled commands.
///
/// # Errors
/// [`LabelledError`] for the first line that is none.
pub fn read_labelled(text: &str) -> Result<Vec<Labelled>, LabelledError> {
    let lines = text
        .lines()
        .enumerate()
        .skip(1)
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| read_line(line).map_err(|what| LabelledError { line: at + 1, what }))
        .collect()
}

fn read_line(line: &str) -> Result<Labelled, &'static str> {
    let mut cells = line.split('\t');
    let mut cell = || cells.next().ok_or("has fewer than four columns");
    let (id, label, family, command) = (cell()?, cell()?, cell()?, cell()?);
    let refuse = match label {
        "deny" => true,
        "allow" => false,
        _ => return Err("has another label than deny or allow"),
    };
    let value: Value = serde_json::from_str(command).map_err(|_| "holds a command that is no JSON")?;
    let (command, in_background) = match &value {
        Value::String(command) => (command.clone(), false),
        Value::Object(input) => {
            let command = input
                .get("command")
                .and_then(Value::as_str)
                .ok_or("holds a tool input without a command")?;
            (
                command.to_owned(),
                input.get("run_in_background").and_then(Value::as_bool).unwrap_or(false),
            )
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err("holds a command that is no string");
        }
    };
    Ok(Labelled {
        id: id.to_owned(),
        refuse,
        family: family.to_owned(),
        command,
        in_background,
    })
}

/// Counts of right and wrong decisions of one family.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    refused: usize,
    missed: usize,
    alarms: usize,
    passed: usize,
}

/// How decisions compare with their labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Score {
    families: BTreeMap<String, Counts>,
    wrong: Vec<String>,
}

impl Score {
    /// Adds a decision.
    pub fn add(&mut self, row: &Labelled, refused: bool) {
        let counts = self.families.entry(row.family.clone()).or_default();
        match (row.refuse, refused) {
            (true, true) => counts.refused += 1,
            (true, false) => counts.missed += 1,
            (false, true) => counts.alarms += 1,
            (false, false) => counts.passed += 1,
        }
        if row.refuse != refused {
            let what = if refused {
                "refused, should pass"
            } else {
                "passed, should be refused"
            };
            self.wrong.push(format!(
                "{}\t{}\t{what}\t{}",
                row.id,
                row.family,
                Value::from(row.command.as_str())
            ));
        }
    }

    /// The rows whose decision differs from their label.
    #[must_use]
    pub fn wrong(&self) -> &[String] {
        &self.wrong
    }

    /// The table, a line a family, then the rows that differ.
    #[must_use]
    pub fn report(&self) -> String {
        let mut text = format!(
            "{:<14}{:>8}{:>8}{:>8}{:>8}\n",
            "family", "refused", "missed", "alarms", "passed"
        );
        let mut total = Counts::default();
        for (family, counts) in &self.families {
            row(&mut text, family, *counts);
            total.refused += counts.refused;
            total.missed += counts.missed;
            total.alarms += counts.alarms;
            total.passed += counts.passed;
        }
        row(&mut text, "total", total);
        for wrong in &self.wrong {
            text.push_str(wrong);
            text.push('\n');
        }
        text
    }
}

fn row(text: &mut String, family: &str, counts: Counts) {
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{family:<14}{:>8}{:>8}{:>8}{:>8}",
        counts.refused, counts.missed, counts.alarms, counts.passed
    );
}
