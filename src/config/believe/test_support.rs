//! Clients with a given start environment, and users without settings.

use std::path::Path;

use crate::config::Environment;
use crate::config::proc::{Client, Pid, StartEnv};

pub(crate) fn client(start: &[(&str, &str)]) -> Client {
    Client {
        pid: Pid(100),
        start_ticks: 1,
        exe: None,
        cmdline: Vec::new(),
        cwd: None,
        start_cwd: None,
        start_env: StartEnv::Known(start.iter().copied().collect()),
        confirmed: None,
    }
}

pub(crate) fn client_in(folder: &str, start: &[(&str, &str)]) -> Client {
    Client {
        start_cwd: Some(folder.into()),
        ..client(start)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it stands in for a reader that can fail")]
pub(crate) fn no_settings(_: &Path) -> Result<Environment, String> {
    Ok(Environment::default())
}
