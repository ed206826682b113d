//! What else is in force beside the settings file that is worked on.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::document::Document;
use super::error::HooksError;
use super::plan::Known;
use super::receipt::{Receipt, Receipts};
use super::scope::{Target, project_of};
use super::wanted::Wanted;
use crate::base::{Links, read_bounded};
use crate::config::{Believed, Profile, Source};
use crate::protocol::settings::load::SETTINGS_LIMIT;
use crate::protocol::settings::{HookEntry, Places, Sources, Takes, load};
use crate::setup::{Form, OurEntry, Work};

/// The name of the client's plugin that brings the same hooks.
const PLUGIN: &str = "subcell@";

/// Where an installation is made from.
#[derive(Debug)]
pub struct Ground<'a> {
    /// What is believed of the environment.
    pub believed: &'a Believed,
    /// The user's configuration; a project's may lower limits, which makes no hook take longer.
    pub profile: &'a Profile,
    /// The folder of this process.
    pub cwd: &'a Path,
    /// The administrator's folder of settings: `/etc/claude-code`.
    pub managed: &'a Path,
    /// This program, as the hooks are to call it: absolute.
    pub program: &'a Path,
}

/// Our entries in another settings file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Neighbour {
    path: PathBuf,
    entries: Vec<OurEntry>,
    plugin: bool,
}

impl Ground<'_> {
    /// Where receipts and backups lie: they belong to the user, whatever file they are of.
    pub(super) fn receipts(&self) -> Result<Receipts, HooksError> {
        let data = self.believed.data_dir();
        let data = data.ok_or(HooksError::NoPlace(
            "there is no folder for backups: set HOME to an absolute path",
        ))?;
        Ok(Receipts::of(data.join("hooks")))
    }

    /// The settings files that are loaded together with the target.
    pub(super) fn neighbours(&self, target: &Target, receipts: &[Receipt]) -> Vec<Neighbour> {
        let config = self.believed.client_config_dir();
        let project = self.cwd.join(".claude");
        let mut paths: Vec<PathBuf> = config.map(|config| config.join("settings.json")).into_iter().collect();
        paths.extend(["settings.json", "settings.local.json"].map(|name| project.join(name)));
        paths.push(self.managed.join("managed-settings.json"));
        paths.extend(receipts.iter().map(|receipt| receipt.settings.clone()));
        paths.sort();
        paths.dedup();
        let together = |path: &PathBuf| match (project_of(path), project_of(&target.settings)) {
            (Some(one), Some(other)) if !self.is_users(path) && !self.is_users(&target.settings) => one == other,
            (_, _) => true,
        };
        paths.retain(|path| *path != target.settings && together(path));
        paths.into_iter().filter_map(Neighbour::read).collect()
    }

    /// A user's `~/.claude/settings.json` looks like that of a project in the home folder.
    fn is_users(&self, path: &Path) -> bool {
        let config = self.believed.client_config_dir();
        config.is_some_and(|config| config.join("settings.json") == path)
    }

    /// What the plan is made from.
    pub(super) fn known(&self, document: &Document, neighbours: &[Neighbour]) -> Known {
        let intercept = &self.profile.intercept;
        let mut elsewhere = neighbours.iter().flat_map(|neighbour| &neighbour.entries);
        Known {
            present: document.ours(),
            isolates_elsewhere: elsewhere.any(|entry| entry.work == Work::Intercept),
            rivals: self.rivals(document.value()),
            configured: match intercept.delivery.source {
                Source::Default => None,
                Source::User { .. } | Source::Project { .. } | Source::Environment(_) | Source::Flag(_) => {
                    Some(intercept.delivery.value)
                }
            },
            slot_wait_s: intercept.slot_wait.value.as_secs(),
            timeout_s: intercept.timeout.value.as_secs(),
        }
    }

    /// The hooks of others that run after Agent calls, in every settings file that counts here.
    fn rivals(&self, own: &Map<String, Value>) -> Vec<String> {
        let config = self.believed.client_config_dir();
        let places = Places {
            managed: self.managed,
            config: config.as_deref(),
            project: self.cwd,
        };
        let loaded = load(places, Sources::from_flag(None), None, None);
        let in_target = HookEntry::of_event(own, "PostToolUse");
        let is_rival = |entry: &&HookEntry| entry.subcell_command().is_none() && entry.takes("Agent") != Takes::No;
        let all = loaded.post_tool_use().chain(&in_target).filter(is_rival);
        let mut rivals: Vec<String> = all.map(HookEntry::label).collect();
        rivals.sort();
        rivals.dedup();
        rivals
    }
}

impl Neighbour {
    fn read(path: PathBuf) -> Option<Self> {
        let bytes = read_bounded(&path, SETTINGS_LIMIT, Links::Follow).ok()?;
        let value: Value = serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).ok()?;
        let document = value.as_object()?;
        let plugins = document.get("enabledPlugins").and_then(Value::as_object);
        let on = |(name, value): (&String, &Value)| name.starts_with(PLUGIN) && *value != Value::Bool(false);
        let found = Self {
            entries: OurEntry::all(document),
            plugin: plugins.is_some_and(|plugins| plugins.iter().any(on)),
            path,
        };
        (found.plugin || !found.entries.is_empty()).then_some(found)
    }

    /// Refuses what would run twice, or against one another, beside this file.
    pub(super) fn check(&self, wanted: &[Wanted], program: &Path) -> Result<(), HooksError> {
        if self.plugin {
            return Err(self.conflict(
                "switches the plugin of subcell on, which brings the same hooks",
                "switch it off",
            ));
        }
        for entry in &self.entries {
            if let Some(wish) = wanted.iter().find(|wish| clash(wish, entry, program)) {
                let has = [entry.work.words().join(" "), entry.flags.join(" ")].join(" ");
                let what = format!(
                    "has \"{} {}\" under {}, which would run beside \"{} {}\"",
                    entry.program,
                    has.trim_end(),
                    entry.event,
                    wish.work.words().join(" "),
                    wish.flags.join(" ")
                );
                return Err(self.conflict(&what, "take it out there"));
            }
        }
        Ok(())
    }

    fn conflict(&self, what: &str, cure: &str) -> HooksError {
        let path = self.path.display();
        HooksError::Conflict(format!(
            "{path} {what}; settings of every scope count together, and entries that are not the same run both: {cure} \
             first (subcell uninstall --settings {path}), or install there"
        ))
    }
}

/// Whether the two would both run, or contradict one another: the client runs an entry that stands in two scopes once
/// where command and arguments are the same (2.1.332).
fn clash(wish: &Wanted, entry: &OurEntry, program: &Path) -> bool {
    let same_hook = wish.is_for(entry) || is_liveness_twice(wish, entry);
    let same_entry = wish.work == entry.work
        && entry.form == Form::Exec
        && Path::new(&entry.program) == program
        && entry.flags == wish.flags;
    let guards_alone = |work, has: bool| work == Work::Background && !has;
    let against = (wish.work == Work::Intercept && guards_alone(entry.work, entry.has_flag("--beside-intercept")))
        || (entry.work == Work::Intercept && guards_alone(wish.work, wish.flags.contains(&"--beside-intercept")));
    against || (same_hook && !same_entry)
}

fn is_liveness_twice(wish: &Wanted, entry: &OurEntry) -> bool {
    wish.work == Work::Liveness && entry.work == Work::LivenessAlone && wish.event == entry.event
}

#[cfg(test)]
#[path = "elsewhere_tests.rs"]
mod tests;
