//! What a cell's record holds (format 1). `tests/fixtures/record.schema.json` is the same as a JSON schema.
//!
//! Names are chosen to survive fullsend's redaction of output files: it masks text values whose key contains key, token,
//! secret, password, credential or auth. A name with one of these words holds numbers only.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ending::Ending;
use crate::base::{AgentType, CellId, ProcessIdentity, SessionId, SpanId, ToolUseId, TraceId, UnixNanos, Usd};
use crate::protocol::Tokens;

/// The format that this version writes, and the newest it reads.
pub const FORMAT: u32 = 1;

/// Why the built-in subagent ran instead of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PassReason {
    /// Inside a cell at the deepest level that may have cells.
    MaxDepth {
        /// The depth of the cell that made the call.
        depth: u32,
    },
    /// The call has no prompt.
    EmptyPrompt,
    /// `subagent_type: "fork"` inherits the whole conversation, which another process cannot.
    Fork,
    /// The call's input cannot be read.
    Malformed {
        /// What is wrong with it.
        detail: String,
    },
    /// `--require-sandbox` names a folder that is not there.
    NoSandbox {
        /// The folder.
        folder: PathBuf,
    },
}

impl PassReason {
    /// The reason in a sentence fragment.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::MaxDepth { depth } => {
                format!("the call comes from a cell at depth {depth}, and max_depth allows no deeper one")
            }
            Self::EmptyPrompt => "the call has no prompt".to_owned(),
            Self::Fork => "a fork inherits the whole conversation, which another process cannot".to_owned(),
            Self::Malformed { detail } => format!("the call cannot be read: {detail}"),
            Self::NoSandbox { folder } => {
                format!(
                    "the sandbox folder {} that --require-sandbox names is not there",
                    folder.display()
                )
            }
        }
    }
}

/// What the call asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The model that the child was started with; `None` where the agent's definition or the account decides.
    pub model: Option<String>,
    /// Where that model is from (`call`, `definition`, `parent_flag`, …, `unknown`).
    pub model_source: String,
    /// `effort` of the call.
    pub effort: Option<String>,
    /// `isolation` of the call.
    pub isolation: Option<String>,
    /// What the cell may cost; `None` where nothing limits it.
    #[serde(default)]
    pub cost_limit: Option<CostLimit>,
    /// The prompt's size in bytes.
    pub prompt_bytes: u64,
    /// The prompt's SHA-256.
    pub prompt_sha256: String,
}

/// What a cell may cost: passed on as `--max-budget-usd`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostLimit {
    /// The amount, in US dollars.
    pub usd: Usd,
    /// What it is a limit of.
    pub of: LimitOf,
}

/// See [`CostLimit::of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitOf {
    /// Each cell's.
    Cell,
    /// The session's: the amount is what was left of it.
    Session,
}

/// The stored result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultFile {
    /// The file's name, beside the record.
    pub file: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256. A file with another one was changed after it was written: redacted, as a rule.
    pub sha256: String,
    /// Whether it is valid UTF-8; where not, what is delivered is decoded once, with replacement characters.
    pub utf8: bool,
}

/// How the result was handed back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The mode; `none` where nothing was handed back.
    pub mode: DeliveryMode,
    /// What became of it. `none` until someone who saw it confirms: a hook cannot see whether the client used its answer
    /// (another hook's denial drops it), so a record that stays `none` reads as "not delivered, as far as is known".
    /// `subcell seal` is the one that confirms.
    pub outcome: DeliveryOutcome,
    /// The agent that the rewritten call runs.
    pub agent: Option<String>,
    /// Whether only the beginning of the result was put in.
    pub cut: bool,
    /// The mark between which the result stands in the rewritten prompt.
    pub mark: Option<String>,
    /// SHA-256 of the rewritten prompt.
    pub rewrite_sha256: Option<String>,
    /// Other hooks that the parent's settings run when an Agent call has ended: of several that rewrite its output, the
    /// last to finish wins (2.1.156 to 2.1.332).
    #[serde(default)]
    pub rivals: Vec<String>,
}

