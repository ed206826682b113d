//! The grammar of a knob file.
//!
//! ```text
//! # a comment, on a line of its own
//! NAME = value
//! NAME[] = one element of a list
//! NAME =          (an empty value; of a list: no elements)
//! ```
//! The first `=` splits; blanks around name and value do not count; there are no quotes, escapes or expansions.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::base::chain::Chain;
use crate::base::{Links, read_bounded};

const LIMIT: u64 = 1 << 20;

/// A knob of the liveness guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Knob {
    /// Where each firing leaves a line.
    StopLog,
    /// What a background task of the session's own means.
    StopWait,
    /// A program that answers for the launch records; a list.
    LivenessCmd,
    /// The scratch directory, where launch records are.
    TmpDir,
    /// Where each call leaves a line on trial.
    ObserveLog,
}

impl Knob {
    const ALL: [Self; 5] = [
        Self::StopLog,
        Self::StopWait,
        Self::LivenessCmd,
        Self::TmpDir,
        Self::ObserveLog,
    ];

    /// Its name, in a knob file and in the environment.
    #[must_use]
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::StopLog => "DELEGATION_KIT_STOP_LOG",
            Self::StopWait => "DELEGATION_KIT_STOP_WAIT",
            Self::LivenessCmd => "DELEGATION_KIT_LIVENESS_CMD",
            Self::TmpDir => "GATE_SDK_TMP_DIR",
            Self::ObserveLog => "GATE_SDK_HOOK_OBSERVE_LOG",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|knob| knob.name() == name)
    }

    const fn is_list(self) -> bool {
        matches!(self, Self::LivenessCmd)
    }
}

/// A knob file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnobFileError {
    /// The file, with the line where one is wrong.
    place: String,
    what: String,
    remedy: String,
}

impl fmt::Display for KnobFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} \u{2014} {}", self.place, self.what, self.remedy)
    }
}

/// What a knob file sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KnobFile {
    scalars: BTreeMap<Knob, String>,
    lists: BTreeMap<Knob, Vec<String>>,
}

