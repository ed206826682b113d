//! What this run goes by: the environment that is believed, and the configuration in layers. The only reader of the
//! process's environment.

pub mod env;
pub mod proc;

pub use env::Environment;
pub use proc::{Client, ClientError, LiveProc, Pid, ProcSource, StartEnv};
