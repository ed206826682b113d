//! `subcell keeper`: started by a hook, never by hand.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use crate::exit::Exit;
use crate::isolate;
use crate::process::keeper::{Delivery, deliver, run};
use crate::process::{Limits, Orders};

/// The orders of a keeper, as `Orders::to_args` writes them.
#[derive(Debug, clap::Args)]
pub(crate) struct KeeperArgs {
    #[arg(long)]
    hook: i32,
    #[arg(long)]
    run_ms: u64,
    #[arg(long)]
    grace_ms: u64,
    #[arg(long)]
    output_bytes: u64,
    #[arg(long)]
    scratch: PathBuf,
    #[arg(long)]
    cwd: PathBuf,
    /// The record in the scratch folder to end where the hook is gone.
    #[arg(long)]
    notice: Option<OsString>,
    #[arg(last = true, required = true)]
    client: Vec<OsString>,
}

impl From<&KeeperArgs> for Orders {
    fn from(args: &KeeperArgs) -> Self {
        let mut client = args.client.iter().cloned();
        Self {
            hook: args.hook,
            limits: Limits {
                run: Duration::from_millis(args.run_ms),
                grace: Duration::from_millis(args.grace_ms),
                output_bytes: args.output_bytes,
            },
            scratch: args.scratch.clone(),
            cwd: args.cwd.clone(),
            notice: args.notice.clone(),
            program: client.next().unwrap_or_default().into(),
            args: client.collect(),
        }
    }
}

/// Keeps one client to its end.
pub(crate) fn keep(args: &KeeperArgs) -> Exit {
    let orders = Orders::from(args);
    let report = run(&orders);
    match deliver(&report, &orders) {
        Delivery::ToHook => Exit::Done,
        Delivery::HookGone => {
            if let Some(name) = orders.notice.as_deref().and_then(OsStr::to_str) {
                isolate::end_orphan(&orders.scratch, name, &report);
            }
            Exit::Negative
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::ffi::OsStringExt;

    use clap::Parser;

    use super::*;
    use crate::cli::args::{Args, Command};
    use crate::process::SpawnPlan;

    #[test]
    fn orders_survive_the_command_line() {
        let hostile = ["-p", "--", "--hook", "", "a b", "$(id)"].map(OsString::from);
        let plan = SpawnPlan {
            program: "--odd/claude".into(),
            args: hostile
                .into_iter()
                .chain([OsString::from_vec(vec![0xff, b'\n'])])
                .collect(),
            env: BTreeMap::new(),
            cwd: "/- p".into(),
            limits: Limits {
                run: Duration::from_mins(5),
                grace: Duration::from_millis(1500),
                output_bytes: u64::MAX,
            },
        };
        let mut orders = Orders::new(&plan, 4711, "/a scratch --folder".as_ref()).unwrap();
        orders.notice = Some("toolu_1".into());
        let args = [OsString::from("subcell")].into_iter().chain(orders.to_args());
        let Command::Keeper(args) = Args::try_parse_from(args).unwrap().command else {
            panic!("read as another command");
        };
        assert_eq!(Orders::from(&args), orders);
    }
}
