//! The rows that are printed.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// One figure, and the bar that it is held to if there is one.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    what: String,
    measured: String,
    /// The bar as text, and whether it holds.
    bar: Option<(String, bool)>,
    /// The load average of the machine in the minute before, over all processors.
    load: String,
}

impl Row {
    /// A figure without a bar, for comparison.
    pub(crate) fn told(what: impl Into<String>, measured: impl Into<String>) -> Self {
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            what: what.into(),
            measured: measured.into(),
            bar: None,
            load: load.split(' ').next().unwrap_or_default().to_owned(),
        }
    }

    /// The same figure, held to a bar.
    pub(crate) fn held_to(mut self, bar: impl Into<String>, holds: bool) -> Self {
        self.bar = Some((bar.into(), holds));
        self
    }

    /// Whether it has a bar that does not hold.
    pub(crate) fn is_missed(&self) -> bool {
        self.bar.as_ref().is_some_and(|(_, holds)| !holds)
    }

    fn cells(&self) -> [&str; 5] {
        let (bar, ok) = match &self.bar {
            Some((bar, true)) => (bar.as_str(), "yes"),
            Some((bar, false)) => (bar.as_str(), "NO"),
            None => ("", ""),
        };
        [&self.what, &self.measured, bar, ok, &self.load]
    }
}

/// The rows as a table of aligned columns.
pub(crate) fn text(rows: &[Row]) -> String {
    let head = ["what", "measured", "bar", "ok", "load"];
    let lines: Vec<[&str; 5]> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().enumerate();
        let padded: Vec<String> = cells.map(|(n, cell)| format!("{cell:<0$}", width(n))).collect();
        writeln!(text, "{}", padded.join(" | ").trim_end()).unwrap();
    }
    text
}

/// The middle of the values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let at = |n: usize| values.get(n).copied().unwrap_or(f64::NAN);
    f64::midpoint(at(values.len().saturating_sub(1) / 2), at(values.len() / 2))
}
