//! What a rule is, and when it matches a fact.

use super::super::facts::{Assigned, Call, Fact, Foreign, Job, Query, Run, Touch};
use super::super::paths::Ground;
use super::super::policy::{Family, Severity};
use super::{agents, background, data, files, git, infra, privilege, tamper};

/// A rule of ours.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its id: the family's name and its own.
    pub id: &'static str,
    /// Family.
    pub family: Family,
    /// Weight.
    pub severity: Severity,
    /// Whether it holds where the configuration is silent.
    pub on: bool,
    /// Why the command is refused, in one line.
    pub reason: &'static str,
    /// What to do instead.
    pub instead: &'static str,
    pub(crate) test: Test,
}

/// When a rule matches.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Test {
    Run(fn(&Run, &Ground) -> bool),
    /// Programs by name, subcommands and options.
    Shapes(&'static [Shape]),
    Touch(fn(&Touch, &Ground) -> bool),
    Job(fn(&Job) -> bool),
    Foreign(fn(&Foreign) -> bool),
    Query(fn(&Query) -> bool),
    Assigned(fn(&Assigned, &Ground) -> bool),
    Call(fn(&Call) -> bool),
    Replicates,
}

/// A program's call by its words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub verbs: &'static [&'static str],
    /// Words that must stand among the arguments in this order; a `*` at the end of one takes any ending.
    pub words: &'static [&'static str],
    /// Options of which one must be there, if any are listed.
    pub flags: &'static [&'static str],
    /// Words or options that make it harmless.
    pub unless: &'static [&'static str],
}

/// A shape of one verb with words.
pub(crate) const fn shape(verbs: &'static [&'static str], words: &'static [&'static str]) -> Shape {
    Shape {
        verbs,
        words,
        flags: &[],
        unless: &[],
    }
}

/// A shape that needs one of some options.
pub(crate) const fn flagged(
    verbs: &'static [&'static str],
    words: &'static [&'static str],
    flags: &'static [&'static str],
) -> Shape {
    Shape {
        verbs,
        words,
        flags,
        unless: &[],
    }
}

/// A shape that some words make harmless.
pub(crate) const fn except(
    verbs: &'static [&'static str],
    words: &'static [&'static str],
    unless: &'static [&'static str],
) -> Shape {
    Shape {
        verbs,
        words,
        flags: &[],
        unless,
    }
}

/// Every rule of ours.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        background::RULES,
        agents::RULES,
        tamper::RULES,
        files::RULES,
        git::RULES,
        data::RULES,
        infra::RULES,
        privilege::RULES,
    ]
    .into_iter()
    .flatten()
}

/// Whether a rule matches a fact.
pub(crate) fn matches(rule: &Rule, fact: &Fact, ground: &Ground) -> bool {
    match (rule.test, fact) {
        (Test::Run(test), Fact::Run(run)) => test(run, ground),
        (Test::Shapes(shapes), Fact::Run(run)) => shapes.iter().any(|shape| fits(shape, run)),
        (Test::Touch(test), Fact::Touch(touch)) => test(touch, ground),
        (Test::Job(test), Fact::Job(job)) => test(job),
        (Test::Foreign(test), Fact::Foreign(foreign)) => test(foreign),
        (Test::Query(test), Fact::Query(query)) => test(query),
        (Test::Assigned(test), Fact::Assigned(assigned)) => test(assigned, ground),
        (Test::Call(test), Fact::Call(call)) => test(call),
        (Test::Replicates, Fact::Replicates { .. }) => true,
        _ => false,
    }
}

/// Words that make any call harmless: it only tells about itself, or says what it would do.
const ASKING: [&str; 8] = [
    "--help",
    "-help",
    "--dry-run",
    "--dry-run=client",
    "--dry-run=server",
    "--dryrun",
    "--what-if",
    "--noop",
];

fn fits(shape: &Shape, run: &Run) -> bool {
    shape.verbs.contains(&run.verb.as_str())
        && holds(&run.args, shape.words)
        && (shape.flags.is_empty() || shape.flags.iter().any(|flag| has_flag(&run.args, flag)))
        && !run
            .args
            .iter()
            .any(|arg| ASKING.contains(&arg.as_str()) || shape.unless.contains(&arg.as_str()))
        && run
            .args
            .last()
            .is_none_or(|last| last != "--version" && (last != "-h" || run.args.len() > 2))
}

/// Whether `words` stand among `args` in their order.
pub(crate) fn holds<S: AsRef<str>>(args: &[String], words: &[S]) -> bool {
    let mut args = args.iter();
    words.iter().all(|word| {
        let word = word.as_ref();
        args.any(|arg| match word.strip_suffix('*') {
            Some(start) => arg.starts_with(start),
            None => arg == word,
        })
    })
}

/// Whether an option is there: long ones whole, shortened or with a value, short ones alone or in a cluster.
pub(crate) fn has_flag(args: &[String], flag: &str) -> bool {
    let letter = flag.strip_prefix('-').filter(|letter| letter.chars().count() == 1);
    match letter.and_then(|letter| letter.chars().next()) {
        Some(letter) => super::super::walk::has_short(args, letter),
        None if flag.starts_with("--") => super::super::walk::has_long(args, flag),
        None => args.iter().any(|arg| arg == flag),
    }
}
