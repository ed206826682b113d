//! Which events are shown.

use std::str::FromStr;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use super::event::{Event, Role};
use super::tree::SessionView;

/// A role that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleWord {
    /// Prompts.
    User,
    /// What models said.
    Assistant,
    /// What they thought.
    Thinking,
    /// Tool calls and their results.
    Tool,
    /// Hooks.
    Hook,
    /// The client's notes.
    System,
    /// Other entries.
    Other,
    /// Lines that cannot be read.
    Broken,
}

impl RoleWord {
    /// Every word, for a command line.
    pub const ALL: [(&'static str, Self); 8] = [
        ("user", Self::User),
        ("assistant", Self::Assistant),
        ("thinking", Self::Thinking),
        ("tool", Self::Tool),
        ("hook", Self::Hook),
        ("system", Self::System),
        ("other", Self::Other),
        ("broken", Self::Broken),
    ];

    const fn takes(self, role: Role) -> bool {
        matches!(
            (self, role),
            (Self::User, Role::User)
                | (Self::Assistant, Role::Assistant)
                | (Self::Thinking, Role::Thinking)
                | (Self::Tool, Role::Call | Role::Result)
                | (Self::Hook, Role::Hook)
                | (Self::System, Role::System)
                | (Self::Other, Role::Other)
                | (Self::Broken, Role::Broken)
        )
    }
}

impl FromStr for RoleWord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(word, _)| *word == text);
        found.map(|(_, role)| *role).ok_or_else(|| {
            let words: Vec<&str> = Self::ALL.iter().map(|(word, _)| *word).collect();
            format!("not one of {}", words.join(", "))
        })
    }
}

/// From when on events are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// From a moment on.
    Moment(Timestamp),
    /// This long before the end of the run. Not before now: the same files would be shown differently every day.
    BeforeEnd(SignedDuration),
}

/// A time that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a time (2026-11-30T18:50:00Z), a day (2026-11-30, in UTC) or a length before the end of the run (10m)")]
pub struct SinceError;

impl FromStr for Since {
    type Err = SinceError;

    fn from_str(text: &str) -> Result<Self, SinceError> {
        if let Ok(moment) = text.parse::<Timestamp>() {
            return Ok(Self::Moment(moment));
        }
        if let Ok(day) = text.parse::<Date>() {
            let midnight = format!("{day}T00:00:00Z");
            return midnight.parse().map(Self::Moment).map_err(|_| SinceError);
        }
        let length = text.parse::<SignedDuration>().map_err(|_| SinceError)?;
        if length.is_negative() {
            Err(SinceError)
        } else {
            Ok(Self::BeforeEnd(length))
        }
    }
}

impl Since {
    fn moment(self, end: Option<Timestamp>) -> Option<Timestamp> {
        match self {
            Self::Moment(moment) => Some(moment),
            Self::BeforeEnd(length) => Some(end?.saturating_sub(length).unwrap_or(Timestamp::MIN)),
        }
    }
}

/// What is asked for; every condition has to hold, and one that is empty holds always.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// One of these roles.
    pub roles: Vec<RoleWord>,
    /// A call of one of these tools, or its result or hooks.
    pub tools: Vec<String>,
    /// Of one of these agents: by type, agent id, session id, or kind (`session`, `cell`, `echo`, `subagent`).
    pub agents: Vec<String>,
    /// From this time on; entries without a time are of the one before.
    pub since: Option<Since>,
    /// Errors, refusals and broken lines.
    pub errors: bool,
}

impl Filter {
    /// The filter with its times made out.
    pub(super) fn resolve(&self, end: Option<Timestamp>) -> Resolved<'_> {
        Resolved {
            filter: self,
            since: self.since.and_then(|since| since.moment(end)),
        }
    }

    /// Whether it lets everything through.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.roles.is_empty()
            && self.tools.is_empty()
            && self.agents.is_empty()
            && self.since.is_none()
            && !self.errors
    }
}

/// A filter whose times are made out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved<'a> {
    filter: &'a Filter,
    since: Option<Timestamp>,
}

impl Resolved<'_> {
    /// Whether events of a session are shown at all.
    pub(super) fn session(&self, view: &SessionView) -> bool {
        let kind = serde_json::to_value(view.what).ok();
        let names = [
            view.session.as_deref(),
            view.agent.as_deref(),
            view.agent_type.as_deref(),
            kind.as_ref().and_then(serde_json::Value::as_str),
        ];
        let agents = &self.filter.agents;
        agents.is_empty()
            || names
                .iter()
                .flatten()
                .any(|name| agents.iter().any(|asked| asked == name))
    }

    /// Whether an event is shown. `tool` is the tool it is of, `at` its time or that of the event before.
    pub(super) fn event(&self, event: &Event, tool: Option<&str>, at: Option<Timestamp>) -> bool {
        let Filter {
            roles, tools, errors, ..
        } = self.filter;
        (roles.is_empty() || roles.iter().any(|role| role.takes(event.role)))
            && (tools.is_empty() || tool.is_some_and(|tool| tools.iter().any(|asked| asked == tool)))
            && (!errors || event.fault.is_some() || event.role == Role::Broken)
            && self.since.is_none_or(|since| at.is_some_and(|at| at >= since))
    }

    /// Whether the header of a session is shown though none of its events is.
    pub(super) fn bare_session(&self, view: &SessionView) -> bool {
        let Filter {
            roles,
            tools,
            since,
            errors,
            ..
        } = self.filter;
        roles.is_empty() && tools.is_empty() && since.is_none() && (view.failed || !errors) && self.session(view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_days_and_lengths_are_read() {
        let end: Timestamp = "2026-11-30T18:50:00Z".parse().unwrap();
        for (text, moment) in [
            ("2026-11-30T18:00:00Z", "2026-11-30T18:00:00Z"),
            ("2026-11-30", "2026-11-30T00:00:00Z"),
            ("10m", "2026-11-30T18:40:00Z"),
            ("1h 30m", "2026-11-30T17:20:00Z"),
        ] {
            let since: Since = text.parse().unwrap();
            assert_eq!(since.moment(Some(end)).unwrap(), moment.parse().unwrap(), "{text}");
        }
        assert!("yesterday".parse::<Since>().is_err());
        assert!("-10m".parse::<Since>().is_err());
    }

    #[test]
    fn each_condition_narrows() {
        let mut call = Event::new(Role::Call, 1, "Bash");
        let at: Timestamp = "2026-11-30T18:50:00Z".parse().unwrap();
        let shown = |filter: &Filter, event: &Event| filter.resolve(Some(at)).event(event, Some("Bash"), Some(at));
        assert!(shown(&Filter::default(), &call));
        for filter in [
            Filter {
                roles: vec![RoleWord::Tool],
                ..Filter::default()
            },
            Filter {
                tools: vec!["Read".into(), "Bash".into()],
                ..Filter::default()
            },
            Filter {
                since: Some(Since::Moment(at)),
                ..Filter::default()
            },
        ] {
            assert!(shown(&filter, &call), "{filter:?}");
        }
        for filter in [
            Filter {
                roles: vec![RoleWord::User],
                ..Filter::default()
            },
            Filter {
                tools: vec!["Read".into()],
                ..Filter::default()
            },
            Filter {
                errors: true,
                ..Filter::default()
            },
            Filter {
                since: Some("2026-12-01".parse().unwrap()),
                ..Filter::default()
            },
        ] {
            assert!(!shown(&filter, &call), "{filter:?}");
        }
        call.fault = Some(super::super::event::Fault::Refused);
        assert!(shown(
            &Filter {
                errors: true,
                ..Filter::default()
            },
            &call
        ));
    }
}
