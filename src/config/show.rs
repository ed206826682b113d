//! Every value of the configuration with its source, for people.

use std::collections::BTreeMap;
use std::path::Path;

use super::profile::{Budget, DEFAULTS_TOML, Intercept, Profile, Room};
use super::source::{Source, Sourced};
use super::tree::{Item, Table};

/// A value as it is shown, and where it is from. No value: it is not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The value; texts in quotes, as TOML has them.
    pub value: Option<String>,
    /// Where it is from.
    pub source: Source,
}

impl Profile {
    /// Every key and its value. Of keys that several files add to (`redact.patterns`) each entry is one.
    #[must_use]
    pub fn rows(&self) -> BTreeMap<String, Shown> {
        let mut rows = Rows::default();
        if let Ok(table) = Table::parse(DEFAULTS_TOML) {
            rows.table("", &table, &|_| Source::Default);
        }
        rows.0.remove("redact.patterns");
        rows.intercept(&self.intercept);
        rows.budget(&self.budget);
        for (name, value) in &self.child_env {
            rows.put(&format!("child.env.{name}"), text(&value.value), &value.source);
        }
        for (name, agent) in &self.agents {
            rows.path(&format!("agent.{name}.json_schema"), Some(&agent.json_schema));
        }
        for (at, pattern) in self.redact_patterns.iter().enumerate() {
            rows.put(&format!("redact.patterns[{at}]"), text(&pattern.value), &pattern.source);
        }
        rows.rooms("guard.background", &self.rooms.guard_background);
        rows.rooms("guard.liveness", &self.rooms.guard_liveness);
        rows.rooms("guard.bash", &self.rooms.guard_bash);
        rows.rooms("telemetry", &self.rooms.telemetry);
        rows.0
    }
}

#[derive(Default)]
struct Rows(BTreeMap<String, Shown>);

impl Rows {
    fn put(&mut self, key: &str, value: String, source: &Source) {
        let shown = Shown {
            value: Some(value),
            source: source.clone(),
        };
        self.0.insert(key.to_owned(), shown);
    }

    fn intercept(&mut self, intercept: &Intercept) {
        let seconds = |value: &Sourced<std::time::Duration>| value.value.as_secs().to_string();
        let (timeout, wait) = (&intercept.timeout, &intercept.slot_wait);
        self.put("intercept.timeout_s", seconds(timeout), &timeout.source);
        self.put("intercept.slot_wait_s", seconds(wait), &wait.source);
        let depth = &intercept.max_depth;
        self.put("intercept.max_depth", depth.value.to_string(), &depth.source);
        let (failure, pass) = (&intercept.on_failure, &intercept.on_pass);
        self.put("intercept.on_failure", text(failure.value.word()), &failure.source);
        self.put("intercept.on_pass", text(pass.value.word()), &pass.source);
        let delivery = &intercept.delivery;
        self.put("intercept.delivery", text(delivery.value.word()), &delivery.source);
        self.path("intercept.claude", intercept.claude.as_ref());
        self.path("intercept.require_sandbox", intercept.require_sandbox.as_ref());
        match &intercept.max_parallel {
            Some(cap) => self.put("intercept.max_parallel", cap.value.to_string(), &cap.source),
            None => self.unset("intercept.max_parallel"),
        }
    }

    fn budget(&mut self, budget: &Budget) {
        for (key, cost) in [
            ("budget.max_cost_usd", &budget.max_cost),
            ("budget.max_cell_cost_usd", &budget.max_cell_cost),
        ] {
            match cost {
                Some(cost) => self.put(
                    key,
                    cost.value.to_string().trim_start_matches('$').to_owned(),
                    &cost.source,
                ),
                None => self.unset(key),
            }
        }
        match &budget.max_cells {
            Some(cells) => self.put("budget.max_cells", cells.value.to_string(), &cells.source),
            None => self.unset("budget.max_cells"),
        }
    }

    fn path(&mut self, key: &str, value: Option<&Sourced<impl AsRef<Path>>>) {
        match value {
            Some(value) => self.put(key, text(&value.value.as_ref().to_string_lossy()), &value.source),
            None => self.unset(key),
        }
    }

    fn unset(&mut self, key: &str) {
        let shown = Shown {
            value: None,
            source: Source::Default,
        };
        self.0.insert(key.to_owned(), shown);
    }

    fn rooms(&mut self, name: &str, rooms: &[Room]) {
        for room in rooms {
            self.table(name, &room.table, &|line| room.origin.at(line));
        }
    }

