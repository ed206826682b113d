//! Gathers the facts of a place.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use super::documents::{self, Where};
use super::facts::{
    ClientFacts, ConfigFacts, Document, DocumentState, Echo, Facts, Meaning, Options, OurHook, Program, SeenHook,
};
use super::program::{self, Search};
use super::state;
use crate::config::{Believed, ConfigError, Environment, Guard, Profile};
use crate::process::Signals;
use crate::protocol::command_line::ParentFlags;
use crate::protocol::settings::{Rule, Scope, split_list};

/// A place, and what is known of it from elsewhere.
pub struct Place<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// What is believed of the environment.
    pub believed: &'a Believed,
    /// The environment that the client is started in.
    pub env: &'a Environment,
    /// The client's options, and whether somebody named them.
    pub flags: (&'a ParentFlags, bool),
    /// Where the administrator's settings are.
    pub managed: &'a Path,
    /// The client.
    pub client: ClientFacts,
    /// The echo agent.
    pub echo: Echo,
    /// The configuration at this place, without flags.
    pub profile: Result<&'a Profile, &'a ConfigError>,
    /// What arguments of ours mean at this place.
    pub meaning: &'a dyn Fn(&[String]) -> Result<Meaning, String>,
    /// The folder of the records.
    pub records: Option<&'a Path>,
    /// This process's signals.
    pub signals: &'a Signals,
}

/// Reads everything. Programs are run only where the user or the administrator named them, and only with `--version`.
#[must_use]
pub fn gather(place: &Place<'_>) -> Facts {
    let config = place.believed.client_config_dir();
    let home = place.believed.home();
    let documents = documents::read(Where {
        folder: place.folder,
        config: config.as_deref(),
        home,
        managed: place.managed,
        flags: place.flags.0,
        version: place.client.version,
    });
    let mut facts = Facts {
        folder: place.folder.to_owned(),
        documents,
        options: options(place.flags.0, place.flags.1),
        env: texts(place.env),
        client: place.client.clone(),
        hooks: Vec::new(),
        echo: place.echo.clone(),
        credentials_file: config.is_some_and(|config| config.join(".credentials.json").is_file()),
        is_root: rustix::process::geteuid().is_root(),
        config: config_facts(place),
        state: state::look(place.records),
        telemetry: place
            .profile
            .ok()
            .and_then(|profile| state::collector(&profile.rooms.telemetry)),
    };
    facts.hooks = hooks(place, &facts);
    facts
}

fn texts(env: &Environment) -> BTreeMap<String, String> {
    let text = |value: &OsStr| value.to_string_lossy().into_owned();
    env.iter().map(|(name, value)| (text(name), text(value))).collect()
}

fn options(flags: &ParentFlags, are_known: bool) -> Options {
    let off = [(flags.bare, "--bare"), (flags.safe_mode, "--safe-mode")];
    let bypass = flags.permission_mode.as_deref() == Some(OsStr::new("bypassPermissions"));
    let words = |values: &[std::ffi::OsString]| -> Vec<String> {
        values
            .iter()
            .flat_map(|value| split_list(&value.to_string_lossy()))
            .collect()
    };
    let whole = |rule: &String| Rule::parse(rule).is_whole_agent();
    let tools = flags.tools.as_deref().map(words);
    Options {
        are_known,
        without_hooks: off
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, name)| (*name).to_owned())
            .collect(),
        bypass: bypass || flags.dangerously_skip_permissions,
        without_agent: tools.is_some_and(|tools| {
            !tools
                .iter()
                .any(|tool| Rule::parse(tool).is_agent() || tool == "default")
        }) || words(&flags.disallowed_tools).iter().any(whole),
        settings_twice: flags.settings.len() > 1,
    }
}

fn config_facts(place: &Place<'_>) -> ConfigFacts {
    let (problems, warnings, depth) = match place.profile {
        Ok(profile) => (Vec::new(), &profile.warnings[..], profile.intercept.max_depth.value),
        Err(error) => (error.problems.iter().map(ToString::to_string).collect(), &[][..], 1),
    };
    let guard = match place.believed.guard() {
        Guard::Foreign { value } => Some(format!(
            "{} is set to {:?}",
            crate::config::believe::GUARD,
            value.chars().take(40).collect::<String>()
        )),
        Guard::Ours { .. } | Guard::None if place.believed.depth() >= depth => Some(format!(
            "SUBCELL_DEPTH is {}, and cells nest {depth} deep",
            place.believed.depth()
        )),
        Guard::Ours { .. } | Guard::None => None,
    };
    ConfigFacts {
        problems,
        warnings: warnings.iter().map(ToString::to_string).collect(),
        guard,
    }
}

fn hooks(place: &Place<'_>, facts: &Facts) -> Vec<OurHook> {
    let path = facts.variable("PATH", true).map(|(path, _)| path);
    let search = Search {
        folder: place.folder,
        path,
        home: place.believed.home(),
    };
    let mut hooks = Vec::new();
    for (index, document) in facts.documents.iter().enumerate() {
        let content = &document.content;
        for seen in content.before.iter().chain(&content.after) {
            hooks.extend(hook(place, search, (index, document), seen));
        }
    }
    hooks
}

fn hook(
    place: &Place<'_>,
    search: Search<'_>,
    (index, document): (usize, &Document),
    seen: &SeenHook,
) -> Option<OurHook> {
    let entry = seen.ours.as_ref()?;
    let named = entry.work.words().iter().map(|word| (*word).to_owned());
    let arguments: Vec<String> = named.chain(entry.flags.iter().cloned()).collect();
    let mut program = program::find(entry, search);
    if let Program::Found { path, version, .. } = &mut program {
        let trusted = !matches!(document.scope, Scope::Project | Scope::Local) && !path.starts_with(place.folder);
        if trusted && document.state == DocumentState::Loaded {
            *version = program::version(path, place.signals);
        }
    }
    Some(OurHook {
        document: index,
        entry: entry.clone(),
        terms: seen.terms.clone(),
        program,
        meaning: (place.meaning)(&arguments),
    })
}

/// The client on a PATH.
#[must_use]
pub fn client_on_path(path: Option<&OsStr>) -> Option<std::path::PathBuf> {
    program::on_path("claude", path.and_then(OsStr::to_str), Path::new("/"))
}
