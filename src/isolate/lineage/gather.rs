//! Reads everything that a call comes from, once, into plain data.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Map, Value};

use super::agents::{AgentPlaces, Agents, Found, Lookup, collect};
use super::call_site::wait_for_call;
use super::echo::{ECHO_AGENT, EchoAvailability, PLUGIN_ECHO_AGENT, availability};
use super::model::{ModelChoice, ModelInputs, ModelSource, choose, chosen_alias, is_first_party, knows_parent};
use super::post_hooks::PostHooks;
use super::rules::{AgentLimit, AgentRules, Judged, RuleVerdict};
use crate::base::{AgentType, Deadline};
use crate::protocol::command_line::inherit::Versions;
use crate::protocol::command_line::{InheritError, Inherited, ParentFlags, inherit};
use crate::protocol::settings::{LoadedSettings, Places, SettingsProblem, Sources, load};
use crate::protocol::transcript::subagent_transcript;

/// Where the administrator's settings are, on Linux.
pub const MANAGED_FOLDER: &str = "/etc/claude-code";

/// The client that makes the call, and what is around it.
pub struct Surroundings<'a> {
    /// The words of its `/proc/PID/cmdline`, the program first.
    pub command_line: &'a [OsString],
    /// Its version and the cell's.
    pub versions: Versions,
    /// The folder it was started in: the project (`CLAUDE_PROJECT_DIR`).
    pub start: &'a Path,
    /// `$CLAUDE_CONFIG_DIR`, or `~/.claude`, as believed.
    pub config: Option<&'a Path>,
    /// The user's home folder, as believed.
    pub home: Option<&'a Path>,
    /// [`MANAGED_FOLDER`], but for tests.
    pub managed: &'a Path,
    /// The client's start environment.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// When it started.
    pub started: Option<SystemTime>,
    /// The limits on types that were handed down to this session, where it is a cell itself.
    pub limits: &'a [AgentLimit],
    /// Until when the transcript may be waited for. It is waited for only where the model stands nowhere else.
    pub transcript_wait: Deadline,
}

/// The call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The tool's name in the payload: `Agent`, in older clients `Task`.
    pub tool: &'a str,
    /// Its input.
    pub input: &'a Map<String, Value>,
    /// Its id.
    pub tool_use_id: &'a str,
    /// `agent_id` of the payload: set where a subagent makes the call.
    pub caller_id: Option<&'a str>,
    /// `agent_type` of the payload: that subagent's type, or the session's own with `--agent`.
    pub caller_type: Option<&'a str>,
    /// `transcript_path` of the payload: the session's, also where a subagent makes the call.
    pub transcript: Option<&'a Path>,
}

/// The definition that the call's type leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentMatch {
    /// This one; `--agent` gets its name.
    Found(Box<Found>),
    /// Several fit a loose spelling; the client refuses the call.
    Ambiguous,
    /// None; the client refuses the call, or it is an agent that only an interactive session has.
    NotFound,
}

/// What a call comes from.
#[derive(Debug)]
pub struct Lineage {
    /// The parent's options.
    pub flags: ParentFlags,
    /// Those that the cell gets, or why a cell would lose a limit of the parent.
    pub inherited: Result<Inherited, InheritError>,
    /// What the rules say of the type that the call asked for.
    pub rules: RuleVerdict,
    /// The limits on types that bind the call's session: the cell's own calls must keep to them too.
    pub limits: Vec<AgentLimit>,
    /// The definition of that type.
    pub agent: AgentMatch,
    /// The model.
    pub model: ModelChoice,
    /// Whether the echo agent may hand the result back.
    pub echo: EchoAvailability,
    /// A file or folder that could not be read and may define the agent that the session runs as, which is not found
    /// anywhere else: its limits are not known.
    pub unknown_limits: Option<PathBuf>,
    /// What else runs when the call has ended.
    pub post_hooks: PostHooks,
    /// Settings that could not be read.
    pub settings_problems: Vec<SettingsProblem>,
}

