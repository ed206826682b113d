//! How much memory is there for another cell: what the host has left, and what this process's control groups allow.

use std::fs;
use std::path::{Path, PathBuf};

/// What one cell is reckoned to take, in bytes. A client takes about 205 MB of resident memory (2.1.332); its tools
/// and the programs that they run come on top.
pub(super) const PER_CELL: u64 = 400_000_000;

/// Bytes that new processes can take; `None` where the system does not tell.
pub(super) fn available() -> Option<u64> {
    let host = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_host(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = of_groups(&groups, Path::new("/sys/fs/cgroup"));
    host.into_iter().chain(group).min()
}

/// `MemAvailable` of `/proc/meminfo`, whose "kB" are 1024 bytes (proc(5)).
fn of_host(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

/// The least that any memory limit on the way up leaves, in version 2 of control groups (the `0::` line): containers
/// show the host's `MemAvailable`.
fn of_groups(cgroup: &str, root: &Path) -> Option<u64> {
    let path = cgroup.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let group: PathBuf = root.join(path);
    let up = group.ancestors().take_while(|folder| folder.starts_with(root));
    up.filter_map(room).min()
}

fn room(group: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let max: u64 = read("memory.max")?.trim().parse().ok()?;
    let current: u64 = read("memory.current")?.trim().parse().ok()?;
    let stat = read("memory.stat").unwrap_or_default();
    let given_back = stat.lines().find_map(|line| line.strip_prefix("inactive_file "));
    // File pages that nobody uses are given back on demand, as MemAvailable reckons too.
    let given_back: u64 = given_back.and_then(|n| n.trim().parse().ok()).unwrap_or_default();
    Some(max.saturating_sub(current.saturating_sub(given_back)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_tells_in_units_of_1024() {
        let text = "MemTotal:       24682144 kB\nMemFree:  1 kB\nMemAvailable:   24146452 kB\nBuffers: 2 kB\n";
        assert_eq!(of_host(text), Some(24_146_452 * 1024));
        for odd in [
            "",
            "MemAvailable:",
            "MemAvailable: x kB",
            "MemAvailable: 5",
            "MemFree: 5 kB",
        ] {
            assert_eq!(of_host(odd), None, "{odd}");
        }
    }

    #[test]
    fn the_tightest_group_on_the_way_up_counts() {
        let root = tempfile::tempdir().unwrap();
        let group = |path: &str, max: &str, current: &str| {
            let folder = root.path().join(path);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("memory.max"), max).unwrap();
            fs::write(folder.join("memory.current"), current).unwrap();
        };
        group("a", "1000\n", "900\n");
        group("a/b", "max\n", "300\n");
        group("a/b/c", "5000\n", "200\n");
        assert_eq!(of_groups("12:cpu:/x\n0::/a/b/c\n", root.path()), Some(100));
        fs::write(root.path().join("a/memory.stat"), "anon 1\ninactive_file 250\nslab 2\n").unwrap();
        assert_eq!(of_groups("0::/a/b/c\n", root.path()), Some(350));
        assert_eq!(of_groups("0::/elsewhere\n", root.path()), None);
        assert_eq!(of_groups("", root.path()), None);
    }

    #[test]
    fn this_host_tells() {
        assert!(available().is_some_and(|bytes| bytes > 0));
    }
}
