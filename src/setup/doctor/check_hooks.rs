//! Judges the hooks: whether ours run, with which program and terms, and what runs beside them.

use super::facts::{DocumentState, Facts, OurHook, Program, SeenHook};
use super::finding::Finding;
use crate::config::Delivery;
use crate::protocol::settings::{Scope, Takes};
use crate::protocol::version::V2_1_295;
use crate::setup::entries::Work;
use crate::setup::hooks::MARGIN_S;

/// A timer of the client may run out before the program's main starts, on a machine under load.
const LEAST_TIMEOUT_S: f64 = 20.0;

const GOES_ON: &str = "the client lets the original call run in its own process then, and says nothing";

/// Every finding about hooks.
pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    let live: Vec<&OurHook> = facts.live(Work::Intercept).collect();
    if live.is_empty() {
        found.push(missing(facts));
    }
    for hook in facts.hooks.iter().filter(|hook| is_loaded(facts, hook)) {
        found.extend(program(facts, hook));
        found.extend(meaning(facts, hook));
    }
    for hook in &live {
        found.extend(terms(facts, hook));
    }
    found.extend(twice(facts, &live));
    found.extend(racing(facts));
    found.extend(seal(facts, &live));
    found
}

fn is_loaded(facts: &Facts, hook: &OurHook) -> bool {
    facts
        .documents
        .get(hook.document)
        .is_some_and(|of| of.state == DocumentState::Loaded)
}

fn place<'a>(facts: &'a Facts, hook: &OurHook) -> &'a str {
    facts.documents.get(hook.document).map_or("", |of| &of.place)
}

fn missing(facts: &Facts) -> Finding {
    let other = facts.hooks.iter().find(|hook| {
        hook.entry.work == Work::Intercept && is_loaded(facts, hook) && hook.terms.takes_agent() == Takes::No
    });
    let why = "nothing intercepts Agent calls: every subagent runs in the client's own process";
    match other {
        Some(hook) => Finding::broken(
            "matcher-misses-agent",
            format!(
                "the matcher {:?} of `subcell intercept` in {} does not take Agent",
                hook.terms.entry.matcher.as_deref().unwrap_or_default(),
                place(facts, hook)
            ),
            why,
            "write \"Agent|Task\"; names count exactly, case included",
        ),
        None => Finding::broken(
            "hook-missing",
            "no loaded settings have `subcell intercept` on PreToolUse".to_owned(),
            why,
            "run `subcell install --user --isolate`, and start the session anew",
        ),
    }
}

fn program(facts: &Facts, hook: &OurHook) -> Option<Finding> {
    let of = |what: &str| {
        format!(
            "`subcell {}` in {} {what}",
            hook.entry.work.words().join(" "),
            place(facts, hook)
        )
    };
    let fix = "run `subcell install` again: it writes the absolute path of this binary";
    match &hook.program {
        Program::Missing(named) => {
            let what = of(&format!("names {named}, which is not there"));
            Some(Finding::broken("hook-path-gone", what, GOES_ON, fix))
        }
        Program::NotExecutable(path) => {
            let what = of(&format!("names {}, which cannot be executed", path.display()));
            Some(Finding::broken(
                "hook-not-executable",
                what,
                GOES_ON,
                "make it executable, or install again",
            ))
        }
        Program::Unexpanded(named) => {
            let what = of(&format!(
                "names {named:?} beside \"args\": without a shell nothing replaces ~ and $"
            ));
            Some(Finding::broken("hook-path-unexpanded", what, GOES_ON, fix))
        }
        Program::Found {
            relative: true, path, ..
        } => Some(Finding::warning(
            "hook-path-relative",
            of(&format!("is found at {} only from this folder", path.display())),
            "the client looks for it from the folder that the session is in, so another folder has no isolation, or \
             a program of the repository's choice",
            fix,
        )),
        Program::Found {
            version: Some(version),
            path,
            ..
        } if version != env!("CARGO_PKG_VERSION") => Some(Finding::warning(
            "hook-other-version",
            of(&format!(
                "runs {}, which is version {version}; this is {}",
                path.display(),
                env!("CARGO_PKG_VERSION")
            )),
            "what this command says holds for its own version",
            fix,
        )),
        Program::Found { path, .. } => from_repository(facts, hook, path),
    }
}

