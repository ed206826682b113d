//! What a refused session reads on stderr, and what a user is told.

use std::fmt::Write as _;
use std::path::Path;

use super::decide::Hold;
use super::ownership::Own;
use super::reading::{Reading, Verdict};
use super::scratch::{NoScratch, Record, Standing};
use super::token::{token, tokens};

/// So many records and tasks are named; a text over 10 000 characters would be cut by the client.
const NAMED: usize = 20;

/// What every refusal asks for: of a subagent the caller gets the last message and nothing before it.
const REPORT: &str = "When you end your turn after that, give your whole report again: your caller reads your last message \
                      only, and what you wrote before this refusal does not reach it.";

/// Everything that a refusal's text is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal<'a> {
    pub(super) hold: Hold,
    pub(super) scratch: &'a Path,
    pub(super) reading: &'a Reading,
    pub(super) own: &'a Own,
    /// The program of a knob, with its arguments; empty where the records were read here.
    pub(super) check: &'a [String],
}

impl Refusal<'_> {
    /// The reason.
    pub(super) fn text(&self) -> String {
        let (what, ways) = match self.hold {
            Hold::Live => (self.live(), self.record_ways()),
            Hold::Corrupt => (self.corrupt(), self.record_ways()),
            Hold::Unresolved => (self.unresolved(), format!("Find out why: {}", self.by_hand())),
            Hold::Task => (self.task(), TASK_WAYS.to_owned()),
        };
        format!("subcell: turn-end refused. {what}\n\n{ways}\n\n{REPORT}\n")
    }

    fn live(&self) -> String {
        let mut text = format!(
            "A launch record under {} names a live producer: a process that was started for this work and still runs. \
             runs={}",
            self.scratch.display(),
            tokens(self.reading.keys.iter().take(NAMED).map(std::ffi::OsString::as_os_str)),
        );
        self.name_holding(&mut text);
        text
    }

    fn corrupt(&self) -> String {
        let mut text = format!(
            "A launch record under {} does not parse, so nobody can say whether its process still runs. A record is one \
             line: pid=<n> run=<key>. runs={}",
            self.scratch.display(),
            tokens(self.reading.keys.iter().take(NAMED).map(std::ffi::OsString::as_os_str)),
        );
        self.name_holding(&mut text);
        text
    }

    fn name_holding(&self, text: &mut String) {
        // Those that the refusal is about first: of many only some are named.
        let mut holding: Vec<&Record> = self.reading.holding.iter().collect();
        let is_live = |record: &&Record| matches!(record.standing, Standing::Live { .. });
        holding.sort_by_key(|record| is_live(record) != (self.hold == Hold::Live));
        for record in holding.into_iter().take(NAMED) {
            let key = short(&token(&record.key.to_string_lossy()));
            // Writing to a String cannot fail.
            let _ = match record.standing {
                Standing::Live { pid } => write!(text, "\n- {key}.run: process {pid} runs"),
                Standing::Corrupt => write!(text, "\n- {key}.run: malformed"),
                Standing::Unknown => write!(text, "\n- {key}.run and further: not read"),
                Standing::Dead | Standing::Nothing => Ok(()),
            };
        }
    }

    fn record_ways(&self) -> String {
        let malformed = match self.hold {
            Hold::Corrupt => " (which record is malformed is said by the same command)",
            Hold::Live | Hold::Unresolved | Hold::Task => "",
        };
        format!(
            "Two ways out: wait for the producer on its own artifact (its output file, its result), in the foreground, \
             and end your turn when it is there; or delete the record once the producer has exited, by hand or with \
             `subcell run-record --prune`. To look yourself: {}{malformed}",
            self.by_hand()
        )
    }

    fn unresolved(&self) -> String {
        format!(
            "The program that answers for the launch records under {} produced no reading at all, and there is no \
             record that it could be about.",
            self.scratch.display()
        )
    }

    fn task(&self) -> String {
        let ids = self.own.ids.iter().take(NAMED).map(std::ffi::OsStr::new);
        format!(
            "A background shell task that you started is still running (ids: {}). A turn that ends now leaves it without \
             anyone who watches it, or ends it in the middle of its work.",
            tokens(ids)
        )
    }

    /// The command that answers for the records.
    fn by_hand(&self) -> String {
        let scratch = self.scratch.display().to_string();
        let words = if self.check.is_empty() {
            ["subcell", "run-record", "--list", "--dir"].map(str::to_owned).to_vec()
        } else {
            self.check.to_vec()
        };
        let quoted: Vec<String> = words.iter().chain([&scratch]).map(|word| quoted(word)).collect();
        let reason = match self.reading.verdict {
            Verdict::Unresolved => ", which prints the reader's own reason",
            Verdict::Green
            | Verdict::Red
            | Verdict::Corrupt
            | Verdict::Error
            | Verdict::Unavailable
            | Verdict::Unstarted(_) => "",
        };
        format!("`{}`{reason}", quoted.join(" "))
    }
}

/// A name that is longer than any of use, cut: the ways out and the report have to fit in after it.
fn short(key: &str) -> String {
    const LONGEST: usize = 100;
    let mut shown: String = key.chars().take(LONGEST).collect();
    if key.chars().nth(LONGEST).is_some() {
        shown.push('\u{2026}');
    }
    shown
}

