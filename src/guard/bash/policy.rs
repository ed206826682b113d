//! What a user may set: families and rules switched, rules added, exceptions with a scope and an end. Plain data; the
//! configuration layer fills it.

use std::collections::BTreeMap;

/// A family of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Work that goes on after the command.
    Background,
    /// Agents started by hand.
    Agents,
    /// Guards, settings and records changed.
    Tamper,
    /// Things destroyed.
    Destroy,
}

impl Family {
    /// Its name in the configuration and in rule ids.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Background => "background",
            Self::Agents => "agents",
            Self::Tamper => "tamper",
            Self::Destroy => "destroy",
        }
    }

    /// The family of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Background, Self::Agents, Self::Tamper, Self::Destroy]
            .into_iter()
            .find(|family| family.name() == name)
    }

    /// Whether it is for subagents and cells only, where nobody says otherwise.
    #[must_use]
    pub fn confined_only(self) -> bool {
        matches!(self, Self::Background | Self::Agents)
    }
}

/// How much a rule's match weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A person is asked, where there is one.
    Medium,
    /// Refused.
    High,
    /// Refused; what it does cannot be taken back.
    Critical,
}

impl Severity {
    /// Its name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// Whose calls a family is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Nobody's.
    Off,
    /// Subagents' and cells'.
    Confined,
    /// Everybody's.
    #[default]
    All,
}

/// What the configuration says about the guard.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Whose calls each family is for, where that differs from its default.
    pub families: BTreeMap<Family, Reach>,
    /// Rules switched on or off by their id.
    pub rules: BTreeMap<String, bool>,
    /// Rules added to ours.
    pub extra: Vec<ExtraRule>,
    /// Exceptions.
    pub allow: Vec<Allow>,
}

impl Policy {
    /// Whose calls a family is for.
    #[must_use]
    pub fn reach(&self, family: Family) -> Reach {
        let default = if family.confined_only() {
            Reach::Confined
        } else {
            Reach::All
        };
        self.families.get(&family).copied().unwrap_or(default)
    }
}

/// A rule of the user's or the project's own, over the programs that a command starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraRule {
    /// Its id, as it is shown.
    pub id: String,
    /// Family it belongs to.
    pub family: Family,
    /// Weight.
    pub severity: Severity,
    /// Name of the program; `*` and `?` stand for other characters.
    pub program: String,
    /// Words that its arguments hold, in this order; options among them are given like any word.
    pub words: Vec<String>,
    /// Why.
    pub reason: String,
    /// What to do instead.
    pub instead: String,
}

/// An exception from rules: never a text, always a rule within a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allow {
    /// Id of the rule, or name of the family.
    pub rule: String,
    /// Name of the program; `*` and `?` stand for other characters. Absent: any.
    pub program: Option<String>,
    /// Words that the matched arguments must hold, in this order.
    pub words: Vec<String>,
    /// Directory (absolute) that every changed file must be below. Absent: any.
    pub below: Option<String>,
    /// Project (absolute root) it is for. Absent: every one.
    pub project: Option<String>,
    /// Last day it holds. Absent: for good.
    pub until: Option<Day>,
}

/// A day, as the number of days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub i64);

impl Day {
    /// Reads `YYYY-MM-DD`; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let well_formed = year.len() == 4 && month.len() == 2 && day.len() == 2 && parts.next().is_none();
        let (year, month, day) = (
            year.parse::<i64>().ok()?,
            month.parse::<i64>().ok()?,
            day.parse::<i64>().ok()?,
        );
        if !well_formed || !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        // Howard Hinnant's `days_from_civil`: the year begins in March.
        let shifted = if month <= 2 { year - 1 } else { year };
        let era = shifted.div_euclid(400);
        let year_of_era = shifted.rem_euclid(400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        Some(Self(era * 146_097 + day_of_era - 719_468))
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
