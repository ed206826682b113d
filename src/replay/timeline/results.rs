//! What the client itself says that a session used, from wherever it says so.

use std::collections::BTreeMap;

use serde_json::Value;

use super::rates::Rates;
use super::scan::FileIndex;
use super::usage::Usage;
use crate::ledger::Record;
use crate::replay::sources::ClientFigure;

/// The client's own figure for a session, the subagents inside of its process included.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figure {
    pub(super) cost_usd: Option<f64>,
    pub(super) usage: Usage,
    pub(super) models: BTreeMap<String, (Usage, Option<f64>)>,
}

impl Figure {
    fn new(cost_usd: Option<f64>, models: &BTreeMap<String, Value>) -> Self {
        let models: BTreeMap<_, _> = models
            .iter()
            .map(|(model, value)| {
                let cost = value.get("costUSD").and_then(Value::as_f64);
                (model.clone(), (Usage::of_model(value), cost))
            })
            .collect();
        Self {
            cost_usd,
            usage: models
                .values()
                .fold(Usage::default(), |sum, (usage, _)| sum.plus(*usage)),
            models,
        }
    }

    fn of_record(record: &Record) -> Option<Self> {
        let end = record.end()?;
        let tokens = |tokens: &crate::protocol::Tokens| Usage {
            input: tokens.input.unwrap_or(0),
            output: tokens.output.unwrap_or(0),
            cache_read: tokens.cache_read.unwrap_or(0),
            cache_write_5m: tokens.cache_creation.unwrap_or(0),
            ..Usage::default()
        };
        Some(Self {
            cost_usd: end.cost_usd,
            usage: tokens(&end.tokens),
            models: end
                .models
                .iter()
                .map(|(model, share)| (model.clone(), (tokens(&share.tokens), share.cost_usd)))
                .collect(),
        })
    }

    pub(super) fn teach(&self, rates: &mut Rates) {
        for (model, (usage, cost)) in &self.models {
            if let Some(cost) = cost {
                rates.learn(model, *usage, *cost);
            }
        }
    }
}

/// `modelUsage`, by model.
pub(super) fn models_of(models: &Value) -> BTreeMap<String, Value> {
    models
        .as_object()
        .into_iter()
        .flatten()
        .map(|(model, value)| (model.clone(), value.clone()))
        .collect()
}

/// The figure of each session: the client's result, else what it wrote at the end of the transcript, else what our
/// record kept of its result. Of several results (a session that was resumed) the dearest holds the others.
pub(super) fn figures(results: &[ClientFigure], files: &[FileIndex], records: &[Record]) -> BTreeMap<String, Figure> {
    let mut figures: BTreeMap<String, Figure> = BTreeMap::new();
    for record in records {
        let Some(session) = &record.child_session else { continue };
        if let Some(figure) = Figure::of_record(record) {
            figures.insert(session.to_string(), figure);
        }
    }
    for file in files.iter().filter(|file| file.agent.is_none()) {
        if let (Some(session), Some((cost, models))) = (&file.session, &file.figure) {
            figures.insert(session.clone(), Figure::new(*cost, models));
        }
    }
    let mut sorted: Vec<&ClientFigure> = results.iter().collect();
    sorted.sort_by(|a, b| a.cost_usd.unwrap_or(-1.0).total_cmp(&b.cost_usd.unwrap_or(-1.0)));
    for result in sorted {
        let figure = Figure::new(result.cost_usd, &result.models);
        let known = figures.get(&result.session).and_then(|known| known.cost_usd);
        if figure.cost_usd.is_some() && figure.cost_usd >= known {
            figures.insert(result.session.clone(), figure);
        }
    }
    figures
}