/// Measured: a bare name is looked up on the PATH of the settings.
fn from_repository(facts: &Facts, hook: &OurHook, path: &std::path::Path) -> Option<Finding> {
    let bare = !hook.entry.program.contains('/');
    let (_, setter) = facts.loaded().find(|(_, document)| {
        matches!(document.scope, Scope::Project | Scope::Local) && document.content.env.contains_key("PATH")
    })?;
    bare.then(|| {
        Finding::broken(
            "hook-path-by-repository",
            format!(
                "{} sets PATH, and `subcell {}` is named without a folder: the client runs {}",
                setter.place,
                hook.entry.work.words().join(" "),
                path.display()
            ),
            "a repository decides which program runs as the hook",
            "name the hook's program by its absolute path: run `subcell install` again",
        )
    })
}

fn meaning(facts: &Facts, hook: &OurHook) -> Vec<Finding> {
    let mut found = Vec::new();
    let of = |what: &str| {
        format!(
            "`subcell {}` in {} {what}",
            hook.entry.work.words().join(" "),
            place(facts, hook)
        )
    };
    match &hook.meaning {
        Err(error) => found.push(Finding::broken(
            "hook-arguments-wrong",
            of(&format!("cannot be understood: {error}")),
            "such a hook refuses every call, or lets it run",
            "run `subcell install` again, or correct its args",
        )),
        Ok(meaning) => {
            if let Some(folder) = &meaning.missing_sandbox {
                found.push(Finding::broken(
                    "sandbox-missing",
                    of(&format!(
                        "intercepts only where {} exists, and it does not",
                        folder.display()
                    )),
                    "calls run in the client's own process",
                    "run it in the sandbox, or take require_sandbox out",
                ));
            }
            if meaning.falls_back {
                found.push(Finding::warning(
                    "fails-over-to-builtin",
                    of("has on_failure = \"builtin\""),
                    "when a cell fails, the call runs in the client's own process",
                    "use \"report\" or \"deny\"",
                ));
            }
        }
    }
    found
}

fn terms(facts: &Facts, hook: &OurHook) -> Vec<Finding> {
    let mut found = Vec::new();
    let of = |what: String| format!("`subcell intercept` in {} {what}", place(facts, hook));
    let terms = &hook.terms;
    let names = |tool| terms.entry.takes(tool) == Takes::Yes;
    if !(names("Agent") && names("Task")) {
        let matcher = terms.entry.matcher.clone().unwrap_or_default();
        found.push(Finding::warning(
            "matcher-one-name",
            of(format!(
                "has the matcher {matcher:?}, which does not name both Agent and Task"
            )),
            "the tool has had both names, and versions differ in which one a matcher has to name",
            "write \"Agent|Task\"",
        ));
    }
    if terms.is_async {
        let what = of("is async".to_owned());
        found.push(Finding::broken(
            "hook-async",
            what,
            "the client does not wait for it: its answer changes nothing",
            "take \"async\" out",
        ));
    }
    if let Some(condition) = &terms.condition {
        let what = of(format!("has \"if\": {condition:?}"));
        found.push(Finding::broken(
            "hook-conditional",
            what,
            "it runs only for calls that fit the rule",
            "take \"if\" out",
        ));
    }
    found.extend(timeout(hook).map(|(what, why)| {
        Finding::broken(
            "hook-timeout-low",
            of(what),
            why,
            "raise the entry's timeout, or lower intercept.timeout_s: `subcell install` computes it",
        )
    }));
    let heeded = facts.client.version.is_none_or(|version| version >= V2_1_295);
    if heeded && !terms.blocks_on_failure {
        found.push(Finding::warning(
            "fails-open",
            of("has no \"onFailure\": \"block\"".to_owned()),
            "when the hook itself cannot run, the call runs in the client's own process",
            "add it beside \"timeout\"; `subcell install` does",
        ));
    }
    found
}