/// Reads what a call comes from.
#[must_use]
pub fn gather(around: &Surroundings<'_>, call: Call<'_>) -> Lineage {
    let flags = ParentFlags::parse(around.command_line);
    let inherited = inherit(&flags, around.versions, around.start);
    let (sources, settings) = settings(around, &flags);
    let agents = agents(around, &flags, sources, &settings);
    let asked = text(call.input, "subagent_type").unwrap_or(AgentType::GENERAL_PURPOSE);
    let lookup = agents.lookup(asked);
    let caller = caller(&agents, &flags, &settings, call);
    let mut limits = around.limits.to_vec();
    limits
        .extend(session_agent(&agents, &flags, &settings, call).and_then(|found| AgentLimit::of(&found.definition)));
    let nowhere = |name: Cow<'_, str>| found(&agents, &name).is_none();
    let unknown = session_agent_name(&flags, &settings, call).is_some_and(nowhere);
    let unknown_limits = agents.unread().filter(|_| unknown).map(Path::to_owned);
    let rules = AgentRules::gather(&settings, &flags, &limits);
    let judge = |asked, resolved, input| {
        let judged = Judged { asked, resolved, input };
        rules.judge(judged, around.versions.parent)
    };
    let resolved = match lookup {
        Lookup::Found(found) => found.definition.name.as_str(),
        Lookup::Ambiguous | Lookup::NotFound => asked,
    };
    let echoes = [ECHO_AGENT, PLUGIN_ECHO_AGENT].map(|name| (name, rewritten(call.input, name)));
    let mut echoes = echoes
        .iter()
        .map(|(name, input)| availability(name, &agents, judge(name, name, input), around.started));
    let echo = echoes.find(|echo| *echo != EchoAvailability::NotFound);
    let echo = echo.unwrap_or(EchoAvailability::NotFound);
    Lineage {
        rules: judge(asked, resolved, call.input),
        model: model(around, call, &flags, &settings, (lookup, caller)),
        agent: AgentMatch::from(lookup),
        echo,
        post_hooks: PostHooks::gather(&settings, call.tool),
        limits,
        unknown_limits,
        inherited,
        settings_problems: settings.problems,
        flags,
    }
}

/// The input of the call that hands the result back, as far as rules may speak of it: the client judges that one.
fn rewritten(input: &Map<String, Value>, agent: &str) -> Map<String, Value> {
    let mut rewritten = input.clone();
    rewritten.insert("subagent_type".to_owned(), Value::from(agent));
    rewritten.insert("run_in_background".to_owned(), Value::Bool(false));
    rewritten.remove("prompt");
    rewritten
}

impl From<Lookup<'_>> for AgentMatch {
    fn from(lookup: Lookup<'_>) -> Self {
        match lookup {
            Lookup::Found(found) => Self::Found(Box::new(found.clone())),
            Lookup::Ambiguous => Self::Ambiguous,
            Lookup::NotFound => Self::NotFound,
        }
    }
}

/// The settings that the parent loaded. Where it is not known which of two options counted, no cell is started anyway.
fn settings(around: &Surroundings<'_>, flags: &ParentFlags) -> (Sources, LoadedSettings) {
    let version = around.versions.parent;
    let one = |value: Option<&OsString>| value.map(OsString::as_os_str).map(OsStr::to_owned);
    let sources = one(flags.effective_setting_sources(version).ok().flatten());
    let sources = Sources::from_flag(sources.as_deref());
    let places = Places {
        managed: around.managed,
        config: around.config,
        project: around.start,
    };
    let flag = one(flags.effective_settings(version).ok().flatten());
    let loaded = load(places, sources, flag.as_deref(), flags.managed_settings.as_deref());
    (sources, loaded)
}

fn agents(around: &Surroundings<'_>, flags: &ParentFlags, sources: Sources, settings: &LoadedSettings) -> Agents {
    collect(AgentPlaces {
        version: around.versions.parent,
        flags,
        sources,
        settings,
        managed: around.managed,
        config: around.config,
        home: around.home,
        start: around.start,
    })
}

