//! What flags leave open is `[guard.liveness]` of the user's configuration to say.

use std::path::{Path, PathBuf};

use crate::config::{Problem, Profile, TableReader};

/// How often in a row one cause may refuse one turn's end, where nobody says otherwise.
pub const MAX_REFUSALS: u32 = 8;

/// What can be set by a flag or in the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The knob file (`--knobs`, `knobs`).
    pub knobs: Option<PathBuf>,
    /// How often in a row one cause may refuse one turn's end (`--max-refusals`, `max_refusals`).
    pub max_refusals: Option<u32>,
}

impl Settings {
    /// Reads `[guard.liveness]`. A project's table is not read: it could only weaken the guard.
    ///
    /// # Errors
    /// A sentence with file and line for what cannot be used.
    pub fn read(profile: &Profile) -> Result<Self, String> {
        let mut settings = Self::default();
        let mut problems: Vec<Problem> = Vec::new();
        for room in profile.rooms.guard_liveness.iter().filter(|room| !room.is_project()) {
            let mut reader = TableReader::new("guard.liveness", &room.table, &room.origin, &mut problems);
            if let Some(knobs) = reader.text("knobs") {
                if Path::new(&knobs.value).is_absolute() {
                    settings.knobs = Some(knobs.value.into());
                } else {
                    reader.complain("knobs", "has to be an absolute path");
                }
            }
            let refusals = reader.integer("max_refusals", &(1..=1000));
            settings.max_refusals = refusals.and_then(|count| u32::try_from(count.value).ok());
            reader.finish();
        }
        if problems.is_empty() {
            return Ok(settings);
        }
        let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
        Err(lines.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::tree::Table;
    use crate::config::{FileOrigin, Layer, Room};

    #[test]
    fn the_shown_defaults_are_those_of_the_code() {
        let flags = crate::config::Flags {
            config: Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("config/defaults.toml")),
            ..crate::config::Flags::default()
        };
        let profile = Profile::load(&crate::config::Believed::of_person(&[]), None, &flags).unwrap();
        let shown = Settings {
            knobs: None,
            max_refusals: Some(MAX_REFUSALS),
        };
        assert_eq!(Settings::read(&profile), Ok(shown));
    }

    fn read(text: &str, layer: Layer) -> Result<Settings, String> {
        let path = Arc::from(Path::new("/home/ann/subcell.toml"));
        let mut profile = Profile::default();
        profile.rooms.guard_liveness.push(Room {
            origin: FileOrigin { path, layer },
            table: Table::parse(text).unwrap(),
        });
        Settings::read(&profile)
    }

    #[test]
    fn the_users_table_is_read_and_a_projects_is_not() {
        let text = "knobs = \"/k\"\nmax_refusals = 2\n";
        let expected = Settings {
            knobs: Some("/k".into()),
            max_refusals: Some(2),
        };
        assert_eq!(read(text, Layer::User), Ok(expected));
        assert_eq!(read(text, Layer::Project), Ok(Settings::default()));
    }

    #[test]
    fn what_cannot_be_used_is_named_with_its_line() {
        for text in ["knobs = \"k\"", "max_refusals = 0", "max_refusals = 1001", "off = true"] {
            let problem = read(text, Layer::User).unwrap_err();
            assert!(problem.starts_with("/home/ann/subcell.toml:1: "), "{problem}");
        }
    }
}
