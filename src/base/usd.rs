//! An amount of US dollars, counted in billionths: sums of it are exact, and a limit is met or it is not.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Billionths in a dollar.
const UNIT: f64 = 1e9;
/// The most that is taken as an amount, in dollars: every amount up to it has an exact number in JSON.
const MOST: f64 = 1e6;

/// An amount of US dollars, not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd(u64);

/// A number that is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("has to be an amount of US dollars above 0 and up to 1000000")]
pub struct UsdError;

impl Usd {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// What a client says that something has cost: rounded up, so that a sum never falls short. None where the number is
    /// no amount (not finite, negative, or above a million).
    #[must_use]
    pub fn of_cost(dollars: f64) -> Option<Self> {
        (0.0..=MOST).contains(&dollars).then(|| Self::rounded(dollars))
    }

    /// A limit that somebody sets.
    ///
    /// # Errors
    /// [`UsdError`] where it is not above 0, or too large to be meant.
    pub fn limit(dollars: f64) -> Result<Self, UsdError> {
        Self::of_cost(dollars)
            .filter(|limit| *limit > Self::ZERO)
            .ok_or(UsdError)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "callers have checked the range, and up to a million dollars the billionths fit"
    )]
    fn rounded(dollars: f64) -> Self {
        // The nearest billionth first: 0.1 is no exact number, and must not become one billionth more.
        let nearest = (dollars * UNIT).round();
        let up = if nearest / UNIT < dollars {
            nearest + 1.0
        } else {
            nearest
        };
        Self(up as u64)
    }

    /// The amount as JSON has it.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "amounts lie below 2^53 billionths")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / UNIT
    }

    /// The sum.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What is left of this when `other` is taken away; nothing where that is more.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The amount in plain digits, as `--max-budget-usd` takes it.
    #[must_use]
    pub fn digits(self) -> String {
        let (whole, part) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        let text = format!("{whole}.{part:09}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// Dollars with at least two and at most six places, rounded up.
impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millionths = self.0.div_ceil(1000);
        let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
        let kept = text.trim_end_matches('0').len();
        let cents = text.find('.').map_or(text.len(), |dot| dot + 3);
        write!(f, "${}", text.get(..kept.max(cents)).unwrap_or(&text))
    }
}

impl FromStr for Usd {
    type Err = UsdError;

    /// Reads a limit.
    fn from_str(text: &str) -> Result<Self, UsdError> {
        text.parse::<f64>().map_err(|_| UsdError).and_then(Self::limit)
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.dollars())
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        Self::of_cost(dollars).ok_or_else(|| serde::de::Error::custom("no amount of US dollars"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(dollars: f64) -> Usd {
        Usd::of_cost(dollars).unwrap()
    }

    #[test]
    fn sums_are_exact() {
        let sum = (0..10).fold(Usd::ZERO, |sum, _| sum.plus(usd(0.1)));
        assert_eq!(sum, usd(1.0));
        assert_eq!(usd(1.0).less(usd(0.9)), usd(0.1));
        assert_eq!(usd(0.1).less(usd(0.2)), Usd::ZERO);
        assert!(usd(0.000_000_000_4) > Usd::ZERO, "a cost is never rounded away");
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for wrong in ["0", "-1", "nan", "inf", "1e7", "", "1,5", "$1", "0x1"] {
            assert_eq!(wrong.parse::<Usd>(), Err(UsdError), "{wrong}");
        }
        for wrong in [-0.1, f64::NAN, f64::INFINITY, 1e6 + 1.0] {
            assert_eq!(Usd::of_cost(wrong), None, "{wrong}");
        }
        assert_eq!("0.25".parse(), Ok(usd(0.25)));
        assert_eq!("1e6".parse(), Ok(usd(1e6)));
    }

    #[test]
    fn an_amount_is_shown_and_passed_on_in_plain_digits() {
        for (dollars, shown, digits) in [
            (0.0, "$0.00", "0"),
            (0.5, "$0.50", "0.5"),
            (12.0, "$12.00", "12"),
            (0.012_345, "$0.012345", "0.012345"),
            (0.000_000_001, "$0.000001", "0.000000001"),
            (1e6, "$1000000.00", "1000000"),
        ] {
            assert_eq!(
                (usd(dollars).to_string().as_str(), usd(dollars).digits().as_str()),
                (shown, digits)
            );
        }
    }

    #[test]
    fn json_keeps_an_amount() {
        for dollars in [0.1, 0.3, 123.456_789, 999_999.999_999_999] {
            let text = serde_json::to_string(&usd(dollars)).unwrap();
            assert_eq!(serde_json::from_str::<Usd>(&text).unwrap(), usd(dollars), "{text}");
        }
        assert!(serde_json::from_str::<Usd>("-1").is_err());
    }
}
