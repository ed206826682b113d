//! `subcell replay show`: a timeline for a terminal, a pager or a program.

use std::io::{self, BufWriter, IsTerminal};

use clap::{Args, ValueEnum};

use super::replay::{Failure, InputArgs};
use crate::config::Environment;
use crate::replay::terminal::{JsonLines, Paint, Plain};
use crate::replay::timeline::{Filter, PlayError, RoleWord, Since, play};

/// Prints the timeline of a run.
///
/// Example: `subcell replay show transcripts/ --since 10m`
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Only these: user, assistant, thinking, tool, hook, system, other, broken.
    #[arg(long, value_name = "ROLE", value_delimiter = ',')]
    role: Vec<RoleWord>,
    /// Only calls of this tool, with their results.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    tool: Vec<String>,
    /// Only this agent: a type, an agent's or session's id, or session, cell, echo, subagent.
    #[arg(long, value_name = "AGENT", value_delimiter = ',')]
    agent: Vec<String>,
    /// Only from then on: a time (2026-11-30T18:50:00Z), a day, or a length before the end of the run (10m).
    #[arg(long, value_name = "TIME")]
    since: Option<Since>,
    /// Only errors, refusals and broken lines.
    #[arg(long)]
    errors: bool,
    /// One JSON object a line: start, session, event, end, summary.
    #[arg(long)]
    json: bool,
    /// Shows long texts whole.
    #[arg(long)]
    full: bool,
    /// Colours: on a terminal (unless `NO_COLOR` is set), always, or never.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    color: When,
}

/// When there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl When {
    pub(super) fn paint(self, is_wanted: bool) -> Paint {
        match (self, is_wanted) {
            (Self::Always, _) | (Self::Auto, true) => Paint::On,
            (Self::Never, _) | (Self::Auto, false) => Paint::Off,
        }
    }
}

/// Prints the timeline.
pub(super) fn run(args: &ShowArgs) -> Result<(), Failure> {
    let (tree, mut screen) = args.input.load()?;
    let filter = Filter {
        roles: args.role.clone(),
        tools: args.tool.clone(),
        agents: args.agent.clone(),
        since: args.since,
        errors: args.errors,
    };
    let stdout = io::stdout();
    // https://no-color.org: set and not empty.
    let unwanted = Environment::of_this_process()
        .get("NO_COLOR")
        .is_some_and(|value| !value.is_empty());
    let paint = args.color.paint(stdout.is_terminal() && !unwanted);
    let out = BufWriter::with_capacity(64 * 1024, stdout.lock());
    if args.json {
        let mut lines = JsonLines::start(out).map_err(PlayError)?;
        play(&tree, &filter, &mut screen, &mut lines)?;
    } else {
        let mut plain = Plain::new(out, paint, args.full);
        play(&tree, &filter, &mut screen, &mut plain)?;
    }
    Ok(())
}