    fn table(&mut self, name: &str, table: &Table, source: &dyn Fn(u32) -> Source) {
        for entry in &table.entries {
            let key = if name.is_empty() {
                entry.key.clone()
            } else {
                format!("{name}.{}", entry.key)
            };
            match entry.node.item.as_table() {
                Some(below) => self.table(&key, below, source),
                None => self.put(&key, item(&entry.node.item), &source(entry.line)),
            }
        }
    }
}

fn item(item: &Item) -> String {
    match item {
        Item::Text(value) => text(value),
        Item::Integer(number) => number.to_string(),
        Item::Float(number) => number.to_string(),
        Item::Boolean(flag) => flag.to_string(),
        Item::Datetime(value) => value.clone(),
        Item::Array(nodes) => {
            let items: Vec<String> = nodes.iter().map(|node| self::item(&node.item)).collect();
            format!("[{}]", items.join(", "))
        }
        Item::Table(table) => {
            let entries = table.entries.iter();
            let fields: Vec<String> = entries
                .map(|entry| format!("{} = {}", entry.key, self::item(&entry.node.item)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
    }
}

/// The quoting of TOML's basic strings is that of JSON's (TOML 1.1, "String").
fn text(value: &str) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Believed, Flags};

    fn rows(
        user: &str,
        project: &str,
        variables: &[(&str, &str)],
        flags: &Flags,
    ) -> (BTreeMap<String, Shown>, Vec<String>) {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".config/subcell");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("subcell.toml"), user).unwrap();
        std::fs::write(home.path().join(".subcell.toml"), project).unwrap();
        let home_variable = [("HOME", home.path().to_str().unwrap())];
        let all: Vec<_> = home_variable.iter().chain(variables).copied().collect();
        let profile = Profile::load(&Believed::of_person(&all), Some(home.path()), flags).unwrap();
        let warnings = profile.warnings.iter().map(|warning| warning.what.clone()).collect();
        (profile.rows(), warnings)
    }

    #[test]
    fn each_layer_is_named_beside_the_value_that_it_sets() {
        let user = "[intercept]\ntimeout_s = 200\nslot_wait_s = 50\n[guard.background]\nmode = \"rewrite\"\n[child.env]\nA = \"x\\\"y\"\n[redact]\npatterns = [\"a+\"]\n";
        let project = "[intercept]\ntimeout_s = 100\n[redact]\npatterns = [\"b+\"]\n[guard.bash.rule.r]\nprogram = \"p\"\nwords = [\"w\"]\n";
        let flags = Flags {
            max_depth: Some(2),
            ..Flags::default()
        };
        let (rows, warnings) = rows(user, project, &[("SUBCELL_SLOT_WAIT_S", "9")], &flags);
        assert_eq!(warnings, Vec::<String>::new());
        for (key, value, source) in [
            ("intercept.timeout_s", "100", ".subcell.toml:2"),
            ("intercept.slot_wait_s", "9", "environment variable SUBCELL_SLOT_WAIT_S"),
            ("intercept.max_depth", "2", "--max-depth"),
            ("intercept.on_pass", "\"allow\"", "default"),
            ("guard.background.mode", "\"rewrite\"", "subcell.toml:5"),
            ("guard.liveness.max_refusals", "8", "default"),
            ("child.env.A", "\"x\\\"y\"", "subcell.toml:7"),
            ("redact.patterns[0]", "\"a+\"", "subcell.toml:9"),
            ("redact.patterns[1]", "\"b+\"", ".subcell.toml:4"),
            ("guard.bash.rule.r.words", "[\"w\"]", ".subcell.toml:7"),
        ] {
            let row = &rows[key];
            assert_eq!(row.value.as_deref(), Some(value), "{key}");
            assert!(row.source.to_string().ends_with(source), "{key}: {}", row.source);
        }
        assert_eq!(rows["intercept.claude"].value, None);
    }

    #[test]
    fn what_a_project_may_not_set_is_not_shown_as_set() {
        let project =
            "[guard.background]\nmode = \"rewrite\"\n[guard.liveness]\nmax_refusals = 1\n[child.env]\nA = \"1\"\n";
        let (rows, warnings) = rows("", project, &[], &Flags::default());
        assert_eq!(rows["guard.background.mode"].source, Source::Default);
        assert_eq!(rows["guard.liveness.max_refusals"].source, Source::Default);
        assert!(!rows.contains_key("child.env.A"));
        for key in ["guard.background.mode", "guard.liveness.max_refusals", "child.env.A"] {
            let named =
                |warning: &&String| warning.starts_with(key) && warning.contains(".config/subcell/subcell.toml");
            assert_eq!(warnings.iter().filter(named).count(), 1, "{key}: {warnings:?}");
        }
    }
}
