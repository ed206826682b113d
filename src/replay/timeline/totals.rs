//! Sums over turns.

use std::collections::BTreeMap;

use super::rates::{Rates, same_model};
use super::results::Figure;
use super::turns::Turns;
use super::usage::Usage;

/// What turns used and cost.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Totals {
    /// How many turns.
    pub turns: u64,
    /// Their tokens.
    pub tokens: Usage,
    /// Their cost in US dollars; `None` where no price is known.
    pub cost_usd: Option<f64>,
    /// Whether it is more than that: an answer's end is missing, or a model's price is not known.
    pub at_least: bool,
    /// The same by model.
    pub models: BTreeMap<String, ModelTotals>,
    /// What the client itself says of the whole session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientTotals>,
}

/// One model's part.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct ModelTotals {
    /// How many turns.
    pub turns: u64,
    /// Their tokens.
    pub tokens: Usage,
    /// Their cost in US dollars; `None` where the price is not known.
    pub cost_usd: Option<f64>,
}

/// The client's own figure for a session with the subagents inside of its process.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ClientTotals {
    /// Tokens by `modelUsage`.
    pub tokens: Usage,
    /// `total_cost_usd`.
    pub cost_usd: Option<f64>,
    /// Whether the turns of the transcripts add up to the same tokens. They do not where the client asked a model
    /// besides, or a transcript is missing.
    pub agrees: bool,
}

impl Totals {
    /// The turns of each file that are its own.
    pub(super) fn by_file(files: usize, turns: &Turns, rates: &Rates) -> Vec<Self> {
        let mut totals = vec![Self::default(); files];
        for turn in turns.all().filter(|turn| !turn.copied) {
            let Some(total) = totals.get_mut(turn.file) else {
                continue;
            };
            total.turns += 1;
            total.tokens = total.tokens.plus(turn.usage);
            total.at_least |= !turn.ended;
            let name = turns.model_name(turn).unwrap_or("unknown");
            let model = total.models.entry(name.to_owned()).or_default();
            model.turns += 1;
            model.tokens = model.tokens.plus(turn.usage);
        }
        for total in &mut totals {
            total.price(rates);
        }
        totals
    }

    /// What is known of a cell without a transcript.
    pub(super) fn of_figure(figure: &Figure) -> Self {
        Self {
            tokens: figure.usage,
            cost_usd: figure.cost_usd,
            at_least: figure.cost_usd.is_none(),
            models: models_of(figure, &BTreeMap::new()),
            ..Self::default()
        }
    }

    /// Prices each model's tokens, so that rounding does not depend on the order of turns.
    fn price(&mut self, rates: &Rates) {
        self.cost_usd = None;
        for (name, model) in &mut self.models {
            model.cost_usd = rates.cost(name, &model.tokens);
            // A message that the client made up itself names no model and used nothing.
            self.at_least |= model.cost_usd.is_none() && model.tokens != Usage::default();
            self.cost_usd = add(self.cost_usd, model.cost_usd);
        }
    }

    /// Adds another sum.
    pub(super) fn plus(&mut self, other: &Self) {
        self.turns += other.turns;
        self.tokens = self.tokens.plus(other.tokens);
        self.at_least |= other.at_least;
        self.cost_usd = add(self.cost_usd, other.cost_usd);
        for (name, theirs) in &other.models {
            let own = self.models.entry(name.clone()).or_default();
            own.turns += theirs.turns;
            own.tokens = own.tokens.plus(theirs.tokens);
            own.cost_usd = add(own.cost_usd, theirs.cost_usd);
        }
    }

    /// Puts the client's own figure beside the sum; `whole` says that no row was copied from elsewhere, so that the
    /// figure is of this session alone and its cost is the one that counts.
    pub(super) fn with_client(mut self, figure: &Figure, whole: bool) -> Self {
        self.client = Some(ClientTotals {
            tokens: figure.usage,
            cost_usd: figure.cost_usd,
            agrees: figure.usage.agrees(&self.tokens),
        });
        if whole && figure.cost_usd.is_some() {
            self.tokens = figure.usage;
            self.cost_usd = figure.cost_usd;
            self.at_least = false;
            self.models = models_of(figure, &self.models);
        }
        self
    }
}

