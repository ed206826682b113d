//! The cell's span, sent by the hook itself once the cell has ended, where the user's configuration names a collector.
//!
//! The client waits for the hook, so there is one try inside of a hard budget; a span that is not known to have arrived waits
//! in its record for `subcell emit`.

use std::sync::mpsc;
use std::time::Duration;

use super::run::Firing;
use crate::base::Deadline;
use crate::base::chain::Chain;
use crate::config::Problem;
use crate::ledger::Record;
use crate::ledger::record::TraceIds;
use crate::telemetry::settings::resolve;
use crate::telemetry::{Exporter, Proxy, Raw, Settings, Span, Target, from_room, live};
use crate::trace::{Place, spans};

/// How much longer a call may take for its span.
const BUDGET: Duration = Duration::from_millis(200);

/// Where this hook sends spans: `[telemetry]` of the user's file. The client takes every `OTEL_*` away from its hooks (2.1.156
/// to 2.1.332), and a repository's settings could set them again: they are not read here. One is by the exporter itself: a
/// body is packed where `OTEL_EXPORTER_OTLP_COMPRESSION` says so, and says that it is.
///
/// # Errors
/// What is wrong with the settings, a sentence for the user. The cell is not refused for it.
fn target(firing: &Firing<'_>) -> Result<Option<Settings>, String> {
    let rooms = firing.profile.rooms.telemetry.iter().map(from_room);
    match resolve(rooms.reduce(Raw::over).unwrap_or_default()) {
        Ok((Target::To(settings), _)) => Ok(Some(*settings)),
        Ok((Target::Nowhere | Target::Off { .. }, _)) => Ok(None),
        Err(problems) => {
            let problems: Vec<String> = problems.iter().map(Problem::to_string).collect();
            Err(format!("subcell: no span is sent: {}", problems.join("; ")))
        }
    }
}

/// A span that is to be sent when the cell has ended.
#[derive(Debug)]
pub(super) struct AtOnce {
    settings: Settings,
    recorder: live::Recorder,
}

impl AtOnce {
    /// Prepares for the span with `ids`; the phases that follow are recorded live. Nothing where the hook was given no trace
    /// that is sampled: the trace that the cell belongs to may only be known to whoever sends later.
    ///
    /// # Errors
    /// What is wrong with the user's settings.
    pub(super) fn prepare(firing: &Firing<'_>, ids: &TraceIds) -> Result<Option<Self>, String> {
        let target = target(firing)?.filter(|_| ids.parent_span_id.is_some() && ids.sampled);
        Ok(target.map(|settings| Self {
            settings,
            recorder: live::Recorder::start(),
        }))
    }

    /// Sends the spans of `record` and says whether the export reported a success in time.
    ///
    /// # Errors
    /// Why not, for the record.
    pub(super) fn send(self, record: &Record) -> Result<(), String> {
        let deadline = Deadline::after(BUDGET);
        let planned = record.trace.as_ref().map(|ids| spans(record, &Place::of(ids, None)));
        let spans = self.recorder.finish(planned.unwrap_or_default());
        let settings = self.settings;
        let (tell, told) = mpsc::channel();
        // A thread of its own: whatever the network, a resolver or a handshake does, the budget is kept. It ends with the hook.
        let started = std::thread::Builder::new().name("export".to_owned()).spawn(move || {
            // Who does not listen any more has given up.
            let _ = tell.send(export(&settings, &spans));
        });
        let late = || format!("the collector did not answer within {} ms", BUDGET.as_millis());
        match started {
            Ok(_) => told.recv_timeout(deadline.remaining()).unwrap_or_else(|_| Err(late())),
            Err(error) => Err(format!("start a thread: {error}")),
        }
    }
}

fn export(settings: &Settings, spans: &[Span]) -> Result<(), String> {
    // A repository's settings can set the variables of proxies for this hook.
    let exporter = Exporter::new(settings, Proxy::Never).map_err(|error| Chain(&error).to_string())?;
    let sent = exporter.send(spans, BUDGET);
    sent.map(|_| ()).map_err(|failure| failure.what().to_owned())
}
