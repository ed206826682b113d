//! What every hook of the isolation does with stdin and stdout.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use crate::base::chain::Chain;
use crate::base::{Deadline, visible};
use crate::exit::Exit;
use crate::process::Signals;
use crate::protocol::HookEvent;

/// No payload of a client comes near it: a prompt is at most 10 MB.
const PAYLOAD_LIMIT: usize = 64 * 1024 * 1024;
/// How long it may take to arrive: the client writes it whole and closes the pipe before it waits for anything.
const PAYLOAD_WAIT: Duration = Duration::from_secs(20);

/// A payload that was not read; what is wrong is one sentence.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is no event.
    Malformed(String),
    /// It did not arrive while there was time.
    Late(String),
}

/// Reads the event on stdin.
///
/// # Errors
/// [`Unread`], where it is none, or has not come to its end in time.
pub(super) fn read_event(signals: &Signals) -> Result<HookEvent, Unread> {
    let bytes = read_payload(signals)?;
    HookEvent::parse(&bytes).map_err(|error| Unread::Malformed(Chain(&error).to_string()))
}

/// Reads stdin to its end, which the client makes at once after the payload.
fn read_payload(signals: &Signals) -> Result<Vec<u8>, Unread> {
    let deadline = Deadline::after(PAYLOAD_WAIT);
    let mut stdin = io::stdin().lock();
    let mut bytes = Vec::new();
    let mut buffer = vec![0_u8; 64 * 1024];
    loop {
        if let Some(signal) = signals.stop() {
            let number = signal.number();
            return Err(Unread::Late(format!(
                "signal {number} came before the payload on stdin"
            )));
        }
        if deadline.is_over() {
            let seconds = PAYLOAD_WAIT.as_secs();
            return Err(Unread::Late(format!(
                "the payload on stdin did not end within {seconds} s"
            )));
        }
        if !signals.wait(Some(io::stdin().as_fd()), deadline.remaining()) {
            continue;
        }
        match stdin.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend(buffer.iter().take(count)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(Unread::Malformed(format!(
                    "the payload on stdin cannot be read: {error}"
                )));
            }
        }
        if bytes.len() > PAYLOAD_LIMIT {
            let limit = PAYLOAD_LIMIT / 1024 / 1024;
            return Err(Unread::Malformed(format!(
                "the payload on stdin is larger than {limit} MiB"
            )));
        }
    }
}

/// Prints a hook's answer, or what a command is asked for.
pub(super) fn print(answer: &(impl AsRef<[u8]> + ?Sized)) -> Exit {
    let mut stdout = io::stdout();
    match stdout.write_all(answer.as_ref()).and_then(|()| stdout.flush()) {
        Ok(()) => Exit::Done,
        // Nobody reads it any more: the client has gone, and with it the call; or a pager was left.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        Err(_) => Exit::Io,
    }
}

/// Tells stderr, which the client shows in its debug log, what is wrong.
pub(super) fn complain(command: &str, problem: &str) {
    // Nowhere is left to report a broken stderr.
    // A parser's message repeats what it found, and that may be anybody's.
    let _ = writeln!(io::stderr(), "subcell {command}: {}", visible(problem));
}
