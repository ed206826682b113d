//! What guards the session: its settings, hooks, records, and our own program.

use super::super::facts::{Action, Assigned, CallKind, Run, Touch};
use super::super::marks::{PROCESS, glob_matches, is_glob};
use super::super::paths::{Ground, resolve};
use super::super::policy::{Family, Severity};
use super::hooks::{hook_variable, skips_hooks};
use super::table::{Rule, Test, has_flag};

/// A rule of this family with its usual weight.
const PLAIN: Rule = Rule {
    id: "",
    family: Family::Tamper,
    severity: Severity::High,
    on: true,
    reason: "",
    instead: "say in your report what should be changed and why; a person changes it",
    test: Test::Replicates,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tamper.settings",
        reason: "it changes the client's settings or hooks, which guard this session",
        test: Test::Touch(|touch, _| changes(touch) && touch.resolved.iter().any(|path| is_settings(path))),
        ..PLAIN
    },
    Rule {
        id: "tamper.own-files",
        reason: "it changes Subcell's configuration, records or program",
        test: Test::Touch(|touch, ground| {
            changes(touch) && touch.resolved.iter().any(|path| is_ours(path, touch.action, ground))
        }),
        ..PLAIN
    },
    Rule {
        id: "tamper.git-hooks",
        reason: "it changes the repository's hooks",
        instead: "fix what the hook complains about; report it where the hook itself is wrong",
        test: Test::Touch(|touch, _| {
            touch.action != Action::Append && changes(touch) && touch.resolved.iter().any(|path| is_git_hook(path))
        }),
        ..PLAIN
    },
    Rule {
        id: "tamper.no-verify",
        reason: "it switches the repository's hooks off",
        instead: "run it without that, and fix what the hooks complain about",
        test: Test::Run(skips_hooks),
        ..PLAIN
    },
    Rule {
        id: "tamper.hook-variable",
        reason: "the variable switches hooks off",
        instead: "leave the variable as it is, and fix what the hooks complain about",
        test: Test::Assigned(hook_variable),
        ..PLAIN
    },
    Rule {
        id: "tamper.own-variable",
        reason: "the variable tells Subcell and the client what they are in; a command may not change it",
        instead: "leave the variable as it is",
        test: Test::Assigned(|assigned, _| own_variable(assigned)),
        ..PLAIN
    },
    Rule {
        id: "tamper.processes",
        reason: "it stops the client's or Subcell's processes",
        instead: "kill the process you started, by its id",
        test: Test::Run(stops_ours),
        ..PLAIN
    },
    Rule {
        id: "tamper.processes-inline",
        reason: "the inline program stops its parents",
        instead: "kill the process you started, by its id",
        test: Test::Call(|call| call.kind == CallKind::Kills),
        ..PLAIN
    },
    Rule {
        id: "tamper.client-flags",
        reason: "it starts or sets up the client with its hooks or permissions switched off",
        test: Test::Run(weakened_client),
        ..PLAIN
    },
    Rule {
        id: "tamper.uninstall",
        reason: "it removes or switches off what guards this session",
        test: Test::Run(uninstalls),
        ..PLAIN
    },
];

fn changes(touch: &Touch) -> bool {
    match touch.action {
        Action::Write
        | Action::Append
        | Action::Delete
        | Action::DeleteTree
        | Action::Move
        | Action::Permit
        | Action::Open
        | Action::PermitTree
        | Action::OpenTree
        | Action::Shred => true,
    }
}

/// Whether a name or a pattern is one of `names`.
fn named(part: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        part == *name
            || part.contains(is_glob)
                && glob_matches(part, name)
                && part.chars().filter(|c| !is_glob(*c)).count() >= 3
    })
}

/// The client's settings and hooks, of the user, the project or the machine.
fn is_settings(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    if parts
        .iter()
        .any(|part| matches!(*part, "managed-settings.json" | "managed-settings.d" | ".claude.json"))
    {
        return true;
    }
    if path.starts_with("/etc/claude-code") {
        return true;
    }
    let Some(at) = parts
        .iter()
        .position(|part| *part == ".claude" || part.contains('.') && named(part, &[".claude"]))
    else {
        return false;
    };
    match parts.get(at + 1..).unwrap_or(&[]) {
        [] => true,
        [first, ..] => {
            named(
                first,
                &["settings.json", "settings.local.json", "hooks", "managed-settings.json"],
            ) || first.chars().all(|c| is_glob(c) || c == '.')
        }
    }
}

