//! A point in monotonic time at which waiting ends. Nothing in this program waits without one.

use std::time::{Duration, Instant};

/// The end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Instant);

impl Deadline {
    /// The deadline that lies `wait` from now; a wait too long for the clock ends in a day.
    #[must_use]
    pub fn after(wait: Duration) -> Self {
        let now = Instant::now();
        Self(now.checked_add(wait).unwrap_or(now + Duration::from_hours(24)))
    }

    /// The time that is left; zero once it has passed.
    #[must_use]
    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether it has passed.
    #[must_use]
    pub fn is_over(self) -> bool {
        self.remaining().is_zero()
    }

    /// The sooner of two deadlines.
    #[must_use]
    pub fn sooner(self, other: Self) -> Self {
        self.min(other)
    }
}
