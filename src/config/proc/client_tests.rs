use std::collections::BTreeMap;

use super::*;

#[derive(Clone)]
struct FakeProcess {
    parent: u32,
    exe: Option<&'static str>,
    environ: Option<&'static [u8]>,
}

struct FakeTree {
    parent: u32,
    processes: BTreeMap<u32, FakeProcess>,
    /// The process whose pid is given to another one while its environment is read.
    replaced: Option<u32>,
    reads: std::cell::Cell<u64>,
}

impl FakeTree {
    fn get(&self, pid: Pid) -> io::Result<&FakeProcess> {
        self.processes.get(&pid.0).ok_or(io::ErrorKind::NotFound.into())
    }
}

impl ProcSource for FakeTree {
    fn own_parent(&self) -> Option<Pid> {
        Some(Pid(self.parent)).filter(|pid| pid.0 != 0)
    }

    fn stat(&self, pid: Pid) -> io::Result<ProcessStat> {
        self.reads.set(self.reads.get() + 1);
        let moved = if self.replaced == Some(pid.0) {
            self.reads.get()
        } else {
            0
        };
        Ok(ProcessStat {
            parent: Some(Pid(self.get(pid)?.parent)).filter(|parent| parent.0 != 0),
            start_ticks: 1000 + u64::from(pid.0) + moved,
        })
    }

    fn exe(&self, pid: Pid) -> io::Result<PathBuf> {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        self.get(pid)?.exe.map(PathBuf::from).ok_or(denied)
    }

    fn cwd(&self, pid: Pid) -> io::Result<PathBuf> {
        self.get(pid).map(|_| PathBuf::from("/repo"))
    }

    fn cmdline(&self, pid: Pid) -> io::Result<Vec<u8>> {
        self.get(pid)
            .map(|process| format!("{}\0-p\0\0", process.exe.unwrap_or("?")).into_bytes())
    }

    fn environ(&self, pid: Pid) -> io::Result<Vec<u8>> {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        self.get(pid)?.environ.map(<[u8]>::to_vec).ok_or(denied)
    }
}

/// A line of processes; the first is the hook's parent, each next one its parent.
fn line(exes: &[&'static str]) -> FakeTree {
    let count = u32::try_from(exes.len()).unwrap();
    let processes = (0..count).zip(exes).map(|(at, exe)| {
        let parent = if at + 1 == count { 0 } else { 101 + at };
        let process = FakeProcess {
            parent,
            exe: (*exe != "?").then_some(*exe),
            environ: (*exe != "?").then_some(b"PWD=/repo\0HOME=/home/ann\0"),
        };
        (100 + at, process)
    });
    FakeTree {
        parent: 100,
        processes: processes.collect(),
        replaced: None,
        reads: std::cell::Cell::new(0),
    }
}

#[test]
fn the_client_is_the_parent_or_the_nearest_ancestor_that_is_no_shell() {
    let cases: [(&[&'static str], u32); 9] = [
        (&["/opt/claude", "/usr/bin/bash"], 100),
        (&["/bin/dash", "/opt/claude", "/usr/bin/bash"], 101),
        (&["/bin/sh", "/usr/bin/zsh", "/opt/claude"], 102),
        (&["/bin/busybox", "/opt/claude"], 101),
        (&["/usr/bin/fish (deleted)", "/opt/claude"], 101),
        (&["/usr/bin/env", "/opt/claude"], 100),
        (&["/usr/bin/timeout", "/opt/claude"], 100),
        (&["/home/sh/claude", "/bin/sh"], 100),
        (&["?", "/opt/claude"], 100),
    ];
    for (exes, expected) in cases {
        let client = Client::find(&line(exes), None).unwrap();
        assert_eq!(client.pid, Pid(expected), "{exes:?}");
        assert_eq!(client.start_ticks, 1000 + u64::from(expected), "{exes:?}");
    }
}

#[test]
fn claude_pid_confirms_and_never_leads() {
    let tree = line(&["/bin/sh", "/opt/claude", "/usr/bin/tmux"]);
    for (claimed, confirmed) in [
        (None, None),
        (Some("101"), Some(true)),
        (Some("1"), Some(false)),
        (Some("102"), Some(false)),
        (Some("x"), Some(false)),
    ] {
        let client = Client::find(&tree, claimed.map(OsStr::new)).unwrap();
        assert_eq!((client.pid, client.confirmed), (Pid(101), confirmed), "{claimed:?}");
    }
}

#[test]
fn what_the_client_was_started_with_is_read() {
    let client = Client::find(&line(&["/opt/claude"]), None).unwrap();
    let expected = Client {
        pid: Pid(100),
        start_ticks: 1100,
        exe: Some("/opt/claude".into()),
        cmdline: vec!["/opt/claude".into(), "-p".into(), "".into()],
        cwd: Some("/repo".into()),
        start_cwd: Some("/repo".into()),
        start_env: StartEnv::Known([("PWD", "/repo"), ("HOME", "/home/ann")].into_iter().collect()),
        confirmed: None,
    };
    assert_eq!(client, expected);
}

#[test]
fn a_binary_that_an_update_replaced_is_not_offered() {
    let client = Client::find(&line(&["/opt/claude (deleted)"]), None).unwrap();
    assert_eq!(client.exe, None);
    assert!(matches!(client.start_env, StartEnv::Known(_)));
}

#[test]
fn the_start_folder_is_certain_only_where_pwd_still_names_it() {
    for (environ, expected) in [
        (&b"PWD=/repo\0A=1\0"[..], Some("/repo")),
        (b"PWD=/elsewhere\0", None),
        (b"PWD=.\0", None),
        (b"A=1\0", None),
    ] {
        let mut tree = line(&["/opt/claude"]);
        tree.processes.get_mut(&100).unwrap().environ = Some(environ);
        let client = Client::find(&tree, None).unwrap();
        assert_eq!(client.start_cwd.as_deref(), expected.map(Path::new));
    }
}

#[test]
fn an_environment_that_cannot_be_trusted_to_be_the_clients_is_unreadable() {
    let mut denied = line(&["/opt/claude"]);
    denied.processes.get_mut(&100).unwrap().environ = None;
    let mut ending = line(&["/opt/claude"]);
    ending.processes.get_mut(&100).unwrap().environ = Some(b"");
    let mut replaced = line(&["/opt/claude"]);
    replaced.replaced = Some(100);
    for (tree, reason) in [(denied, "permission denied"), (ending, "empty"), (replaced, "replaced")] {
        let client = Client::find(&tree, None).unwrap();
        let StartEnv::Unreadable(text) = client.start_env else {
            panic!("{reason}: readable")
        };
        assert!(text.contains(reason), "{text}");
        assert_eq!(client.start_cwd, None);
    }
}

#[test]
fn no_client_is_an_error_with_its_reason() {
    let orphan = FakeTree { parent: 0, ..line(&[]) };
    assert!(matches!(Client::find(&orphan, None), Err(ClientError::NoParent)));
    let shells = line(&["/bin/sh", "/bin/bash"]);
    assert!(matches!(Client::find(&shells, None), Err(ClientError::OnlyShells)));
    let gone = FakeTree { parent: 7, ..line(&[]) };
    assert!(matches!(
        Client::find(&gone, None),
        Err(ClientError::Unreadable { pid: Pid(7), .. })
    ));
    let mut ring = line(&["/bin/sh"]);
    ring.processes.get_mut(&100).unwrap().parent = 100;
    assert!(matches!(Client::find(&ring, None), Err(ClientError::OnlyShells)));
}