/// The models of a figure, with how many turns each has in the transcripts.
fn models_of(figure: &Figure, counted: &BTreeMap<String, ModelTotals>) -> BTreeMap<String, ModelTotals> {
    let turns = |name: &str| {
        let same = counted.iter().filter(|(other, _)| same_model(other, name));
        same.map(|(_, model)| model.turns).sum()
    };
    figure
        .models
        .iter()
        .map(|(name, (tokens, cost_usd))| {
            let model = ModelTotals {
                turns: turns(name),
                tokens: *tokens,
                cost_usd: *cost_usd,
            };
            (name.clone(), model)
        })
        .collect()
}

/// A sum in which what only one side knows is kept.
fn add(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (known, None) | (None, known) => known,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::turns::Turn;
    use super::*;
    use crate::replay::sources::ClientFigure;

    fn usage(input: u64, output: u64) -> Usage {
        Usage {
            input,
            output,
            ..Usage::default()
        }
    }

    fn turns(of: &[(&str, &str, Usage, bool)]) -> Turns {
        let mut turns = Turns::default();
        for (message, model, usage, copied) in of {
            let model = Some(turns.model(model));
            let turn = Turn {
                file: 0,
                model,
                usage: *usage,
                ended: true,
                copied: *copied,
            };
            turns.add(message, turn);
        }
        turns
    }

    /// What a client says that wrote a title with another model besides.
    fn figure() -> Figure {
        let models = json!({"claude-x": {"inputTokens": 30, "outputTokens": 3, "costUSD": 0.45},
                            "claude-y": {"inputTokens": 5, "outputTokens": 1, "costUSD": 0.01}});
        let result = ClientFigure {
            session: "s".into(),
            cost_usd: Some(0.46),
            models: super::super::results::models_of(&models),
        };
        super::super::results::figures(&[result], &[], &[]).remove("s").unwrap()
    }

    #[test]
    fn the_clients_figure_counts_where_there_is_one() {
        let counted = turns(&[
            ("m1", "claude-x-20250929", usage(10, 1), false),
            ("m2", "claude-x-20250929", usage(20, 2), false),
        ]);
        let mut rates = Rates::default();
        figure().teach(&mut rates);
        let own = Totals::by_file(1, &counted, &rates).remove(0);
        assert_eq!((own.turns, own.tokens, own.at_least), (2, usage(30, 3), false));
        assert!((own.cost_usd.unwrap() - 0.45).abs() < 1e-12);
        let whole = own.with_client(&figure(), true);
        assert_eq!((whole.tokens, whole.cost_usd), (usage(35, 4), Some(0.46)));
        assert_eq!(whole.models["claude-x"].turns, 2);
        assert_eq!(whole.models["claude-y"].tokens, usage(5, 1));
        assert!(!whole.client.unwrap().agrees);
    }

    #[test]
    fn what_was_copied_does_not_count_and_an_unknown_price_is_told() {
        let counted = turns(&[
            ("m1", "claude-x", usage(30, 3), true),
            ("m2", "claude-z", usage(1, 1), false),
        ]);
        let own = Totals::by_file(1, &counted, &Rates::default()).remove(0);
        assert_eq!(
            (own.turns, own.tokens, own.cost_usd, own.at_least),
            (1, usage(1, 1), None, true)
        );
        // The figure of a fork holds what it copied: it is shown, and does not count.
        let fork = own.with_client(&figure(), false);
        assert_eq!((fork.tokens, fork.cost_usd), (usage(1, 1), None));
        assert_eq!(fork.client.unwrap().cost_usd, Some(0.46));
    }
}