const TASK_WAYS: &str = "Two ways out: wait until it has ended, with a foreground command or the tool that reads a task's \
                         output (or for its completion notification, where your client sends you one); or stop it, if \
                         its result is not needed any more.";

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%,=".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// What a user is told when one cause was refused as often as it may.
pub(super) fn capped(refusals: u32, scratch: &Path) -> String {
    format!(
        "subagent-stop-liveness: one turn's end was refused {refusals} times and nothing changed, so it was allowed now. \
         A launch record under {} or a background task is stuck; `subcell run-record --list` shows the records.",
        scratch.display()
    )
}

/// What a user is told of a scratch directory that cannot be listed.
pub(super) fn no_scratch(none: NoScratch, scratch: &Path) -> String {
    let what = match none {
        NoScratch::Missing => "does not exist, so no launch record is looked at",
        NoScratch::Unreadable => "cannot be listed, so no launch record is looked at",
    };
    format!(
        "subagent-stop-liveness: the scratch directory {} {what}. Make it, or correct GATE_SDK_TMP_DIR.",
        scratch.display()
    )
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Record;
    use super::*;

    fn reading(verdict: Verdict, holding: &[(&str, Standing)]) -> Reading {
        Reading {
            verdict,
            keys: ["a b", "build"].map(Into::into).to_vec(),
            holding: holding
                .iter()
                .map(|(key, standing)| Record {
                    key: key.into(),
                    standing: *standing,
                })
                .collect(),
            no_scratch: None,
        }
    }

    fn text(hold: Hold, reading: &Reading, own: &Own, check: &[String]) -> String {
        Refusal {
            hold,
            scratch: Path::new("/s c"),
            reading,
            own,
            check,
        }
        .text()
    }

    #[test]
    fn each_names_its_finding_and_its_ways_out_and_asks_for_the_report() {
        let own = Own {
            count: 1,
            ids: vec!["b1".to_owned()],
        };
        let live = reading(Verdict::Red, &[("build", Standing::Live { pid: 42 })]);
        let corrupt = reading(Verdict::Corrupt, &[("a b", Standing::Corrupt)]);
        let unresolved = reading(Verdict::Unresolved, &[]);
        let green = reading(Verdict::Green, &[]);
        for (hold, reading, says, never) in [
            (
                Hold::Live,
                &live,
                &[
                    "/s c",
                    "live producer",
                    "runs=a_b,build",
                    "build.run: process 42",
                    "own artifact",
                    "delete the record once the producer has exited",
                    "subcell run-record --list --dir '/s c'",
                ][..],
                "task",
            ),
            (
                Hold::Corrupt,
                &corrupt,
                &[
                    "does not parse",
                    "a_b.run: malformed",
                    "which record is malformed",
                    "runs=",
                ],
                "live producer",
            ),
            (
                Hold::Unresolved,
                &unresolved,
                &["produced no reading at all", "the reader's own reason"],
                "runs=",
            ),
            (
                Hold::Task,
                &green,
                &["background shell task", "completion notification", "ids: b1"],
                "record",
            ),
        ] {
            let text = text(hold, reading, &own, &[]);
            for says in says.iter().chain(&["turn-end refused", "whole report again"]) {
                assert!(text.contains(says), "{hold:?}: {says} in {text}");
            }
            assert!(!text.contains(never), "{hold:?}: {never} in {text}");
        }
    }

    #[test]
    fn of_many_records_the_ones_in_question_are_named_and_the_text_stays_short_enough_to_arrive() {
        let names: Vec<String> = (0..50).map(|n| format!("{n:02}{}", "\u{1b}".repeat(200))).collect();
        let mut holding: Vec<(&str, Standing)> = names
            .iter()
            .map(|name| (name.as_str(), Standing::Live { pid: 42 }))
            .collect();
        holding.push(("zz", Standing::Corrupt));
        let mut reading = reading(Verdict::Corrupt, &holding);
        reading.keys = names.iter().map(Into::into).collect();
        let text = text(Hold::Corrupt, &reading, &Own::default(), &[]);
        assert!(text.contains("- zz.run: malformed"), "{text}");
        // The client cuts at 10 000 characters (hooks documentation).
        assert!(text.chars().count() < 10_000 && text.contains(REPORT), "{text}");
    }

    #[test]
    fn the_program_of_a_knob_is_shown_as_it_is_called() {
        let check = ["/opt/check it".to_owned(), "it's".to_owned()];
        let text = text(
            Hold::Unresolved,
            &reading(Verdict::Unresolved, &[]),
            &Own::default(),
            &check,
        );
        assert!(text.contains(r"`'/opt/check it' 'it'\''s' '/s c'`"), "{text}");
    }

    #[test]
    fn a_flood_of_records_is_cut() {
        let many: Vec<String> = (0..5000).map(|number| format!("{number}{}", "x".repeat(200))).collect();
        let holding: Vec<(&str, Standing)> = many.iter().map(|key| (key.as_str(), Standing::Corrupt)).collect();
        let mut reading = reading(Verdict::Corrupt, &holding);
        reading.keys = many.iter().map(Into::into).collect();
        let own = Own { count: 5000, ids: many };
        for hold in [Hold::Corrupt, Hold::Task] {
            assert!(text(hold, &reading, &own, &[]).len() < 10_000);
        }
    }
}
