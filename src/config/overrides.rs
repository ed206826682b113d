//! The layers above the files: variables and flags.

use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use super::believe::{Believed, names};
use super::partial::{InterceptPart, seconds, small};
use super::profile::{
    Budget, Delivery, MAX_CELLS, MAX_DEPTH, MAX_PARALLEL, OnFailure, OnPass, SLOT_WAIT_S, TIMEOUT_S, WordError,
};
use super::source::{Problem, Source, Sourced};
use super::table_reader::{DOLLARS, integer_in};
use crate::base::Usd;

/// What the command line sets. Paths are as given, relative to the folder of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--config FILE`: stands in for the user's file, and has to exist.
    pub config: Option<PathBuf>,
    /// `--claude PATH`.
    pub claude: Option<PathBuf>,
    /// `--timeout SECONDS`.
    pub timeout_s: Option<u64>,
    /// `--slot-wait SECONDS`.
    pub slot_wait_s: Option<u64>,
    /// `--max-parallel N`.
    pub max_parallel: Option<u64>,
    /// `--max-depth N`.
    pub max_depth: Option<u64>,
    /// `--on-failure WORD`.
    pub on_failure: Option<OnFailure>,
    /// `--on-pass WORD`.
    pub on_pass: Option<OnPass>,
    /// `--delivery WORD`.
    pub delivery: Option<Delivery>,
    /// `--require-sandbox DIR`.
    pub require_sandbox: Option<PathBuf>,
    /// `--max-cost-usd DOLLARS`.
    pub max_cost: Option<Usd>,
    /// `--max-cell-cost-usd DOLLARS`.
    pub max_cell_cost: Option<Usd>,
    /// `--max-cells N`.
    pub max_cells: Option<u64>,
}

/// Reads the layers above the files, and collects what is wrong in them.
pub(super) struct Overrides<'a> {
    pub(super) problems: &'a mut Vec<Problem>,
    pub(super) warnings: &'a mut Vec<Problem>,
}

