//! Judges the settings: which documents count, and which switches turn hooks or the Agent tool off.

use super::facts::{DocumentState, Facts};
use super::finding::Finding;
use crate::config::believe::{GUARD, is_judged, is_start_only};
use crate::protocol::settings::{Rule, Scope};
use crate::protocol::version::V2_1_156;
use crate::setup::entries::Work;

const SILENT: &str = "the client drops such a file whole and says nothing: no hook and no rule of it counts";
const OFF: &str = "no hook runs, so every subagent runs in the client's own process";

/// Every finding about settings and switches.
pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let mut found = documents(facts);
    found.extend(disabled(facts));
    found.extend(simple(facts));
    found.extend(options(facts));
    found.extend(agent_denied(facts));
    found.extend(repository_env(facts));
    found.extend(config_dir(facts));
    found.extend(fork(facts));
    found
}

fn documents(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, document) in facts.documents.iter().enumerate() {
        let has_ours = facts.hooks.iter().any(|hook| hook.document == index);
        match &document.state {
            DocumentState::Dropped(why) => found.push(Finding::warning(
                "settings-dropped",
                format!("{} counts for nothing: {why}", document.place),
                SILENT,
                "correct it; `claude doctor` names the place",
            )),
            DocumentState::NeverLoaded(why) if has_ours => found.push(Finding::warning(
                "wrong-scope",
                format!(
                    "a hook of subcell stands in {}, which is never loaded here: {why}",
                    document.place
                ),
                "an entry that is not loaded looks like an installation and does nothing",
                "move it: `subcell install --user`, and take it out there",
            )),
            DocumentState::LeftOut if has_ours => found.push(Finding::warning(
                "scope-left-out",
                format!(
                    "a hook of subcell stands in {}, which the client's options leave out",
                    document.place
                ),
                "an entry that is not loaded looks like an installation and does nothing",
                "add the scope to --setting-sources, or give the hook with --settings",
            )),
            DocumentState::Loaded | DocumentState::NeverLoaded(_) | DocumentState::LeftOut => {}
        }
    }
    found
}

fn disabled(facts: &Facts) -> Option<Finding> {
    if let Some(document) = facts.disabling() {
        let of_repository = matches!(document.scope, Scope::Project | Scope::Local);
        let fix = if of_repository {
            "take it out, or set \"disableAllHooks\": false in a file given with --settings, which is stronger"
        } else {
            "take \"disableAllHooks\" out of it"
        };
        let what = format!("\"disableAllHooks\" in {} switches every hook off", document.place);
        return Some(Finding::broken("hooks-disabled", what, OFF, fix));
    }
    let policy = facts.managed_only()?;
    let managed = facts.live(Work::Intercept).any(|hook| {
        facts
            .documents
            .get(hook.document)
            .is_some_and(|of| of.scope == Scope::Managed)
    });
    (!managed).then(|| {
        Finding::broken(
            "managed-hooks-only",
            format!(
                "\"allowManagedHooksOnly\" in {} lets the administrator's hooks alone run",
                policy.place
            ),
            OFF,
            "ask the administrator to put subcell's hooks into the managed settings",
        )
    })
}

/// Measured: 2.1.156 takes it from a project's settings too, 2.1.332 does not.
fn simple(facts: &Facts) -> Option<Finding> {
    let project = facts.client.version.is_none_or(|version| version <= V2_1_156);
    let place = facts.switch("CLAUDE_CODE_SIMPLE", project)?;
    Some(Finding::broken(
        "simple-mode",
        format!("CLAUDE_CODE_SIMPLE is set in {place}"),
        "the client then has neither hooks nor an Agent tool",
        "unset it",
    ))
}

fn options(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    let options = &facts.options;
    if !options.without_hooks.is_empty() {
        let what = format!("the client is started with {}", options.without_hooks.join(" "));
        found.push(Finding::broken("hooks-off-by-option", what, OFF, "start it without"));
    }
    if options.without_agent {
        found.push(Finding::broken(
            "agent-tool-off",
            "--tools or --disallowedTools takes the Agent tool away".to_owned(),
            "there is no subagent call that could be isolated",
            "add Agent to --tools, or take it out of --disallowedTools",
        ));
    }
    if options.settings_twice {
        found.push(Finding::warning(
            "settings-given-twice",
            "--settings is given more than once".to_owned(),
            "only one of them counts: the first in 2.1.156, the last from 2.1.226 on",
            "merge them into one file",
        ));
    }
    found
}

fn agent_denied(facts: &Facts) -> Option<Finding> {
    let whole = |rule: &&String| Rule::parse(rule).is_whole_agent();
    let (place, rule) = facts
        .loaded()
        .find_map(|(_, document)| Some((&document.place, document.content.deny.iter().find(whole)?)))?;
    Some(Finding::broken(
        "agent-denied",
        format!("the rule {rule:?} in {place} takes the Agent tool away"),
        "there is no subagent call that could be isolated",
        "deny single types, as in Agent(NAME), or take the rule out",
    ))
}

/// What a repository sets for us is not believed; that it tries is worth a look.
fn repository_env(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    for (_, document) in facts.loaded() {
        if !matches!(document.scope, Scope::Project | Scope::Local) {
            continue;
        }
        let ours = |name: &&String| is_judged(name.as_ref()) || is_start_only(name.as_ref());
        let names: Vec<&str> = document.content.env.keys().filter(ours).map(String::as_str).collect();
        if names.is_empty() {
            continue;
        }
        let guard = if names.contains(&GUARD) {
            " (it is the variable that switches isolation off)"
        } else {
            ""
        };
        found.push(Finding::warning(
            "repository-env",
            format!("{} sets {}{guard}", document.place, names.join(", ")),
            "a repository's settings reach our hook; subcell does not believe these there, but whoever wrote them may \
             mean to switch isolation off or to run another program",
            "find out who added it, and take it out; what is yours belongs into your own settings",
        ));
    }
    found
}

/// Measured on all four versions: the user's hooks do not run then.
fn config_dir(facts: &Facts) -> Option<Finding> {
    let (_, document) = facts.loaded().find(|(_, document)| {
        matches!(document.scope, Scope::User | Scope::Flag) && document.content.env.contains_key("CLAUDE_CONFIG_DIR")
    })?;
    Some(Finding::broken(
        "config-dir-in-settings",
        format!("\"env\" of {} sets CLAUDE_CONFIG_DIR", document.place),
        "the client then runs none of the user's hooks",
        "set it in the environment that the client is started in",
    ))
}

/// Measured on 2.1.156 and 2.1.332, in print mode, from the environment and from every settings scope.
fn fork(facts: &Facts) -> Option<Finding> {
    let place = facts.switch("CLAUDE_CODE_FORK_SUBAGENT", true)?;
    let foreground = facts.switch("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", true).is_some();
    (!foreground).then(|| {
        Finding::warning(
            "fork-mode",
            format!("CLAUDE_CODE_FORK_SUBAGENT is set in {place}"),
            "every Agent call runs in the background, whatever the hook says: the cell runs, but its result comes in a \
             later turn as the small agent repeats it, and a session in print mode may have ended by then",
            "unset it, or set CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
        )
    })
}
