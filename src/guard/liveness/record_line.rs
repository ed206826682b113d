//! The grammar of a launch record.
//!
//! ```text
//! pid=<n> run=<key>
//! start=<clock ticks from boot to its start> boot=<boot id>
//! ```
//! The first line is what every reader of launch records knows; the second is ours, and lets a process that got a used
//! pid be told from the one that was recorded. Readers that do not know it stop at the first newline.

use crate::base::ProcessIdentity;

/// A pid as a record names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedPid {
    /// One that a process can have.
    Possible(i32),
    /// Larger than any: no process has it.
    TooLarge,
}

/// What a launch record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchRecord {
    /// The process.
    pub pid: RecordedPid,
    /// When it started, where the record says it.
    pub identity: Option<ProcessIdentity>,
}

impl LaunchRecord {
    /// Reads the bytes of a record; none where they do not parse.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (line, rest) = bytes.split_at_checked(end)?;
        let after = line.strip_prefix(b"pid=")?;
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, after) = after.split_at_checked(digits)?;
        if number.first().is_none_or(|first| *first == b'0') {
            return None;
        }
        let (separator, after) = after.split_first()?;
        let key = after.strip_prefix(b"run=")?;
        if !is_space(*separator) || key.is_empty() || key.iter().copied().any(is_space) {
            return None;
        }
        let pid = std::str::from_utf8(number).ok()?.parse();
        let pid = pid.map_or(RecordedPid::TooLarge, RecordedPid::Possible);
        let identity = match pid {
            RecordedPid::Possible(pid) => identity(pid, rest.get(1..).unwrap_or_default()),
            RecordedPid::TooLarge => None,
        };
        Some(Self { pid, identity })
    }
}

/// The second line, where it is one of ours.
fn identity(pid: i32, rest: &[u8]) -> Option<ProcessIdentity> {
    let line = std::str::from_utf8(rest.split(|byte| *byte == b'\n').next()?).ok()?;
    let (start, boot) = line.strip_prefix("start=")?.split_once(" boot=")?;
    Some(ProcessIdentity {
        pid,
        start_ticks: start.parse().ok()?,
        boot_id: boot.to_owned(),
    })
}

/// The text of the record of `process` under `key`.
#[must_use]
pub fn text(process: &ProcessIdentity, key: &str) -> String {
    format!(
        "pid={} run={key}\nstart={} boot={}\n",
        process.pid, process.start_ticks, process.boot_id
    )
}

/// `[[:space:]]` of POSIX, in the C locale.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_grammar() {
        let possible = |pid| Some(RecordedPid::Possible(pid));
        for (bytes, expected) in [
            (&b"pid=42 run=build\n"[..], possible(42)),
            (b"pid=42\trun=build\n", possible(42)),
            (b"pid=42\x0brun=build\n", possible(42)),
            (b"pid=1 run=a=b/c\n", possible(1)),
            (b"pid=42 run=\xff\xfe\n", possible(42)),
            (b"pid=42 run=build\nwhatever\nelse", possible(42)),
            (b"pid=2147483647 run=k\n", possible(i32::MAX)),
            (b"pid=2147483648 run=k\n", Some(RecordedPid::TooLarge)),
            (b"pid=99999999999999999999999999 run=k\n", Some(RecordedPid::TooLarge)),
            (b"", None),
            (b"\n", None),
            (b"pid=42 run=build", None),
            (b"garbage\n", None),
            (b"pid=0 run=k\n", None),
            (b"pid=042 run=k\n", None),
            (b"pid=-1 run=k\n", None),
            (b"pid=+1 run=k\n", None),
            (b"pid= run=k\n", None),
            (b"pid=4x run=k\n", None),
            (b"pid=42  run=k\n", None),
            (b"pid=42run=k\n", None),
            (b"pid=42 \n", None),
            (b"pid=42\n", None),
            (b"pid=42 run=\n", None),
            (b"pid=42 run=k \n", None),
            (b"pid=42 run=a b\n", None),
            (b"pid=42 run=k\r\n", None),
            (b" pid=42 run=k\n", None),
            (b"PID=42 run=k\n", None),
            (b"\npid=42 run=k\n", None),
        ] {
            let read = LaunchRecord::parse(bytes).map(|record| record.pid);
            assert_eq!(read, expected, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn what_is_written_is_read_and_the_first_line_is_everybodys() {
        let process = ProcessIdentity {
            pid: 42,
            start_ticks: 987_654,
            boot_id: "0b7a-1".to_owned(),
        };
        let written = text(&process, "build-42");
        assert_eq!(written.lines().next(), Some("pid=42 run=build-42"));
        let record = LaunchRecord::parse(written.as_bytes()).unwrap();
        assert_eq!(record.identity, Some(process));
        for rest in [
            "",
            "start=x boot=b\n",
            "start=7\n",
            "begin=7 boot=b\n",
            "\nstart=7 boot=b\n",
        ] {
            let record = LaunchRecord::parse(format!("pid=42 run=k\n{rest}").as_bytes()).unwrap();
            assert_eq!(record.identity, None, "{rest:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_parse_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = LaunchRecord::parse(&bytes);
        }

        #[test]
        fn bytes_near_the_grammar_parse_as_the_pattern_says(line in "(pid=)?[0-9]{0,12}[ \t]{0,2}(run=)?[a-z ]{0,4}\n?") {
            let pattern = regex::Regex::new(r"^pid=([1-9][0-9]*)[\t\n\v\f\r ]run=([^\t\n\v\f\r ]+)$").unwrap();
            let expected = line.split_once('\n').is_some_and(|(first, _)| pattern.is_match(first));
            prop_assert_eq!(LaunchRecord::parse(line.as_bytes()).is_some(), expected);
        }
    }
}
