//! The decision: facts through rules, switches and exceptions.

use super::facts::{Fact, Run};
use super::marks::{glob, glob_matches, show};
use super::paths::{Ground, resolve};
use super::policy::{Allow, Day, ExtraRule, Family, Policy, Reach, Severity};
use super::record::{Records, takes_live_record};
use super::rules::{holds, matches, rules};
use super::syntax::Span;
use super::walk::walk;

/// What the guard is asked about.
#[derive(Clone)]
pub struct Question<'q> {
    /// The command, as the tool got it.
    pub command: &'q str,
    /// Whether the tool was told to run it in the background.
    pub in_background: bool,
    /// Who asks.
    pub caller: Caller,
    /// Directories.
    pub ground: &'q Ground,
    /// Launch records and their processes.
    pub records: &'q dyn Records,
    /// Today, for exceptions that end; with none, only those without an end hold.
    pub today: Option<Day>,
}

/// Whose call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Caller {
    /// Whether it is a subagent's or a cell's.
    pub confined: bool,
    /// Whether a person is there to be asked.
    pub answerable: bool,
}

/// A rule that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Id of the rule.
    pub rule: String,
    /// Its family; `None` for what could not be read.
    pub family: Option<Family>,
    /// Its weight.
    pub severity: Severity,
    /// Why.
    pub reason: String,
    /// What to do instead.
    pub instead: String,
    /// The words of the command that matched.
    pub words: String,
    /// Where they stand.
    pub span: Span,
}

/// What is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to say: the client goes on as it would.
    Pass,
    /// A person has to say yes.
    Ask,
    /// Refused.
    Deny,
}

/// A decision with its grounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What is decided.
    pub verdict: Verdict,
    /// What led to it, the gravest first.
    pub findings: Vec<Finding>,
    /// What an exception of the configuration let pass.
    pub excused: Vec<Finding>,
    /// What the command does.
    pub facts: Vec<Fact>,
}

/// Most findings that are collected; the decision does not change with more.
const MOST_FINDINGS: usize = 64;

/// Id under which an unreadable command is reported.
const UNREADABLE: &str = "unreadable";

/// Decides about a command.
#[must_use]
pub fn decide(question: &Question<'_>, policy: &Policy) -> Decision {
    let facts = walk(question.command, question.ground);
    let mut found: Vec<(Finding, Option<&Fact>)> = Vec::new();
    if question.in_background
        && applies(Family::Background, question.caller, policy)
        && enabled("background.parameter", true, policy)
    {
        found.push((background_parameter(question), None));
    }
    for fact in &facts {
        if found.len() >= MOST_FINDINGS {
            break;
        }
        for finding in findings_of(fact, question, policy) {
            if !found
                .iter()
                .any(|(known, _)| known.rule == finding.rule && known.words == finding.words)
            {
                found.push((finding, Some(fact)));
            }
        }
    }
    let (excused, mut kept): (Vec<_>, Vec<_>) = found.into_iter().partition(|(finding, fact)| {
        policy
            .allow
            .iter()
            .any(|allow| excuses(allow, finding, *fact, question))
    });
    kept.sort_by_key(|(finding, _)| std::cmp::Reverse((finding.family.is_some(), finding.severity)));
    let findings: Vec<Finding> = kept.into_iter().map(|(finding, _)| finding).collect();
    let excused = excused.into_iter().map(|(finding, _)| finding).collect();
    Decision {
        verdict: verdict(&findings, question.caller),
        findings,
        excused,
        facts,
    }
}

fn verdict(findings: &[Finding], caller: Caller) -> Verdict {
    let Some(gravest) = findings.iter().map(|finding| finding.severity).max() else {
        return Verdict::Pass;
    };
    if gravest == Severity::Medium && caller.answerable {
        Verdict::Ask
    } else {
        Verdict::Deny
    }
}

fn background_parameter(question: &Question<'_>) -> Finding {
    Finding {
        rule: "background.parameter".to_owned(),
        family: Some(Family::Background),
        severity: Severity::High,
        reason: "`run_in_background` leaves the command running after your turn, and it is killed or lost when you end".to_owned(),
        instead: "run it in the foreground (with a longer `timeout` if need be), or through `subcell run-record -- COMMAND`"
            .to_owned(),
        words: "run_in_background: true".to_owned(),
        span: Span::new(0, question.command.len()),
    }
}

fn applies(family: Family, caller: Caller, policy: &Policy) -> bool {
    match policy.reach(family) {
        Reach::Off => false,
        Reach::Confined => caller.confined,
        Reach::All => true,
    }
}

fn enabled(id: &str, default: bool, policy: &Policy) -> bool {
    policy.rules.get(id).copied().unwrap_or(default)
}

