//! Judges what is around the hooks: client, account, root, echo agent, configuration, state folder, collector.

use super::facts::{Echo, Facts, FileSystem};
use super::finding::Finding;
use crate::config::Delivery;
use crate::protocol::version::{V2_1_156, V2_1_295, V2_1_332};
use crate::setup::entries::Work;

/// A result may be 10 MB, and a transcript as much.
const LITTLE_BYTES: u64 = 1 << 30;
const TOO_LITTLE_BYTES: u64 = 64 << 20;

/// Variables by which a client without a login has an account.
const CREDENTIALS: [&str; 7] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "AWS_BEARER_TOKEN_BEDROCK",
];

/// Every finding about what is around the hooks.
pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let mut found = client(facts);
    found.extend(account(facts));
    found.extend(root(facts));
    found.extend(echo(facts));
    found.extend(config(facts));
    found.extend(state(facts));
    found.extend(telemetry(facts));
    found
}

fn client(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    let client = &facts.client;
    if let Some(path) = &client.missing_child {
        found.push(Finding::broken(
            "child-client-gone",
            format!(
                "the configuration names {} as the client of cells, and it cannot be executed",
                path.display()
            ),
            "no cell can be started",
            "correct intercept.claude, SUBCELL_CLAUDE or CLAUDE_BIN",
        ));
    }
    let Some(path) = &client.path else {
        found.push(Finding::broken(
            "client-missing",
            "there is no `claude` on the PATH".to_owned(),
            "nothing can be said of its version, and --live has nothing to run",
            "install it, or name it with --client",
        ));
        return found;
    };
    match client.version {
        None => found.push(Finding::warning(
            "client-version-unknown",
            format!("the version of {} cannot be told", path.display()),
            "which options and hook fields it knows is not known either",
            "run it with --version; an npm or a native installation says it",
        )),
        Some(version) if version < V2_1_156 => found.push(Finding::broken(
            "client-too-old",
            format!("the client is {version}; nothing before {V2_1_156} was tried"),
            "hooks with \"args\" and the rewriting of Agent calls came in between",
            "update it",
        )),
        Some(version) if version < V2_1_295 => found.push(Finding::warning(
            "client-old",
            format!("the client is {version}: it ignores \"onFailure\": \"block\", which {V2_1_295} heeds"),
            "when the hook itself cannot run, or is ended at its timeout, the call runs in the client's own process",
            "update it",
        )),
        Some(version) if (version.major, version.minor) > (V2_1_332.major, V2_1_332.minor) => {
            found.push(Finding::warning(
                "client-untried",
                format!("the client is {version}; the newest that was tried is {V2_1_332}"),
                "hooks may have changed",
                "run `subcell doctor --live`, which tries it",
            ));
        }
        Some(_) => {}
    }
    found
}

fn account(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    // Measured on 2.1.156 and 2.1.332: it counts from the environment and the user's settings, not from a project's.
    if let Some(place) = facts.switch("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB", false) {
        found.push(Finding::broken(
            "credentials-scrubbed",
            format!("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB is set in {place}"),
            "the client takes its credentials out of a hook's environment: a cell is not logged in",
            "unset it, or give cells their own in [child.env]",
        ));
    }
    let variable = CREDENTIALS
        .iter()
        .any(|name| facts.variable(name, true).is_some_and(|(value, _)| !value.is_empty()));
    let helper = facts.loaded().any(|(_, document)| document.content.key_helper);
    if !(variable || helper || facts.credentials_file) {
        found.push(Finding::broken(
            "not-logged-in",
            "neither a key, a token nor a provider is set, and there is no credentials file in the client's folder"
                .to_owned(),
            "a cell would be \"Not logged in\"",
            "log in (`claude`, then /login), or set ANTHROPIC_API_KEY in the environment",
        ));
    }
    found
}

fn root(facts: &Facts) -> Option<Finding> {
    // Measured: a project's settings cannot set it (2.1.156, 2.1.332).
    let marked = facts
        .variable("IS_SANDBOX", false)
        .is_some_and(|(value, _)| value == "1");
    if !facts.is_root || marked {
        return None;
    }
    let by_settings = facts
        .loaded()
        .rev()
        .find_map(|(_, document)| document.content.mode.as_deref())
        .is_some_and(|mode| mode == "bypassPermissions");
    let why = "the client refuses to skip permissions as root, and ends with exit code 1 before anything runs";
    let fix = "run as another user, or set IS_SANDBOX=1 where this is a sandbox";
    if facts.options.bypass || by_settings {
        let what = "permissions are skipped as root, without IS_SANDBOX=1".to_owned();
        return Some(Finding::broken("root-bypass", what, why, fix));
    }
    (!facts.options.are_known).then(|| {
        let what = "this is root, without IS_SANDBOX=1: `--dangerously-skip-permissions` would be refused".to_owned();
        Finding::warning("root-without-marker", what, why, fix)
    })
}

