//! Puts the layers together: defaults < user < project < environment < flags.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::believe::Believed;
use super::file::{self, Links};
use super::overrides::{Flags, Overrides};
use super::partial::{FilePart, FileReader, InterceptPart};
use super::profile::{Budget, Intercept, Profile, Room};
use super::source::{ConfigError, Problem, Source, Sourced};
use super::table_reader::{FileOrigin, Layer};

/// The name of a project's configuration file.
pub const PROJECT_FILE: &str = ".subcell.toml";

impl Profile {
    /// Loads the configuration: the user's file (or `--config`), `.subcell.toml` of `project_dir`, the believed
    /// `SUBCELL_*` and `CLAUDE_BIN`, and the flags. Files that are not there are no problem.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem of the user's file, the environment and the flags. Those of the project's
    /// file, which is not trusted, are [warnings](Profile::warnings).
    pub fn load(believed: &Believed, project_dir: Option<&Path>, flags: &Flags) -> Result<Self, ConfigError> {
        let mut loader = Loader {
            believed,
            user_file: flags.config.clone().or_else(|| believed.user_config_file()),
            problems: Vec::new(),
            warnings: Vec::new(),
        };
        let mut profile = Self::default();
        if let Some(part) = loader.user(flags.config.is_some(), project_dir) {
            profile.take_user(part);
        }
        if let Some(part) = project_dir.and_then(|dir| loader.project(dir)) {
            loader.take_project(&mut profile, part);
        }
        let mut overrides = Overrides {
            problems: &mut loader.problems,
            warnings: &mut loader.warnings,
        };
        profile.intercept.put_over(overrides.environment(believed));
        profile.intercept.put_over(overrides.flags(flags));
        profile.budget.put_over(overrides.environment_budget(believed));
        profile.budget.put_over(overrides.flags_budget(flags));
        profile.warnings = loader.warnings;
        if loader.problems.is_empty() {
            Ok(profile)
        } else {
            Err(ConfigError {
                problems: loader.problems,
            })
        }
    }

    fn take_user(&mut self, part: FilePart) {
        self.intercept.put_over(part.intercept);
        self.budget = part.budget;
        self.child_env = part.child_env;
        self.agents = part.agents;
        self.redact_patterns = part.redact_patterns;
        self.rooms = part.rooms;
    }
}

impl Intercept {
    fn put_over(&mut self, part: InterceptPart) {
        put(&mut self.timeout, part.timeout);
        put(&mut self.slot_wait, part.slot_wait);
        put(&mut self.max_depth, part.max_depth);
        put(&mut self.on_failure, part.on_failure);
        put(&mut self.on_pass, part.on_pass);
        put(&mut self.delivery, part.delivery);
        self.claude = part.claude.or(self.claude.take());
        self.max_parallel = part.max_parallel.or(self.max_parallel.take());
        self.require_sandbox = part.require_sandbox.or(self.require_sandbox.take());
    }
}

impl Budget {
    fn put_over(&mut self, part: Self) {
        self.max_cost = part.max_cost.or(self.max_cost.take());
        self.max_cell_cost = part.max_cell_cost.or(self.max_cell_cost.take());
        self.max_cells = part.max_cells.or(self.max_cells.take());
    }
}

fn put<T>(below: &mut T, above: Option<T>) {
    if let Some(value) = above {
        *below = value;
    }
}

