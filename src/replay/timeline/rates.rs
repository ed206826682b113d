//! What a token costs, learned from what the client itself says.
//!
//! Price lists age; the client's own total for a session does not. `modelUsage` gives, for each model, its tokens and
//! its cost, and the kinds of tokens stand in fixed ratios to each other, so one division gives the price of an input
//! token, and the turns' shares add up to the client's own total.

use std::collections::BTreeMap;

use super::usage::Usage;

/// US dollars an input token, by model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates(BTreeMap<String, Rate>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Rate {
    usd: f64,
    /// How much it rests on; a price that was given rests on infinitely much.
    weight: f64,
}

impl Rates {
    /// Prices that were given, in US dollars a million input tokens.
    #[must_use]
    pub fn given(prices: impl IntoIterator<Item = (String, f64)>) -> Self {
        let rate = |usd: f64| Rate {
            usd: usd / 1e6,
            weight: f64::INFINITY,
        };
        Self(prices.into_iter().map(|(model, usd)| (model, rate(usd))).collect())
    }

    /// Learns from what the client says a model used and cost. The most work tells most exactly.
    pub(super) fn learn(&mut self, model: &str, usage: Usage, cost_usd: f64) {
        let (weight, cost) = (usage.weight(), cost_usd - usage.searches_usd());
        if weight <= 0.0 || !cost.is_finite() || cost < 0.0 {
            return;
        }
        let rate = Rate {
            usd: cost / weight,
            weight,
        };
        let known = self.0.entry(model.to_owned()).or_insert(rate);
        if rate.weight > known.weight {
            *known = rate;
        }
    }

    /// What a model's work cost; `None` where its price is not known.
    #[must_use]
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<f64> {
        let rate = self.0.get(model).or_else(|| self.by_longer_name(model))?;
        Some(rate.usd * usage.weight() + usage.searches_usd())
    }

    /// The API may answer with a dated name (`claude-x-4-5-20250929`) of what the client calls `claude-x-4-5`.
    fn by_longer_name(&self, model: &str) -> Option<&Rate> {
        self.0
            .iter()
            .find(|(known, _)| same_model(known, model))
            .map(|(_, rate)| rate)
    }
}

/// Whether two names are of one model: the same, or one with the date of its release behind it.
pub(super) fn same_model(one: &str, other: &str) -> bool {
    let dated = |long: &str, short: &str| {
        long.strip_prefix(short)
            .and_then(|rest| rest.strip_prefix('-'))
            .is_some_and(|date| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()))
    };
    one == other || dated(one, other) || dated(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64) -> Usage {
        Usage {
            input,
            output,
            ..Usage::default()
        }
    }

    #[test]
    fn the_price_of_the_recorded_runs_is_that_of_the_price_list() {
        // modelUsage of four recorded results: model, tokens, cost; and the list price of an input token.
        for (model, input, output, cost, list) in [
            ("claude-sonnet-4-5", 95_760, 191, 0.290_145, 3e-6),
            ("claude-haiku-5-5", 12_987, 26, 0.001_311_7, 0.1e-6),
            ("claude-opus-5-5", 24_976, 63, 0.101_164, 4e-6),
        ] {
            let mut rates = Rates::default();
            rates.learn(model, usage(input, output), cost);
            let million = rates.cost(model, &usage(1_000_000, 0)).unwrap();
            assert!((million - list * 1e6).abs() < 1e-9, "{model}: {million}");
        }
    }

    #[test]
    fn an_unknown_price_is_unknown_and_a_given_one_stands() {
        let mut rates = Rates::given([("claude-x".to_owned(), 2.0)]);
        rates.learn("claude-x", usage(1_000_000, 0), 9.0);
        assert_eq!(rates.cost("claude-x", &usage(1_000_000, 0)), Some(2.0));
        assert_eq!(rates.cost("claude-x-20250929", &usage(500_000, 0)), Some(1.0));
        assert_eq!(rates.cost("claude-x-mini", &usage(1, 1)), None);
        rates.learn("claude-free", usage(0, 0), 1.0);
        assert_eq!(rates.cost("claude-free", &usage(1, 1)), None);
    }
}
