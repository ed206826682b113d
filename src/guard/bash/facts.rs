//! What a command does, as plain data: rules look at nothing else.

use super::read::Failure;
use super::syntax::Span;

/// One thing that the command does or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A program is started, or a builtin runs.
    Run(Run),
    /// A file is changed.
    Touch(Touch),
    /// Work is started that the command does not wait for.
    Job(Job),
    /// An interpreter gets code that nobody has seen.
    Foreign(Foreign),
    /// A statement goes to a database.
    Query(Query),
    /// A variable is set, for one program or for the shell.
    Assigned(Assigned),
    /// A function or script starts itself again beside itself.
    Replicates {
        /// Its name.
        name: String,
        /// Where.
        span: Span,
    },
    /// An inline program calls something that a rule may know.
    Call(Call),
    /// A part that could not be read.
    Unread {
        /// Why.
        failure: Failure,
        /// Where.
        span: Span,
    },
}

impl Fact {
    /// Where in the command the fact stems from.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Run(run) => run.span,
            Self::Touch(touch) => touch.span,
            Self::Job(job) => job.span,
            Self::Foreign(foreign) => foreign.span,
            Self::Query(query) => query.span,
            Self::Assigned(assigned) => assigned.span,
            Self::Call(call) => call.span,
            Self::Replicates { span, .. } | Self::Unread { span, .. } => *span,
        }
    }
}

/// A program with its arguments, read through every wrapper.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Run {
    /// Name of the program without its directory; unknown parts are marked.
    pub verb: String,
    /// The program as it was written, with its directory.
    pub program: String,
    /// Arguments after expansion; unknown parts are marked.
    pub args: Vec<String>,
    /// Where it stands.
    pub span: Span,
    /// The wrappers that lead to it, outermost first.
    pub through: Vec<String>,
    /// Where it runs.
    pub place: Place,
    /// Directories it may run in, the likeliest first.
    pub dirs: Vec<String>,
    /// Text on its standard input, where that is known.
    pub stdin: Option<String>,
}

/// The machine that something runs on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Place {
    /// This one.
    #[default]
    Here,
    /// Another one, or a running container: its files are as dear as ours, but are not our project.
    Elsewhere,
    /// A container made for this command; only what is mounted into it lasts.
    Container(Vec<Mount>),
}

/// A directory of the host inside of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Path on the host.
    pub host: String,
    /// Path in the container.
    pub inside: String,
}

/// A change to a file or a tree of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// What is done to it.
    pub action: Action,
    /// The path as it was written, after expansion.
    pub path: String,
    /// Absolute paths it may mean, the likeliest first.
    pub resolved: Vec<String>,
    /// Where it stands.
    pub span: Span,
    /// Program that does it.
    pub by: String,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Its content is replaced.
    Write,
    /// Something is added to it.
    Append,
    /// It is deleted.
    Delete,
    /// It is deleted with everything below it.
    DeleteTree,
    /// It goes to another place.
    Move,
    /// Its mode or owner changes.
    Permit,
    /// Its mode is opened to all.
    Open,
    /// The modes or owners of everything below it change.
    PermitTree,
    /// Modes of everything below it are opened to all or closed to all.
    OpenTree,
    /// Its content is overwritten so that nobody can read it again.
    Shred,
}

/// Work that was started beside the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// How it was started.
    pub how: JobKind,
    /// Whether the command waits for it, or ends it.
    pub settled: bool,
    /// Where.
    pub span: Span,
}

/// How work comes to run beside its starter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// `&`.
    Ampersand,
    /// `coproc`.
    Coprocess,
    /// `&` in the middle of what looks like an address.
    AmpersandInAddress,
}

/// Code of unknown content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// Whether it came over the network, or was decoded.
    pub network: bool,
    /// The interpreter that gets it.
    pub interpreter: String,
    /// Where.
    pub span: Span,
}

/// A statement for a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The client program.
    pub client: String,
    /// The statements.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A variable that gets a value, or loses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    /// Name.
    pub name: String,
    /// New value; `None` where it is unset.
    pub value: Option<String>,
    /// Where.
    pub span: Span,
}

/// A call in an inline program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Interpreter.
    pub language: &'static str,
    /// What the call comes to.
    pub kind: CallKind,
    /// The call as written.
    pub name: String,
    /// Where.
    pub span: Span,
}

/// What calls of inline programs come to, where no file or command tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// A process goes on by itself.
    Detaches,
    /// Processes are killed.
    Kills,
}
