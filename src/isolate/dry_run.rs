//! What `--dry-run` prints: the child that would be started, with secrets masked.

use std::fmt::Write as _;
use std::path::Path;

use super::intercept::{Interception, intercept};
use super::prepare::{Prepared, prepare};
use super::run::{Firing, budget, policy, redactor, standing};
use crate::base::redact::{mask_arguments, mask_value};

/// Decides the event as the hook would, starts nothing, writes nothing, and says what would happen.
#[must_use]
pub fn dry_run(firing: &Firing<'_>) -> String {
    let call = match intercept(firing.event, standing(firing.around), &policy(firing.profile)) {
        Interception::Ignore => return "nothing: not a call that this hook is for\n".to_owned(),
        Interception::PassThrough { reason, .. } => {
            return format!(
                "no cell: {} (on_pass: {})\n",
                reason.text(),
                firing.profile.intercept.on_pass.value.word()
            );
        }
        Interception::Refuse { reason, .. } => return format!("refused: {reason}\n"),
        Interception::Isolate(call) => call,
    };
    match prepare(firing, &call) {
        Ok(mut prepared) => {
            if let Some(limit) = budget(firing.profile).of_a_cell() {
                prepared.plan.limit_cost(limit);
            }
            show(firing, &prepared)
        }
        Err(reason) => format!("refused: {reason}\n"),
    }
}

fn show(firing: &Firing<'_>, prepared: &Prepared) -> String {
    let redactor = redactor(firing.profile);
    let text = |text: &str| redactor.text(text).text;
    let spawn = &prepared.plan.spawn;
    let intercept = &firing.profile.intercept;
    let mut out = String::new();
    // Writing to a String cannot fail.
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{name}: {value}");
    };
    line("program", spawn.program.display().to_string());
    for arg in mask_arguments(&spawn.args) {
        line("argument", text(&arg));
    }
    line("cwd", spawn.cwd.display().to_string());
    line("prompt", format!("{} bytes on stdin", prepared.plan.prompt.len()));
    line(
        "model",
        format!(
            "{} ({})",
            prepared.model.as_deref().unwrap_or("not passed"),
            prepared.model_source
        ),
    );
    line(
        "client version",
        prepared.client_version.clone().unwrap_or_else(|| "unknown".to_owned()),
    );
    line(
        "echo agent",
        prepared
            .echo_agent
            .clone()
            .unwrap_or_else(|| "the call's own type".to_owned()),
    );
    line("delivery", prepared.handover.mode.word().to_owned());
    line("run deadline", seconds(spawn.limits.run));
    line("grace", seconds(spawn.limits.grace));
    line("output limit", format!("{} bytes", spawn.limits.output_bytes));
    let slots = prepared
        .slots
        .as_deref()
        .map_or_else(|| "none taken".to_owned(), |folder: &Path| folder.display().to_string());
    line(
        "slots",
        format!("{slots}, waited for up to {}", seconds(intercept.slot_wait.value)),
    );
    environment(&mut line, firing, prepared, &text);
    for note in &prepared.notes {
        line("note", note.clone());
    }
    out
}

fn environment(
    line: &mut impl FnMut(&str, String),
    firing: &Firing<'_>,
    prepared: &Prepared,
    text: &impl Fn(&str) -> String,
) {
    for name in &prepared.environment.kept {
        line("environment kept", name.clone());
    }
    for (name, value) in &prepared.plan.spawn.env {
        let shown = name.to_string_lossy();
        if !prepared.environment.kept.iter().any(|kept| *kept == shown) {
            line("environment set", format!("{shown}={}", text(&mask_value(name, value))));
        }
    }
    for name in &prepared.environment.removed {
        line("environment removed", name.clone());
    }
    for name in firing.around.believed.ignored() {
        line("environment not believed", name.clone());
    }
}

fn seconds(time: std::time::Duration) -> String {
    format!("{} s", time.as_secs_f64())
}
