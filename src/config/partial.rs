//! What one configuration file says, before the layers are put together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::child_env::CELL_MARKS;
use super::profile::{
    AgentProfile, Budget, DELIVERY, Delivery, MAX_CELLS, MAX_DEPTH, MAX_PARALLEL, ON_FAILURE, ON_PASS, OnFailure,
    OnPass, Room, Rooms, SLOT_WAIT_S, TIMEOUT_S,
};
use super::source::{Problem, Sourced};
use super::table_reader::{FileOrigin, TableReader};
use super::tree::{Item, Table};
use crate::base::AgentType;
use crate::base::redact::Redactor;

/// `[intercept]` of one layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct InterceptPart {
    pub(super) claude: Option<Sourced<PathBuf>>,
    pub(super) timeout: Option<Sourced<Duration>>,
    pub(super) slot_wait: Option<Sourced<Duration>>,
    pub(super) max_parallel: Option<Sourced<u32>>,
    pub(super) max_depth: Option<Sourced<u32>>,
    pub(super) on_failure: Option<Sourced<OnFailure>>,
    pub(super) on_pass: Option<Sourced<OnPass>>,
    pub(super) delivery: Option<Sourced<Delivery>>,
    pub(super) require_sandbox: Option<Sourced<PathBuf>>,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FilePart {
    pub(super) intercept: InterceptPart,
    pub(super) budget: Budget,
    pub(super) child_env: BTreeMap<String, Sourced<String>>,
    pub(super) agents: BTreeMap<AgentType, AgentProfile>,
    pub(super) redact_patterns: Vec<Sourced<String>>,
    pub(super) rooms: Rooms,
}

/// Patterns of one file: each may take 1 MiB and some milliseconds.
const MOST_PATTERNS: usize = 64;

/// Reads the text of a file.
pub(super) struct FileReader<'a> {
    pub(super) origin: &'a FileOrigin,
    /// What `~/` stands for.
    pub(super) home: Option<&'a Path>,
    pub(super) problems: &'a mut Vec<Problem>,
}

