//! `subcell config show`.

use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::hook_io::{complain, print};
use crate::base::chain::Chain;
use crate::base::redact::Redactor;
use crate::base::visible;
use crate::config::{Flags, LiveProc, Problem, Profile, Shown, Source, Surroundings};
use crate::exit::Exit;
use crate::guard::bash::read_setting;

/// What the program goes by.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    Show(ShowConfigArgs),
}

/// Shows every value with its source: defaults < user < project < environment < flags of a hook's entry
///
/// A project's .subcell.toml may lower limits and add rules of the Bash guard and redaction patterns; anything else in it
/// is named on stderr, with the file that it belongs in, and the exit code is 78. Secrets are masked.
///
/// Example: `subcell config show --json`
#[derive(Debug, clap::Args)]
pub(crate) struct ShowConfigArgs {
    /// Print a JSON object: key to value and source
    #[arg(long)]
    json: bool,
    /// Read this file in place of the user's subcell.toml
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
}

/// Shows.
pub(crate) fn run(command: &ConfigCommand) -> Exit {
    let ConfigCommand::Show(args) = command;
    let around = Surroundings::look_as_command(&LiveProc);
    let cwd = std::env::current_dir().ok();
    let flags = Flags {
        config: args.config.clone(),
        ..Flags::default()
    };
    let profile = match Profile::load(&around.believed, cwd.as_deref(), &flags) {
        Ok(profile) => profile,
        Err(error) => {
            complain("config show", &Chain(&error).to_string());
            return Exit::Config;
        }
    };
    let patterns = profile.redact_patterns.iter().map(|pattern| pattern.value.as_str());
    // The patterns were each checked when they were read; together they may be too much.
    let redactor = Redactor::with_patterns(patterns).unwrap_or_default();
    let text = if args.json {
        as_json(&profile, &redactor)
    } else {
        as_lines(&profile, &redactor)
    };
    let printed = print(&text);
    let mut problems = profile.warnings.clone();
    problems.extend(read_setting(&profile.rooms.guard_bash).problems);
    for problem in &problems {
        complain("config show", &problem.to_string());
    }
    if printed == Exit::Done && problems.iter().any(is_projects) {
        return Exit::Config;
    }
    printed
}

fn is_projects(problem: &Problem) -> bool {
    matches!(problem.source, Source::Project { .. })
}

/// A variable has its name in front of it, so that the redactor sees what kind of value it is; of our own keys only the
/// export's headers hold a secret by their name, and a credential among them may have any form.
fn masked(key: &str, shown: &Shown, redactor: &Redactor) -> Option<String> {
    let value = shown.value.as_ref()?;
    if key.starts_with("telemetry.headers") {
        return Some("\"[redacted]\"".to_owned());
    }
    let Some(name) = key.strip_prefix("child.env.") else {
        return Some(visible(&redactor.text(value).text).into_owned());
    };
    let masked = redactor.text(&format!("{name} = {value}")).text;
    let value = masked.strip_prefix(name).and_then(|rest| rest.strip_prefix(" = "));
    Some(visible(value.unwrap_or("[redacted]")).into_owned())
}

fn as_lines(profile: &Profile, redactor: &Redactor) -> String {
    let line = |(key, shown): (&String, &Shown)| {
        let value = masked(key, shown, redactor).unwrap_or_else(|| "(unset)".to_owned());
        format!("{} = {value}  # {}\n", visible(key), visible(&shown.source.to_string()))
    };
    profile.rows().iter().map(line).collect()
}

fn as_json(profile: &Profile, redactor: &Redactor) -> String {
    let field = |(key, shown): (&String, &Shown)| {
        let value = masked(key, shown, redactor);
        // What the redactor changed may be no JSON any more: it is shown as text then.
        let value = value.map(|value| serde_json::from_str(&value).unwrap_or(Value::String(value)));
        let (layer, source) = (layer(&shown.source), shown.source.to_string());
        (key.clone(), json!({"value": value, "layer": layer, "source": source}))
    };
    let fields: Map<String, Value> = profile.rows().iter().map(field).collect();
    format!("{:#}\n", Value::Object(fields))
}

const fn layer(source: &Source) -> &'static str {
    match source {
        Source::Default => "default",
        Source::User { .. } => "user",
        Source::Project { .. } => "project",
        Source::Environment(_) => "environment",
        Source::Flag(_) => "flag",
    }
}
