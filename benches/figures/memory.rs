//! The memory of hook and keeper together, watched from outside as fast as it can be read.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::scene::{handed_back, home, hook};
use crate::table::Row;

const KIB_PER_MIB: f64 = 1024.0;

/// The rows of small and large results.
pub(crate) fn measure() -> Vec<Row> {
    [("1 KB", 1_000, 10.0), ("50 MB", 50_000_000, 200.0)]
        .into_iter()
        .flat_map(|(name, bytes, most)| {
            let peak = run(&format!("toolu_{bytes}"), bytes);
            let mib = |kib: u64| f64::from(u32::try_from(kib).unwrap()) / KIB_PER_MIB;
            let measured = format!(
                "{:.1} MiB PSS ({} looks; sum of peak RSS {:.1} MiB)",
                mib(peak.pss),
                peak.looks,
                mib(peak.high_water.values().sum()),
            );
            [
                Row::told(
                    format!("hook and keeper while the child runs, {name} result"),
                    format!("{:.1} MiB PSS", mib(peak.at_rest)),
                ),
                Row::told(format!("hook and keeper at their peak, {name} result"), measured)
                    .held_to(format!("<= {most} MiB"), mib(peak.pss) <= most),
            ]
        })
        .collect()
}

/// What was seen, in KiB.
#[derive(Default)]
struct Peak {
    /// Of both together while the child waits.
    at_rest: u64,
    /// Of both together at any time.
    pss: u64,
    /// The highest resident set of each, by the kernel's own mark: it misses only what was after the last look.
    high_water: BTreeMap<u32, u64>,
    looks: u64,
}

fn run(id: &str, bytes: usize) -> Peak {
    let (output, fifo) = (home().join("output.json"), home().join(format!("{id}.fifo")));
    let line = "A line of a result, with a \"quotation\" and an é in it.\n";
    let text: String = line.chars().cycle().take(bytes).collect();
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": text,
        "total_cost_usd": 0.5, "modelUsage": {"m": {"inputTokens": 1, "outputTokens": 1, "costUSD": 0.5}}});
    std::fs::write(&output, result.to_string()).unwrap();
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let standin = format!("prints=file from={} wait={}", output.display(), fifo.display());
    let running = hook(id, &standin).spawn().unwrap();
    let (peak, output) = watch(running, &fifo);
    handed_back(&output);
    peak
}

/// Watches a hook whose child waits on `fifo`, lets the child end, and watches on to the hook's end.
fn watch(running: Child, fifo: &Path) -> (Peak, Output) {
    let hook = running.id();
    let (waits, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let at_fifo = scope.spawn(|| {
            // It opens once the child has printed all and opens it too.
            let mut end = OpenOptions::new().write(true).open(fifo).unwrap();
            waits.store(true, Ordering::SeqCst);
            std::thread::park_timeout(Duration::from_millis(300));
            end.write_all(b"go").unwrap();
        });
        let waiter = scope.spawn(|| {
            let output = running.wait_with_output().unwrap();
            ended.store(true, Ordering::SeqCst);
            output
        });
        let mut peak = Peak::default();
        while !ended.load(Ordering::SeqCst) {
            let resting = waits.load(Ordering::SeqCst) && !at_fifo.is_finished();
            look(hook, resting, &mut peak);
        }
        (peak, waiter.join().unwrap())
    })
}

fn look(hook: u32, resting: bool, peak: &mut Peak) {
    let pids = [Some(hook), keeper(hook)];
    let mut sum = 0;
    for pid in pids.into_iter().flatten() {
        sum += field(pid, "smaps_rollup", "Pss:").unwrap_or_default();
        if let Some(mark) = field(pid, "status", "VmHWM:") {
            let highest = peak.high_water.entry(pid).or_default();
            *highest = mark.max(*highest);
        }
    }
    peak.looks += 1;
    peak.pss = peak.pss.max(sum);
    if resting {
        peak.at_rest = peak.at_rest.max(sum);
    }
}

/// The hook's keeper: its one child, once that is another program than the hook (until then it shares its memory).
fn keeper(hook: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{hook}/task/{hook}/children")).ok()?;
    let pid = children.split_ascii_whitespace().next()?.parse().ok()?;
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    words
        .split(|byte| *byte == 0)
        .any(|word| word == b"keeper")
        .then_some(pid)
}

/// A field of a file of `/proc`, in KiB.
fn field(pid: u32, file: &str, name: &str) -> Option<u64> {
    let mut text = String::new();
    let mut file = File::open(format!("/proc/{pid}/{file}")).ok()?;
    std::io::Read::read_to_string(&mut file, &mut text).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix(" kB")?.parse().ok()
}