/// The definition of the agent that makes the call: the calling subagent's, or the one that the session runs as.
fn caller<'a>(
    agents: &'a Agents,
    flags: &ParentFlags,
    settings: &LoadedSettings,
    call: Call<'_>,
) -> Option<&'a Found> {
    match (call.caller_id, call.caller_type) {
        (Some(_), name) => found(agents, name?),
        (None, _) => session_agent(agents, flags, settings, call),
    }
}

/// The definition of the agent that the session runs as.
fn session_agent<'a>(
    agents: &'a Agents,
    flags: &ParentFlags,
    settings: &LoadedSettings,
    call: Call<'_>,
) -> Option<&'a Found> {
    found(agents, &session_agent_name(flags, settings, call)?)
}

/// The name of the agent that the session runs as, if it runs as one.
fn session_agent_name<'a>(
    flags: &'a ParentFlags,
    settings: &'a LoadedSettings,
    call: Call<'a>,
) -> Option<Cow<'a, str>> {
    // In a subagent's call the payload names the subagent.
    let named = call.caller_type.filter(|_| call.caller_id.is_none()).map(Cow::from);
    let flag = || flags.agent.as_deref().map(OsStr::to_string_lossy);
    named.or_else(flag).or_else(|| settings.agent().map(Cow::from))
}

fn found<'a>(agents: &'a Agents, name: &str) -> Option<&'a Found> {
    match agents.lookup(name) {
        Lookup::Found(found) => Some(found),
        Lookup::Ambiguous | Lookup::NotFound => None,
    }
}

/// The model of the cell. Settings win over the start environment (2.1.156 to 2.1.332).
fn model(
    around: &Surroundings<'_>,
    call: Call<'_>,
    flags: &ParentFlags,
    settings: &LoadedSettings,
    (lookup, caller): (Lookup<'_>, Option<&Found>),
) -> ModelChoice {
    let env = |name: &str| settings.env(name).map(str::to_owned).or_else(|| (around.env)(name));
    let flag = flags.model.as_deref().map(OsStr::to_string_lossy);
    let (variable, subagent) = (env("ANTHROPIC_MODEL"), env("CLAUDE_CODE_SUBAGENT_MODEL"));
    let definition = match lookup {
        Lookup::Found(found) => found.definition.model.as_deref(),
        Lookup::Ambiguous | Lookup::NotFound => None,
    };
    let mut inputs = ModelInputs {
        version: around.versions.parent,
        call: text(call.input, "model"),
        definition,
        subagent_variable: subagent.as_deref(),
        called_by_subagent: call.caller_id.is_some(),
        flag: flag.as_deref(),
        parent_agent: caller.and_then(|found| found.definition.model.as_deref()),
        variable: variable.as_deref(),
        settings: settings.model(),
        transcript: None,
    };
    let without = choose(&inputs);
    if !transcript_matters(&without, &inputs) || !is_first_party(env) {
        return without;
    }
    let site = transcript(call).map(|path| wait_for_call(&path, call.tool_use_id, around.transcript_wait));
    let model = site.and_then(|site| site.model);
    inputs.transcript = model.as_deref();
    choose(&inputs)
}

/// Whether the transcript could change the decision: it is the last source for a session's call, and the first of the
/// parent's for a subagent's.
fn transcript_matters(without: &ModelChoice, inputs: &ModelInputs<'_>) -> bool {
    match without.source {
        ModelSource::Unknown => true,
        ModelSource::Call | ModelSource::SubagentVariable | ModelSource::Definition => {
            chosen_alias(without, inputs).is_some() && (inputs.called_by_subagent || !knows_parent(inputs))
        }
        ModelSource::ParentFlag
        | ModelSource::ParentAgent
        | ModelSource::Variable
        | ModelSource::Settings
        | ModelSource::Transcript => inputs.called_by_subagent,
    }
}

/// The transcript that holds the call: the calling subagent's own where there is one.
fn transcript(call: Call<'_>) -> Option<PathBuf> {
    let session = call.transcript?;
    match call.caller_id {
        Some(id) => subagent_transcript(session, id),
        None => Some(session.to_owned()),
    }
}

fn text<'a>(input: &'a Map<String, Value>, field: &str) -> Option<&'a str> {
    input.get(field)?.as_str()
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
