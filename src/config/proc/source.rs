//! What is read of a process, behind a trait so that tests bring a tree of their own.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// The kernel's number of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid(pub u32);

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What `/proc/PID/stat` says of a process (proc(5), fields 4 and 22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// Its parent; none at the top of the pid namespace.
    pub parent: Option<Pid>,
    /// When it started, in clock ticks since boot: together with the pid it names a process for good.
    pub start_ticks: u64,
}

/// Reads processes.
pub trait ProcSource {
    /// The parent of this process.
    fn own_parent(&self) -> Option<Pid>;
    /// Parent and start time of `pid`.
    ///
    /// # Errors
    /// Where the process is gone or cannot be read.
    fn stat(&self, pid: Pid) -> io::Result<ProcessStat>;
    /// The file that `pid` executes; its name ends with ` (deleted)` once it is gone from its folder.
    ///
    /// # Errors
    /// Where the process is gone or belongs to somebody else.
    fn exe(&self, pid: Pid) -> io::Result<PathBuf>;
    /// The folder that `pid` is in now.
    ///
    /// # Errors
    /// Where the process is gone or belongs to somebody else.
    fn cwd(&self, pid: Pid) -> io::Result<PathBuf>;
    /// The arguments of `pid`, each ended by a NUL.
    ///
    /// # Errors
    /// Where the process is gone or cannot be read, or the arguments are longer than the system allows.
    fn cmdline(&self, pid: Pid) -> io::Result<Vec<u8>>;
    /// The start environment of `pid`, each entry ended by a NUL.
    ///
    /// # Errors
    /// Where the process is gone, belongs to somebody else, or the environment is longer than the system allows.
    fn environ(&self, pid: Pid) -> io::Result<Vec<u8>>;
}

/// The processes of this machine, as `/proc` shows them.
#[derive(Clone, Copy, Debug)]
pub struct LiveProc;

/// Linux caps arguments and environment together at 6 MiB (three quarters of the largest stack it plans for).
const BLOCK_LIMIT: u64 = 8 << 20;
const STAT_LIMIT: u64 = 4096;

impl ProcSource for LiveProc {
    fn own_parent(&self) -> Option<Pid> {
        Some(Pid(std::os::unix::process::parent_id())).filter(|pid| pid.0 != 0)
    }

    fn stat(&self, pid: Pid) -> io::Result<ProcessStat> {
        let bytes = read_bounded(pid, "stat", STAT_LIMIT)?;
        parse_stat(&bytes).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not in the form of proc(5)"))
    }

    fn exe(&self, pid: Pid) -> io::Result<PathBuf> {
        std::fs::read_link(format!("/proc/{pid}/exe"))
    }

    fn cwd(&self, pid: Pid) -> io::Result<PathBuf> {
        std::fs::read_link(format!("/proc/{pid}/cwd"))
    }

    fn cmdline(&self, pid: Pid) -> io::Result<Vec<u8>> {
        read_bounded(pid, "cmdline", BLOCK_LIMIT)
    }

    fn environ(&self, pid: Pid) -> io::Result<Vec<u8>> {
        read_bounded(pid, "environ", BLOCK_LIMIT)
    }
}

fn read_bounded(pid: Pid, name: &str, limit: u64) -> io::Result<Vec<u8>> {
    // Holds a usual environment without growing.
    let mut bytes = Vec::with_capacity(16 << 10);
    File::open(format!("/proc/{pid}/{name}"))?
        .take(limit + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "longer than the system allows",
        ));
    }
    Ok(bytes)
}

/// The command's name stands in parentheses and may hold spaces and parentheses itself: fields are counted after the
/// last one.
fn parse_stat(bytes: &[u8]) -> Option<ProcessStat> {
    let after = bytes.iter().rposition(|byte| *byte == b')')?;
    let text = std::str::from_utf8(bytes.get(after + 1..)?).ok()?;
    let mut fields = text.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let start_ticks = fields.nth(17)?.parse().ok()?;
    Some(ProcessStat {
        parent: Some(Pid(parent)).filter(|pid| pid.0 != 0),
        start_ticks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let line = b"42 (a) b) S 7 42 42 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 987654 1000 10 18446744073709551615";
        let stat = parse_stat(line).unwrap();
        assert_eq!(
            stat,
            ProcessStat {
                parent: Some(Pid(7)),
                start_ticks: 987_654
            }
        );
        assert_eq!(parse_stat(b"42 (a) S"), None);
        assert_eq!(parse_stat(b""), None);
    }

    #[test]
    fn this_process_is_found_in_proc() {
        let me = Pid(std::process::id());
        let stat = LiveProc.stat(me).unwrap();
        assert_eq!(stat.parent, LiveProc.own_parent());
        assert!(stat.start_ticks > 0);
        assert_eq!(LiveProc.exe(me).unwrap(), std::env::current_exe().unwrap());
        assert_eq!(LiveProc.cwd(me).unwrap(), std::env::current_dir().unwrap());
        let first = LiveProc.cmdline(me).unwrap();
        let first = first.split(|byte| *byte == 0).next().unwrap();
        assert_eq!(first, std::env::args().next().unwrap().as_bytes());
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        // Above the largest pid that Linux hands out (2^22).
        assert!(LiveProc.stat(Pid(u32::MAX)).is_err());
        assert!(LiveProc.environ(Pid(u32::MAX)).is_err());
    }
}
