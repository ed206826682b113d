//! What a refused model reads, and what a log keeps.

use serde_json::{Value, json};

use super::call::BashCall;
use super::policy::Family;
use super::verdict::{Decision, Finding, Verdict};
use crate::base::digest::sha256_hex;

/// Most findings that a reason names.
const MOST: usize = 4;

/// The reason of a decision, as the model reads it: rule, words, why, and what to do instead.
#[must_use]
pub fn reason(decision: &Decision) -> String {
    let mut lines: Vec<String> = decision.findings.iter().take(MOST).map(line).collect();
    let more = decision.findings.len().saturating_sub(MOST);
    if more > 0 {
        lines.push(format!("and {more} more of the kind."));
    }
    let verb = match decision.verdict {
        Verdict::Deny | Verdict::Pass => "refused this command; nothing of it has run",
        Verdict::Ask => "wants a person to look at this command",
    };
    format!("Subcell's bash guard {verb}.\n{}", lines.join("\n"))
}

fn line(finding: &Finding) -> String {
    format!(
        "- [{}] {}: `{}`. Instead: {}.",
        finding.rule, finding.reason, finding.words, finding.instead
    )
}

/// One line of JSON for a decision: ids, rules and a digest, never the command or anything in it.
#[must_use]
pub fn log_line(call: &BashCall, decision: &Decision, observed: bool, at_nanos: u64) -> Value {
    let word = match decision.verdict {
        Verdict::Pass => "pass",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    };
    let rules = |findings: &[Finding]| findings.iter().map(|finding| finding.rule.clone()).collect::<Vec<_>>();
    let families: Vec<&str> = decision
        .findings
        .iter()
        .filter_map(|finding| finding.family.map(Family::name))
        .collect();
    json!({
        "v": 1,
        "at_unix_nano": at_nanos.to_string(),
        "session_id": call.session,
        "agent_id": call.agent,
        "tool_use_id": call.tool_use,
        "decision": word,
        "observed": observed,
        "rules": rules(&decision.findings),
        "families": families,
        "excused": rules(&decision.excused),
        "command_sha256": sha256_hex(call.command.as_bytes()),
        "command_bytes": call.command.len(),
    })
}
