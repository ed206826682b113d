//! What this run goes by: the environment that is believed, and the configuration in layers. The only reader of the
//! process's environment.

pub mod believe;
pub mod child_env;
pub mod env;
pub mod file;
pub mod proc;

pub use believe::{Believed, Guard, Origin, Surroundings};
pub use child_env::{CellMarks, ChildEnv, child_environment};
pub use env::Environment;
pub use file::{FileError, Links};
pub use proc::{Client, ClientError, LiveProc, Pid, ProcSource, StartEnv};
