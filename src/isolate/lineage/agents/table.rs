//! The definitions of a session, and the name's way to one of them.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::protocol::agent_file::AgentDefinition;

/// Where a definition comes from. A later one wins over an earlier one (2.1.332; 2.1.156 for those that it has).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The client's own.
    BuiltIn,
    /// A plugin's.
    Plugin,
    /// `<config dir>/agents`.
    User,
    /// `.claude/agents` of an `--add-dir` folder.
    AddedFolder,
    /// `.claude/agents` of the project or a folder above it.
    Project,
    /// `--agents`.
    Flag,
    /// `.claude/agents` beside the managed settings.
    Managed,
}

/// A definition and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The definition.
    pub definition: AgentDefinition,
    /// Where it comes from.
    pub origin: Origin,
    /// Its file; nothing for the client's own and for JSON on the command line.
    pub path: Option<PathBuf>,
    /// When the file last changed in any way (ctime). The client reads definitions once, at its start: a later file is
    /// unknown to it (2.1.156 to 2.1.332).
    pub changed: Option<SystemTime>,
    /// The file's bytes; empty where there is no file.
    pub bytes: Vec<u8>,
}

impl Found {
    /// A definition that no file holds.
    #[must_use]
    pub fn without_file(definition: AgentDefinition, origin: Origin) -> Self {
        Self {
            definition,
            origin,
            path: None,
            changed: None,
            bytes: Vec::new(),
        }
    }
}

/// The definitions of a session, weakest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agents {
    all: Vec<Found>,
    unread: Option<PathBuf>,
}

/// What a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// One definition. Its name may be spelled otherwise than asked: `--agent` takes the exact one only.
    Found(&'a Found),
    /// The spelling fits several names and is none of them; the client refuses the call.
    Ambiguous,
    /// No definition; the client refuses the call.
    NotFound,
}

impl Agents {
    /// The definitions in this order, weakest first.
    #[must_use]
    pub fn new(weakest_first: Vec<Found>) -> Self {
        Self {
            all: weakest_first,
            unread: None,
        }
    }

    /// The same, with a file or folder that the client may have found any definition in.
    #[must_use]
    pub fn beside(self, unread: Option<PathBuf>) -> Self {
        Self { unread, ..self }
    }

    /// A file or folder that could not be read, where there is one: the client may know a definition that is not here.
    #[must_use]
    pub fn unread(&self) -> Option<&Path> {
        self.unread.as_deref()
    }

    /// All of them, weakest first.
    #[must_use]
    pub fn all(&self) -> &[Found] {
        &self.all
    }

    /// The definition that a call's `subagent_type` leads to: the exact name, else the one name that is the same without
    /// regard to case, spaces, dashes and underscores (measured on 2.1.156, 2.1.226 and 2.1.332: `Ex`, ` ex ` and
    /// `general_purpose` all run).
    #[must_use]
    pub fn lookup(&self, name: &str) -> Lookup<'_> {
        if let Some(found) = self.exact(name) {
            return Lookup::Found(found);
        }
        let loose = loosened(name);
        if loose.is_empty() {
            return Lookup::NotFound;
        }
        let mut names: Vec<&str> = self
            .all
            .iter()
            .map(|found| found.definition.name.as_str())
            .filter(|own| loosened(own) == loose)
            .collect();
        names.sort_unstable();
        names.dedup();
        match names[..] {
            [] => Lookup::NotFound,
            [one] => self.exact(one).map_or(Lookup::NotFound, Lookup::Found),
            [..] => Lookup::Ambiguous,
        }
    }

    fn exact(&self, name: &str) -> Option<&Found> {
        self.all.iter().rev().find(|found| found.definition.name == name)
    }
}

/// A name without what the client's loose comparison passes over: case, white space, dashes of every kind, underscores.
#[must_use]
pub fn loosened(name: &str) -> String {
    const DASHES: &str = "-\u{58a}\u{5be}\u{1400}\u{1806}\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2e17}\u{2e1a}\
        \u{2e3a}\u{2e3b}\u{2e40}\u{2e5d}\u{301c}\u{3030}\u{30a0}\u{fe31}\u{fe32}\u{fe58}\u{fe63}\u{ff0d}\u{10ead}";
    name.to_lowercase()
        .chars()
        .filter(|letter| !letter.is_whitespace() && *letter != '_' && !DASHES.contains(*letter))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, origin: Origin) -> Found {
        let definition = AgentDefinition {
            name: name.into(),
            ..AgentDefinition::default()
        };
        Found::without_file(definition, origin)
    }

    #[test]
    fn names_are_matched_exactly_and_then_loosely() {
        let agents = Agents::new(vec![
            named("general-purpose", Origin::BuiltIn),
            named("ex", Origin::User),
            named("ex", Origin::Project),
            named("two", Origin::User),
            named("Two", Origin::User),
        ]);
        for (asked, expected) in [
            ("ex", Some(("ex", Origin::Project))),
            ("Ex", Some(("ex", Origin::Project))),
            (" ex ", Some(("ex", Origin::Project))),
            ("two", Some(("two", Origin::User))),
            ("GeneralPurpose", Some(("general-purpose", Origin::BuiltIn))),
            ("general_purpose", Some(("general-purpose", Origin::BuiltIn))),
            ("general purpose", Some(("general-purpose", Origin::BuiltIn))),
            ("none", None),
            ("", None),
            (" - ", None),
        ] {
            let found = match agents.lookup(asked) {
                Lookup::Found(found) => Some((found.definition.name.as_str(), found.origin)),
                Lookup::Ambiguous | Lookup::NotFound => None,
            };
            assert_eq!(found, expected, "{asked:?}");
        }
        assert_eq!(agents.lookup("TWO"), Lookup::Ambiguous);
    }
}
