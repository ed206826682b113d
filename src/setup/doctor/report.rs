//! The findings of a place, in the order of their weight, as text and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::facts::{DocumentState, Facts, OurHook, Program};
use super::finding::{Finding, Severity};
use super::live::Evidence;
use super::{check_around, check_hooks, check_settings};
use crate::setup::entries::Work;

/// Everything that is wrong at a place, the worst first.
#[must_use]
pub fn check(facts: &Facts) -> Vec<Finding> {
    let mut found = check_settings::check(facts);
    found.extend(check_hooks::check(facts));
    found.extend(check_around::check(facts));
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}

/// What is said of one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The format of this object.
    pub format: u32,
    /// The folder.
    pub folder: String,
    /// What the checks come to.
    pub verdict: Verdict,
    /// The client, the hooks that are live, the documents: name and text.
    pub seen: Vec<(String, String)>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// What a real run showed, where one was asked for.
    pub live: Option<Evidence>,
}

/// What the checks come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Calls are isolated.
    Isolated,
    /// They are, and something could be better.
    IsolatedWithWarnings,
    /// They are not, or fail.
    NotIsolated,
}

impl Report {
    /// The report on a place.
    #[must_use]
    pub fn new(facts: &Facts, live: Option<Evidence>) -> Self {
        let findings = check(facts);
        let failed = live.as_ref().is_some_and(|live| !live.proves());
        let verdict = match findings.first().map(|finding| finding.severity) {
            _ if failed => Verdict::NotIsolated,
            Some(Severity::Broken) => Verdict::NotIsolated,
            Some(Severity::Warning) => Verdict::IsolatedWithWarnings,
            None => Verdict::Isolated,
        };
        Self {
            format: 1,
            folder: facts.folder.display().to_string(),
            verdict,
            seen: seen(facts),
            findings,
            live,
        }
    }

    /// The report as a person reads it. Control characters of files and names are made visible.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let count = self.findings.len();
        let verdict = match self.verdict {
            Verdict::Isolated => "subagent calls are isolated".to_owned(),
            Verdict::IsolatedWithWarnings => format!("subagent calls are isolated; {count} warning(s)"),
            Verdict::NotIsolated => "subagent calls are NOT isolated".to_owned(),
        };
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{}: {verdict}", self.folder);
        for (name, what) in &self.seen {
            let _ = writeln!(text, "  {name:<9} {what}");
        }
        for finding in &self.findings {
            let weight = match finding.severity {
                Severity::Broken => "broken",
                Severity::Warning => "warning",
            };
            let _ = writeln!(text, "\n{weight}: {} [{}]", finding.what, finding.id);
            let _ = writeln!(text, "  why: {}", finding.why);
            let _ = writeln!(text, "  do:  {}", finding.fix);
        }
        if let Some(live) = &self.live {
            text.push('\n');
            text.push_str(&live.text());
        }
        text.lines().map(|line| crate::base::visible(line) + "\n").collect()
    }
}

fn seen(facts: &Facts) -> Vec<(String, String)> {
    let mut seen = Vec::new();
    let mut add = |name: &str, what: String| seen.push((name.to_owned(), what));
    if let Some(path) = &facts.client.path {
        let version = facts
            .client
            .version
            .map_or_else(|| "of unknown version".to_owned(), |version| version.to_string());
        add("client", format!("{version}, {}", path.display()));
    }
    for document in &facts.documents {
        let state = match &document.state {
            DocumentState::Loaded => "counts".to_owned(),
            DocumentState::LeftOut => "left out by an option".to_owned(),
            DocumentState::NeverLoaded(why) => format!("never loaded: {why}"),
            DocumentState::Dropped(why) => format!("dropped whole: {why}"),
        };
        add(
            "settings",
            format!("{} ({}): {state}", document.place, document.scope.word()),
        );
    }
    for hook in facts.live(Work::Intercept).chain(facts.live(Work::Seal)) {
        add("hook", line(facts, hook));
    }
    if let Some(folder) = &facts.state.folder {
        let free = facts
            .state
            .free_bytes
            .map_or_else(String::new, |free| format!(", {} MiB free", free >> 20));
        add("records", format!("{}{free}", folder.display()));
    }
    seen
}

fn line(facts: &Facts, hook: &OurHook) -> String {
    let place = facts.documents.get(hook.document).map_or("", |of| &of.place);
    let program = match &hook.program {
        Program::Found { path, .. } | Program::NotExecutable(path) => path.display().to_string(),
        Program::Missing(named) | Program::Unexpanded(named) => named.clone(),
    };
    let mut line = format!(
        "{program} {} from {place}, timeout {} s",
        hook.entry.work.words().join(" "),
        hook.terms.timeout_s
    );
    if let Ok(meaning) = &hook.meaning
        && let Some(delivery) = meaning.delivery
    {
        let (run, wait) = (meaning.run.as_secs(), meaning.wait.as_secs());
        let _ = write!(line, "; a cell {run} s, a wait {wait} s, delivery {}", delivery.word());
    }
    line
}
