//! Token counts of a turn.

use serde_json::Value;

/// What an output token costs in input tokens. The client's own figures for three families of models keep this ratio,
/// and the others below are those of the API's price list (2.1.332: 3/15, 4/20 and 0.1/0.5 dollars a million).
const OUTPUT: f64 = 5.0;
const CACHE_READ: f64 = 0.1;
const CACHE_WRITE_5M: f64 = 1.25;
const CACHE_WRITE_1H: f64 = 2.0;
/// What a web search costs, in US dollars, whatever the model.
pub(super) const WEB_SEARCH_USD: f64 = 0.01;

/// Tokens, and searches on the web.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to the cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Tokens written to the cache for an hour.
    pub cache_write_1h: u64,
    /// Searches on the web.
    pub web_searches: u64,
}

impl Usage {
    /// Reads `usage` of a message.
    #[must_use]
    pub fn of_message(usage: &Value) -> Self {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
        let cached = |name: &str| usage.get("cache_creation").and_then(|cache| cache.get(name)?.as_u64());
        let searches = usage
            .get("server_tool_use")
            .and_then(|tools| tools.get("web_search_requests")?.as_u64());
        Self {
            input: count("input_tokens"),
            output: count("output_tokens"),
            cache_read: count("cache_read_input_tokens"),
            web_searches: searches.unwrap_or(0),
            ..Self::default()
        }
        .with_writes(
            count("cache_creation_input_tokens"),
            cached("ephemeral_5m_input_tokens").unwrap_or(0),
            cached("ephemeral_1h_input_tokens").unwrap_or(0),
        )
    }

    /// Reads a model's entry of `modelUsage`.
    #[must_use]
    pub fn of_model(usage: &Value) -> Self {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
        Self {
            input: count("inputTokens"),
            output: count("outputTokens"),
            cache_read: count("cacheReadInputTokens"),
            web_searches: count("webSearchRequests"),
            ..Self::default()
        }
        .with_writes(
            count("cacheCreationInputTokens"),
            count("cacheCreationEphemeral5mInputTokens"),
            count("cacheCreationEphemeral1hInputTokens"),
        )
    }

    /// Older clients do not tell five minutes from an hour: what they do not name is taken for five minutes.
    fn with_writes(self, all: u64, five_minutes: u64, hour: u64) -> Self {
        Self {
            cache_write_5m: all.saturating_sub(hour).max(five_minutes),
            cache_write_1h: hour,
            ..self
        }
    }

    /// The larger value of each field: a message's usage is repeated in each of its lines, and the early ones are
    /// partial.
    #[must_use]
    pub fn largest(self, other: Self) -> Self {
        self.each(other, u64::max)
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.each(other, u64::saturating_add)
    }

    fn each(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            input: of(self.input, other.input),
            output: of(self.output, other.output),
            cache_read: of(self.cache_read, other.cache_read),
            cache_write_5m: of(self.cache_write_5m, other.cache_write_5m),
            cache_write_1h: of(self.cache_write_1h, other.cache_write_1h),
            web_searches: of(self.web_searches, other.web_searches),
        }
    }

    /// Whether both count the same tokens. How long the cache keeps what is written to it is not compared: older clients
    /// tell it of a turn and not of a session.
    #[must_use]
    pub const fn agrees(&self, other: &Self) -> bool {
        self.input == other.input
            && self.output == other.output
            && self.cache_read == other.cache_read
            && self.sent() == other.sent()
    }

    /// All tokens that were sent: new, read from the cache, and written to it.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write_5m)
            .saturating_add(self.cache_write_1h)
    }

    /// The cost in input tokens of the same model.
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    pub(super) fn weight(&self) -> f64 {
        self.input as f64
            + self.output as f64 * OUTPUT
            + self.cache_read as f64 * CACHE_READ
            + self.cache_write_5m as f64 * CACHE_WRITE_5M
            + self.cache_write_1h as f64 * CACHE_WRITE_1H
    }

    /// What the searches cost, in US dollars.
    #[expect(clippy::cast_precision_loss, reason = "counts of searches are far below 2^52")]
    pub(super) fn searches_usd(&self) -> f64 {
        self.web_searches as f64 * WEB_SEARCH_USD
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_largest_value_of_each_field_counts() {
        let early = Usage::of_message(&json!({"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 7}));
        let last = Usage::of_message(&json!({"input_tokens": 9, "output_tokens": 512}));
        let expected = Usage {
            input: 10,
            output: 512,
            cache_read: 7,
            ..Usage::default()
        };
        assert_eq!(early.largest(early).largest(last), expected);
    }

    #[test]
    fn writes_to_the_cache_are_told_apart_where_the_client_does() {
        let split = Usage::of_message(&json!({
            "cache_creation_input_tokens": 100,
            "cache_creation": {"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 60}
        }));
        assert_eq!((split.cache_write_5m, split.cache_write_1h), (40, 60));
        let whole = Usage::of_message(&json!({"cache_creation_input_tokens": 100}));
        assert_eq!((whole.cache_write_5m, whole.cache_write_1h), (100, 0));
        // What is no number is nothing.
        assert_eq!(Usage::of_message(&json!({"input_tokens": "7"})), Usage::default());
        assert_eq!(Usage::of_message(&json!(null)), Usage::default());
    }
}
