//! `subcell install` and the removal of what it installed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::guard_background::profile_of;
use crate::base::chain::Chain;
use crate::config::{Delivery, LiveProc, Surroundings};
use crate::exit::Exit;
use crate::process::OWN_EXECUTABLE;
use crate::setup::{self, Choice, Connect, Ground, HooksError, Part, Scope, Target};

/// Where an administrator's settings lie on Linux.
const MANAGED: &str = crate::isolate::lineage::gather::MANAGED_FOLDER;
/// What the kernel puts after the name of an executable that is gone from its folder.
const DELETED: &str = " (deleted)";

/// Puts the hooks into the client's settings, beside what stands there
///
/// With neither --isolate nor --guards it installs --isolate. What is installed already stays. The old file is backed up.
///
/// Examples: `subcell install`, `subcell install --isolate --guards liveness,bash --dry-run`
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct InstallArgs {
    /// Into your own settings: they count in every project [default]
    #[arg(long, conflicts_with_all = ["project", "settings"])]
    user: bool,
    /// Into .claude/settings.json of this folder
    #[arg(long, conflicts_with = "settings")]
    project: bool,
    /// Into this file, for the client's --settings or as .claude/settings.local.json
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// A cell for each Agent call
    #[arg(long)]
    isolate: bool,
    /// Guards, with commas between
    #[arg(long, value_name = "GUARDS", value_delimiter = ',')]
    guards: Vec<GuardName>,
    /// How results reach the parent: receipt, echo, deny or auto [default: as configured; else receipt, or echo where
    /// another hook runs after Agent calls]
    #[arg(long, value_name = "WORD")]
    delivery: Option<Delivery>,
    /// Let a call go on where its hook fails (by default it is blocked, from client 2.1.295 on)
    #[arg(long)]
    fail_open: bool,
    /// Print what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// A guard that can be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GuardName {
    /// Keeps subagents in the foreground
    Background,
    /// Holds a turn while something of it still runs
    Liveness,
    /// Judges the commands of the Bash tool
    Bash,
}

impl InstallArgs {
    fn scope(&self) -> Scope {
        scope(self.project, self.settings.as_ref())
    }

    fn choice(&self) -> Choice {
        let guards = self.guards.iter().map(|guard| match guard {
            GuardName::Background => Part::Background,
            GuardName::Liveness => Part::Liveness,
            GuardName::Bash => Part::Bash,
        });
        let isolates = self.isolate || self.guards.is_empty() || self.delivery.is_some();
        let parts: BTreeSet<Part> = guards.chain(isolates.then_some(Part::Isolate)).collect();
        Choice {
            parts,
            delivery: self.delivery,
            fail_open: self.fail_open,
        }
    }
}

/// The scope of the flags that `install` and `uninstall` share.
pub(super) fn scope(project: bool, settings: Option<&PathBuf>) -> Scope {
    match settings {
        Some(path) => Scope::File(path.clone()),
        None if project => Scope::Project,
        None => Scope::User,
    }
}

/// Installs.
pub(crate) fn run(args: &InstallArgs) -> Exit {
    finish("install", &args.scope(), |ground, target| {
        let order = Connect {
            ground,
            target,
            choice: &args.choice(),
            dry_run: args.dry_run,
        };
        let mut told = setup::connect(&order)?;
        told.push_str(&advice(&args.scope(), ground, args.dry_run));
        Ok(Some(told))
    })
}

/// Takes the hooks out of a scope.
pub(super) fn uninstall(scope: &Scope, dry_run: bool) -> Exit {
    finish("uninstall", scope, |ground, target| {
        setup::disconnect(ground, target, dry_run)
    })
}

/// What is left to the user.
fn advice(scope: &Scope, ground: &Ground<'_>, dry_run: bool) -> String {
    let mut told = String::new();
    if is_passing(ground.program) {
        // Writing to a String cannot fail.
        let _ = writeln!(
            told,
            "note: the hooks call {}, which a clean-up may take away: install from a lasting place",
            ground.program.display()
        );
    }
    if *scope == Scope::Project {
        told.push_str(
            "note: everybody who has this repository gets these hooks, with the path that the program has here; \
             --settings .claude/settings.local.json is for you alone\n",
        );
    }
    if !dry_run {
        told.push_str("sessions that are started from now on use it\n");
    }
    told
}

/// Whether the program lies where programs do not stay.
fn is_passing(program: &Path) -> bool {
    let built = program
        .parent()
        .is_some_and(|folder| folder.join(".fingerprint").is_dir());
    built || program.starts_with("/tmp") || program.starts_with("/var/tmp")
}

fn finish(
    command: &str,
    scope: &Scope,
    act: impl FnOnce(&Ground<'_>, &Target) -> Result<Option<String>, HooksError>,
) -> Exit {
    match told(scope, act) {
        Ok(Some(told)) => super::hook_io::print(&told),
        Ok(None) => {
            super::hook_io::complain(
                command,
                "nothing is installed there; name another place with --project or --settings",
            );
            Exit::NoInput
        }
        Err(failure) => {
            super::hook_io::complain(command, &failure.what);
            failure.exit
        }
    }
}

struct Failure {
    what: String,
    exit: Exit,
}

impl From<HooksError> for Failure {
    fn from(error: HooksError) -> Self {
        let exit = match &error {
            HooksError::Document { .. } => Exit::BadInput,
            HooksError::NoPlace(_) | HooksError::Conflict(_) => Exit::Config,
            HooksError::Link { .. }
            | HooksError::ReadOnly(_)
            | HooksError::NotRegular(_)
            | HooksError::TooLarge { .. }
            | HooksError::Changed(_)
            | HooksError::Busy(_)
            | HooksError::Io { .. } => Exit::Io,
        };
        Self {
            what: Chain(&error).to_string(),
            exit,
        }
    }
}

fn told(
    scope: &Scope,
    act: impl FnOnce(&Ground<'_>, &Target) -> Result<Option<String>, HooksError>,
) -> Result<Option<String>, Failure> {
    let io = |doing: &str| {
        let doing = doing.to_owned();
        move |error: io::Error| Failure {
            what: format!("{doing}: {error}"),
            exit: Exit::Io,
        }
    };
    let cwd = std::env::current_dir().map_err(io("find this folder"))?;
    let program = std::fs::read_link(OWN_EXECUTABLE).map_err(io("find this program"))?;
    if program.to_str().is_none_or(|text| text.ends_with(DELETED)) {
        return Err(Failure {
            what: format!(
                "the hooks cannot call {:?}: it was replaced since it was started, or its path is no text; start it again",
                program.display()
            ),
            exit: Exit::Config,
        });
    }
    let around = Surroundings::look_as_command(&LiveProc);
    let profile = profile_of(&around).map_err(|what| Failure {
        what,
        exit: Exit::Config,
    })?;
    let ground = Ground {
        believed: &around.believed,
        profile: &profile,
        cwd: &cwd,
        managed: Path::new(MANAGED),
        program: &program,
    };
    let target = Target::of(scope, &around.believed, &cwd)?;
    Ok(act(&ground, &target)?)
}
