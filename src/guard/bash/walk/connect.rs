//! Programs that a connection is given to.

use super::super::facts::Run;
use super::super::marks::NETWORK;
use super::option::{Options, Valued};
use super::state::Walk;

impl Walk<'_> {
    /// `nc -e PROGRAM`, `socat … EXEC:PROGRAM`: the other side feeds the program.
    pub(crate) fn connected_program(&mut self, run: &Run) {
        let programs: Vec<String> = match run.verb.as_str() {
            "nc" | "ncat" | "netcat" => {
                let valued = Valued {
                    short: "ecIiOPpqsTVwXx",
                    long: &["--exec", "--sh-exec", "--lua-exec"],
                };
                let options = Options::parse(&run.args, valued, false);
                let named = options.values(&["-e", "-c", "--exec", "--sh-exec"]);
                named.map(str::to_owned).collect()
            }
            "socat" => run.args.iter().filter_map(|arg| socat_program(arg)).collect(),
            _ => Vec::new(),
        };
        let from_network = Some(NETWORK.to_string().into());
        for program in programs {
            self.through.push(run.verb.clone());
            self.subshell(|walk| walk.code(&program, &run.verb, run.span, &from_network));
            self.through.pop();
        }
    }
}

/// The program in an address of socat.
fn socat_program(address: &str) -> Option<String> {
    let (kind, rest) = address.split_once(':')?;
    let kind = kind.to_ascii_lowercase();
    matches!(kind.as_str(), "exec" | "system" | "shell").then(|| {
        rest.split(',')
            .next()
            .unwrap_or(rest)
            .trim_matches(['"', '\''])
            .to_owned()
    })
}
