//! Sending the spans of a run: batch after batch within one budget, each record marked as sent only when its export itself
//! reported a success.

use std::time::Duration;

use super::content::Content;
use super::folders::Folder;
use super::gather::{Cell, Gathered, Standing, gather};
use super::place::Place;
use super::plan::spans;
use crate::base::chain::Chain;
use crate::base::{Deadline, TraceContext};
use crate::ledger::record::ExportState;
use crate::ledger::{LedgerError, Record, State};
use crate::telemetry::{Failure, Sent, Span};

/// Cells of one request: some hundred kilobytes, far below what collectors take (20 MiB as a rule).
const BATCH: usize = 50;
/// Bytes of text after which a request takes no further cell. A record holds up to 4 MiB, and a collector takes a body of
/// some megabytes only (the OpenTelemetry Collector 20 MiB; the exporter itself refuses 64 MiB).
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// The first wait before a request is repeated; each further one is twice as long, to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// What is to be sent, and how long that may take.
#[derive(Debug)]
pub struct Order<'a> {
    /// Where the records are.
    pub folders: &'a [Folder],
    /// The sender's own `TRACEPARENT`.
    pub ours: Option<TraceContext>,
    /// How prompts and results are sent; `None` sends none.
    pub content: Option<&'a Content>,
    /// How long all of it may take.
    pub budget: Duration,
    /// How long one request may take.
    pub timeout: Duration,
}

/// Sends spans within a time.
pub type Send<'a> = &'a dyn Fn(&[Span], Duration) -> Result<Sent, Failure>;

/// The effects of sending, so that a test can stand in for them.
pub struct Ways<'a> {
    /// Sends spans within a time.
    pub send: Send<'a>,
    /// Waits.
    pub wait: &'a dyn Fn(Duration),
    /// Tells whether a record that says "running" is of a cell whose processes are gone.
    pub is_lost: &'a dyn Fn(&Record) -> bool,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cells that were sent.
    pub sent: usize,
    /// Cells that should have been, and wait for another try.
    pub waiting: usize,
    /// Cells that had been sent before.
    pub before: usize,
    /// Cells that still run.
    pub running: usize,
    /// Cells of a trace that is not sampled.
    pub unsampled: usize,
    /// Calls that had no cell.
    pub without_cell: usize,
    /// Records that cannot be read.
    pub broken: usize,
    /// What went wrong, a sentence fragment each.
    pub troubles: Vec<String>,
    /// What the collector wants to be known besides.
    pub warnings: Vec<String>,
}

impl Tally {
    /// Whether everything that should be sent is.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.waiting == 0 && self.broken == 0 && self.troubles.is_empty()
    }
}

/// Sends the spans of every cell that waits for it.
#[must_use]
pub fn emit(order: &Order<'_>, ways: &Ways<'_>) -> Tally {
    let gathered = gather(order.folders, ways.is_lost);
    let mut run = Run {
        order,
        ways,
        gathered: &gathered,
        deadline: Deadline::after(order.budget),
        given_up: false,
        tally: Tally {
            broken: gathered.broken.len(),
            troubles: gathered.broken.clone(),
            ..Tally::default()
        },
    };
    let waiting: Vec<&Cell> = gathered.cells.iter().filter(|cell| run.waits(cell)).collect();
    let mut batch = Batch::default();
    for cell in waiting {
        run.add(cell, &mut batch);
        if batch.is_full() {
            run.deliver(&std::mem::take(&mut batch));
        }
    }
    run.deliver(&batch);
    run.tally
}

struct Run<'a> {
    order: &'a Order<'a>,
    ways: &'a Ways<'a>,
    gathered: &'a Gathered,
    deadline: Deadline,
    given_up: bool,
    tally: Tally,
}

/// A cell of a batch, with its state as it is sent.
struct Loaded<'a> {
    cell: &'a Cell,
    state: State,
}

/// The cells of one request.
#[derive(Default)]
struct Batch<'a> {
    cells: Vec<Loaded<'a>>,
    spans: Vec<Span>,
    bytes: usize,
}

impl<'a> Batch<'a> {
    fn add(&mut self, cell: Loaded<'a>, spans: Vec<Span>) {
        self.cells.push(cell);
        self.bytes += spans.iter().map(Span::text_bytes).sum::<usize>();
        self.spans.extend(spans);
    }