impl Delivery {
    /// Nothing was handed back.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            mode: DeliveryMode::None,
            outcome: DeliveryOutcome::None,
            agent: None,
            cut: false,
            mark: None,
            rewrite_sha256: None,
            rivals: Vec::new(),
        }
    }
}

/// See [`Delivery::mode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryMode {
    /// Nothing is handed back.
    None,
    /// By a rewritten prompt that a subagent repeats.
    Echo,
    /// By a rewritten prompt that only says where the result is; `subcell seal` puts it in.
    Receipt,
    /// By the reason of a denial. Nobody sees what becomes of it: no hook fires after one.
    Deny,
}

/// See [`Delivery::outcome`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryOutcome {
    /// Not confirmed by anyone.
    None,
    /// The echo came back as it should.
    Faithful,
    /// The echo came back changed, and was left so because another hook may rewrite the output too.
    Unfaithful,
    /// The echo came back changed, and the exact text was put in its place.
    Repaired,
    /// The exact text was put in: for a receipt, or for an echo that held the beginning only.
    Sealed,
    /// The call ran with another input than the one handed back: another hook rewrote it, or ours was ended first.
    RewriteLost,
    /// The client ran the call in the background: there was no output to put the text into.
    AsyncLaunched,
    /// The output has a shape that is not known; it was left as it was.
    UnknownShape,
    /// The result's file is not the one that was recorded (redacted, as a rule); the output was left as it was.
    Redacted,
    /// The result's file cannot be read; the output was left as it was.
    ResultMissing,
}

/// The ids of the cell's span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceIds {
    /// The trace that the child was given.
    pub trace_id: TraceId,
    /// The cell's span, under which the child hangs its own.
    pub span_id: SpanId,
    /// The span above ours; `None` where the hook had no `TRACEPARENT` that it believed, and the trace is ours alone.
    pub parent_span_id: Option<SpanId>,
    /// Whether the trace is sampled.
    pub sampled: bool,
}

/// When a phase of the hook began and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Its begin.
    pub start_unix_nano: UnixNanos,
    /// Its end.
    pub end_unix_nano: UnixNanos,
}

/// A git worktree that was made for the cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// Its folder.
    pub folder: PathBuf,
    /// Its branch, where it could be read.
    pub branch: Option<String>,
    /// Whether it was left in place, because it has changes or commits or could not be removed.
    pub kept: bool,
}

/// What one model did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelShare {
    /// Its tokens.
    pub tokens: Tokens,
    /// Its cost in US dollars; `None` is unknown.
    pub cost_usd: Option<f64>,
}

/// What is known once a cell has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// How it ended.
    pub ending: Ending,
    /// When.
    pub ended_unix_nano: UnixNanos,
    /// The child's exit code, where it exited by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended the child, ours included.
    pub exit_signal: Option<i32>,
    /// The whole tree's cost in US dollars, by the client's estimate; `None` is unknown, which is not 0.
    pub cost_usd: Option<f64>,
    /// Turns of the child's main loop.
    pub num_turns: Option<u64>,
    /// The client's own duration, in milliseconds.
    pub duration_ms: Option<u64>,
    /// The model that did most of the work.
    pub model_used: Option<String>,
    /// Tokens summed over all models; `null` counts are unknown.
    pub tokens: Tokens,
    /// The same by model.
    pub models: BTreeMap<String, ModelShare>,
    /// How many tool calls the child was refused.
    pub denied_count: u64,
    /// The names of the refused tools, each once.
    pub denied_tools: Vec<String>,
    /// `terminal_reason` of the result.
    pub terminal_reason: Option<String>,
    /// The result, where there is one; a failed cell's text is stored too, and is never handed on as an answer.
    pub result: Option<ResultFile>,
    /// How many processes the cell had left behind and we ended.
    pub leaked_count: u64,
    /// Their command names, each once, at most ten.
    pub leaked_names: Vec<String>,
    /// The child's transcript.
    pub child_transcript: Option<PathBuf>,
    /// The git worktree, where the call asked for one.
    pub worktree: Option<Worktree>,
}