impl KnobFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`KnobFileError`] where it is not a readable regular text file of at most 1 MiB, or a line is wrong.
    pub(super) fn read(path: &Path) -> Result<Self, KnobFileError> {
        let failed = |what: String| KnobFileError {
            place: format!("cannot read {}", path.display()),
            what,
            remedy: "name a knob file that exists and is text after --knobs".to_owned(),
        };
        let bytes = read_bounded(path, LIMIT, Links::Follow).map_err(|error| failed(Chain(&error).to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads `text`; messages call it `file`.
    ///
    /// # Errors
    /// [`KnobFileError`] for the first line that is wrong.
    pub(super) fn parse(text: &str, file: &str) -> Result<Self, KnobFileError> {
        let mut knobs = Self::default();
        for (number, line) in (1..).zip(text.split('\n')) {
            let line = line.strip_suffix('\r').unwrap_or(line).trim_matches([' ', '\t']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            knobs.take(line).map_err(|(what, remedy)| KnobFileError {
                place: format!("{file}:{number}"),
                what,
                remedy,
            })?;
        }
        Ok(knobs)
    }

    /// The value of a scalar, where the file gives one.
    #[must_use]
    pub(super) fn scalar(&self, knob: Knob) -> Option<&str> {
        self.scalars.get(&knob).map(String::as_str)
    }

    /// The elements of a list; empty where the file gives none.
    #[must_use]
    pub(super) fn list(&self, knob: Knob) -> &[String] {
        self.lists.get(&knob).map(Vec::as_slice).unwrap_or_default()
    }

    fn take(&mut self, line: &str) -> Result<(), (String, String)> {
        let (left, value) = line
            .split_once('=')
            .ok_or_else(|| wrong("a line without `=`", "write NAME = value"))?;
        let (left, value) = (left.trim_matches([' ', '\t']), value.trim_matches([' ', '\t']));
        let (name, form) = Form::of(left)?;
        if value.contains(char::is_control) {
            return Err(wrong("a tab or control character in a value", "take it out"));
        }
        let knob = Knob::named(name).ok_or_else(|| {
            let known: Vec<&str> = Knob::ALL.iter().map(|knob| knob.name()).collect();
            (
                format!("unknown knob {name}"),
                format!("known are {}", known.join(", ")),
            )
        })?;
        match (knob.is_list(), form) {
            (false, Form::Scalar) => self.set(knob, value),
            (true, Form::Element) => {
                self.lists.entry(knob).or_default().push(value.to_owned());
                Ok(())
            }
            (true, Form::Scalar) if value.is_empty() => {
                self.lists.insert(knob, Vec::new());
                Ok(())
            }
            (true, Form::Scalar | Form::Entry) => Err((
                format!("{name} is a list"),
                format!("write {name}[] = element, a line for each"),
            )),
            (false, Form::Element | Form::Entry) => {
                Err((format!("{name} is a single value"), format!("write {name} = value")))
            }
        }
    }

    fn set(&mut self, knob: Knob, value: &str) -> Result<(), (String, String)> {
        if self.scalars.insert(knob, value.to_owned()).is_some() {
            return Err((
                format!("{} is given twice", knob.name()),
                "keep one of the lines".to_owned(),
            ));
        }
        Ok(())
    }
}

enum Form {
    Scalar,
    Element,
    Entry,
}

impl Form {
    fn of(left: &str) -> Result<(&str, Self), (String, String)> {
        let (name, form) = match left.split_once('[') {
            None => (left, Self::Scalar),
            Some((name, "]")) => (name, Self::Element),
            Some((name, rest)) if rest.ends_with(']') => (name, Self::Entry),
            Some(_) => return Err(wrong("a `[` without its `]`", "write NAME[] = element")),
        };
        let mut bytes = name.bytes();
        let good = bytes.next().is_some_and(|first| first.is_ascii_uppercase())
            && bytes.all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        if good {
            Ok((name, form))
        } else {
            let shown: String = name.chars().take(40).collect();
            Err((
                format!("{shown:?} is no name of a knob"),
                "names are A-Z, 0-9 and _, a letter first".to_owned(),
            ))
        }
    }
}

fn wrong(what: &str, remedy: &str) -> (String, String) {
    (what.to_owned(), remedy.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(text: &str) -> String {
        KnobFile::parse(text, "f").unwrap_err().to_string()
    }

    #[test]
    fn values_are_data_and_blanks_around_them_are_not() {
        let text = "# a comment\r\n\n  \t# another\nDELEGATION_KIT_STOP_LOG\t=  /a b/#c=\"d\" $HOME \r\n\
                    DELEGATION_KIT_STOP_WAIT=\nDELEGATION_KIT_LIVENESS_CMD[] = /bin/check\n\
                    DELEGATION_KIT_LIVENESS_CMD[]= a b \nDELEGATION_KIT_LIVENESS_CMD[] =\nGATE_SDK_TMP_DIR = /t";
        let file = KnobFile::parse(text, "f").unwrap();
        assert_eq!(file.scalar(Knob::StopLog), Some("/a b/#c=\"d\" $HOME"));
        assert_eq!(file.scalar(Knob::StopWait), Some(""));
        assert_eq!(file.list(Knob::LivenessCmd), ["/bin/check", "a b", ""]);
        assert_eq!(
            (file.scalar(Knob::TmpDir), file.scalar(Knob::ObserveLog)),
            (Some("/t"), None)
        );
    }

    #[test]
    fn an_empty_value_clears_a_list() {
        let text = "DELEGATION_KIT_LIVENESS_CMD[] = x\nDELEGATION_KIT_LIVENESS_CMD =\n";
        assert_eq!(
            KnobFile::parse(text, "f").unwrap().list(Knob::LivenessCmd),
            [] as [String; 0]
        );
    }

    #[test]
    fn each_wrong_line_is_named_with_its_number_and_a_remedy() {
        for (line, says) in [
            ("GATE_SDK_TMP_DIR /t", "without `=`"),
            ("gate_sdk_tmp_dir = /t", "no name of a knob"),
            ("= /t", "no name of a knob"),
            ("1A = /t", "no name of a knob"),
            ("GATE SDK = /t", "no name of a knob"),
            ("DELEGATION_KIT_LIVENESS_CMD[ = x", "without its `]`"),
            ("DELEGATION_KIT_LIVENESS_CMD[]x = y", "without its `]`"),
            ("DELEGATION_KIT_LIVENESS_CMD[0] = x", "is a list"),
            ("DELEGATION_KIT_LIVENESS_CMD = x", "is a list"),
            ("GATE_SDK_TMP_DIR[] = /t", "is a single value"),
            ("GATE_SDK_TMP_DIR[k] = /t", "is a single value"),
            ("GATE_SDK_TMP_DIR = /a\tb", "tab"),
            ("GATE_SDK_TMP_DIR = /a\u{1}b", "control"),
            ("GATE_SDK_WORKFLOW_DIR = x", "unknown knob"),
            ("DELEGATION_KIT_LIVENESS_CMD[] <- OTHER", "without `=`"),
        ] {
            let message = error(&format!("# first\n{line}\n"));
            assert!(
                message.starts_with("f:2: ") && message.contains(says),
                "{line}: {message}"
            );
            assert!(message.contains(" \u{2014} "), "{message}");
        }
        assert!(
            error("GATE_SDK_TMP_DIR = /t\n\nGATE_SDK_TMP_DIR = /t\n")
                .starts_with("f:3: GATE_SDK_TMP_DIR is given twice")
        );
    }

    #[test]
    fn what_is_no_readable_text_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let none = dir.path().join("none.knobs");
        let message = KnobFile::read(&none).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("cannot read {}: ", none.display())),
            "{message}"
        );
        std::fs::write(&none, b"\xff").unwrap();
        assert!(KnobFile::read(&none).unwrap_err().to_string().contains("UTF-8"));
        assert!(KnobFile::read(dir.path()).is_err() && KnobFile::read(Path::new("/dev/zero")).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(?s).{0,200}") {
            let _ = KnobFile::parse(&text, "f");
        }

        #[test]
        fn lines_near_the_grammar_are_read_or_refused(
            lines in proptest::collection::vec("(GATE_SDK_TMP_DIR|DELEGATION_KIT_LIVENESS_CMD|[A-Z_]{0,4})(\\[|\\]|\\[\\]|\\[k\\])?[ \t]*=?[ \t]*\\PC{0,6}", 0..6)
        ) {
            let _ = KnobFile::parse(&lines.join("\n"), "f");
        }
    }
}
