//! What the stand-in writes.

use std::error::Error;
use std::fs::File;
use std::io::Write;

use serde_json::json;
use subcell::base::digest::sha256_hex;

use crate::orders::{Orders, Prints};

pub(crate) fn print(orders: &Orders, stdin: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    match orders.prints {
        Prints::Nothing => {}
        Prints::Result => out.write_all(result(&text(orders.bytes)?).as_bytes())?,
        Prints::Echo => out.write_all(result(&format!("{} {}", stdin.len(), sha256_hex(stdin))).as_bytes())?,
        Prints::File => {
            std::io::copy(&mut File::open(&orders.from)?, &mut out)?;
        }
        Prints::FloodStdout => flood(&out, orders.bytes)?,
        Prints::FloodStderr => flood(std::io::stderr(), orders.bytes)?,
        Prints::Closed => rustix::stdio::dup2_stdout(File::create("/dev/null")?)?,
        Prints::InvalidUtf8 => out.write_all(b"{\"type\":\"result\",\"result\":\"\xff\xfe\"}")?,
        Prints::CutJson => out.write_all(b"{\"type\":\"result\",\"result\":\"cut h")?,
    }
    Ok(out.flush()?)
}

/// Lines without end, or up to `bytes` of them.
pub(crate) fn flood(mut to: impl Write, bytes: u64) -> Result<(), Box<dyn Error>> {
    let lines = "flood\n".repeat(8192);
    let mut left = bytes;
    while left > 0 {
        let part = usize::try_from(left).unwrap_or(usize::MAX).min(lines.len());
        to.write_all(lines.as_bytes().get(..part).unwrap_or_default())?;
        left = left.saturating_sub(part as u64);
    }
    Ok(())
}

fn text(bytes: u64) -> Result<String, Box<dyn Error>> {
    Ok("r".repeat(usize::try_from(bytes)?))
}

/// A result of the client's shape (2.1.332), with the session id that the command line asks for.
fn result(text: &str) -> String {
    let mut args = std::env::args();
    let session = args
        .find_map(|arg| arg.strip_prefix("--session-id=").map(str::to_owned))
        .unwrap_or_else(|| "00000000-0000-4000-8000-000000000000".into());
    let usage = json!({
        "inputTokens": 100, "outputTokens": 10, "cacheReadInputTokens": 1000, "cacheCreationInputTokens": 50,
        "costUSD": 0.0125
    });
    let result = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": text, "session_id": session,
        "num_turns": 1, "duration_ms": 5, "total_cost_usd": 0.0125, "modelUsage": { "stand-in": usage },
        "permission_denials": [], "terminal_reason": "completed"
    });
    format!("{result}\n")
}