/// Where a cell is in its life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum State {
    /// It waits for a slot or runs.
    Running,
    /// It has ended.
    Ended(Box<End>),
    /// There was no cell: the built-in subagent ran.
    PassedThrough {
        /// Why.
        reason: PassReason,
    },
    /// There was no cell: the call was refused before anything was started.
    Refused {
        /// Why, as the parent was told.
        reason: String,
    },
}

/// The export of the cell's span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportState {
    /// Not sent, as far as is known: it waits for `subcell emit`.
    None,
    /// Sent: the export itself reported a success.
    Sent,
}

/// One cell's record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`FORMAT`].
    pub format: u32,
    /// The cell's id, the value of the recursion guard in it.
    pub cell: CellId,
    /// The session that made the call.
    pub parent_session: SessionId,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The subagent inside the parent's process that made the call, if one did.
    pub caller_agent: Option<String>,
    /// The agent type that the call asked for.
    pub agent_type: AgentType,
    /// The call's short description, cut to 200 characters.
    pub description: String,
    /// 1 for a cell of a session that is in none, 2 for a cell of a cell, …
    pub depth: u32,
    /// The child's session id, known before it starts; `None` where there is no cell.
    pub child_session: Option<SessionId>,
    /// What the call asked for.
    pub asked: Asked,
    /// When the hook began.
    pub started_unix_nano: UnixNanos,
    /// Where the cell is in its life.
    pub state: State,
    /// How the result was handed back.
    pub delivery: Delivery,
    /// The span's ids; `None` where there is no cell.
    pub trace: Option<TraceIds>,
    /// Whether the span was sent.
    pub export: ExportState,
    /// The hook's phases by name (`plan`, `slot`, `start`, `run`, `deliver`).
    pub phases: BTreeMap<String, Phase>,
    /// The parent's transcript.
    pub parent_transcript: Option<PathBuf>,
    /// The client's version, where it is known.
    pub client_version: Option<String>,
    /// Who serves the child's model, in the words of the GenAI conventions (`anthropic`, `aws.bedrock`, `gcp.vertex_ai`).
    #[serde(default)]
    pub provider: Option<String>,
    /// The program that was started as the child.
    pub client_binary: Option<PathBuf>,
    /// Names of variables that stood in the hook's environment and were not believed.
    pub ignored_environment: Vec<String>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
    /// The hook's process.
    pub hook_process: Option<ProcessIdentity>,
    /// The keeper's process.
    pub keeper_process: Option<ProcessIdentity>,
}

impl Record {
    /// The end, where it has ended.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        match &self.state {
            State::Ended(end) => Some(end),
            State::Running | State::PassedThrough { .. } | State::Refused { .. } => None,
        }
    }

    /// Whether it says "running" although neither of its processes is alive, as `is_alive` sees them.
    #[must_use]
    pub fn is_lost(&self, is_alive: impl Fn(&ProcessIdentity) -> bool) -> bool {
        let alive = |stamp: &Option<ProcessIdentity>| stamp.as_ref().is_some_and(&is_alive);
        self.state == State::Running && !alive(&self.hook_process) && !alive(&self.keeper_process)
    }
}

impl End {
    /// An ending of which nothing else is known.
    #[must_use]
    pub fn bare(ending: Ending, at: UnixNanos) -> Self {
        Self {
            ending,
            ended_unix_nano: at,
            exit_code: None,
            exit_signal: None,
            cost_usd: None,
            num_turns: None,
            duration_ms: None,
            model_used: None,
            tokens: Tokens::default(),
            models: BTreeMap::new(),
            denied_count: 0,
            denied_tools: Vec::new(),
            terminal_reason: None,
            result: None,
            leaked_count: 0,
            leaked_names: Vec::new(),
            child_transcript: None,
            worktree: None,
        }
    }
}
