//! One line for each cell.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::base::{UnixNanos, visible};
use crate::ledger::{LedgerError, Record, RecordName, State, Store};

/// Where a cell is in its life, as far as its processes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Its processes run.
    Running,
    /// It has ended, or there was none.
    Over,
    /// Its record says that it runs, and its processes are gone.
    Lost,
}

impl Life {
    /// Judges a record. One that names no process yet is not lost: its hook has just begun.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        let stamped = record.hook_process.is_some() || record.keeper_process.is_some();
        match record.state {
            State::Running if stamped && record.is_lost(crate::base::ProcessIdentity::is_alive) => Self::Lost,
            State::Running => Self::Running,
            State::Ended(_) | State::PassedThrough { .. } | State::Refused { .. } => Self::Over,
        }
    }
}

/// A cell in the list.
#[derive(Debug)]
pub struct Row {
    /// Its record.
    pub record: Record,
    /// Where it is in its life.
    pub life: Life,
    /// The record's file.
    pub path: PathBuf,
}

/// The cells of these folders, oldest first, and what could not be read.
#[must_use]
pub fn list(folders: &[PathBuf]) -> (Vec<Row>, Vec<LedgerError>) {
    let mut rows = Vec::new();
    let mut troubles = Vec::new();
    for folder in folders {
        match read(folder, &mut troubles) {
            Ok(found) => rows.extend(found),
            Err(error) => troubles.push(error),
        }
    }
    rows.sort_by_key(|row| row.record.started_unix_nano);
    (rows, troubles)
}

fn read(folder: &Path, troubles: &mut Vec<LedgerError>) -> Result<Vec<Row>, LedgerError> {
    let Some(store) = Store::existing(folder)? else {
        return Ok(Vec::new());
    };
    let listing = store.list()?;
    troubles.extend(listing.unreadable);
    let row = |(name, record): (RecordName, Record)| Row {
        life: Life::of(&record),
        path: store.record_path(&name),
        record,
    };
    Ok(listing.records.into_iter().map(row).collect())
}

impl Row {
    /// One word for what became of it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match (&self.record.state, self.life) {
            (State::Running, Life::Lost) => "lost",
            (State::Running, Life::Running | Life::Over) => "running",
            (State::Ended(end), _) => end.ending.word(),
            (State::PassedThrough { .. }, _) => "passed_through",
            (State::Refused { .. }, _) => "refused",
        }
    }

    /// The cost in US dollars; `None` is unknown, which is not 0.
    #[must_use]
    pub fn cost_usd(&self) -> Option<f64> {
        self.record.end().and_then(|end| end.cost_usd)
    }

    fn took(&self, now: UnixNanos) -> Option<std::time::Duration> {
        let until = match self.life {
            Life::Running => Some(now),
            Life::Over => self.record.end().map(|end| end.ended_unix_nano),
            Life::Lost => None,
        };
        until.map(|until| until.since(self.record.started_unix_nano))
    }

    /// The row for programs.
    #[must_use]
    pub fn json(&self, now: UnixNanos) -> Value {
        let record = &self.record;
        json!({
            "tool_use_id": record.tool_use_id,
            "cell": record.cell,
            "state": self.word(),
            "agent_type": record.agent_type,
            "description": record.description,
            "parent_session": record.parent_session,
            "child_session": record.child_session,
            "started_unix_nano": record.started_unix_nano,
            "duration_ms": self.took(now).map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
            "cost_usd": self.cost_usd(),
            "model": record.end().and_then(|end| end.model_used.clone()),
            "record": self.path,
        })
    }

    fn columns(&self, now: UnixNanos) -> [String; 6] {
        let record = &self.record;
        let unknown = || "?".to_owned();
        let has_cell = record.child_session.is_some();
        [
            record.tool_use_id.to_string(),
            self.word().to_owned(),
            self.took(now)
                .map_or_else(unknown, |took| format!("{:.1}s", took.as_secs_f64())),
            match self.cost_usd() {
                Some(usd) => format!("${usd:.4}"),
                None if has_cell => unknown(),
                None => "-".to_owned(),
            },
            record.agent_type.to_string(),
            record.description.clone(),
        ]
    }
}

/// The rows as a table, with the sum of what is known to have been paid; control characters are shown, not obeyed.
#[must_use]
pub fn render(rows: &[Row], now: UnixNanos) -> String {
    let head = ["ID", "STATE", "TIME", "COST", "AGENT", "DESCRIPTION"].map(str::to_owned);
    let lines: Vec<[String; 6]> = std::iter::once(head)
        .chain(rows.iter().map(|row| row.columns(now)))
        .map(|columns| columns.map(|text| visible(&text).replace('\n', " ")))
        .collect();
    let mut widths = [0_usize; 6];
    for line in &lines {
        for (width, text) in widths.iter_mut().zip(line) {
            *width = (*width).max(text.chars().count());
        }
    }
    let mut out = String::new();
    for line in &lines {
        let cells: Vec<String> = line
            .iter()
            .zip(widths)
            .map(|(text, width)| format!("{text:<width$}"))
            .collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    let known: f64 = rows.iter().filter_map(Row::cost_usd).sum();
    let running = rows.iter().filter(|row| row.life == Life::Running).count();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{} calls, {running} running, ${known:.4} known to have been paid",
        rows.len()
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ProcessIdentity;
    use crate::ledger::testing::running;
    use crate::ledger::{End, Ending};

    fn row(change: impl FnOnce(&mut Record)) -> Row {
        let mut record = running("toolu_1", "11111111-1111-4111-8111-111111111111");
        change(&mut record);
        Row {
            life: Life::of(&record),
            path: "/x/toolu_1.json".into(),
            record,
        }
    }

    #[test]
    fn a_record_is_lost_only_where_its_processes_are_known_to_be_gone() {
        let own = ProcessIdentity::current();
        let gone = own.clone().map(|own| ProcessIdentity {
            start_ticks: own.start_ticks + 1,
            ..own
        });
        for (hook, keeper, life, word) in [
            (None, None, Life::Running, "running"),
            (own.clone(), None, Life::Running, "running"),
            (gone.clone(), own, Life::Running, "running"),
            (gone.clone(), gone, Life::Lost, "lost"),
        ] {
            let row = row(|record| {
                record.hook_process = hook.clone();
                record.keeper_process = keeper.clone();
            });
            assert_eq!((row.life, row.word()), (life, word), "{hook:?} {keeper:?}");
        }
    }

    #[test]
    fn the_table_says_what_is_known_and_what_is_not() {
        let start = UnixNanos::from_nanos(1_000_000_000);
        let ended = |cost| {
            row(|record| {
                record.started_unix_nano = start;
                record.description = "a\u{1b}[31mb".to_owned();
                let end = End {
                    cost_usd: cost,
                    ..End::bare(Ending::Completed, UnixNanos::from_nanos(3_500_000_000))
                };
                record.state = State::Ended(Box::new(end));
            })
        };
        let rows = [ended(Some(0.25)), ended(None)];
        let shown = render(&rows, start);
        let lines: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["ID", "STATE", "TIME", "COST", "AGENT", "DESCRIPTION"]);
        assert_eq!(lines[1][..4], ["toolu_1", "completed", "2.5s", "$0.2500"]);
        assert_eq!(lines[2][3], "?");
        assert!(!shown.contains('\u{1b}'));
        assert_eq!(
            lines[3].join(" "),
            "2 calls, 0 running, $0.2500 known to have been paid"
        );
        assert_eq!(rows[0].json(start)["duration_ms"], 2500);
    }
}
