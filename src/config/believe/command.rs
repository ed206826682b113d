//! What is believed where a person may have called us, from a shell.

use std::path::Path;

use super::judge::Believed;
use super::read::Surroundings;
use super::settings::read_user_settings;
use crate::config::env::Environment;
use crate::config::proc::{Client, Pid, ProcSource, StartEnv};

/// Variables that the client sets for everything that it starts (2.1.156 to 2.1.332). A settings file can give them
/// another value, and cannot take them away.
const BELOW_A_CLIENT: [&str; 3] = ["CLAUDECODE", "AI_AGENT", "CLAUDE_CODE_ENTRYPOINT"];

impl Surroundings {
    /// Looks around for a command that people call as well as sessions: below a client it is judged like a hook, and
    /// elsewhere its own environment is what somebody chose.
    #[must_use]
    pub fn look_as_command(source: &dyn ProcSource) -> Self {
        let environment = Environment::of_this_process();
        let client = Client::find(source, environment.get("CLAUDE_PID"));
        let believed = if is_below_a_client(&environment) {
            Believed::judge(&environment, client.as_ref(), read_user_settings)
        } else {
            of_a_person(&environment)
        };
        Self {
            environment,
            client,
            believed,
        }
    }
}

fn is_below_a_client(environment: &Environment) -> bool {
    BELOW_A_CLIENT.iter().any(|name| environment.get(name).is_some())
}

/// Nothing stands between the environment and whoever set it; the client's settings say nothing here.
fn of_a_person(environment: &Environment) -> Believed {
    let chosen = Client {
        pid: Pid(std::process::id()),
        start_ticks: 0,
        exe: None,
        cmdline: Vec::new(),
        cwd: None,
        start_cwd: None,
        start_env: StartEnv::Known(environment.clone()),
        confirmed: None,
    };
    Believed::judge(environment, Ok(&chosen), |_: &Path| Ok(Environment::default()))
}

#[cfg(test)]
impl Believed {
    /// What a person with these variables alone is believed.
    pub(crate) fn of_person(variables: &[(&str, &str)]) -> Self {
        of_a_person(&variables.iter().copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn a_persons_own_environment_is_believed() {
        let environment = [("HOME", "/home/ann"), ("GATE_SDK_TMP_DIR", "/t"), ("A", "b")]
            .into_iter()
            .collect();
        let believed = of_a_person(&environment);
        assert_eq!(believed.home(), Some(Path::new("/home/ann")));
        assert_eq!(believed.value("GATE_SDK_TMP_DIR"), Some(OsStr::new("/t")));
        assert!(believed.ignored().is_empty() && believed.start_env_readable());
    }

    #[test]
    fn a_client_above_is_told_by_what_it_sets() {
        for (name, below) in [
            ("CLAUDECODE", true),
            ("AI_AGENT", true),
            ("CLAUDE_CODE_ENTRYPOINT", true),
            ("HOME", false),
        ] {
            // Also with an empty value: a settings file can empty a variable.
            let environment: Environment = [(name, "")].into_iter().collect();
            assert_eq!(is_below_a_client(&environment), below, "{name}");
        }
    }
}