/// Files and directories of ours.
fn is_ours(path: &str, action: Action, ground: &Ground) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let by_name = parts
        .iter()
        .any(|part| matches!(*part, ".subcell.toml" | "subcell.toml" | ".subcell"));
    let in_state = parts.windows(2).any(|pair| {
        matches!(
            pair,
            [".config" | "share" | "state" | ".cache" | "bin" | "lib", "subcell"]
        )
    });
    let takes_all = matches!(
        action,
        Action::DeleteTree | Action::Move | Action::PermitTree | Action::OpenTree
    );
    let protected = ground.protected.iter().any(|place| {
        let place = resolve(place, "/", ground);
        let below = path
            .strip_prefix(&place)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        below || takes_all && place.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
    });
    by_name || in_state || protected
}

fn is_git_hook(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let in_git = parts
        .windows(2)
        .any(|pair| matches!(pair, [".git", hooks] if named(hooks, &["hooks"])));
    let sample = parts.last().is_some_and(|name| name.ends_with(".sample"));
    let husky = parts.iter().position(|part| *part == ".husky").is_some_and(|at| {
        parts.len() == at + 1
            || parts
                .get(at + 1)
                .is_some_and(|name| named(name, &["pre-commit", "pre-push", "commit-msg", "_"]))
    });
    (in_git && !sample) || husky
}

/// Variables of ours and of the client that decide what a guard believes.
fn own_variable(assigned: &Assigned) -> bool {
    let name = assigned.name.as_str();
    name.starts_with("SUBCELL_")
        || name.starts_with("FULLSEND_HOOK_")
        || name.starts_with("DELEGATION_KIT_")
        || matches!(
            name,
            "CLAUDE_PID"
                | "CLAUDE_CODE_SESSION_ID"
                | "CLAUDE_CODE_MESSAGING_TOKEN"
                | "CLAUDE_CODE_SIMPLE"
                | "CLAUDE_CODE_CHILD_SESSION"
                | "CLAUDE_CODE_SESSION_ATTENDED"
        )
}

/// `kill $PPID`, `pkill claude`, `kill $(pgrep subcell)`.
fn stops_ours(run: &Run, _: &Ground) -> bool {
    let ours = |text: &str| ["claude", "subcell"].iter().any(|name| text.contains(name));
    let asks = run
        .args
        .iter()
        .any(|arg| matches!(arg.as_str(), "-0" | "-l" | "-L" | "--list"));
    match run.verb.as_str() {
        "kill" => !asks && run.args.iter().any(|arg| arg.contains(PROCESS) && ours(arg)),
        "pkill" | "killall" | "xkill" | "skill" => !asks && run.args.iter().any(|arg| ours(arg) || arg == "node"),
        "gdb" | "lldb" => run.args.iter().any(|arg| arg.contains(PROCESS) && ours(arg)),
        "fuser" => has_flag(&run.args, "-k") && run.args.iter().any(|arg| ours(arg)),
        "systemctl" | "service" => {
            run.args.iter().any(|arg| ours(arg))
                && run
                    .args
                    .iter()
                    .any(|arg| matches!(arg.as_str(), "stop" | "disable" | "mask"))
        }
        _ => false,
    }
}

/// The client with hooks or permissions off, also where agents as such are allowed.
fn weakened_client(run: &Run, _: &Ground) -> bool {
    if run.verb != "claude" && run.verb != "claude-code" {
        return false;
    }
    let text = |needle: &str| run.args.iter().any(|arg| arg.contains(needle));
    let words: Vec<&str> = run
        .args
        .iter()
        .map(String::as_str)
        .filter(|arg| !arg.starts_with('-'))
        .take(2)
        .collect();
    text("disableAllHooks") || matches!(words.as_slice(), ["config", "set" | "add" | "remove"])
}

fn uninstalls(run: &Run, _: &Ground) -> bool {
    let words: Vec<&str> = run
        .args
        .iter()
        .map(String::as_str)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let first = words.first().copied().unwrap_or("");
    match run.verb.as_str() {
        "subcell" => matches!(first, "uninstall" | "uninit") || first == "init" && has_flag(&run.args, "--force"),
        "pre-commit" | "lefthook" | "husky" => first == "uninstall",
        "cargo" | "npm" | "brew" | "apt" | "apt-get" | "pip" => {
            let removes = matches!(first, "uninstall" | "remove" | "rm" | "un" | "r");
            removes
                && words
                    .iter()
                    .any(|word| matches!(*word, "subcell" | "@anthropic-ai/claude-code" | "claude-code"))
        }
        _ => false,
    }
}
