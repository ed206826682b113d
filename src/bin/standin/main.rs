//! Stands in for a client in the process tests: does one of the things that a client, or what it starts, may do.
//!
//! What to do is in the variable `STANDIN`, as `key=value` words:
//!
//! | key | values (the first is the default) |
//! | --- | --- |
//! | `stdin` | `read`, `unread` |
//! | `prints` | `result`, `nothing`, `echo` (a result that tells size and SHA-256 of stdin), `file` (the file `from`), `flood-stdout`, `flood-stderr`, `closed` (closes stdout), `invalid-utf8`, `cut-json` |
//! | `bytes` | the size of the result's text, or of the flood |
//! | `family` | `none`, `group`, `session`, `daemon`: one descendant, and how it detaches |
//! | `on-term` | `die`, `ignore` (the descendant too), `exit:N`, `kill` (kills itself) |
//! | `wait` | `no`, `meet` (for a line on the socket), `forever`, or the path of a FIFO |
//! | `meet` | a Unix socket that every process of the tree connects to, with a line `role pid` |
//! | `ends` | `exit:0`, `exit:N`, `signal` (SIGKILL to itself), `flood-stdout`, `flood-stderr` (without end) |

mod family;
mod orders;
mod prints;

use std::error::Error;
use std::io::Read;
use std::process::ExitCode;

use orders::{Ends, Orders, Role, Wait};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let orders = Orders::from_environment()?;
    orders.on_term.prepare()?;
    match orders.role {
        Role::Client => client(&orders),
        Role::Middle => family::middle(&orders),
        Role::Member => family::member(&orders),
    }
}

fn client(orders: &Orders) -> Result<ExitCode, Box<dyn Error>> {
    let mut stdin = Vec::new();
    if orders.reads_stdin {
        std::io::stdin().read_to_end(&mut stdin)?;
    }
    family::start(orders)?;
    prints::print(orders, &stdin)?;
    let met = orders.meet("client")?;
    match &orders.wait {
        Wait::No => {}
        Wait::Meet => wait_for_end(met.ok_or("wait=meet needs meet=SOCKET")?)?,
        Wait::Fifo(path) => wait_for_end(std::fs::File::open(path)?)?,
        Wait::Forever => family::forever(),
    }
    match orders.ends {
        Ends::Exit(code) => Ok(ExitCode::from(code)),
        Ends::Signal => family::kill_self(),
        Ends::FloodStdout => prints::flood(std::io::stdout(), u64::MAX).map(|()| ExitCode::SUCCESS),
        Ends::FloodStderr => prints::flood(std::io::stderr(), u64::MAX).map(|()| ExitCode::SUCCESS),
    }
}

/// One byte is the word to go on, the end of the stream too.
fn wait_for_end(mut from: impl Read) -> Result<(), Box<dyn Error>> {
    Ok(from.read(&mut [0_u8; 1]).map(|_| ())?)
}