struct Loader<'a> {
    believed: &'a Believed,
    user_file: Option<PathBuf>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Loader<'_> {
    fn user(&mut self, required: bool, project_dir: Option<&Path>) -> Option<FilePart> {
        let path = self.user_file.clone()?;
        let origin = FileOrigin {
            path: Arc::from(path.as_path()),
            layer: Layer::User,
        };
        // What finds the user's file could not be verified then, and 2.1.156 lets a repository set HOME.
        let moved = !self.believed.start_env_readable() && project_dir.is_some_and(|dir| path.starts_with(dir));
        if moved && !required {
            let what = "lies in the project, and it could not be verified that it is yours: it is ignored";
            self.warnings.push(origin.problem(0, what));
            return None;
        }
        let mut problems = Vec::new();
        let text = match file::read(&path, Links::Follow) {
            Ok(None) if required => Err("there is no such file".to_owned()),
            Ok(text) => Ok(text),
            Err(error) => Err(error.to_string()),
        };
        let part = match text {
            Ok(text) => text.map(|text| self.parse(&origin, &text, &mut problems)),
            Err(what) => {
                problems.push(origin.problem(0, what));
                None
            }
        };
        self.problems.append(&mut problems);
        part
    }

    fn project(&mut self, dir: &Path) -> Option<FilePart> {
        let path = dir.join(PROJECT_FILE);
        let origin = FileOrigin {
            path: Arc::from(path.as_path()),
            layer: Layer::Project,
        };
        let mut problems = Vec::new();
        let part = match file::read(&path, Links::Refuse) {
            Ok(text) => text.map(|text| self.parse(&origin, &text, &mut problems)),
            Err(error) => {
                problems.push(origin.problem(0, error.to_string()));
                None
            }
        };
        let ignored = problems.into_iter().map(|problem| Problem {
            what: format!("{}: it is ignored", problem.what),
            ..problem
        });
        self.warnings.extend(ignored);
        part
    }

    fn parse(&self, origin: &FileOrigin, text: &str, problems: &mut Vec<Problem>) -> FilePart {
        let reader = FileReader {
            origin,
            home: self.believed.home(),
            problems,
        };
        reader.read(text)
    }

    /// Of a project's file limits count where they are lower, and rules are added; everything else is named.
    fn take_project(&mut self, profile: &mut Profile, part: FilePart) {
        let FilePart {
            intercept,
            budget,
            child_env,
            agents,
            redact_patterns,
            rooms,
        } = part;
        let into = &mut profile.intercept;
        self.lower("intercept.timeout_s", &mut into.timeout, intercept.timeout);
        self.lower("intercept.slot_wait_s", &mut into.slot_wait, intercept.slot_wait);
        self.lower("intercept.max_depth", &mut into.max_depth, intercept.max_depth);
        self.lower_or_set("intercept.max_parallel", &mut into.max_parallel, intercept.max_parallel);
        let of_budget = &mut profile.budget;
        self.lower_or_set("budget.max_cost_usd", &mut of_budget.max_cost, budget.max_cost);
        self.lower_or_set(
            "budget.max_cell_cost_usd",
            &mut of_budget.max_cell_cost,
            budget.max_cell_cost,
        );
        self.lower_or_set("budget.max_cells", &mut of_budget.max_cells, budget.max_cells);
        self.refuse("intercept.claude", intercept.claude);
        self.refuse("intercept.on_failure", intercept.on_failure);
        self.refuse("intercept.on_pass", intercept.on_pass);
        self.refuse("intercept.delivery", intercept.delivery);
        self.refuse("intercept.require_sandbox", intercept.require_sandbox);
        for (name, value) in child_env {
            self.refuse(&format!("child.env.{name}"), Some(value));
        }
        for (name, agent) in agents {
            self.refuse(&format!("agent.{name}.json_schema"), Some(agent.json_schema));
        }
        for room in rooms.telemetry {
            let source = room.origin.at(room.table.entries.first().map_or(0, |entry| entry.line));
            self.refuse("telemetry", Some(Sourced { value: (), source }));
        }
        profile.redact_patterns.extend(redact_patterns);
        self.refuse_room("guard.background", &rooms.guard_background);
        self.refuse_room("guard.liveness", &rooms.guard_liveness);
        profile.rooms.guard_bash.extend(rooms.guard_bash);
    }

    fn lower<T: PartialOrd>(&mut self, key: &str, into: &mut Sourced<T>, asked: Option<Sourced<T>>) {
        let Some(asked) = asked else { return };
        if asked.value <= into.value {
            *into = asked;
        } else {
            self.warn_above(key, asked.source, &into.source);
        }
    }

    fn lower_or_set<T: PartialOrd>(&mut self, key: &str, into: &mut Option<Sourced<T>>, asked: Option<Sourced<T>>) {
        match (into.as_ref(), asked) {
            (Some(limit), Some(asked)) if asked.value > limit.value => {
                let limit = limit.source.clone();
                self.warn_above(key, asked.source, &limit);
            }
            (_, Some(asked)) => *into = Some(asked),
            (_, None) => {}
        }
    }

    fn warn_above(&mut self, key: &str, source: Source, limit: &Source) {
        let what = format!(
            "{key} is above the limit ({limit}) and ignored: a project may only lower it{}",
            self.elsewhere()
        );
        self.warnings.push(Problem { source, what });
    }

    fn refuse<T>(&mut self, key: &str, asked: Option<Sourced<T>>) {
        if let Some(asked) = asked {
            let what = format!("{key} is ignored: a project cannot set it{}", self.elsewhere());
            self.warnings.push(Problem {
                source: asked.source,
                what,
            });
        }
    }

    fn refuse_room(&mut self, name: &str, rooms: &[Room]) {
        for room in rooms {
            for entry in &room.table.entries {
                let source = room.origin.at(entry.line);
                self.refuse(&format!("{name}.{}", entry.key), Some(Sourced { value: (), source }));
            }
        }
    }

    fn elsewhere(&self) -> String {
        self.user_file
            .as_ref()
            .map(|path| format!("; it belongs in {}", path.display()))
            .unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