fn echo(facts: &Facts) -> Option<Finding> {
    let denies = |hook: &super::facts::OurHook| {
        hook.meaning
            .as_ref()
            .is_ok_and(|meaning| meaning.delivery == Some(Delivery::Deny))
    };
    if facts.live(Work::Intercept).next().is_none() || facts.live(Work::Intercept).all(denies) {
        return None;
    }
    let why =
        "without it results come back through a full agent, which costs some 12 000 tokens a call and may cut them";
    let fix = "run `subcell install` again: it places agents/echo-through.md; then start the session anew";
    match &facts.echo {
        Echo::Available => None,
        Echo::NotFound => {
            let what = "the client finds no agent named echo-through".to_owned();
            Some(Finding::warning("echo-agent-missing", what, why, fix))
        }
        Echo::Doubtful(path) => Some(Finding::warning(
            "echo-agent-doubtful",
            format!(
                "{} defines, or may define, another agent of the name echo-through",
                path.display()
            ),
            why,
            "take it out, or rename it",
        )),
        Echo::Refused(rule) => Some(Finding::warning(
            "echo-agent-refused",
            format!("a rule is against the agent echo-through: {rule}"),
            "the client refuses the call that would hand a result back, so it comes as a denial, which reads as an error",
            "take the rule out, or allow Agent(echo-through)",
        )),
    }
}

fn config(facts: &Facts) -> Vec<Finding> {
    let mut found: Vec<Finding> = facts
        .config
        .problems
        .iter()
        .map(|problem| {
            let why = "the hook refuses every call with this configuration";
            Finding::broken(
                "config-wrong",
                problem.clone(),
                why,
                "correct it; HOW_TO lists every key",
            )
        })
        .collect();
    found.extend(facts.config.warnings.iter().map(|warning| {
        let why = "what somebody wrote there has no effect";
        Finding::warning(
            "config-ignored",
            warning.clone(),
            why,
            "correct it, or take it out; HOW_TO lists every key",
        )
    }));
    found.extend(facts.config.guard.as_ref().map(|what| {
        Finding::broken(
            "guard-set",
            what.clone(),
            "sessions that are started here count as cells already: their calls are not intercepted",
            "unset it in the environment and in your own settings",
        )
    }));
    found
}

fn state(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    let state = &facts.state;
    let Some(folder) = &state.folder else {
        let what = "there is no folder for records: HOME is not an absolute path".to_owned();
        let why = "results are handed over through it";
        return vec![Finding::broken(
            "state-missing",
            what,
            why,
            "set HOME or XDG_STATE_HOME",
        )];
    };
    let shown = folder.display();
    if let Some(why_not) = &state.refused {
        found.push(Finding::broken(
            "state-unwritable",
            format!("{shown} cannot be written to: {why_not}"),
            "no cell can be recorded, and none is started without a record",
            "make it writable, or set XDG_STATE_HOME to a folder that is",
        ));
    }
    let lies = |id, what: &str, why| {
        let fix = "set XDG_STATE_HOME to a folder on a disk of this machine";
        Finding::warning(id, format!("{shown} lies on {what}"), why, fix)
    };
    found.extend(match state.file_system {
        Some(FileSystem::Tmpfs) => Some(lies(
            "state-volatile",
            "a tmpfs",
            "records and costs are gone after a reboot",
        )),
        Some(FileSystem::Overlay) => Some(lies(
            "state-volatile",
            "an overlay",
            "records and costs go with the container",
        )),
        Some(FileSystem::Network) => Some(lies(
            "state-on-network",
            "a network file system",
            "records depend on locks and renames that such a one may not keep",
        )),
        Some(FileSystem::Other) | None => None,
    });
    found.extend(room(facts, &shown.to_string()));
    found.extend(records(facts, &shown.to_string()));
    found
}

/// Free space.
fn room(facts: &Facts, shown: &str) -> Option<Finding> {
    let free = facts.state.free_bytes.filter(|free| *free < LITTLE_BYTES)?;
    let what = format!("{} MiB are free where {shown} lies", free >> 20);
    let why = "a cell's output, result and transcript need room; without it the cell fails";
    let fix = "make room, or set XDG_STATE_HOME elsewhere";
    Some(if free < TOO_LITTLE_BYTES {
        Finding::broken("disk-full", what, why, fix)
    } else {
        Finding::warning("disk-low", what, why, fix)
    })
}

/// What earlier cells left.
fn records(facts: &Facts, shown: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let state = &facts.state;
    if state.lost_cells > 0 {
        found.push(Finding::warning(
            "leftover-cells",
            format!(
                "{} records in {shown} say that a cell runs, and its processes are gone",
                state.lost_cells
            ),
            "its hook was killed, or the machine went down: the cost of those cells is not known",
            "look at them with `subcell ls`; `subcell gc` takes old ones away",
        ));
    }
    if state.unreadable_records > 0 {
        found.push(Finding::warning(
            "records-unreadable",
            format!("{} records in {shown} cannot be read", state.unreadable_records),
            "their costs are missing from every sum",
            "they are of another version, or were damaged; move them away",
        ));
    }
    found
}

fn telemetry(facts: &Facts) -> Option<Finding> {
    let (endpoint, refused) = facts.telemetry.as_ref()?;
    let why_not = refused.as_ref()?;
    Some(Finding::warning(
        "telemetry-unreachable",
        format!("the collector at {endpoint} cannot be reached: {why_not}"),
        "spans are lost; cells run all the same",
        "start the collector, or correct [telemetry]",
    ))
}
