//! Plays files into a list, for tests.

use std::io;
use std::path::PathBuf;

use super::event::Event;
use super::filter::Filter;
use super::play::{Sink, Summary, play};
use super::rates::Rates;
use super::screen::Screen;
use super::tree::{SessionView, Tree};
use crate::base::redact::Redactor;
use crate::replay::sources::{Places, gather};

/// What was played.
#[derive(Default)]
pub(super) struct Played {
    pub(super) sessions: Vec<SessionView>,
    pub(super) events: Vec<(usize, Event)>,
    pub(super) open: usize,
    pub(super) summary: Summary,
}

impl Sink for Played {
    fn open(&mut self, session: &SessionView) -> io::Result<()> {
        assert_eq!(
            session.depth, self.open,
            "a part is opened inside of the one that it belongs to"
        );
        self.open += 1;
        self.sessions.push(session.clone());
        Ok(())
    }

    fn event(&mut self, event: &Event, session: &SessionView) -> io::Result<()> {
        assert_eq!(session.depth + 1, self.open);
        self.events.push((session.index, event.clone()));
        Ok(())
    }

    fn close(&mut self, _: &SessionView) -> io::Result<()> {
        self.open -= 1;
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        self.summary = summary.clone();
        Ok(())
    }
}

/// Plays paths, with redaction on.
pub(super) fn played(paths: &[PathBuf], records: &[PathBuf]) -> Played {
    let places = Places {
        paths: paths.to_vec(),
        records: records.to_vec(),
        usual_records: None,
    };
    let tree = Tree::build(gather(&places).unwrap(), Rates::default());
    let mut played = Played::default();
    let mut screen = Screen::new(Some(Redactor::builtin()));
    play(&tree, &Filter::default(), &mut screen, &mut played).unwrap();
    assert_eq!(played.open, 0);
    assert_eq!(played.sessions.len(), tree.views().len());
    played
}
