//! The shell grammar as data: what the reader makes of a command, before anything is expanded.

use std::cell::OnceCell;
use std::rc::Rc;

/// Where something stands in the command, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to `end`.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The text at this place, shortened to whole characters; empty where the place is outside of `source`.
    #[must_use]
    pub fn of(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or("")
    }
}

/// A list of commands, as in a file, a group or a substitution.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script {
    pub items: Vec<Item>,
}

/// One and-or list with what ends it.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub first: Pipeline,
    pub rest: Vec<(Connector, Pipeline)>,
    /// Whether it ends in `&`.
    pub background: bool,
    pub span: Span,
}

/// What joins two pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connector {
    And,
    Or,
}

/// Commands joined by pipes.
#[derive(Debug, Clone)]
pub(crate) struct Pipeline {
    pub commands: Vec<Command>,
}

/// One command of a pipeline.
#[derive(Debug, Clone)]
pub(crate) enum Command {
    Simple(Simple),
    Compound {
        body: Box<Compound>,
        redirects: Vec<Redirect>,
        span: Span,
    },
    Function {
        name: String,
        body: Rc<Command>,
    },
    Coproc {
        name: String,
        body: Box<Command>,
        span: Span,
    },
}

/// Assignments, words and redirections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Simple {
    pub assigns: Vec<Assign>,
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
    pub span: Span,
}

/// A command made of commands.
#[derive(Debug, Clone)]
pub(crate) enum Compound {
    Group(Script),
    Subshell(Script),
    /// Condition and body of `if` and every `elif`, then the `else` body.
    If {
        arms: Vec<(Script, Script)>,
        otherwise: Option<Script>,
    },
    /// `while` and `until`.
    Loop {
        until: bool,
        condition: Script,
        body: Script,
    },
    /// `for` and `select`; without words it goes through the positional parameters.
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    /// `for (( … ))`.
    ForArith {
        header: Word,
        body: Script,
    },
    Case {
        subject: Word,
        arms: Vec<(Vec<Word>, Script)>,
    },
    /// `[[ … ]]`: the words of the expression.
    Test(Vec<Word>),
    /// `(( … ))`.
    Arith(Word),
}

/// `name=value`, `name+=value`, `name[index]=value`, `name=( … )`.
#[derive(Debug, Clone)]
pub(crate) struct Assign {
    pub name: String,
    pub index: Option<Word>,
    pub append: bool,
    pub value: AssignValue,
}

/// The right side of an assignment.
#[derive(Debug, Clone)]
pub(crate) enum AssignValue {
    Text(Word),
    /// Elements, each with its key where one is given.
    List(Vec<(Option<Word>, Word)>),
}

/// One redirection.
#[derive(Debug, Clone)]
pub(crate) struct Redirect {
    /// The descriptor (or `{name}`) written before the operator.
    pub fd: Option<String>,
    pub kind: RedirectKind,
    pub target: Target,
    pub span: Span,
}

/// What a redirection leads to.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// A file, a descriptor, or the text of a here-string.
    Word(Word),
    /// The body of a here-document, filled in when the line with its operator has ended.
    Document(Rc<OnceCell<Word>>),
}

/// The operator of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    In,
    Out,
    Append,
    InOut,
    Duplicate,
    Both,
    BothAppend,
    HereDocument,
    HereString,
}

/// A word before expansion.
#[derive(Debug, Clone, Default)]
pub(crate) struct Word {
    pub parts: Vec<Part>,
    pub span: Span,
}

/// A piece of a word.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Text outside of quotes: globs, braces and a leading tilde mean something.
    Bare(String),
    /// Text from quotes or after a backslash.
    Quoted(String),
    Param(Box<Param>),
    /// `$( … )` or backquotes.
    Command {
        script: Script,
        quoted: bool,
    },
    /// `<( … )` and `>( … )`.
    Process {
        script: Script,
        reads: bool,
    },
    /// `$(( … ))`: what is expanded inside of it.
    Arith(Vec<Part>),
}

/// A parameter expansion.
#[derive(Debug, Clone)]
pub(crate) struct Param {
    pub name: String,
    pub index: Option<Word>,
    pub op: ParamOp,
    pub quoted: bool,
}

/// What a parameter expansion does with its value.
#[derive(Debug, Clone)]
pub(crate) enum ParamOp {
    Plain,
    Length,
    Indirect,
    /// `${x:-w}`, `${x-w}`.
    Default(Word),
    /// `${x:=w}`, `${x=w}`.
    Assign(Word),
    /// `${x:+w}`, `${x+w}`.
    Alternate(Word),
    /// `${x:?w}`, `${x?w}`.
    Demand(Word),
    /// `#`, `##`, `%`, `%%`: whether from the end, whether the longest match.
    Trim {
        suffix: bool,
        longest: bool,
        pattern: Word,
    },
    /// `/`, `//`, `/#`, `/%`.
    Replace {
        all: bool,
        pattern: Word,
        with: Word,
    },
    /// `${x:offset:length}`.
    Slice {
        offset: Word,
        length: Option<Word>,
    },
    /// `^`, `^^`, `,`, `,,`.
    Case {
        upper: bool,
        all: bool,
    },
    /// `${x@Q}` and the like.
    Transform,
}
