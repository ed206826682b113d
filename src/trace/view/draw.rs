//! The waterfall as text.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use super::bar::{Bar, Origin, Outcome};
use super::forest::{Row, arrange};
use super::line::{facts, fit, label, length, sum, wrap};
use super::totals::Totals;
use crate::base::UnixNanos;

/// From so many columns on, what a line says stands beside its bar, and below it on narrower ones.
const WIDE: usize = 100;
/// Less is drawn as if it were this.
const NARROWEST: usize = 40;
/// Columns of a length of time.
const LENGTH: usize = 9;

/// How the waterfall looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether there are colours.
    pub colours: bool,
    /// Whether phases of the hook are shown.
    pub phases: bool,
}

/// Draws the bars of one run.
#[must_use]
pub fn draw(bars: &[Bar], look: Look) -> String {
    let shown: Vec<Bar> = bars
        .iter()
        .filter(|bar| look.phases || bar.origin != Origin::Phase)
        .cloned()
        .collect();
    let canvas = Canvas::of(&shown, look);
    let mut out = canvas.head(&shown);
    for row in arrange(&shown) {
        if let Some(bar) = shown.get(row.bar) {
            canvas.row(&mut out, &row, bar);
        }
    }
    canvas.foot(&mut out, bars);
    out
}

struct Canvas {
    look: Look,
    label: usize,
    chart: usize,
    start: UnixNanos,
    end: UnixNanos,
}

impl Canvas {
    fn of(bars: &[Bar], look: Look) -> Self {
        let width = look.width.max(NARROWEST);
        let chart = if width >= WIDE { width / 4 } else { width / 4 - 2 };
        let label = if width >= WIDE {
            width / 4
        } else {
            width - chart - LENGTH - 4
        };
        let start = bars.iter().map(|bar| bar.start).min();
        let end = bars.iter().map(|bar| bar.end).max();
        let zero = UnixNanos::from_nanos(0);
        Self {
            look: Look { width, ..look },
            label,
            chart,
            start: start.unwrap_or(zero),
            end: end.unwrap_or(zero),
        }
    }

    fn dress(&self, style: Style, text: &str) -> String {
        if self.look.colours && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// Which trace, when and how long.
    fn head(&self, bars: &[Bar]) -> String {
        let mut traces: Vec<String> = bars.iter().map(|bar| bar.trace_id.to_string()).collect();
        traces.sort_unstable();
        traces.dedup();
        let which = match traces.as_slice() {
            [one] => format!("trace {one}"),
            // Without a trace of the parent's, every cell begins one.
            several => format!("{} traces", several.len()),
        };
        let began = i128::from(self.start.as_nanos());
        let began = jiff::Timestamp::from_nanosecond(began).map(|time| format!("from {time:.0}"));
        let parts: Vec<String> = [which]
            .into_iter()
            .chain(began.ok())
            .chain([length(self.end.since(self.start))])
            .collect();
        let mut out = String::new();
        for line in wrap(&parts, self.look.width) {
            out.push_str(&self.dress(Style::new().bold(), &line));
            out.push('\n');
        }
        out
    }

    fn row(&self, out: &mut String, row: &Row, bar: &Bar) {
        let name = fit(&format!("{}{}", guides(&row.more), label(bar)), self.label);
        let line = format!(
            "{} {} {}",
            self.dress(style(bar), &name),
            self.dress(style(bar), &self.chart(bar)),
            fit(&length(bar.end.since(bar.start)), LENGTH),
        );
        let parts = facts(bar);
        let used = self.label + self.chart + LENGTH + 4;
        if self.look.width >= WIDE {
            let column = used + 1;
            let mut lines = wrap(&parts, self.look.width - column).into_iter();
            let first = lines.next().unwrap_or_default();
            push_line(out, &format!("{line} {first}"));
            for more in lines {
                push_line(out, &format!("{}{more}", " ".repeat(column)));
            }
        } else {
            push_line(out, &line);
            let above: String = row.more.iter().map(|more| if *more { "│ " } else { "  " }).collect();
            for more in wrap(&parts, self.look.width.saturating_sub(above.width())) {
                push_line(out, &format!("{above}{more}"));
            }
        }
    }

    /// Where on the axis the bar lies: at least one column of it.
    fn chart(&self, bar: &Bar) -> String {
        let whole = self.end.since(self.start).as_nanos().max(1);
        let columns = self.chart as u128;
        let at = |time: UnixNanos| time.since(self.start).as_nanos() * columns / whole;
        let from = at(bar.start).min(columns.saturating_sub(1));
        // A column that is begun counts.
        let until = (bar.end.since(self.start).as_nanos() * columns).div_ceil(whole);
        let until = until.clamp(from + 1, columns.max(1));
        let sign = if bar.outcome == Outcome::Running { '▒' } else { '█' };
        let drawn = (0..columns).map(|column| if (from..until).contains(&column) { sign } else { ' ' });
        format!("|{}|", drawn.collect::<String>())
    }

    fn foot(&self, out: &mut String, bars: &[Bar]) {
        let (cells, run) = (Totals::of_cells(bars), Totals::of_run(bars));
        let mut lines = Vec::new();
        if cells.count > 0 {
            let states = [(cells.failed, "failed"), (cells.running, "running")];
            let states = states.iter().filter(|(count, _)| *count > 0);
            let states: Vec<String> = states.map(|(count, what)| format!("{count} {what}")).collect();
            let states = if states.is_empty() {
                String::new()
            } else {
                format!(" ({})", states.join(", "))
            };
            lines.push(("cells", format!("{}{states} · {}", cells.count, sum(&cells))));
        }
        if run.count > 0 {
            lines.push(("run", format!("{}, cells not counted (fullsend's figure)", sum(&run))));
        }
        if cells.count > 0 && run.count > 0 {
            lines.push(("total", sum(&cells.plus(run))));
        }
        for (name, text) in lines {
            for (number, line) in wrap(&[text], self.look.width - 6).into_iter().enumerate() {
                let name = if number == 0 { name } else { "" };
                push_line(
                    out,
                    &format!("{} {line}", self.dress(Style::new().bold(), &fit(name, 5))),
                );
            }
        }
    }
}

fn push_line(out: &mut String, line: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}", line.trim_end());
}

fn guides(more: &[bool]) -> String {
    let Some((own, above)) = more.split_last() else {
        return String::new();
    };
    // Roots have no line to hang on.
    let Some((_, above)) = above.split_first() else {
        return String::new();
    };
    let mut out: String = above.iter().map(|more| if *more { "│ " } else { "  " }).collect();
    out.push_str(if *own { "├ " } else { "└ " });
    out
}

const fn style(bar: &Bar) -> Style {
    match (&bar.outcome, &bar.origin) {
        (Outcome::Failed(_), _) => AnsiColor::Red.on_default().bold(),
        (Outcome::Running, _) => AnsiColor::Yellow.on_default(),
        (Outcome::Fine, Origin::Cell { .. }) => AnsiColor::Cyan.on_default(),
        (Outcome::Fine, Origin::Phase) => Style::new().dimmed(),
        (Outcome::Fine, Origin::Run) => Style::new(),
    }
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
