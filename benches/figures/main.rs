//! Measures what a cell costs beside its child, and holds it to bars: `scripts/figures.sh` on the binary that is shipped.
//!
//! The hook believes its client's start environment alone, so this program plays the client: it starts itself again with
//! a clean environment of its own for each part, and the hook runs as a direct child of that. No other stand-in stands
//! between, whose start would be counted.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a measurement that cannot be made must end loudly"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "it plays the client, which starts processes and has an environment"
)]
#![expect(clippy::print_stdout, reason = "it prints a table for people")]

mod memory;
mod overhead;
mod parallel;
mod scene;
mod seal;
mod table;

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use table::Row;

/// What a client of a part is told; everything else of its environment is the scene's.
const PART: &str = "FIGURES_PART";

fn main() -> ExitCode {
    if let Ok(part) = std::env::var(PART) {
        let rows = match part.as_str() {
            "overhead" => overhead::measure(),
            "memory" => memory::measure(),
            "parallel" => parallel::measure(),
            "seal" => seal::measure(),
            other => panic!("no such part: {other}"),
        };
        println!("{}", serde_json::to_string(&rows).unwrap());
        return ExitCode::SUCCESS;
    }
    let Options { subcell, only } = Options::read(std::env::args().skip(1));
    let rows: Vec<Row> = ["overhead", "memory", "parallel", "seal"]
        .into_iter()
        .filter(|part| only.as_ref().is_none_or(|only| only == part))
        .flat_map(|part| run_part(part, &subcell))
        .collect();
    print!("{}", table::text(&rows));
    ExitCode::from(u8::from(rows.iter().any(Row::is_missed)))
}

struct Options {
    /// `--subcell PATH`, or the binary of this build.
    subcell: PathBuf,
    /// `--part NAME`, or every part.
    only: Option<String>,
}

impl Options {
    /// cargo adds `--bench` itself.
    fn read(mut args: impl Iterator<Item = String>) -> Self {
        let (mut subcell, mut only) = (PathBuf::from(env!("CARGO_BIN_EXE_subcell")), None);
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--bench" => {}
                "--subcell" => subcell = args.next().unwrap_or_else(|| panic!("--subcell PATH")).into(),
                "--part" => only = Some(args.next().unwrap_or_else(|| panic!("--part NAME"))),
                other => panic!("no such option: {other}; there are --subcell PATH and --part NAME"),
            }
        }
        Self {
            subcell: subcell.canonicalize().unwrap(),
            only,
        }
    }
}

/// Runs one part as a client of its own, whose rows it prints.
fn run_part(part: &str, subcell: &std::path::Path) -> Vec<Row> {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    scene::furnish(home);
    let mut client = Command::new(std::env::current_exe().unwrap());
    client
        // The parent's model is known: without one the hook would wait for a transcript that names it.
        .args(["--model", "claude-sonnet-4-5"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env(PART, part)
        .env(scene::SUBCELL, subcell)
        .current_dir(home.join("project"))
        .stderr(Stdio::inherit());
    if part == "parallel" {
        client.env("FULLSEND_OUTPUT_DIR", home.join("output"));
    }
    let output = client.output().unwrap();
    assert!(output.status.success(), "the part {part} failed: {}", output.status);
    serde_json::from_slice(&output.stdout).unwrap()
}
