//! `[guard.bash]` of the configuration files, as a [`Policy`].
//!
//! A project's table may add rules and widen whose calls a family is for; with `project_may_allow = true` in the user's
//! file it may do everything that the user's file may.

use super::policy::{Allow, Day, ExtraRule, Family, Policy, Reach, Severity};
use crate::config::Room;
use crate::config::source::{Problem, Sourced};
use crate::config::table_reader::{Layer, TableReader};
use crate::config::tree::Table;

const REACH: [(&str, Reach); 3] = [("off", Reach::Off), ("confined", Reach::Confined), ("all", Reach::All)];
const FAMILIES: [(&str, Family); 4] = [
    ("background", Family::Background),
    ("agents", Family::Agents),
    ("tamper", Family::Tamper),
    ("destroy", Family::Destroy),
];
const SEVERITY: [(&str, Severity); 3] = [
    ("medium", Severity::Medium),
    ("high", Severity::High),
    ("critical", Severity::Critical),
];

/// The guard's configuration: what it goes by, and what was wrong in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Setting {
    /// Families, rules, exceptions.
    pub policy: Policy,
    /// File that gets a line for every decision.
    pub log: Option<String>,
    /// Whether decisions are logged and not made.
    pub observe: bool,
    /// What was wrong; those entries are left out.
    pub problems: Vec<Problem>,
}

/// Reads the tables, the user's first.
#[must_use]
pub fn read_setting(rooms: &[Room]) -> Setting {
    let mut setting = Setting::default();
    let mut project_may_allow = false;
    for room in rooms {
        let mut problems = Vec::new();
        let mut part = Part::read(room, &mut problems);
        setting.problems.append(&mut problems);
        match room.origin.layer {
            Layer::User => {
                project_may_allow = part.project_may_allow;
                setting.take(part);
            }
            Layer::Project if project_may_allow => setting.take(part),
            Layer::Project => {
                part.only_tighten(&setting.policy, room, &mut setting.problems);
                setting.take(part);
            }
        }
    }
    setting
}

impl Setting {
    fn take(&mut self, part: Part) {
        self.policy.families.extend(part.policy.families);
        self.policy.rules.extend(part.policy.rules);
        self.policy.extra.extend(part.policy.extra);
        self.policy.allow.extend(part.policy.allow);
        self.log = part.log.or(self.log.take());
        self.observe |= part.observe;
    }
}

#[derive(Default)]
struct Part {
    policy: Policy,
    log: Option<String>,
    observe: bool,
    project_may_allow: bool,
}

impl Part {
    fn read(room: &Room, problems: &mut Vec<Problem>) -> Self {
        let mut reader = TableReader::new("guard.bash", &room.table, &room.origin, problems);
        let mut part = Self::default();
        for (name, family) in FAMILIES {
            if let Some(reach) = reader.word(name, &REACH) {
                part.policy.families.insert(family, reach.value);
            }
        }
        part.log = reader.text("log").map(|text| text.value);
        part.observe = reader.boolean("observe").is_some_and(|flag| flag.value);
        part.project_may_allow = reader.boolean("project_may_allow").is_some_and(|flag| flag.value);
        let on = reader.texts("rules_on");
        let off = reader.texts("rules_off");
        let rules = reader.table("rule");
        let allow = reader.table("allow");
        reader.finish();
        part.switch(&on, true);
        part.switch(&off, false);
        Self::check_ids(problems, on.iter().chain(&off));
        for (name, table) in entries(rules) {
            part.policy.extra.extend(extra_rule(name, table, room, problems));
        }
        for (name, table) in entries(allow) {
            part.policy.allow.extend(exception(name, table, room, problems));
        }
        part
    }

    fn switch(&mut self, ids: &[Sourced<String>], on: bool) {
        self.policy.rules.extend(ids.iter().map(|id| (id.value.clone(), on)));
    }

