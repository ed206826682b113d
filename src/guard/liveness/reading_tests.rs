use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::config::{ClientError, Environment};
use crate::guard::liveness::testing::believed;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(records: &[(&str, &[u8])]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("s")).unwrap();
        for (key, content) in records {
            std::fs::write(dir.path().join("s").join(format!("{key}.run")), content).unwrap();
        }
        Self(dir)
    }

    fn scratch(&self) -> PathBuf {
        self.0.path().join("s")
    }

    fn program(&self, text: &str, mode: u32) -> String {
        let path = self.0.path().join("check");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn ask(&self, argv: &[&str]) -> (Verdict, usize) {
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        let around = Surroundings {
            environment: Environment::default(),
            client: Err(ClientError::NoParent),
            believed: believed(&[("PATH", "relative:/usr/bin:/bin")]),
        };
        let reading = Reading::by_program(&self.scratch(), &argv, &around);
        (reading.verdict, reading.keys.len())
    }
}

const LIVE: &[u8] = b"pid=1 run=k\n";
const DEAD: &[u8] = b"pid=2147483646 run=k\n";

#[test]
fn records_together() {
    for (records, verdict, holding) in [
        (&[][..], Verdict::Green, 0),
        (&[("a", DEAD), ("b", DEAD)], Verdict::Green, 0),
        (&[("a", DEAD), ("b", LIVE)], Verdict::Red, 1),
        (&[("a", b"")], Verdict::Corrupt, 1),
        (&[("a", LIVE), ("b", b"x\n"), ("c", DEAD)], Verdict::Corrupt, 2),
    ] {
        let folder = Folder::new(records);
        let reading = Reading::own(&folder.scratch());
        assert_eq!(
            (&reading.verdict, reading.holding.len()),
            (&verdict, holding),
            "{records:?}"
        );
        assert_eq!((reading.keys.len(), reading.no_scratch), (records.len(), None));
    }
    let missing = Reading::own(Path::new("/nowhere/scratch"));
    assert_eq!(
        (missing.verdict, missing.no_scratch),
        (Verdict::Green, Some(NoScratch::Missing))
    );
}

#[test]
fn the_programs_exit_code_is_its_answer() {
    let (with, without) = (Folder::new(&[("a", LIVE)]), Folder::new(&[]));
    for (code, with_record, with_none) in [
        ("0", Verdict::Green, Verdict::Green),
        ("1", Verdict::Red, Verdict::Red),
        ("2", Verdict::Corrupt, Verdict::Unresolved),
        ("3", Verdict::Error, Verdict::Error),
        ("77", Verdict::Error, Verdict::Error),
    ] {
        let argv = ["sh", "-c", "exit $1", "sh", code];
        assert_eq!(with.ask(&argv), (with_record, 1), "{code}");
        assert_eq!(without.ask(&argv), (with_none, 0), "{code}");
    }
    assert_eq!(without.ask(&["sh", "-c", "kill -9 $$"]).0, Verdict::Error);
}

#[test]
fn the_scratch_directory_is_the_last_argument_and_is_listed_after_the_program() {
    let folder = Folder::new(&[]);
    let writes = "[ $# = 2 ] && [ \"$1\" = 'a b' ] && [ -z \"$(env | grep -v '^P\\|^SHLVL\\|^_')\" ] && : >\"$2/new.run\"; exit 2";
    assert_eq!(folder.ask(&["sh", "-c", writes, "sh", "a b"]), (Verdict::Corrupt, 1));
}

#[test]
fn a_program_that_is_not_there_or_cannot_be_started_is_told_apart() {
    let folder = Folder::new(&[]);
    let not_executable = folder.program("#!/bin/sh\n", 0o644);
    for name in [
        "/nowhere/check",
        "no-such-program-of-anybody",
        "./check",
        "relative/check",
        "",
        &not_executable,
        "/usr/bin",
    ] {
        assert_eq!(folder.ask(&[name]).0, Verdict::Unavailable, "{name}");
    }
    assert_eq!(folder.ask(&[]).0, Verdict::Unavailable);
    let no_interpreter = folder.program("#!/nowhere/interpreter\n", 0o755);
    let Verdict::Unstarted(reason) = folder.ask(&[&no_interpreter]).0 else {
        panic!("started");
    };
    assert!(reason.contains("os error 2"), "{reason}");
}
