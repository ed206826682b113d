//! `.spawned-cost.json`: what fullsend's post script reads (experiment 0025's shape), summed over all cells, and the
//! list of them. It is always rebuilt from the records under the ledger's lock, so hooks that end together lose none.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::error::LedgerError;
use super::files;
use super::record::{End, Record};
use super::store::Store;
use crate::base::{SessionId, ToolUseId, UnixNanos};
use crate::protocol::Tokens;

/// The file's name in `$FULLSEND_OUTPUT_DIR`.
pub const NAME: &str = ".spawned-cost.json";

/// The file's content. The first eight fields are experiment 0025's; unknown counts are 0 there, as its readers expect
/// numbers, and `cost_unknown_cells` says how many cells the total leaves out.
#[derive(Debug, PartialEq, Serialize)]
pub struct CostFile {
    total_cost_usd: f64,
    session_id: Option<SessionId>,
    num_turns: u64,
    duration_ms: u64,
    model: Option<String>,
    start_time_unix_nano: UnixNanos,
    end_time_unix_nano: UnixNanos,
    usage: Usage,
    cost_unknown_cells: usize,
    cells: Vec<CellCost>,
}

#[derive(Debug, PartialEq, Serialize)]
#[expect(
    clippy::struct_field_names,
    reason = "the names are those of the file that fullsend's post script reads"
)]
struct Usage {
    input_tokens: u64,
    output_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
}

#[derive(Debug, PartialEq, Serialize)]
struct CellCost {
    tool_use_id: ToolUseId,
    session_id: Option<SessionId>,
    agent_type: String,
    model: Option<String>,
    ending: &'static str,
    cost_usd: Option<f64>,
    tokens: Tokens,
    start_time_unix_nano: UnixNanos,
    end_time_unix_nano: UnixNanos,
}

impl CostFile {
    /// Sums ended cells; `None` where none has ended. The session and model are those of the dearest cell.
    #[must_use]
    pub fn of<'a>(records: impl Iterator<Item = &'a Record>) -> Option<Self> {
        let mut ended: Vec<(&Record, &End)> = records.filter_map(|record| Some((record, record.end()?))).collect();
        ended.sort_by_key(|(record, _)| record.started_unix_nano);
        let cost = |end: &End| end.cost_usd.unwrap_or(0.0);
        let (dearest, dearest_end) = *ended.iter().max_by(|a, b| cost(a.1).total_cmp(&cost(b.1)))?;
        let tokens = ended
            .iter()
            .fold(Tokens::default(), |sum, (_, end)| sum.plus(end.tokens));
        Some(Self {
            total_cost_usd: ended.iter().map(|(_, end)| cost(end)).sum(),
            session_id: dearest.child_session.clone(),
            num_turns: ended.iter().filter_map(|(_, end)| end.num_turns).sum(),
            duration_ms: ended.iter().filter_map(|(_, end)| end.duration_ms).sum(),
            model: dearest_end.model_used.clone(),
            start_time_unix_nano: ended.iter().map(|(record, _)| record.started_unix_nano).min()?,
            end_time_unix_nano: ended.iter().map(|(_, end)| end.ended_unix_nano).max()?,
            usage: Usage {
                input_tokens: tokens.input.unwrap_or(0),
                output_tokens: tokens.output.unwrap_or(0),
                cache_creation_input_tokens: tokens.cache_creation.unwrap_or(0),
                cache_read_input_tokens: tokens.cache_read.unwrap_or(0),
            },
            cost_unknown_cells: ended.iter().filter(|(_, end)| end.cost_usd.is_none()).count(),
            cells: ended.iter().map(|(record, end)| CellCost::of(record, end)).collect(),
        })
    }
}

impl CellCost {
    fn of(record: &Record, end: &End) -> Self {
        Self {
            tool_use_id: record.tool_use_id.clone(),
            session_id: record.child_session.clone(),
            agent_type: record.agent_type.to_string(),
            model: end.model_used.clone(),
            ending: end.ending.word(),
            cost_usd: end.cost_usd,
            tokens: end.tokens,
            start_time_unix_nano: record.started_unix_nano,
            end_time_unix_nano: end.ended_unix_nano,
        }
    }
}

/// Rebuilds `output_dir/.spawned-cost.json` from the records of `store`.
///
/// # Errors
/// [`LedgerError`] where the records cannot be read or the file cannot be written.
pub fn rebuild(store: &Store, output_dir: &Path) -> Result<(), LedgerError> {
    store.locked(|| {
        let listing = store.list()?;
        let Some(costs) = CostFile::of(listing.records.iter().map(|(_, record)| record)) else {
            return Ok(());
        };
        let path = output_dir.join(NAME);
        files::replace(&path, |file| {
            let mut text = serde_json::to_vec_pretty(&costs)?;
            text.push(b'\n');
            file.write_all(&text)
        })
        .map_err(|source| LedgerError::Io {
            what: "write the cost file",
            path,
            source,
        })
    })?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::ending::Ending;
    use crate::ledger::record::{ModelShare, State};
    use crate::ledger::testing::running;

    fn ended(id: &str, start: u64, cost: Option<f64>, output: Option<u64>) -> Record {
        let mut record = running(id, "session");
        record.started_unix_nano = UnixNanos::from_nanos(start);
        let tokens = Tokens {
            output,
            ..Tokens::default()
        };
        let mut end = End::bare(Ending::Completed, UnixNanos::from_nanos(start + 5));
        end.cost_usd = cost;
        end.num_turns = Some(2);
        end.tokens = tokens;
        end.models.insert("m".into(), ModelShare { tokens, cost_usd: cost });
        end.model_used = Some(format!("model-of-{id}"));
        record.state = State::Ended(Box::new(end));
        record
    }

    #[test]
    fn keeps_the_shape_of_the_recorded_file() {
        let recorded: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/fixtures/spawned-cost.json")).unwrap();
        let record = ended("a", 10, Some(0.5), Some(7));
        let ours = serde_json::to_value(CostFile::of([&record].into_iter()).unwrap()).unwrap();
        for (key, value) in recorded.as_object().unwrap() {
            let same_kind = std::mem::discriminant(value) == std::mem::discriminant(&ours[key]);
            assert!(same_kind, "{key}: {value} and {}", ours[key]);
        }
        for key in recorded["usage"].as_object().unwrap().keys() {
            assert!(ours["usage"][key].is_u64(), "usage.{key}");
        }
    }

    #[test]
    fn sums_over_all_ended_cells_and_counts_the_unknown() {
        let records = [
            ended("b", 30, None, None),
            ended("a", 10, Some(0.25), Some(7)),
            ended("c", 20, Some(0.5), Some(1)),
        ];
        let still_running = running("d", "session");
        let file = CostFile::of(records.iter().chain([&still_running])).unwrap();
        assert!((file.total_cost_usd - 0.75).abs() < 1e-12);
        assert_eq!(
            (file.num_turns, file.cost_unknown_cells, file.usage.output_tokens),
            (6, 1, 8)
        );
        assert_eq!(file.model.as_deref(), Some("model-of-c"));
        assert_eq!(
            (file.start_time_unix_nano.as_nanos(), file.end_time_unix_nano.as_nanos()),
            (10, 35)
        );
        let order: Vec<_> = file.cells.iter().map(|cell| cell.tool_use_id.as_str()).collect();
        assert_eq!(order, ["a", "c", "b"]);
    }

    #[test]
    fn no_ended_cell_is_no_file() {
        assert_eq!(CostFile::of([&running("a", "s")].into_iter()), None);
    }
}
