//! Reads the kernel's table of processes (`/proc/PID/stat`), whose second field may hold anything.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;

use rustix::process::Pid;

/// The pid that `raw` is: the kernel writes 0 and -1 where there is none (the group of a process that is just ending).
pub(super) fn pid(raw: i32) -> Option<Pid> {
    if raw > 0 { Pid::from_raw(raw) } else { None }
}

/// A process group, which is no process although it has the number of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Group(pub(super) Pid);

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: Pid,
    /// Its short name, with what is not printable ASCII replaced.
    pub(super) name: String,
    pub(super) state: u8,
    pub(super) parent: i32,
    pub(super) group: Option<Group>,
    /// Clock ticks from boot to its start: with the pid, one process for good.
    pub(super) start_ticks: u64,
}

impl Process {
    /// The process with this pid, if there is one.
    pub(super) fn read(pid: Pid) -> Option<Self> {
        let mut line = Vec::with_capacity(512);
        let path = format!("/proc/{}/stat", pid.as_raw_pid());
        File::open(path).ok()?.read_to_end(&mut line).ok()?;
        Self::parse(&line)
    }

    /// Reads one stat line: `pid (name) state ppid pgrp …`; the name ends at the last `)` (proc(5)).
    fn parse(line: &[u8]) -> Option<Self> {
        let open = line.iter().position(|b| *b == b'(')?;
        let close = line.iter().rposition(|b| *b == b')')?;
        let number = std::str::from_utf8(line.get(..open)?).ok()?.trim().parse().ok()?;
        let name = line.get(open + 1..close)?;
        let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        // starttime is field 22, the 17th after pgrp (5).
        let start_ticks = fields.nth(16)?.parse().ok()?;
        Some(Self {
            pid: pid(number)?,
            name: printable(name),
            state,
            parent,
            group: pid(group).map(Group),
            start_ticks,
        })
    }

    /// Whether it still runs: a zombie has ended and only waits to be reaped.
    pub(super) const fn runs(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

fn printable(name: &[u8]) -> String {
    let shown = |b: &u8| if (b' '..=b'~').contains(b) { char::from(*b) } else { '?' };
    name.iter().take(64).map(shown).collect()
}

/// Every running process below `root`, in any session or group, `root` itself not included.
pub(super) fn descendants(root: Pid) -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| pid(entry.file_name().to_str()?.parse().ok()?));
    below(root, pids.filter_map(Process::read).collect())
}

fn below(root: Pid, mut table: Vec<Process>) -> Vec<Process> {
    let mut known = HashSet::from([root.as_raw_pid()]);
    let mut found = Vec::new();
    loop {
        let (next, rest): (Vec<_>, Vec<_>) = table.into_iter().partition(|p| known.contains(&p.parent));
        if next.is_empty() {
            found.retain(Process::runs);
            return found;
        }
        known.extend(next.iter().map(|p| p.pid.as_raw_pid()));
        found.extend(next);
        table = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(pid: i32, name: &str, state: char, parent: i32) -> Vec<u8> {
        format!("{pid} ({name}) {state} {parent} 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2\n")
            .into_bytes()
    }

    #[test]
    fn hostile_names_do_not_move_the_fields() {
        for (name, shown) in [
            ("cat", "cat"),
            ("a b", "a b"),
            ("x) R 1 (y", "x) R 1 (y"),
            (") Z 1 1 1", ") Z 1 1 1"),
            ("new\nline", "new?line"),
            ("\u{1b}[2J", "?[2J"),
            ("", ""),
        ] {
            let process = Process::parse(&line(7, name, 'S', 3)).unwrap();
            assert_eq!(process.name, shown);
            assert_eq!(
                (process.pid.as_raw_pid(), process.parent, process.start_ticks),
                (7, 3, 98765)
            );
            assert!(process.runs());
        }
    }

    #[test]
    fn cut_or_foreign_lines_are_no_process() {
        let whole = line(7, "cat", 'S', 3);
        for cut in [&b""[..], b"7", b"7 (cat", b"x (cat) S 1 1", &whole[..30]] {
            assert_eq!(Process::parse(cut), None, "{cut:?}");
        }
    }

    #[test]
    fn a_process_that_is_just_ending_has_no_group() {
        let process = Process::parse(b"7 (cat) X 3 -1 -1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2").unwrap();
        assert_eq!((process.group, process.runs()), (None, false));
    }

    #[test]
    fn the_whole_tree_is_found_through_zombies_and_in_any_order() {
        let table = [
            (5, 'S', 4),
            (4, 'Z', 3),
            (3, 'S', 2),
            (9, 'S', 1),
            (2, 'S', 1),
            (6, 'Z', 2),
        ];
        let table = table.map(|(pid, state, parent)| Process::parse(&line(pid, "p", state, parent)).unwrap());
        let mut found: Vec<_> = below(Pid::from_raw(2).unwrap(), table.to_vec())
            .iter()
            .map(|p| p.pid.as_raw_pid())
            .collect();
        found.sort_unstable();
        assert_eq!(found, [3, 5]);
    }

    #[test]
    fn this_process_is_read_as_the_system_knows_it() {
        let me = Process::read(rustix::process::getpid()).unwrap();
        assert_eq!(me.parent, Pid::as_raw(rustix::process::getppid()));
        assert_eq!(me.group, Some(Group(rustix::process::getpgrp())));
        assert!(me.runs());
    }
}