    fn is_full(&self) -> bool {
        self.cells.len() >= BATCH || self.bytes >= BATCH_BYTES
    }
}

impl Run<'_> {
    fn waits(&mut self, cell: &Cell) -> bool {
        match cell.standing {
            Standing::Waits => return true,
            Standing::Sent => self.tally.before += 1,
            Standing::Runs => self.tally.running += 1,
            Standing::NoCell => self.tally.without_cell += 1,
        }
        false
    }

    fn add<'a>(&mut self, cell: &'a Cell, batch: &mut Batch<'a>) {
        if self.given_up {
            self.tally.waiting += 1;
            return;
        }
        match self.load(cell) {
            Ok(Some((state, spans))) => batch.add(Loaded { cell, state }, spans),
            Ok(None) => self.tally.unsampled += 1,
            Err(error) => {
                self.tally.broken += 1;
                self.tally.troubles.push(Chain(&error).to_string());
            }
        }
    }

    fn deliver(&mut self, batch: &Batch<'_>) {
        let loaded = &batch.cells;
        if loaded.is_empty() {
            return;
        }
        match self.send(&batch.spans) {
            Ok(Sent { warning }) => {
                self.tally.warnings.extend(warning);
                self.tally.sent += loaded.len();
                for cell in loaded {
                    self.mark(cell);
                }
            }
            Err(failure) => {
                // What may pass has been tried for as long as there was time; what lasts may be this batch's own.
                self.given_up = matches!(failure, Failure::Passing { .. });
                self.tally.waiting += loaded.len();
                let what = failure.what().to_owned();
                if !self.tally.troubles.contains(&what) {
                    self.tally.troubles.push(what);
                }
            }
        }
    }

    /// The state and spans of a cell; nothing where its trace is not sampled.
    fn load(&self, cell: &Cell) -> Result<Option<(State, Vec<Span>)>, LedgerError> {
        let best = cell.copies.last();
        let found = best.and_then(|copy| Some((copy, self.gathered.stores.get(&copy.folder)?)));
        let Some((copy, store)) = found else { return Ok(None) };
        let record = store.read(&copy.name)?;
        let place = record
            .trace
            .as_ref()
            .map(|ids| Place::of(ids, self.order.ours.as_ref()));
        let Some(place) = place.filter(|place| place.sampled) else {
            return Ok(None);
        };
        let mut spans = spans(&record, &place);
        if let (Some(content), Some(span)) = (self.order.content, spans.first_mut()) {
            let home = self.order.folders.get(copy.folder).map(|folder| folder.home);
            span.attributes.extend(content.of(&record, (store, &copy.name), home));
        }
        Ok(Some((record.state, spans)))
    }

    /// Sends a batch, again and again while there is time and hope.
    fn send(&self, batch: &[Span]) -> Result<Sent, Failure> {
        let mut wait = FIRST_WAIT;
        loop {
            let within = self.deadline.remaining().min(self.order.timeout);
            if within.is_zero() {
                return Err(Failure::Passing {
                    what: format!("no time was left of {} s", self.order.budget.as_secs()),
                    retry_after: None,
                });
            }
            let failure = match (self.ways.send)(batch, within) {
                Ok(sent) => return Ok(sent),
                Err(failure) => failure,
            };
            let Failure::Passing { retry_after, .. } = &failure else {
                return Err(failure);
            };
            // Who asks for no pause, again and again, would be asked thousands of times within the budget.
            let pause = retry_after.map_or(wait, |asked| asked.max(wait));
            if pause >= self.deadline.remaining() {
                return Err(failure);
            }
            (self.ways.wait)(pause);
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// Marks every copy that says what was sent. A record that has changed since waits: it says more now.
    fn mark(&mut self, loaded: &Loaded<'_>) {
        for copy in &loaded.cell.copies {
            let Some(store) = self.gathered.stores.get(&copy.folder) else {
                continue;
            };
            let marked = store.change(&copy.name, |record| {
                if std::mem::discriminant(&record.state) == std::mem::discriminant(&loaded.state) {
                    record.export = ExportState::Sent;
                }
            });
            if let Err(error) = marked {
                let what = format!("the span was sent, and the record cannot be marked: {}", Chain(&error));
                self.tally.troubles.push(what);
            }
        }
    }
}

#[cfg(test)]
#[path = "emit_tests.rs"]
mod tests;
