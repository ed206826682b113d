//! A transcript of any bytes: nothing panics, every line is accounted for, and a terminal is shown nothing that it obeys.

#![no_main]

use std::collections::BTreeSet;
use std::fs;

use libfuzzer_sys::fuzz_target;
use subcell::base::redact::Redactor;
use subcell::replay::page::Page;
use subcell::replay::sources::{Places, gather};
use subcell::replay::terminal::{JsonLines, Paint, Plain};
use subcell::replay::timeline::{Filter, Rates, Screen, Sink, Tree, play};

fn shown(tree: &Tree, sink: &mut dyn Sink) -> u64 {
    let mut screen = Screen::new(Some(Redactor::builtin()));
    play(tree, &Filter::default(), &mut screen, sink).unwrap().entries
}

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().unwrap();
    // Two sessions, so that calls, forks and prompts have something to be joined to.
    let (one, other) = bytes.split_at(bytes.len() / 2);
    let mut paths = Vec::new();
    for (name, half) in [("11111111-2222-4333-8444-555555555555", one), ("agent-a1", other)] {
        let path = folder.path().join(format!("{name}.jsonl"));
        fs::write(&path, half).unwrap();
        paths.push(path);
    }
    let places = Places { paths, ..Places::default() };
    let tree = Tree::build(gather(&places).unwrap(), Rates::default());

    let (mut plain, mut json, mut page) = (Vec::new(), Vec::new(), Vec::new());
    let entries = shown(&tree, &mut Plain::new(&mut plain, Paint::Off, true));
    shown(&tree, &mut JsonLines::start(&mut json).unwrap());
    shown(&tree, &mut Page::start(&mut page, &tree.views()).unwrap());

    let lines = |half: &[u8]| half.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
    assert_eq!(entries, (lines(one) + lines(other)) as u64);
    let acts = |character: &char| character.is_control() && !matches!(character, '\n' | '\t');
    for text in [String::from_utf8(plain).unwrap(), String::from_utf8(json.clone()).unwrap()] {
        assert_eq!(text.chars().filter(acts).collect::<BTreeSet<_>>(), BTreeSet::new());
    }
    for row in json.split(|byte| *byte == b'\n').filter(|row| !row.is_empty()) {
        serde_json::from_slice::<serde_json::Value>(row).unwrap();
    }
});
