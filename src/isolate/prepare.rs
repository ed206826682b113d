//! From a call to everything that its cell needs, before anything is started: reads, decides, refuses.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::handover::Handover;
use super::intercept::AgentCall;
use super::limits;
use super::lineage::gather::{AgentMatch, MANAGED_FOLDER};
use super::lineage::{self, EchoAvailability, Lineage, ModelSource, RuleSource, RuleVerdict};
use super::plan::{CellPlan, Inputs, plan};
use super::program::{self, Program};
use super::run::Firing;
use super::schema;
use crate::base::chain::Chain;
use crate::base::{AgentType, CellId, Deadline, SessionId, SpanId, TraceContext, TraceId, UnixNanos};
use crate::config::{CellMarks, ChildEnv, Client, ClientError, StartEnv, child_environment};
use crate::ledger::record::TraceIds;
use crate::process::{Limits, started_at};
use crate::protocol::ClientVersion;
use crate::protocol::command_line::inherit::Versions;

/// From TERM to KILL: the client needs up to 1.6 s to end its own commands (2.1.332).
const GRACE: Duration = Duration::from_secs(5);
/// The most that a child may print.
const OUTPUT_LIMIT: u64 = 64 * 1024 * 1024;
/// How long the transcript may be waited for. It holds the call within 0.1 s of the hook's start, not always at once
/// (40 of 40 calls, 2.1.156 and 2.1.332).
const TRANSCRIPT_WAIT: Duration = Duration::from_millis(500);

/// A cell that is ready to be started.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Its id.
    pub cell: CellId,
    /// The child's session.
    pub session: SessionId,
    /// The child.
    pub plan: CellPlan,
    /// The ids of its span.
    pub trace: TraceIds,
    /// The model that is passed.
    pub model: Option<String>,
    /// Where it is from.
    pub model_source: String,
    /// The agent that may repeat the result, if the parent has it.
    pub echo_agent: Option<String>,
    /// By which way the result is handed over.
    pub handover: Handover,
    /// Names of the environment that were kept, set and removed.
    pub environment: ChildEnv,
    /// Whether structured output is asked for.
    pub needs_structure: bool,
    /// Where slots are; `None` for a cell that takes none.
    pub slots: Option<PathBuf>,
    /// The client's version, where it is known.
    pub client_version: Option<String>,
    /// For the record.
    pub notes: Vec<String>,
    /// For the user.
    pub warnings: Vec<String>,
    /// When the plan was made.
    pub planned: UnixNanos,
}

/// Prepares the cell of `call`.
///
/// # Errors
/// The reason why the call is refused: a rule of the parent is against it, a limit of the parent could not be kept, or
/// what the configuration asks for is not there.
pub(super) fn prepare(firing: &Firing<'_>, call: &AgentCall) -> Result<Prepared, String> {
    let program = choose_program(firing);
    let versions = versions(firing, &program);
    let lineage = gather(firing, call, (command_line(&firing.around.client)?, versions));
    let agent = permitted(&lineage, call, versions.cell)?;
    let inherited = lineage.inherited.as_ref().map_err(|error| {
        format!(
            "subcell: a cell would lose a limit of its parent, so none is made: {}",
            Chain(error)
        )
    })?;
    let schema = schema_of(firing, call, &lineage.agent)?;
    let (cell_id, session) = (CellId::new(), SessionId::random());
    let (trace, context) = trace(firing);
    let limits = limits::to_text(&lineage.limits);
    let environment = environment(firing, call.depth, (&cell_id, limits.as_deref()), &context);
    let plan = plan(Inputs {
        call,
        agent: &agent,
        cell: &cell_id,
        session: &session,
        program: program.path,
        project: firing.project.clone(),
        call_cwd: firing.event.cwd.as_deref(),
        inherited: inherited.arguments.clone(),
        model: lineage.model.pass.as_deref(),
        schema: schema.as_deref(),
        env: environment.vars.clone(),
        version: versions.cell,
        takes_cells: firing.profile.intercept.max_depth.value > call.depth,
        limits: Limits {
            run: firing.profile.intercept.timeout.value,
            grace: GRACE,
            output_bytes: OUTPUT_LIMIT,
        },
    });
    Ok(Prepared {
        cell: cell_id,
        session,
        plan,
        trace,
        model: lineage.model.pass.clone(),
        model_source: lineage.model.source.word().to_owned(),
        echo_agent: lineage.echo.agent().map(str::to_owned),
        handover: Handover::choose(firing.profile.intercept.delivery.value, &lineage.post_hooks),
        environment,
        needs_structure: schema.is_some(),
        slots: slots(firing, call),
        client_version: versions.cell.map(|version| version.to_string()),
        notes: notes(&lineage, &inherited.dropped),
        warnings: warnings(&lineage),
        planned: UnixNanos::now(),
    })
}