impl Overrides<'_> {
    pub(super) fn environment(&mut self, believed: &Believed) -> InterceptPart {
        let mut part = InterceptPart::default();
        if let Some(path) = believed.claude_bin() {
            part.claude = self.variable_path(names::CLAUDE_BIN, path.as_os_str(), true);
        }
        for (name, value) in believed.subcell_vars() {
            let name = name.to_string_lossy();
            if let Some(setting) = name.strip_prefix(names::OUR_PREFIX).filter(|_| !value.is_empty()) {
                self.variable(&name, setting, value, &mut part);
            }
        }
        part
    }

    pub(super) fn environment_budget(&mut self, believed: &Believed) -> Budget {
        let mut budget = Budget::default();
        for (name, value) in believed.subcell_vars().filter(|(_, value)| !value.is_empty()) {
            let name = name.to_string_lossy();
            match name.strip_prefix(names::OUR_PREFIX).unwrap_or_default() {
                "MAX_COST_USD" => budget.max_cost = self.variable_dollars(&name, value),
                "MAX_CELL_COST_USD" => budget.max_cell_cost = self.variable_dollars(&name, value),
                "MAX_CELLS" => budget.max_cells = self.variable_integer(&name, value, &MAX_CELLS).map(small),
                _ => {}
            }
        }
        budget
    }

    fn variable_dollars(&mut self, name: &str, value: &OsStr) -> Option<Sourced<Usd>> {
        let text = value.to_string_lossy();
        let found = text.parse().map_err(|_| format!("has to be {DOLLARS}, not {text:?}"));
        self.checked(name, found)
    }

    pub(super) fn flags_budget(&mut self, flags: &Flags) -> Budget {
        Budget {
            max_cost: flags.max_cost.map(|value| flag("--max-cost-usd", value)),
            max_cell_cost: flags.max_cell_cost.map(|value| flag("--max-cell-cost-usd", value)),
            max_cells: self.flag_integer("--max-cells", flags.max_cells, &MAX_CELLS).map(small),
        }
    }

    fn variable(&mut self, name: &str, setting: &str, value: &OsStr, part: &mut InterceptPart) {
        match setting {
            "CLAUDE" => part.claude = self.variable_path(name, value, true).or(part.claude.take()),
            "REQUIRE_SANDBOX" => part.require_sandbox = self.variable_path(name, value, false),
            "TIMEOUT_S" => part.timeout = self.variable_integer(name, value, &TIMEOUT_S).map(seconds),
            "SLOT_WAIT_S" => part.slot_wait = self.variable_integer(name, value, &SLOT_WAIT_S).map(seconds),
            "MAX_PARALLEL" => part.max_parallel = self.variable_integer(name, value, &MAX_PARALLEL).map(small),
            "MAX_DEPTH" => part.max_depth = self.variable_integer(name, value, &MAX_DEPTH).map(small),
            "ON_FAILURE" => part.on_failure = self.variable_word(name, value),
            "ON_PASS" => part.on_pass = self.variable_word(name, value),
            "DELIVERY" => part.delivery = self.variable_word(name, value),
            // Read by `environment_budget`; and ours, and no setting.
            "MAX_COST_USD" | "MAX_CELL_COST_USD" | "MAX_CELLS" | "DEPTH" | "AGENT_LIMITS" => {}
            _ => self.warnings.push(of_variable(
                name,
                "is no setting of this version: it is ignored".to_owned(),
            )),
        }
    }

    fn variable_integer(&mut self, name: &str, value: &OsStr, range: &RangeInclusive<u64>) -> Option<Sourced<u64>> {
        let number = value.to_str().and_then(|text| text.parse().ok());
        let number = number.filter(|number| range.contains(number));
        self.checked(
            name,
            number.ok_or_else(|| format!("has to be {}, not {:?}", integer_in(range), value.to_string_lossy())),
        )
    }

    fn variable_word<T>(&mut self, name: &str, value: &OsStr) -> Option<Sourced<T>>
    where
        T: std::str::FromStr<Err = WordError>,
    {
        self.checked(
            name,
            value
                .to_string_lossy()
                .parse()
                .map_err(|error: T::Err| error.to_string()),
        )
    }

    /// Nothing says which folder a relative path in a variable is meant from.
    fn variable_path(&mut self, name: &str, value: &OsStr, bare_names: bool) -> Option<Sourced<PathBuf>> {
        let path = PathBuf::from(value);
        let bare = bare_names && path.components().count() == 1 && !value.as_encoded_bytes().contains(&b'/');
        let wanted = if bare_names {
            "an absolute path or a bare name"
        } else {
            "an absolute path"
        };
        let found = if path.is_absolute() || bare {
            Ok(path)
        } else {
            Err(format!("has to be {wanted}, not {:?}", value.to_string_lossy()))
        };
        self.checked(name, found)
    }

    fn checked<T>(&mut self, name: &str, found: Result<T, String>) -> Option<Sourced<T>> {
        match found {
            Ok(value) => Some(Sourced {
                value,
                source: Source::Environment(name.to_owned()),
            }),
            Err(what) => {
                self.problems.push(of_variable(name, what));
                None
            }
        }
    }

    pub(super) fn flags(&mut self, flags: &Flags) -> InterceptPart {
        InterceptPart {
            claude: flags.claude.clone().map(|value| flag("--claude", value)),
            timeout: self.flag_integer("--timeout", flags.timeout_s, &TIMEOUT_S).map(seconds),
            slot_wait: self
                .flag_integer("--slot-wait", flags.slot_wait_s, &SLOT_WAIT_S)
                .map(seconds),
            max_parallel: self
                .flag_integer("--max-parallel", flags.max_parallel, &MAX_PARALLEL)
                .map(small),
            max_depth: self.flag_integer("--max-depth", flags.max_depth, &MAX_DEPTH).map(small),
            on_failure: flags.on_failure.map(|value| flag("--on-failure", value)),
            on_pass: flags.on_pass.map(|value| flag("--on-pass", value)),
            delivery: flags.delivery.map(|value| flag("--delivery", value)),
            require_sandbox: flags
                .require_sandbox
                .clone()
                .map(|value| flag("--require-sandbox", value)),
        }
    }

    fn flag_integer(
        &mut self,
        name: &'static str,
        value: Option<u64>,
        range: &RangeInclusive<u64>,
    ) -> Option<Sourced<u64>> {
        let value = value?;
        if range.contains(&value) {
            return Some(flag(name, value));
        }
        self.problems.push(Problem {
            source: Source::Flag(name),
            what: format!("has to be {}, not {value}", integer_in(range)),
        });
        None
    }
}

const fn flag<T>(name: &'static str, value: T) -> Sourced<T> {
    Sourced {
        value,
        source: Source::Flag(name),
    }
}

fn of_variable(name: &str, what: String) -> Problem {
    Problem {
        source: Source::Environment(name.to_owned()),
        what,
    }
}

#[cfg(test)]
#[path = "overrides_tests.rs"]
mod tests;