    fn check_ids<'i>(problems: &mut Vec<Problem>, ids: impl Iterator<Item = &'i Sourced<String>>) {
        for id in ids {
            let known = super::rules().any(|rule| rule.id == id.value)
                || matches!(id.value.as_str(), "background.parameter" | "tamper.launch-record");
            if !known {
                problems.push(Problem {
                    source: id.source.clone(),
                    what: format!(
                        "there is no rule {:?}; `subcell guard bash --rules` lists them",
                        id.value
                    ),
                });
            }
        }
    }

    /// Leaves out what would loosen the user's policy.
    fn only_tighten(&mut self, user: &Policy, room: &Room, problems: &mut Vec<Problem>) {
        let mut refuse = |what: &str| {
            let what = format!("guard.bash: {what} is ignored: a project may only tighten the guard");
            problems.push(room.origin.problem(0, what));
        };
        if !self.policy.allow.is_empty() {
            self.policy.allow.clear();
            refuse("an exception");
        }
        let before = self.policy.rules.len();
        self.policy.rules.retain(|_, on| *on);
        if self.policy.rules.len() < before {
            refuse("a rule switched off");
        }
        let rank = |reach: Reach| match reach {
            Reach::Off => 0,
            Reach::Confined => 1,
            Reach::All => 2,
        };
        let before = self.policy.families.len();
        self.policy
            .families
            .retain(|family, reach| rank(*reach) >= rank(user.reach(*family)));
        if self.policy.families.len() < before {
            refuse("a family narrowed");
        }
        if self.observe || self.log.is_some() {
            self.observe = false;
            self.log = None;
            refuse("`observe` or `log`");
        }
    }
}

fn entries(table: Option<&Table>) -> impl Iterator<Item = (&str, &Table)> {
    table
        .into_iter()
        .flat_map(|table| &table.entries)
        .filter_map(|entry| entry.node.item.as_table().map(|table| (entry.key.as_str(), table)))
}

fn extra_rule(name: &str, table: &Table, room: &Room, problems: &mut Vec<Problem>) -> Option<ExtraRule> {
    let shown = format!("guard.bash.rule.{name}");
    let mut reader = TableReader::new(&shown, table, &room.origin, problems);
    let program = reader.text("program");
    let words = values(reader.texts("words"));
    let family = reader
        .word("family", &FAMILIES)
        .map_or(Family::Destroy, |family| family.value);
    let severity = reader
        .word("severity", &SEVERITY)
        .map_or(Severity::High, |severity| severity.value);
    let reason = reader.text("reason").map(|text| text.value);
    let instead = reader.text("instead").map(|text| text.value);
    if program.is_none() {
        reader.complain("program", "is missing: the rule is ignored");
    }
    reader.finish();
    Some(ExtraRule {
        id: format!("{}.{name}", family.name()),
        family,
        severity,
        program: program?.value,
        words,
        reason: reason.unwrap_or_else(|| "a rule of this project or user forbids it".to_owned()),
        instead: instead.unwrap_or_else(|| "leave it out, and say in your report that it was needed".to_owned()),
    })
}

fn exception(name: &str, table: &Table, room: &Room, problems: &mut Vec<Problem>) -> Option<Allow> {
    let shown = format!("guard.bash.allow.{name}");
    let mut reader = TableReader::new(&shown, table, &room.origin, problems);
    let rule = reader.text("rule").map(|text| text.value);
    let program = reader.text("program").map(|text| text.value);
    let words = values(reader.texts("words"));
    let below = reader.text("below").map(|text| text.value);
    let project = reader.text("project").map(|text| text.value);
    let until = reader.text("until").map(|text| text.value);
    let day = until.as_deref().map(Day::parse);
    if rule.is_none() {
        reader.complain("rule", "is missing: the exception is ignored");
    }
    if day == Some(None) {
        reader.complain("until", "has to be a day such as 2027-01-31: the exception is ignored");
    }
    // An exception for a whole family or rule without a scope would be a switch; those have their own keys.
    let scoped = program.is_some() || below.is_some() || project.is_some();
    if !scoped {
        reader.complain(
            "rule",
            "needs a scope (program, below or project): the exception is ignored",
        );
    }
    reader.finish();
    if day == Some(None) || !scoped {
        return None;
    }
    Some(Allow {
        rule: rule?,
        program,
        words,
        below,
        project,
        until: day.flatten(),
    })
}

fn values(texts: Vec<Sourced<String>>) -> Vec<String> {
    texts.into_iter().map(|text| text.value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Believed, Flags, Profile};

    #[test]
    fn the_shown_defaults_are_those_of_the_code() {
        let flags = Flags {
            config: Some(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("config/defaults.toml")),
            ..Flags::default()
        };
        let profile = Profile::load(&Believed::of_person(&[]), None, &flags).unwrap();
        let (shown, code) = (read_setting(&profile.rooms.guard_bash), Setting::default());
        assert_eq!(shown.policy.families.len(), FAMILIES.len());
        for (name, family) in FAMILIES {
            assert_eq!(shown.policy.reach(family), code.policy.reach(family), "{name}");
        }
        let without_families = Policy {
            families: code.policy.families.clone(),
            ..shown.policy.clone()
        };
        assert_eq!(
            Setting {
                policy: without_families,
                ..shown
            },
            code
        );
    }
}