/// The schema that the answer of the called agent must meet, as text.
///
/// A client hands structured output in by a tool of its own, which a definition's list of tools has to name like any
/// other (2.1.156, 2.1.226, 2.1.332): without it a cell could only fail, after it has been paid for.
fn schema_of(firing: &Firing<'_>, call: &AgentCall, agent: &AgentMatch) -> Result<Option<String>, String> {
    let Some(configured) = firing.profile.agents.get(&call.agent_type) else {
        return Ok(None);
    };
    let refused = |problem: String| format!("subcell: {problem}. Tell the user.");
    let text = schema::read(&configured.json_schema.value).map_err(refused)?;
    match agent {
        AgentMatch::Found(found) if !schema::can_be_met(&found.definition) => Err(refused(format!(
            "the agent {} has to give an answer by a JSON schema, and its `tools` do not name StructuredOutput, so it cannot",
            call.agent_type
        ))),
        AgentMatch::Found(_) | AgentMatch::Ambiguous | AgentMatch::NotFound => Ok(Some(text)),
    }
}

/// The executable of the parent's process.
fn parents_executable<'a>(firing: &Firing<'a>) -> Option<&'a Path> {
    firing
        .around
        .client
        .as_ref()
        .ok()
        .and_then(|client| client.exe.as_deref())
}

fn choose_program(firing: &Firing<'_>) -> Program {
    let configured = firing
        .profile
        .intercept
        .claude
        .as_ref()
        .map(|path| path.value.as_path());
    let search = firing.around.believed.locating("PATH");
    program::choose(configured, parents_executable(firing), search, program::is_program)
}

/// The parent's version, and the cell's: known only where it is the same executable, or tells by its own path.
fn versions(firing: &Firing<'_>, program: &Program) -> Versions {
    let ai_agent = firing.around.environment.get("AI_AGENT").and_then(OsStr::to_str);
    let parent = ClientVersion::detect(parents_executable(firing), ai_agent);
    let cell = if program.is_parents {
        parent
    } else {
        ClientVersion::of_executable(&program.path)
    };
    Versions { parent, cell }
}

/// The words of the parent's command line. Where every process above the hook is a shell, it was started by hand and
/// there is no parent whose limits could be lost.
fn command_line(client: &Result<Client, ClientError>) -> Result<&[OsString], String> {
    let unknown = |why: String| format!("subcell: {why}, so its parent's limits are not known and no cell is made");
    match client {
        Ok(client) if client.cmdline.is_empty() => Err(unknown(format!(
            "/proc/{}/cmdline is empty or cannot be read",
            client.pid
        ))),
        Ok(client) => Ok(&client.cmdline),
        Err(ClientError::OnlyShells) => Ok(&[]),
        Err(error @ (ClientError::NoParent | ClientError::Unreadable { .. })) => {
            Err(unknown(Chain(error).to_string()))
        }
    }
}

fn gather(firing: &Firing<'_>, call: &AgentCall, (command_line, versions): (&[OsString], Versions)) -> Lineage {
    let believed = &firing.around.believed;
    let client = firing.around.client.as_ref().ok();
    let start_env = |name: &str| {
        let value = match client.map(|client| &client.start_env) {
            Some(StartEnv::Known(env)) => env.get(name),
            Some(StartEnv::Unreadable(_)) | None => firing.around.environment.get(name),
        };
        value.map(|value| value.to_string_lossy().into_owned())
    };
    let config = believed.client_config_dir();
    let handed_down = limits::handed_down(believed);
    let around = lineage::Surroundings {
        command_line,
        versions,
        start: &firing.project,
        config: config.as_deref(),
        home: believed.home(),
        managed: Path::new(MANAGED_FOLDER),
        env: &start_env,
        started: client.and_then(|client| started_at(client.start_ticks)),
        limits: &handed_down,
        transcript_wait: Deadline::after(TRANSCRIPT_WAIT),
    };
    let event = firing.event;
    lineage::gather(
        &around,
        lineage::Call {
            tool: event.tool.as_ref().map(|tool| tool.name.as_str()).unwrap_or_default(),
            input: &call.input,
            tool_use_id: call.tool_use_id.as_str(),
            caller_id: event.agent_id.as_deref(),
            caller_type: event.agent_type.as_deref(),
            transcript: event.transcript_path.as_deref(),
        },
    )
}

/// The exact name of the agent that runs, where the parent may start it.
fn permitted(lineage: &Lineage, call: &AgentCall, version: Option<ClientVersion>) -> Result<AgentType, String> {
    let asked = &call.agent_type;
    match &lineage.rules {
        RuleVerdict::Allowed => {}
        RuleVerdict::Denied { rule, by } => {
            return Err(format!(
                "agent type '{asked}' is denied by the rule {rule} of {}",
                named(by)
            ));
        }
        RuleVerdict::Ask { rule, by } => {
            return Err(format!(
                "agent type '{asked}' needs a permission that nobody can give before its cell starts: rule {rule} of {}",
                named(by)
            ));
        }
    }
    if let Some(path) = &lineage.unknown_limits {
        return Err(format!(
            "subcell: the agent that this session runs as is not found, and {} cannot be read, so its limits on agent types \
             are not known and no cell is made",
            path.display()
        ));
    }
    match &lineage.agent {
        AgentMatch::Found(found) => found
            .definition
            .name
            .parse()
            .map_err(|error| format!("subcell: {error}")),
        AgentMatch::Ambiguous => Err(format!("agent type '{asked}' fits several agents: name one exactly")),
        // Older clients run their default agent for a name that they do not know, on the default model.
        AgentMatch::NotFound if version.is_some_and(ClientVersion::rejects_unknown_agent) => Ok(asked.clone()),
        AgentMatch::NotFound => Err(format!("agent type '{asked}' not found")),
    }
}

