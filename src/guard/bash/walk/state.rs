//! What the walk knows at each moment.

use super::super::budget::{Budget, MAX_DEPTH, MAX_VALUE};
use super::super::facts::{Fact, Place};
use super::super::marks::{ANY, clean, push_mark};
use super::super::paths::Ground;
use super::super::read::{Failure, Unread, read};
use super::super::syntax::{Command, Span};
use super::background::Frame;
use super::variable::Variables;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Most facts that are kept for one command; more are undecidable.
const MAX_FACTS: usize = 4_096;

/// Text on a standard input, where it is known.
pub(crate) type Input = Option<Rc<str>>;

/// The state of the walk.
pub(crate) struct Walk<'a> {
    pub ground: &'a Ground,
    pub source: &'a str,
    pub budget: Budget,
    pub facts: Vec<Fact>,
    /// What has been given up on, each reason once.
    pub given_up: Vec<Unread>,
    pub vars: Variables,
    pub functions: BTreeMap<String, Rc<Command>>,
    pub called: BTreeSet<String>,
    pub aliases: BTreeMap<String, String>,
    /// Positional parameters, where they are known.
    pub positional: Option<Vec<String>>,
    pub dirs: Dirs,
    /// Whether the shell ends at the first failure (`set -e`).
    pub strict: bool,
    pub frames: Vec<Frame>,
    /// The conditional parts that the walk is in, outermost first.
    pub conditions: Vec<u32>,
    pub next_condition: u32,
    /// Contents of files written on the way.
    pub files: BTreeMap<String, Rc<str>>,
    pub place: Place,
    pub through: Vec<String>,
    pub depth: usize,
    /// Functions that are being called.
    pub calls: Vec<String>,
    /// How many loops the walk is in.
    pub loops: usize,
    /// How many pipes and background jobs the walk is in.
    pub beside: usize,
    /// The place to report for what does not stand in the command itself.
    pub pin: Option<Span>,
    /// Which of several values a variable is followed through.
    pub choice: usize,
    /// Whether a simple command is being followed (inner ones then follow the same value).
    pub choosing: bool,
    /// What the command being expanded reads, for `>( … )`.
    pub feed: Input,
    /// How many values the variables met have at most.
    pub choices: usize,
}

/// Directories that the walk may be in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dirs {
    pub now: String,
    /// Where it still is if a `cd` failed that nobody checked.
    pub otherwise: Vec<String>,
    pub before: Option<String>,
}

/// Follows `source` and returns its facts.
pub(crate) fn walk(source: &str, ground: &Ground) -> Vec<Fact> {
    let source = clean(source);
    let mut walk = Walk::new(&source, ground);
    let reading = read(&source, &mut walk.budget, 0, None);
    walk.frames.push(Frame::default());
    walk.script(&reading.script, &None);
    walk.spring_traps();
    walk.uncalled();
    walk.close_frame();
    if let Some(failure) = reading.failure {
        let span = Span::new(failure.at, source.len());
        walk.facts.push(Fact::Unread { failure, span });
    }
    walk.facts
}

impl<'a> Walk<'a> {
    fn new(source: &'a str, ground: &'a Ground) -> Self {
        Self {
            ground,
            source,
            budget: Budget::new(),
            facts: Vec::new(),
            given_up: Vec::new(),
            vars: Variables::default(),
            functions: BTreeMap::new(),
            called: BTreeSet::new(),
            aliases: BTreeMap::new(),
            positional: None,
            dirs: Dirs {
                now: ground.cwd.clone(),
                otherwise: Vec::new(),
                before: None,
            },
            strict: false,
            frames: Vec::new(),
            conditions: Vec::new(),
            next_condition: 0,
            files: BTreeMap::new(),
            place: Place::Here,
            through: Vec::new(),
            depth: 0,
            calls: Vec::new(),
            loops: 0,
            beside: 0,
            pin: None,
            choice: 0,
            choices: 1,
            choosing: false,
            feed: None,
        }
    }

    /// Writes down a fact.
    pub(crate) fn note(&mut self, fact: Fact) {
        if self.facts.len() < MAX_FACTS {
            self.facts.push(fact);
        } else {
            self.give_up(Unread::Spent, Span::new(0, self.source.len()));
        }
    }

    /// Writes down, once, that a part cannot be followed, and stops the walk where it has cost too much.
    pub(crate) fn give_up(&mut self, what: Unread, span: Span) {
        if what == Unread::Spent {
            // Nothing more is affordable, so that every loop ends.
            self.budget.take(usize::MAX);
        }
        if !self.given_up.contains(&what) {
            self.given_up.push(what.clone());
            let failure = Failure { what, at: span.start };
            self.facts.push(Fact::Unread { failure, span });
        }
    }

    /// Takes steps from the budget; `false`, with a fact, when it is spent.
    pub(crate) fn afford(&mut self, cost: usize) -> bool {
        if self.budget.take(cost) {
            return true;
        }
        self.give_up(Unread::Spent, Span::new(0, self.source.len()));
        false
    }

    /// Runs `inner` one level deeper, or gives up where that is too deep.
    pub(crate) fn deeper<T: Default>(&mut self, span: Span, inner: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_DEPTH {
            self.give_up(Unread::Deep, span);
            return T::default();
        }
        self.depth += 1;
        let value = inner(self);
        self.depth -= 1;
        value
    }

    /// The place to report for a part of the tree.
    pub(crate) fn place_of(&self, span: Span) -> Span {
        self.pin.unwrap_or(span)
    }

    /// Runs `inner` as a process of its own: what it changes in the shell is forgotten, its jobs are its own.
    pub(crate) fn subshell<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.vars.mark();
        let dirs = self.dirs.clone();
        let positional = self.positional.clone();
        let strict = self.strict;
        self.frames.push(Frame::default());
        let value = inner(self);
        self.close_frame();
        self.vars.rewind(mark);
        self.dirs = dirs;
        self.positional = positional;
        self.strict = strict;
        value
    }

    /// Runs `inner` as something that may not happen; what it assigns is then one of several values.
    pub(crate) fn maybe<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.vars.mark();
        self.next_condition += 1;
        self.conditions.push(self.next_condition);
        let value = inner(self);
        self.conditions.pop();
        self.vars.merge(mark);
        value
    }
}

/// Adds `more` to a value, up to the size that is followed.
pub(crate) fn append(text: &mut String, more: &str) {
    if text.len() + more.len() <= MAX_VALUE {
        text.push_str(more);
    } else {
        push_mark(text, ANY);
    }
}
