//! What tests of this module share.

use std::path::Path;

use crate::config::proc::{Client, Pid, StartEnv};
use crate::config::{Believed, Environment};

/// What is believed of a client that was started with `env`.
pub(super) fn believed(env: &[(&str, &str)]) -> Believed {
    let client = Client {
        pid: Pid(100),
        start_ticks: 1,
        exe: None,
        cmdline: Vec::new(),
        cwd: None,
        start_cwd: None,
        start_env: StartEnv::Known(env.iter().copied().collect()),
        confirmed: None,
    };
    Believed::judge(&Environment::default(), Ok(&client), |_: &Path| {
        Ok(Environment::default())
    })
}