fn named(source: &RuleSource) -> String {
    match source {
        RuleSource::Scope(scope) => scope.word().to_owned(),
        RuleSource::Agent(name) => format!("the agent {name}"),
    }
}

/// A span of our own: under the believed trace context, or in a trace of its own.
fn trace(firing: &Firing<'_>) -> (TraceIds, TraceContext) {
    let parent = firing.around.believed.trace_context();
    let trace_id = parent.map_or_else(TraceId::random, |parent| parent.trace_id);
    let span_id = SpanId::random();
    let sampled = parent.is_none_or(|parent| parent.sampled);
    let ids = TraceIds {
        trace_id,
        span_id,
        parent_span_id: parent.map(|parent| parent.span_id),
        sampled,
    };
    (
        ids,
        TraceContext {
            trace_id,
            span_id,
            sampled,
        },
    )
}

fn environment(
    firing: &Firing<'_>,
    depth: u32,
    (cell, agent_limits): (&CellId, Option<&str>),
    context: &TraceContext,
) -> ChildEnv {
    let believed = &firing.around.believed;
    let marks = CellMarks {
        cell,
        agent_limits,
        depth,
        cwd: &firing.project,
        trace: context,
        continues_trace: believed.trace_context().is_some(),
    };
    child_environment(
        &firing.around.environment,
        believed,
        &marks,
        &firing.profile.child_env_values(),
    )
}

/// A cell in a cell takes no slot: its parent's cell holds one while it waits.
fn slots(firing: &Firing<'_>, call: &AgentCall) -> Option<PathBuf> {
    let state = firing.around.believed.state_dir().filter(|_| call.depth <= 1)?;
    Some(state.join("slots"))
}

fn notes(lineage: &Lineage, dropped: &[&'static str]) -> Vec<String> {
    let echo = match &lineage.echo {
        EchoAvailability::Available(_) => None,
        EchoAvailability::NotFound => Some("the agent echo-through is not installed".to_owned()),
        EchoAvailability::Foreign { path } => Some(format!(
            "the project's agent {} is not the shipped echo-through",
            path.display()
        )),
        EchoAvailability::TooNew { path } => Some(format!(
            "the agent {} is newer than the client, which reads agents once",
            path.display()
        )),
        EchoAvailability::Unread { path } => Some(format!(
            "{} cannot be read, and the client may find another echo-through in it",
            path.display()
        )),
        EchoAvailability::Refused(_) => Some("a rule of the parent is against the agent echo-through".to_owned()),
    };
    let dropped = dropped
        .iter()
        .map(|flag| format!("{flag} is not passed on: the client's version is not known to take it"));
    let unread = lineage.settings_problems.iter().map(|problem| {
        format!(
            "settings of {} are not known: {}",
            problem.scope.word(),
            Chain(&problem.error)
        )
    });
    echo.into_iter()
        .map(|why| format!("the result is handed back by the call's own agent type: {why}"))
        .chain(dropped)
        .chain(unread)
        .collect()
}

fn warnings(lineage: &Lineage) -> Vec<String> {
    let unknown = lineage.model.source == ModelSource::Unknown;
    let model = unknown.then(|| {
        "subcell: the parent's model could not be found, so the cell runs the account's default; name one with the \
         call's model or ANTHROPIC_MODEL"
            .to_owned()
    });
    model.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Pid;

    #[test]
    fn a_parent_whose_command_line_is_not_known_gets_no_cell() {
        let client = |cmdline: &[&str]| Client {
            pid: Pid(7),
            start_ticks: 1,
            exe: None,
            cmdline: cmdline.iter().map(OsString::from).collect(),
            cwd: None,
            start_cwd: None,
            start_env: StartEnv::Unreadable("no".into()),
            confirmed: None,
        };
        let unreadable = ClientError::Unreadable {
            pid: Pid(7),
            source: std::io::ErrorKind::PermissionDenied.into(),
        };
        for (found, expected) in [
            (Ok(client(&["claude", "-p"])), Some(2)),
            (Ok(client(&[])), None),
            (Err(ClientError::OnlyShells), Some(0)),
            (Err(ClientError::NoParent), None),
            (Err(unreadable), None),
        ] {
            let words = command_line(&found);
            assert_eq!(words.as_ref().ok().map(|words| words.len()), expected, "{found:?}");
            assert!(words.err().is_none_or(|why| why.contains("limits are not known")));
        }
    }
}
