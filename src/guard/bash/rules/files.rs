//! Files, disks and permissions.

use super::super::facts::{Action, Run, Touch};
use super::super::marks::{HOME, has_unknown};
use super::super::paths::{Ground, Site, site};
use super::super::policy::{Family, Severity};
use super::super::walk::{Options, Valued};
use super::table::{Rule, Shape, Test, except, flagged, has_flag, shape};

/// A rule of this family with its usual weight.
const PLAIN: Rule = Rule {
    id: "",
    family: Family::Destroy,
    severity: Severity::Critical,
    on: true,
    reason: "",
    instead: "",
    test: Test::Replicates,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "destroy.tree",
        reason: "it deletes a tree outside of the project and of temporary directories, or one whose place is unknown",
        instead: "name the directory below the project or below /tmp that should go, without variables that may be empty",
        test: Test::Touch(tree_goes),
        ..PLAIN
    },
    Rule {
        id: "destroy.file",
        reason: "it deletes files that the system, the repository or the user's home needs",
        instead: "delete files of the project by their names",
        test: Test::Touch(file_goes),
        ..PLAIN
    },
    Rule {
        id: "destroy.overwrite",
        reason: "it overwrites a device, or a file of the system or of the user's account",
        instead: "write to a file below the project or below /tmp",
        test: Test::Touch(overwritten),
        ..PLAIN
    },
    Rule {
        id: "destroy.move",
        reason: "it moves away something that has to stay where it is",
        instead: "copy what you need into the project",
        test: Test::Touch(moved_away),
        ..PLAIN
    },
    Rule {
        id: "destroy.permissions",
        severity: Severity::High,
        reason: "it changes modes or owners of a whole tree for everybody, or outside of the project",
        instead: "change the mode of the files that need it, for their owner",
        test: Test::Touch(opened),
        ..PLAIN
    },
    Rule {
        id: "destroy.disk",
        reason: "it overwrites or erases a disk, a file system or a volume",
        instead: "work on an image file below the project or /tmp",
        test: Test::Run(erases_disk),
        ..PLAIN
    },
    Rule {
        id: "destroy.unknown-program",
        severity: Severity::High,
        reason: "a program whose name is not known gets the arguments of a deletion",
        instead: "write the program's name out",
        test: Test::Run(unknown_deletion),
        ..PLAIN
    },
];

fn sites<'t>(touch: &'t Touch, ground: &'t Ground) -> impl Iterator<Item = (&'t str, Site)> {
    touch.resolved.iter().map(|path| (path.as_str(), site(path, ground)))
}

fn tree_goes(touch: &Touch, ground: &Ground) -> bool {
    let remote = touch.action == Action::DeleteTree && touch.by == "rsync" && is_remote(&touch.path);
    touch.action == Action::DeleteTree
        && (remote
            || sites(touch, ground).any(|(_, site)| match site {
                Site::Unknown
                | Site::Base
                | Site::BaseContent
                | Site::Repository
                | Site::TempRoot
                | Site::Home
                | Site::System
                | Site::Device
                | Site::Elsewhere => true,
                Site::Project | Site::Temp | Site::Cache => false,
            }))
}

/// `host:path`, as rsync and scp take it.
fn is_remote(path: &str) -> bool {
    path.split_once(':')
        .is_some_and(|(host, _)| !host.contains('/') && host.len() > 1)
}

fn file_goes(touch: &Touch, ground: &Ground) -> bool {
    let shreds = touch.action == Action::Shred;
    (touch.action == Action::Delete || shreds)
        && sites(touch, ground).any(|(path, site)| match site {
            Site::Base | Site::BaseContent | Site::Repository | Site::Device => true,
            Site::System => ![".pid", ".sock", ".lock", ".socket"]
                .iter()
                .any(|end| path.ends_with(end)),
            Site::Home => shreds || is_account_file(path),
            Site::Elsewhere | Site::Unknown => shreds,
            Site::Project | Site::Temp | Site::TempRoot | Site::Cache => false,
        })
}

