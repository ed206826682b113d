//! Ways to switch a repository's hooks off.

use super::super::facts::{Assigned, Run};
use super::super::marks::HOME;
use super::super::paths::Ground;
use super::git::call;

/// `--no-verify`, `commit -n`, `core.hooksPath`.
pub(super) fn skips_hooks(run: &Run, _: &Ground) -> bool {
    if run.verb == "git"
        && run
            .args
            .windows(2)
            .any(|pair| matches!(pair, [flag, value] if flag == "-c" && switches_hooks(value)))
    {
        return true;
    }
    if run.verb == "git"
        && run
            .args
            .iter()
            .any(|arg| arg.strip_prefix("--config-env=").is_some_and(switches_hooks))
    {
        return true;
    }
    let Some(call) = call(run) else { return false };
    let verifies = [
        "commit",
        "push",
        "merge",
        "am",
        "rebase",
        "pull",
        "cherry-pick",
        "revert",
    ];
    if verifies.contains(&call.sub) {
        let long = call
            .args
            .iter()
            .take_while(|arg| *arg != "--")
            .any(|arg| arg.len() >= 9 && "--no-verify".starts_with(arg.as_str()));
        let valued = if call.sub == "commit" { "mFCct" } else { "" };
        let short = matches!(call.sub, "commit" | "am") && cluster_has(call.args, 'n', valued);
        return long && !is_value(call.args, "--no-verify") || short;
    }
    call.sub == "config" && config_switches(call.args)
}

/// Whether every `--no-verify` is the value of `-m` and not an option.
fn is_value(args: &[String], flag: &str) -> bool {
    let found = args.iter().enumerate().filter(|(_, arg)| *arg == flag);
    let mut any = false;
    for (at, _) in found {
        any = true;
        let before = at.checked_sub(1).and_then(|at| args.get(at)).map_or("", String::as_str);
        let takes = matches!(before, "--message" | "--file" | "--author" | "--date")
            || before.starts_with('-') && !before.starts_with("--") && before.ends_with(['m', 'F', 'C', 'c', 't']);
        if !takes {
            return false;
        }
    }
    any
}

/// Whether a letter is in a cluster of short options, before one that takes the rest as its value.
fn cluster_has(args: &[String], wanted: char, valued: &str) -> bool {
    let mut args = args.iter().take_while(|arg| *arg != "--");
    while let Some(arg) = args.next() {
        let Some(letters) = arg
            .strip_prefix('-')
            .filter(|letters| !letters.starts_with('-') && !letters.is_empty())
        else {
            if matches!(
                arg.as_str(),
                "--message" | "--file" | "--author" | "--date" | "--template" | "--fixup" | "--squash"
            ) {
                args.next();
            }
            continue;
        };
        for (at, letter) in letters.char_indices() {
            if letter == wanted {
                return true;
            }
            if valued.contains(letter) {
                if at + letter.len_utf8() == letters.len() {
                    args.next();
                }
                break;
            }
            if matches!(letter, 'S' | 'u') {
                break;
            }
        }
    }
    false
}

/// Whether `key=value` leads git's hooks elsewhere than to a directory of the project that is meant for them.
fn switches_hooks(setting: &str) -> bool {
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    key.eq_ignore_ascii_case("core.hookspath") && !is_hooks_directory(value)
}

fn is_hooks_directory(value: &str) -> bool {
    let inside = !value.starts_with(['/', '~', HOME]) && !value.contains("..");
    inside && (value.contains("hooks") || value.contains("husky"))
}

fn config_switches(args: &[String]) -> bool {
    if ["--get", "--get-all", "--list", "-l", "--show-origin", "--get-regexp"]
        .iter()
        .any(|flag| args.iter().any(|arg| arg == flag))
    {
        return false;
    }
    let words: Vec<&String> = args
        .iter()
        .filter(|arg| !arg.starts_with('-') && !matches!(arg.as_str(), "set" | "unset"))
        .collect();
    let Some(at) = words
        .iter()
        .position(|word| word.eq_ignore_ascii_case("core.hookspath"))
    else {
        return false;
    };
    let removes = args
        .iter()
        .any(|arg| matches!(arg.as_str(), "--unset" | "--unset-all" | "unset"));
    removes
        || words.get(at + 1).is_some_and(|value| !is_hooks_directory(value)) && !args.iter().any(|arg| arg == "get")
}

/// Variables by which tools switch their hooks off.
pub(super) fn hook_variable(assigned: &Assigned, _: &Ground) -> bool {
    let value = assigned.value.as_deref().unwrap_or("");
    match assigned.name.as_str() {
        "HUSKY"
        | "LEFTHOOK"
        | "OVERCOMMIT_DISABLE"
        | "HUSKY_SKIP_HOOKS"
        | "PRE_COMMIT_ALLOW_NO_CONFIG"
        | "SKIP_HOOKS" => {
            let on = matches!(value, "1" | "true");
            let off = matches!(value, "0" | "false" | "");
            if matches!(assigned.name.as_str(), "HUSKY" | "LEFTHOOK") {
                off && assigned.value.is_some()
            } else {
                on
            }
        }
        // pre-commit leaves out the hooks that it names; other programs take a yes or no under that name.
        "SKIP" => {
            value.contains(|c: char| c.is_ascii_alphabetic())
                && !matches!(value, "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n")
        }
        name if name.starts_with("GIT_CONFIG_KEY_") => value.eq_ignore_ascii_case("core.hookspath"),
        "GIT_CONFIG_PARAMETERS" => value.to_ascii_lowercase().contains("core.hookspath"),
        _ => false,
    }
}