fn timeout(hook: &OurHook) -> Option<(String, &'static str)> {
    let given = hook.terms.timeout_s;
    let meaning = hook.meaning.as_ref().ok()?;
    let needed = meaning.run.as_secs_f64() + meaning.wait.as_secs_f64() + f64::from(MARGIN_S);
    let why = "the client ends the hook then and lets the original call run";
    if given < needed {
        return Some((
            format!(
                "has a timeout of {given} s; a cell of {} s, a wait of {} s and {MARGIN_S} s to spare need {needed} s",
                meaning.run.as_secs(),
                meaning.wait.as_secs()
            ),
            why,
        ));
    }
    (given < LEAST_TIMEOUT_S).then(|| {
        (
            format!("has a timeout of {given} s: less than {LEAST_TIMEOUT_S} s"),
            why,
        )
    })
}

/// Identical entries run once, differing ones once each (2.1.332).
fn twice(facts: &Facts, live: &[&OurHook]) -> Option<Finding> {
    let (first, rest) = live.split_first()?;
    let other = rest.iter().find(|hook| !hook.entry.runs_once_beside(&first.entry))?;
    Some(Finding::warning(
        "installed-twice",
        format!(
            "`subcell intercept` stands in {} and in {} with different commands",
            place(facts, first),
            place(facts, other)
        ),
        "the client runs both for every call: the slower answer wins, and which settings count is left to chance",
        "uninstall one of them",
    ))
}

/// Measured: of several hooks that rewrite, the one that finishes last wins; a denial of one wins over the other's work.
fn racing(facts: &Facts) -> Vec<Finding> {
    let rivals = |hooks: &[SeenHook]| -> Vec<String> {
        let runs = |hook: &&SeenHook| hook.terms.takes_agent() != Takes::No && !hook.terms.is_async;
        let rival = |hook: &&SeenHook| hook.ours.is_none() && runs(hook);
        hooks
            .iter()
            .filter(rival)
            .map(|hook| hook.terms.entry.label())
            .collect()
    };
    let mut found = Vec::new();
    for (_, document) in facts.loaded() {
        for label in rivals(&document.content.before) {
            found.push(Finding::warning(
                "racing-hook",
                format!("{label:?} in {} runs on PreToolUse of Agent beside ours", document.place),
                "they run at the same time: where it rewrites the input too, the one that ends last wins, and where it \
                 denies, the cell was paid for in vain",
                "give it a matcher without Agent and Task, unless it only looks on",
            ));
        }
        let sealed = facts
            .live(Work::Intercept)
            .any(|hook| delivery(hook) != Some(Delivery::Echo) && delivery(hook) != Some(Delivery::Deny));
        for label in rivals(&document.content.after).into_iter().filter(|_| sealed) {
            found.push(Finding::warning(
                "racing-seal",
                format!(
                    "{label:?} in {} runs on PostToolUse of Agent beside `subcell seal`",
                    document.place
                ),
                "where it rewrites the output too, the one that ends last wins; with delivery = \"auto\" results are \
                 therefore repeated by a model",
                "give it a matcher without Agent and Task",
            ));
        }
    }
    found
}

fn delivery(hook: &OurHook) -> Option<Delivery> {
    hook.meaning.as_ref().ok()?.delivery
}

fn seal(facts: &Facts, live: &[&OurHook]) -> Option<Finding> {
    let receipt = live.iter().find(|hook| delivery(hook) == Some(Delivery::Receipt))?;
    facts.live(Work::Seal).next().is_none().then(|| {
        Finding::broken(
            "seal-missing",
            format!(
                "`subcell intercept` in {} delivers by receipt, and `subcell seal` is not on PostToolUse",
                place(facts, receipt)
            ),
            "the parent is told where the result is, and never gets it",
            "run `subcell install` again, or use --delivery auto",
        )
    })
}