fn findings_of(fact: &Fact, question: &Question<'_>, policy: &Policy) -> Vec<Finding> {
    if let Fact::Unread { failure, span } = fact {
        return vec![Finding {
            rule: UNREADABLE.to_owned(),
            family: None,
            severity: Severity::Medium,
            reason: format!("the command cannot be read to its end: {}", failure.what),
            instead: "write it so that bash would read it, in fewer levels, or put it into a script and run that"
                .to_owned(),
            words: excerpt(*span, question.command),
            span: *span,
        }];
    }
    let ours = rules()
        .filter(|rule| enabled(rule.id, rule.on, policy) && applies(rule.family, question.caller, policy))
        .filter(|rule| matches(rule, fact, question.ground))
        .map(|rule| Finding {
            rule: rule.id.to_owned(),
            family: Some(rule.family),
            severity: rule.severity,
            reason: rule.reason.to_owned(),
            instead: rule.instead.to_owned(),
            words: words(fact, question.command),
            span: fact.span(),
        });
    let added = policy
        .extra
        .iter()
        .filter(|rule| applies(rule.family, question.caller, policy))
        .filter_map(|rule| match fact {
            Fact::Run(run) if extra_matches(rule, run) => Some(Finding {
                rule: rule.id.clone(),
                family: Some(rule.family),
                severity: rule.severity,
                reason: rule.reason.clone(),
                instead: rule.instead.clone(),
                words: words(fact, question.command),
                span: run.span,
            }),
            Fact::Run(_)
            | Fact::Touch(_)
            | Fact::Job(_)
            | Fact::Foreign(_)
            | Fact::Query(_)
            | Fact::Assigned(_)
            | Fact::Replicates { .. }
            | Fact::Call(_)
            | Fact::Unread { .. } => None,
        });
    let record = live_record(fact, question, policy);
    ours.chain(added).chain(record).collect()
}

/// Id of the rule that needs to look at files, which no table over facts can.
const LIVE_RECORD: &str = "tamper.launch-record";

fn live_record(fact: &Fact, question: &Question<'_>, policy: &Policy) -> Option<Finding> {
    let Fact::Touch(touch) = fact else { return None };
    let holds = enabled(LIVE_RECORD, true, policy) && applies(Family::Tamper, question.caller, policy);
    (holds && takes_live_record(touch, question.records)).then(|| Finding {
        rule: LIVE_RECORD.to_owned(),
        family: Some(Family::Tamper),
        severity: Severity::High,
        reason: "the launch record names a process that lives".to_owned(),
        instead: "end the process or wait for it; its record may go when it has exited".to_owned(),
        words: words(fact, question.command),
        span: touch.span,
    })
}

fn extra_matches(rule: &ExtraRule, run: &Run) -> bool {
    glob_matches(&glob(&rule.program), &run.verb) && holds(&run.args, &rule.words)
}

fn excuses(allow: &Allow, finding: &Finding, fact: Option<&Fact>, question: &Question<'_>) -> bool {
    let ruled = allow.rule == finding.rule || finding.family.is_some_and(|family| family.name() == allow.rule);
    let current = allow
        .until
        .is_none_or(|until| question.today.is_some_and(|today| today <= until));
    let placed = allow
        .project
        .as_deref()
        .is_none_or(|project| project.trim_end_matches('/') == question.ground.project.trim_end_matches('/'));
    ruled && current && placed && scope_holds(allow, fact, question.ground)
}

fn scope_holds(allow: &Allow, fact: Option<&Fact>, ground: &Ground) -> bool {
    let program = match fact {
        Some(Fact::Run(run)) => Some((run.verb.as_str(), run.args.as_slice())),
        Some(Fact::Touch(touch)) => Some((touch.by.as_str(), &[][..])),
        _ => None,
    };
    let named = allow
        .program
        .as_deref()
        .is_none_or(|wanted| program.is_some_and(|(verb, _)| glob_matches(&glob(wanted), verb)));
    let worded = allow.words.is_empty() || program.is_some_and(|(_, args)| holds(args, &allow.words));
    let below = allow.below.as_deref().is_none_or(|below| match fact {
        Some(Fact::Touch(touch)) => {
            let below = resolve(below, "/", ground);
            touch.resolved.iter().all(|path| {
                path.strip_prefix(&below)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        }
        _ => false,
    });
    named && worded && below
}

/// The words of the command that a fact stems from.
fn words(fact: &Fact, command: &str) -> String {
    let written = excerpt(fact.span(), command);
    let meant = match fact {
        Fact::Run(run) => clip(&line_of(run)),
        Fact::Touch(touch) => clip(&touch.path),
        Fact::Query(query) => clip(&query.text),
        Fact::Assigned(assigned) => clip(&assigned.name),
        Fact::Job(_) | Fact::Foreign(_) | Fact::Replicates { .. } | Fact::Call(_) | Fact::Unread { .. } => {
            String::new()
        }
    };
    let plain: String = written.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    if meant.is_empty() || plain.contains(meant.trim()) {
        written
    } else {
        format!("{written} (that is: {meant})")
    }
}

/// A program with as many of its arguments as a finding quotes.
fn line_of(run: &Run) -> String {
    let mut line = run.verb.clone();
    for arg in &run.args {
        line.push(' ');
        line.push_str(head(arg, 8 * MOST));
        if line.len() > 8 * MOST {
            break;
        }
    }
    line
}

fn excerpt(span: Span, command: &str) -> String {
    let text = head(span.of(command), 4 * MOST)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    clip(&text)
}

/// Most characters of a command that a finding quotes.
const MOST: usize = 120;

/// The first `bytes` of a text, or a few less, so that no character is cut.
fn head(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    text.get(..end).unwrap_or("")
}

/// A text of at most [`MOST`] characters, with its marks spelled out.
fn clip(text: &str) -> String {
    let shown = show(head(text.trim(), 8 * MOST));
    if shown.chars().count() <= MOST {
        shown
    } else {
        shown.chars().take(MOST).chain(['…']).collect()
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
