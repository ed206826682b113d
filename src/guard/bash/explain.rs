//! How a command was read, which rules were tried, and why it was decided so, for a person.

use std::fmt::Write;

use super::facts::{Action, Fact, Place};
use super::marks::show;
use super::paths::{Ground, site};
use super::policy::{Policy, Reach};
use super::rules::{Rule, matches, rules};
use super::verdict::{Decision, Finding, Question, Verdict};

/// The explanation, as text of several lines.
#[must_use]
pub fn explain(question: &Question<'_>, policy: &Policy, decision: &Decision) -> String {
    let mut text = String::from("read as:\n");
    if decision.facts.is_empty() {
        text.push_str("  nothing that runs\n");
    }
    for fact in &decision.facts {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {}", line(fact, question.ground));
        for rule in rules().filter(|rule| matches(rule, fact, question.ground)) {
            let _ = writeln!(text, "      {} {}", rule.id, standing(rule, question, policy));
        }
    }
    let tried = rules().count() + policy.extra.len();
    let _ = writeln!(text, "rules tried: {tried} on {} facts", decision.facts.len());
    findings(&mut text, "matched", &decision.findings);
    findings(&mut text, "excused by an exception", &decision.excused);
    let word = match decision.verdict {
        Verdict::Pass => "pass: no rule has anything to say",
        Verdict::Ask => "ask: a person has to say yes",
        Verdict::Deny => "deny",
    };
    let _ = writeln!(text, "decision: {word}");
    text
}

fn findings(text: &mut String, title: &str, findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    let _ = writeln!(text, "{title}:");
    for finding in findings {
        let _ = writeln!(
            text,
            "  [{}] {}: {}",
            finding.rule,
            finding.severity.name(),
            finding.reason
        );
        let _ = writeln!(text, "      words: {}", finding.words);
        let _ = writeln!(text, "      instead: {}", finding.instead);
    }
}

/// Whether a matching rule counts for this caller.
fn standing(rule: &Rule, question: &Question<'_>, policy: &Policy) -> &'static str {
    if !policy.rules.get(rule.id).copied().unwrap_or(rule.on) {
        return "matches, and is switched off";
    }
    match policy.reach(rule.family) {
        Reach::Off => "matches, and its family is switched off",
        Reach::Confined if !question.caller.confined => "matches, and is for subagents and cells only",
        Reach::Confined | Reach::All => "matches",
    }
}

fn line(fact: &Fact, ground: &Ground) -> String {
    match fact {
        Fact::Run(run) => {
            let words: Vec<String> = run.args.iter().map(|arg| format!("{:?}", show(arg))).collect();
            let through = if run.through.is_empty() {
                String::new()
            } else {
                format!(" (through {})", run.through.join(", "))
            };
            let place = match &run.place {
                Place::Here => String::new(),
                Place::Elsewhere => " on another machine".to_owned(),
                Place::Container(mounts) => format!(" in a container with {} host folders", mounts.len()),
            };
            let dir = run
                .dirs
                .first()
                .map(|dir| format!(" in {}", show(dir)))
                .unwrap_or_default();
            format!("run {} {}{through}{place}{dir}", show(&run.verb), words.join(" "))
        }
        Fact::Touch(touch) => {
            let meant: Vec<String> = touch
                .resolved
                .iter()
                .map(|path| format!("{} [{:?}]", show(path), site(path, ground)))
                .collect();
            format!(
                "{} {} = {} (by {})",
                action(touch.action),
                show(&touch.path),
                meant.join(" or "),
                touch.by
            )
        }
        Fact::Job(job) => {
            let end = if job.settled {
                "waited for or ended"
            } else {
                "left running"
            };
            format!("job started by {:?}, {end}", job.how)
        }
        Fact::Foreign(foreign) => {
            let from = if foreign.network {
                "the network"
            } else {
                "something decoded"
            };
            format!("code from {from} into {}", foreign.interpreter)
        }
        Fact::Query(query) => format!("statement for {}: {}", query.client, show(&query.text)),
        Fact::Assigned(assigned) => match &assigned.value {
            Some(value) => format!("variable {} = {:?}", assigned.name, show(value)),
            None => format!("variable {} unset", assigned.name),
        },
        Fact::Replicates { name, .. } => format!("{name} starts itself beside itself"),
        Fact::Call(call) => format!("{} call {}: {:?}", call.language, call.name, call.kind),
        Fact::Unread { failure, .. } => format!("not readable from byte {}: {}", failure.at, failure.what),
    }
}

fn action(action: Action) -> &'static str {
    match action {
        Action::Write => "write",
        Action::Append => "append to",
        Action::Delete => "delete",
        Action::DeleteTree => "delete the tree",
        Action::Move => "move away",
        Action::Permit => "change the mode or owner of",
        Action::Open => "open to all",
        Action::PermitTree => "change modes or owners below",
        Action::OpenTree => "open or close to everybody all below",
        Action::Shred => "shred",
    }
}
