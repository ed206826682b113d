//! How wide a terminal is.

use std::os::fd::AsFd;

/// The columns of the terminal that `output` is; `None` where it is none, or does not tell.
#[must_use]
pub fn terminal_columns(output: &impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(output).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
