//! What this run goes by: the environment that is believed, and the configuration in layers. The only reader of the
//! process's environment.

pub mod believe;
pub mod child_env;
pub mod env;
pub mod file;
pub mod layers;
pub mod overrides;
mod partial;
pub mod proc;
pub mod profile;
pub mod show;
pub mod source;
pub mod table_reader;
pub mod tree;

pub use believe::{Believed, Guard, Origin, Surroundings};
pub use child_env::{CellMarks, ChildEnv, child_environment};
pub use env::Environment;
pub use file::{FileError, Links};
pub use layers::PROJECT_FILE;
pub use overrides::Flags;
pub use proc::{Client, ClientError, LiveProc, Pid, ProcSource, StartEnv};
pub use profile::{
    AgentProfile, Budget, DEFAULTS_TOML, Delivery, Intercept, OnFailure, OnPass, Profile, Room, Rooms,
};
pub use show::Shown;
pub use source::{ConfigError, Problem, Source, Sourced};
pub use table_reader::{FileOrigin, Layer, TableReader};
