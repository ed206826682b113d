//! What a hook tells its keeper, as the arguments of the hidden `keeper` subcommand.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::spawn_plan::{Limits, SpawnPlan};

/// A keeper's orders. The client's environment is the keeper's own; its stdin and stdout too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orders {
    /// The hook's pid: a keeper whose parent is another process has outlived its hook.
    pub hook: i32,
    /// What the client may take.
    pub limits: Limits,
    /// The folder for the client's stderr, which never has a name there.
    pub scratch: PathBuf,
    /// The folder that the client starts in. The keeper goes there by itself: a process that starts another in another
    /// folder has to fork in a static build, and a hook may hold much memory.
    pub cwd: PathBuf,
    /// What the keeper's caller is told where the hook is gone; nothing here reads it.
    pub notice: Option<OsString>,
    /// The client's program.
    pub program: PathBuf,
    /// The client's arguments.
    pub args: Vec<OsString>,
}

impl Orders {
    /// The orders that carry out `plan`, with the folders made absolute.
    ///
    /// # Errors
    /// A folder is empty, or this process's own cannot be told.
    pub fn new(plan: &SpawnPlan, hook: i32, scratch: &Path) -> io::Result<Self> {
        Ok(Self {
            hook,
            limits: plan.limits,
            scratch: std::path::absolute(scratch)?,
            cwd: std::path::absolute(&plan.cwd)?,
            notice: None,
            program: plan.program.clone(),
            args: plan.args.clone(),
        })
    }

    /// The arguments, the subcommand's name first, as `cli::keeper` reads them.
    #[must_use]
    pub fn to_args(&self) -> Vec<OsString> {
        let millis = |time: Duration| time.as_millis().to_string();
        let mut args: Vec<OsString> = [
            "keeper",
            "--hook",
            &self.hook.to_string(),
            "--run-ms",
            &millis(self.limits.run),
            "--grace-ms",
            &millis(self.limits.grace),
            "--output-bytes",
            &self.limits.output_bytes.to_string(),
            "--scratch",
        ]
        .map(OsString::from)
        .to_vec();
        args.push(self.scratch.clone().into());
        args.push("--cwd".into());
        args.push(self.cwd.clone().into());
        if let Some(notice) = &self.notice {
            args.push("--notice".into());
            args.push(notice.clone());
        }
        args.push("--".into());
        args.push(self.program.clone().into());
        args.extend(self.args.iter().cloned());
        args
    }
}
