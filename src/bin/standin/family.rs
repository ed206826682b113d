//! Descendants, and the ways in which they detach.

use std::error::Error;
use std::io::Read;
use std::process::{Command, ExitCode};

use rustix::process::{Signal, getpid, kill_process, setsid};

use crate::orders::{Family, Orders};

/// Starts the descendant that the orders ask for.
pub(crate) fn start(orders: &Orders) -> Result<(), Box<dyn Error>> {
    match orders.family {
        Family::None => {}
        Family::Group | Family::Session => {
            copy(orders, "member")?.spawn()?;
        }
        Family::Daemon => {
            copy(orders, "middle")?.spawn()?.wait()?;
        }
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a stand-in is no part of the program and its layers"
)]
fn copy(orders: &Orders, role: &str) -> Result<Command, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env("STANDIN", orders.for_descendant(role));
    Ok(command)
}

/// The process in the middle of a double fork: a session of its own, one child, and away.
pub(crate) fn middle(orders: &Orders) -> Result<ExitCode, Box<dyn Error>> {
    setsid()?;
    copy(orders, "member")?.spawn()?;
    Ok(ExitCode::SUCCESS)
}

/// The descendant itself: stays until it is ended, or until the meeting is over.
pub(crate) fn member(orders: &Orders) -> Result<ExitCode, Box<dyn Error>> {
    if orders.family == Family::Session {
        setsid()?;
    }
    match orders.meet("member")? {
        Some(mut stream) => {
            stream.read_to_end(&mut Vec::new())?;
            Ok(ExitCode::SUCCESS)
        }
        None => forever(),
    }
}

pub(crate) fn forever() -> ! {
    loop {
        std::thread::park();
    }
}

pub(crate) fn kill_self() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    forever()
}