/// Files in the home that a person's access depends on.
fn is_account_file(path: &str) -> bool {
    const DEAR: [&str; 14] = [
        ".ssh",
        ".gnupg",
        ".aws",
        ".kube",
        ".config/gcloud",
        ".netrc",
        ".bashrc",
        ".bash_profile",
        ".profile",
        ".zshrc",
        ".gitconfig",
        ".docker",
        ".password-store",
        ".azure",
    ];
    let inside = path
        .strip_prefix(HOME)
        .or_else(|| path.strip_prefix("/root"))
        .unwrap_or_else(|| {
            path.strip_prefix("/home/")
                .and_then(|rest| rest.find('/').and_then(|at| rest.get(at..)))
                .unwrap_or("")
        });
    let inside = inside.trim_start_matches('/');
    DEAR.iter().any(|dear| {
        inside
            .strip_prefix(dear)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// System paths whose content is not for a project to change.
const FIXED: [&str; 14] = [
    "/etc",
    "/boot",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib64",
    "/proc/sys",
    "/sys",
    "/proc/sysrq-trigger",
    "/usr/libexec",
];

/// System files to which nothing may even be added.
const GUARDED: [&str; 8] = [
    "/etc/passwd",
    "/etc/shadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ld.so.preload",
    "/etc/pam.d",
    "/proc/sysrq-trigger",
    "/boot",
];

fn is_under(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| {
        path.strip_prefix(place)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

fn overwritten(touch: &Touch, ground: &Ground) -> bool {
    let copies = matches!(touch.by.as_str(), "cp" | "mv" | "install" | "ln" | "rsync" | "scp");
    let unknown_target = touch.by == "dd" && has_unknown(&touch.path) && touch.action == Action::Write;
    let writes = matches!(touch.action, Action::Write);
    let adds = touch.action == Action::Append;
    if !writes && !adds {
        return false;
    }
    sites(touch, ground).any(|(path, site)| {
        site == Site::Device
            || unknown_target && site == Site::Unknown
            || is_under(path, &GUARDED)
            || writes && is_under(path, &FIXED)
            || writes && !copies && is_account_file(path)
    })
}

fn moved_away(touch: &Touch, ground: &Ground) -> bool {
    touch.action == Action::Move
        && sites(touch, ground).any(|(path, site)| match site {
            Site::Base | Site::Repository | Site::Device => true,
            Site::System => is_under(path, &FIXED) || path.matches('/').count() == 1,
            Site::BaseContent => path.starts_with(HOME) || path.matches('/').count() == 1,
            Site::Unknown
            | Site::Project
            | Site::TempRoot
            | Site::Temp
            | Site::Cache
            | Site::Home
            | Site::Elsewhere => false,
        })
}

fn opened(touch: &Touch, ground: &Ground) -> bool {
    let open = touch.action == Action::OpenTree;
    let own = |path: &str| {
        [&ground.project, &ground.cwd].iter().any(|base| {
            path == super::super::paths::resolve(base, "/", ground)
                || path.starts_with(&format!("{}/", super::super::paths::resolve(base, "/", ground)))
        })
    };
    match touch.action {
        Action::OpenTree | Action::PermitTree => sites(touch, ground).any(|(path, site)| match site {
            Site::Temp | Site::Cache => false,
            Site::Base | Site::BaseContent | Site::Repository => open || !own(path),
            Site::TempRoot | Site::Device | Site::System => true,
            Site::Project | Site::Unknown | Site::Home => open,
            Site::Elsewhere => open || touch.by.starts_with("ch") && path.matches('/').count() == 1,
        }),
        Action::Permit | Action::Open => sites(touch, ground).any(|(path, site)| {
            path == "/"
                || touch.action == Action::Open && is_account_file(path)
                || site == Site::BaseContent && path.matches('/').count() == 1
                || site == Site::Device
                || is_under(path, &FIXED)
        }),
        Action::Write | Action::Append | Action::Delete | Action::DeleteTree | Action::Move | Action::Shred => false,
    }
}

const DISKS: &[Shape] = &[
    shape(&["blkdiscard", "sg_format"], &["/dev/*"]),
    flagged(&["wipefs"], &[], &["-a", "--all", "-o", "--offset"]),
    flagged(
        &["sgdisk", "gdisk"],
        &[],
        &[
            "--zap-all",
            "-Z",
            "-z",
            "--zap",
            "-o",
            "--clear",
            "-d",
            "--delete",
            "-n",
            "--new",
        ],
    ),
    except(
        &["sfdisk"],
        &["/dev/*"],
        &[
            "-l",
            "--list",
            "-d",
            "--dump",
            "-J",
            "--json",
            "-s",
            "--show-size",
            "-V",
            "--verify",
        ],
    ),
    except(
        &["fdisk", "cfdisk", "cgdisk"],
        &["/dev/*"],
        &["-l", "--list", "-x", "-s"],
    ),
    shape(&["parted"], &["mklabel"]),
    shape(&["parted"], &["mktable"]),
    shape(&["parted"], &["rm"]),
    shape(&["parted"], &["mkpart"]),
    flagged(
        &["hdparm"],
        &[],
        &["--security-erase", "--security-erase-enhanced", "--trim-sector-ranges"],
    ),
    shape(&["nvme"], &["format"]),
    shape(&["nvme"], &["sanitize"]),
    shape(&["nvme"], &["delete-ns"]),
    shape(&["cryptsetup"], &["luksFormat"]),
    shape(&["cryptsetup"], &["erase"]),
    shape(&["cryptsetup"], &["luksErase"]),
    shape(&["cryptsetup"], &["luksKillSlot"]),
    shape(&["lvremove", "vgremove", "pvremove"], &[]),
    flagged(&["mdadm"], &[], &["--zero-superblock", "--remove"]),
    shape(&["zpool", "zfs"], &["destroy"]),
    shape(&["zpool"], &["labelclear"]),
    shape(&["btrfs"], &["subvolume", "delete"]),
    flagged(&["badblocks"], &[], &["-w", "-n"]),
    shape(&["diskutil"], &["erase*"]),
    shape(&["diskutil"], &["partitionDisk"]),
    shape(&["diskutil"], &["zeroDisk"]),
    shape(&["diskutil"], &["apfs", "delete*"]),
];

fn erases_disk(run: &Run, ground: &Ground) -> bool {
    if has_flag(&run.args, "--help") || has_flag(&run.args, "--version") || has_flag(&run.args, "--dry-run") {
        return false;
    }
    let makes = run.verb.starts_with("mkfs")
        || matches!(
            run.verb.as_str(),
            "mke2fs" | "mkswap" | "mkdosfs" | "newfs" | "wipe-disk"
        );
    if makes {
        let options = Options::parse(
            &run.args,
            Valued {
                short: "tLbNnimIUOE",
                long: &["--type", "--label"],
            },
            false,
        );
        if options.has(&["-V", "--version"]) && run.args.len() == 1 {
            return false;
        }
        return !options.words.iter().any(|word| is_image(word, ground)) && !options.words.is_empty();
    }
    let rule = Rule {
        test: Test::Shapes(DISKS),
        ..PLAIN
    };
    super::table::matches(&rule, &super::super::facts::Fact::Run(run.clone()), ground)
}

/// A file of the project or below a temporary directory.
fn is_image(path: &str, ground: &Ground) -> bool {
    let resolved = super::super::paths::resolve(path, &ground.cwd, ground);
    matches!(site(&resolved, ground), Site::Project | Site::Temp) && !path.chars().all(|c| c.is_ascii_alphanumeric())
}

/// `$cmd -rf /`: what is not known may well be `rm`.
fn unknown_deletion(run: &Run, ground: &Ground) -> bool {
    let unknown = !run.verb.is_empty() && run.verb.chars().all(super::super::marks::is_unknown);
    let shaped = has_flag(&run.args, "-r")
        || has_flag(&run.args, "-R")
        || has_flag(&run.args, "--recursive")
        || has_flag(&run.args, "-f");
    unknown
        && shaped
        && run.args.iter().filter(|arg| !arg.starts_with('-')).any(|arg| {
            run.dirs.iter().any(|dir| {
                let path = super::super::paths::resolve(arg, dir, ground);
                matches!(
                    site(&path, ground),
                    Site::Base | Site::BaseContent | Site::Repository | Site::System
                )
            })
        })
}
