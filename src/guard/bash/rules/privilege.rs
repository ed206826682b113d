//! Programs and accounts that get the rights of others.

use super::super::facts::Run;
use super::super::paths::Ground;
use super::super::policy::{Family, Severity};
use super::super::walk::{Options, Valued};
use super::table::{Rule, Test};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "destroy.privilege",
    family: Family::Destroy,
    severity: Severity::High,
    on: true,
    reason: "it gives a program or an account rights over the machine",
    instead: "report which rights are missing and what for; a person gives them",
    test: Test::Run(gives_rights),
}];

/// Groups whose members may do everything.
const MIGHTY: [&str; 5] = ["sudo", "wheel", "root", "admin", "disk"];

fn gives_rights(run: &Run, _: &Ground) -> bool {
    let words = |short| {
        Options::parse(
            &run.args,
            Valued {
                short,
                long: &["--groups"],
            },
            false,
        )
    };
    match run.verb.as_str() {
        "chmod" | "gchmod" => words("").words.first().is_some_and(|mode| sets_user(mode)),
        "setcap" => words("")
            .words
            .first()
            .is_some_and(|what| what.starts_with("cap_") && what.contains(['+', '='])),
        "usermod" => words("Gg").values(&["-G", "-g", "--groups"]).any(names_mighty),
        "gpasswd" => words("adMA").words.iter().any(|group| names_mighty(group)),
        "adduser" | "addgroup" => words("").words.get(1).is_some_and(|group| names_mighty(group)),
        _ => false,
    }
}

fn names_mighty(groups: &str) -> bool {
    groups.split(',').any(|group| MIGHTY.contains(&group))
}

/// Whether a mode makes a program run as its owner or group.
fn sets_user(mode: &str) -> bool {
    if mode.bytes().all(|b| b.is_ascii_digit()) {
        let value = u32::from_str_radix(mode, 8).unwrap_or(0);
        return value & 0o4000 != 0;
    }
    mode.split(',').any(|clause| {
        let who = clause.split(['+', '=']).next().unwrap_or("");
        let sets = clause
            .split_once(['+', '='])
            .is_some_and(|(_, bits)| bits.contains('s'));
        sets && who != "g" && who != "o"
    })
}