impl FileReader<'_> {
    pub(super) fn read(mut self, text: &str) -> FilePart {
        match Table::parse(text) {
            Ok(table) => self.whole(&table),
            Err(errors) => {
                let named = errors
                    .into_iter()
                    .map(|error| self.origin.problem(error.line, error.message));
                self.problems.extend(named);
                FilePart::default()
            }
        }
    }

    fn whole(&mut self, table: &Table) -> FilePart {
        let mut reader = TableReader::new("", table, self.origin, self.problems);
        let intercept = reader.table("intercept");
        let child = reader.table("child");
        let agents = reader.table("agent");
        let redact = reader.table("redact");
        let guard = reader.table("guard");
        let telemetry = reader.table("telemetry");
        let budget = reader.table("budget");
        reader.finish();
        let mut rooms = guard.map(|table| self.guard(table)).unwrap_or_default();
        rooms.telemetry = self.room(telemetry);
        FilePart {
            intercept: intercept.map(|table| self.intercept(table)).unwrap_or_default(),
            budget: budget.map(|table| self.budget(table)).unwrap_or_default(),
            child_env: child.map(|table| self.child(table)).unwrap_or_default(),
            agents: agents.map(|table| self.agents(table)).unwrap_or_default(),
            redact_patterns: redact.map(|table| self.redact(table)).unwrap_or_default(),
            rooms,
        }
    }

    fn intercept(&mut self, table: &Table) -> InterceptPart {
        let mut reader = TableReader::new("intercept", table, self.origin, self.problems);
        let claude = reader.text("claude");
        let sandbox = reader.text("require_sandbox");
        let part = InterceptPart {
            claude: None,
            timeout: reader.integer("timeout_s", &TIMEOUT_S).map(seconds),
            slot_wait: reader.integer("slot_wait_s", &SLOT_WAIT_S).map(seconds),
            max_parallel: reader.integer("max_parallel", &MAX_PARALLEL).map(small),
            max_depth: reader.integer("max_depth", &MAX_DEPTH).map(small),
            on_failure: reader.word("on_failure", &ON_FAILURE),
            on_pass: reader.word("on_pass", &ON_PASS),
            delivery: reader.word("delivery", &DELIVERY),
            require_sandbox: None,
        };
        reader.finish();
        let bare = |text: &str| !text.is_empty() && !text.contains('/');
        let claude = claude.and_then(|named| {
            if bare(&named.value) {
                Some(named.map(PathBuf::from))
            } else {
                self.path("intercept.claude", named)
            }
        });
        InterceptPart {
            claude,
            require_sandbox: sandbox.and_then(|named| self.path("intercept.require_sandbox", named)),
            ..part
        }
    }

    fn budget(&mut self, table: &Table) -> Budget {
        let mut reader = TableReader::new("budget", table, self.origin, self.problems);
        let budget = Budget {
            max_cost: reader.dollars("max_cost_usd"),
            max_cell_cost: reader.dollars("max_cell_cost_usd"),
            max_cells: reader.integer("max_cells", &MAX_CELLS).map(small),
        };
        reader.finish();
        budget
    }

    /// A path of a file: relative to its folder, or below the home folder.
    fn path(&mut self, key: &str, named: Sourced<String>) -> Option<Sourced<PathBuf>> {
        let folder = self.origin.path.parent().unwrap_or(Path::new("/"));
        let found = match (named.value.strip_prefix("~/"), self.home) {
            (Some(below), Some(home)) => Ok(home.join(below)),
            (Some(_), None) => Err(format!("{key} is below ~ and the home folder is not known")),
            (None, _) if named.value.is_empty() => Err(format!("{key} is empty")),
            (None, _) => Ok(folder.join(&named.value)),
        };
        let source = named.source;
        match found {
            Ok(value) => Some(Sourced { value, source }),
            Err(what) => {
                self.problems.push(Problem { source, what });
                None
            }
        }
    }

    fn child(&mut self, table: &Table) -> BTreeMap<String, Sourced<String>> {
        let mut reader = TableReader::new("child", table, self.origin, self.problems);
        let env = reader.table("env");
        reader.finish();
        let mut vars = BTreeMap::new();
        for entry in env.into_iter().flat_map(|table| &table.entries) {
            match variable(&entry.key, &entry.node.item) {
                Ok(value) => {
                    let source = self.origin.at(entry.line);
                    vars.insert(entry.key.clone(), Sourced { value, source });
                }
                Err(what) => self.problems.push(self.origin.problem(entry.line, what)),
            }
        }
        vars
    }

    fn agents(&mut self, table: &Table) -> BTreeMap<AgentType, AgentProfile> {
        let mut agents = BTreeMap::new();
        for entry in &table.entries {
            let shown = format!("agent.{}", entry.key);
            let name = entry.key.parse::<AgentType>();
            let (Ok(name), Some(table)) = (name, entry.node.item.as_table()) else {
                let what = format!("{shown:?} has to be a table with the name of an agent");
                self.problems.push(self.origin.problem(entry.line, what));
                continue;
            };
            let mut reader = TableReader::new(&shown, table, self.origin, self.problems);
            let schema = reader.text("json_schema");
            reader.finish();
            let key = format!("{shown}.json_schema");
            if let Some(json_schema) = schema.and_then(|named| self.path(&key, named)) {
                agents.insert(name, AgentProfile { json_schema });
            }
        }
        agents
    }

    fn redact(&mut self, table: &Table) -> Vec<Sourced<String>> {
        let mut reader = TableReader::new("redact", table, self.origin, self.problems);
        let mut patterns = reader.texts("patterns");
        reader.finish();
        if patterns.len() > MOST_PATTERNS {
            let what = format!("redact.patterns holds more than {MOST_PATTERNS}");
            let past = patterns.split_off(MOST_PATTERNS);
            let source = past.into_iter().next().map(|pattern| pattern.source);
            self.problems.extend(source.map(|source| Problem { source, what }));
        }
        // One that cannot be used must not take the others with it.
        patterns.retain(|pattern| match Redactor::with_patterns([pattern.value.as_str()]) {
            Ok(_) => true,
            Err(error) => {
                self.problems.push(Problem {
                    source: pattern.source.clone(),
                    what: format!(
                        "redact.patterns: {error}: no regular expression, or one that needs more than 1 MiB"
                    ),
                });
                false
            }
        });
        patterns
    }

    fn guard(&mut self, table: &Table) -> Rooms {
        let mut reader = TableReader::new("guard", table, self.origin, self.problems);
        let background = reader.table("background");
        let liveness = reader.table("liveness");
        let bash = reader.table("bash");
        reader.finish();
        Rooms {
            guard_background: self.room(background),
            guard_liveness: self.room(liveness),
            guard_bash: self.room(bash),
            ..Rooms::default()
        }
    }

    fn room(&self, table: Option<&Table>) -> Vec<Room> {
        let room = table.map(|table| Room {
            origin: self.origin.clone(),
            table: table.clone(),
        });
        room.into_iter().collect()
    }
}

pub(super) fn seconds(number: Sourced<u64>) -> Sourced<Duration> {
    number.map(Duration::from_secs)
}

/// Every range of a counted setting lies far below this bound.
pub(super) fn small(number: Sourced<u64>) -> Sourced<u32> {
    number.map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

fn variable(name: &str, item: &Item) -> Result<String, String> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(format!("child.env.{name:?}: no variable can have that name"));
    }
    if CELL_MARKS.contains(&name) {
        return Err(format!(
            "child.env.{name} cannot be set: subcell marks every cell with it"
        ));
    }
    let value = match item {
        Item::Text(text) => text.clone(),
        Item::Integer(number) => number.to_string(),
        Item::Boolean(flag) => flag.to_string(),
        Item::Float(_) | Item::Datetime(_) | Item::Array(_) | Item::Table(_) => {
            return Err(format!("child.env.{name} has to be a string, not {}", item.kind()));
        }
    };
    if value.contains('\0') {
        return Err(format!("child.env.{name} holds a NUL character"));
    }
    Ok(value)
}

#[cfg(test)]
#[path = "partial_tests.rs"]
mod tests;
