//! Tokens, money and times in words.

use super::super::timeline::{Totals, TurnView, Usage};

/// `21853 in, 45 out`, with what was read from and written to the cache where there is any.
pub(crate) fn tokens(usage: &Usage) -> String {
    let mut parts = vec![format!("{} in", usage.input), format!("{} out", usage.output)];
    let written = usage.cache_write_5m.saturating_add(usage.cache_write_1h);
    for (count, what) in [(usage.cache_read, "from the cache"), (written, "to the cache")] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    if usage.web_searches > 0 {
        parts.push(format!("{} web searches", usage.web_searches));
    }
    parts.join(", ")
}

/// `$0.1719`, to the ten-thousandth of a dollar, and further where there is nothing before that.
pub(crate) fn cost(usd: Option<f64>, at_least: bool) -> String {
    let more = if at_least { "at least " } else { "" };
    match usd {
        None => "cost unknown".to_owned(),
        Some(usd) if usd > 0.0 && usd < 0.001 => format!("{more}${usd:.7}"),
        Some(usd) => format!("{more}${usd:.4}"),
    }
}

/// What a turn used, in one line.
pub(super) fn turn(turn: &TurnView) -> String {
    let model = turn.model.as_deref().unwrap_or("no model");
    let more = if turn.at_least { "at least " } else { "" };
    format!(
        "{model} · {more}{} · {}",
        tokens(&turn.tokens),
        cost(turn.cost_usd, turn.at_least)
    )
}

/// What many turns used, in one line.
pub(super) fn totals(totals: &Totals) -> String {
    let turns = if totals.turns == 1 { "turn" } else { "turns" };
    format!(
        "{} {turns} · {} · {}",
        totals.turns,
        tokens(&totals.tokens),
        cost(totals.cost_usd, totals.at_least)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_well() {
        let usage = Usage {
            input: 10,
            output: 2,
            cache_read: 7,
            cache_write_1h: 1,
            ..Usage::default()
        };
        assert_eq!(tokens(&usage), "10 in, 2 out, 7 from the cache, 1 to the cache");
        for (usd, at_least, text) in [
            (Some(0.171_9), false, "$0.1719"),
            (Some(0.000_061_2), false, "$0.0000612"),
            (Some(0.0), false, "$0.0000"),
            (Some(1234.5), true, "at least $1234.5000"),
            (None, true, "cost unknown"),
        ] {
            assert_eq!(cost(usd, at_least), text);
        }
    }
}
