//! Colours, where they are wanted.

use std::fmt;

use anstyle::{AnsiColor, Style};

use super::super::timeline::{Fault, Role};

/// Whether colours are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Yes: the output is a terminal.
    On,
    /// No.
    Off,
}

impl Paint {
    /// `text` in a style.
    pub(super) fn dress<T: fmt::Display>(self, style: Style, text: T) -> String {
        match self {
            Self::On => format!("{style}{text}{style:#}"),
            Self::Off => text.to_string(),
        }
    }
}

/// The style of what begins a session.
pub(super) const fn session(failed: bool) -> Style {
    if failed {
        AnsiColor::Red.on_default().bold()
    } else {
        Style::new().bold()
    }
}

/// The style of an event's first line.
pub(super) const fn event(role: Role, fault: Option<Fault>) -> Style {
    match (fault, role) {
        (Some(_), _) | (None, Role::Broken) => AnsiColor::Red.on_default().bold(),
        (None, Role::User) => AnsiColor::Green.on_default().bold(),
        (None, Role::Assistant) => AnsiColor::Cyan.on_default().bold(),
        (None, Role::Call | Role::Result) => AnsiColor::Yellow.on_default(),
        (None, Role::Hook) => AnsiColor::Magenta.on_default(),
        (None, Role::Thinking | Role::System | Role::Other) => Style::new().dimmed(),
    }
}

/// The style of a line of a change, by its sign.
pub(super) fn change(line: &str) -> Style {
    match line.as_bytes().first() {
        Some(b'+') => AnsiColor::Green.on_default(),
        Some(b'-') => AnsiColor::Red.on_default(),
        Some(_) | None => Style::new(),
    }
}
