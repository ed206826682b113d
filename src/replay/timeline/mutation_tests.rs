//! Recorded transcripts, changed at random: nothing panics, and every line that is still intact is shown.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::event::Role;
use super::mend;
use super::testing::played;

const RECORDED: [&str; 3] = ["echo/transcripts", "agent-nested-with-bash/transcripts", "fork"];

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// One change to the bytes of a file; places are taken modulo what there is.
#[derive(Clone, Debug)]
enum Change {
    Cut(usize),
    Remove(usize, usize),
    Insert(usize, Vec<u8>),
    Flip(usize, u8),
    Swap(usize, usize),
    Repeat(usize),
    Replace(&'static str, &'static str),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<usize>();
    prop_oneof![
        at.prop_map(Change::Cut),
        (at, 1usize..200).prop_map(|(at, length)| Change::Remove(at, length)),
        (at, prop::collection::vec(any::<u8>(), 1..40)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (at, any::<u8>()).prop_map(|(at, byte)| Change::Flip(at, byte)),
        (at, at).prop_map(|(one, other)| Change::Swap(one, other)),
        at.prop_map(Change::Repeat),
        prop::sample::select(vec![
            ("\"type\":\"assistant\"", "\"type\":7"),
            ("\"message\":{", "\"message\":[{"),
            ("\"content\":[", "\"content\":{\"x\":["),
            ("\"usage\":{", "\"usage\":null,\"was\":{"),
            ("\"output_tokens\":", "\"output_tokens\":-1.5e99,\"o\":"),
            ("\"timestamp\":\"", "\"timestamp\":\"\\u001b"),
            ("\"id\":\"toolu", "\"id\":null,\"i\":\"toolu"),
            ("\"sessionId\":\"", "\"sessionId\":\"x"),
            ("\"uuid\":\"", "\"uuid\":[],\"u\":\""),
            ("\n", "\r\n"),
            ("\n", "\n\n"),
            ("\"text\":\"", "\"text\":\"\\ud83d"),
        ])
        .prop_map(|(from, to)| Change::Replace(from, to)),
    ]
}

fn apply(text: &mut Vec<u8>, change: &Change) {
    let length = text.len().max(1);
    match change {
        Change::Cut(at) => text.truncate(at % length),
        Change::Remove(at, count) => {
            let at = at % length;
            text.drain(at.min(text.len())..(at + count).min(text.len()));
        }
        Change::Insert(at, bytes) => {
            let at = (at % length).min(text.len());
            text.splice(at..at, bytes.iter().copied());
        }
        Change::Flip(at, byte) => {
            if let Some(found) = text.get_mut(at % length) {
                *found ^= byte;
            }
        }
        Change::Swap(one, other) => {
            let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
            let count = lines.len();
            lines.swap(one % count, other % count);
            *text = lines.join(&b'\n');
        }
        Change::Repeat(at) => {
            let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
            let line = lines[at % lines.len()].to_vec();
            text.extend(line);
        }
        Change::Replace(from, to) => {
            let changed = String::from_utf8_lossy(text).replace(from, to);
            *text = changed.into_bytes();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_intact_line_is_shown_whatever_else_is_broken(
        run in 0..RECORDED.len(),
        changes in prop::collection::vec((any::<usize>(), change()), 1..12),
    ) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/replay").join(RECORDED[run]);
        let dir = tempfile::tempdir().unwrap();
        let mut texts: Vec<(PathBuf, Vec<u8>)> = files(&source)
            .into_iter()
            .map(|path| (dir.path().join(path.strip_prefix(&source).unwrap()), std::fs::read(&path).unwrap()))
            .collect();
        let count = texts.len();
        for (file, change) in &changes {
            apply(&mut texts[file % count].1, change);
        }
        for (path, text) in &texts {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let transcripts: Vec<&(PathBuf, Vec<u8>)> =
            texts.iter().filter(|(path, _)| path.extension().is_some_and(|ending| ending == "jsonl")).collect();
        // Given one by one, so that no file is passed over for not looking like a transcript.
        let played = played(&transcripts.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>(), &[]);
        let mut shown: Vec<(String, u64, bool)> = played
            .events
            .iter()
            .map(|(session, event)| {
                let view = played.sessions.iter().find(|view| view.index == *session).unwrap();
                (view.file.clone().unwrap(), event.line, event.role == Role::Broken)
            })
            .collect();
        shown.sort();
        shown.dedup();
        let mut expected = Vec::new();
        for (path, text) in transcripts {
            for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
                if !line.trim_ascii().is_empty() {
                    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                    expected.push((name, at as u64 + 1, mend::parse(line).is_err()));
                }
            }
        }
        expected.sort();
        let names = |(file, line, broken): (String, u64, bool)| {
            (file.rsplit('/').next().unwrap().to_owned(), line, broken)
        };
        let mut shown: Vec<_> = shown.into_iter().map(names).collect();
        shown.sort();
        prop_assert_eq!(shown, expected);
    }
}
