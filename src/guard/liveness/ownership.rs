//! Whose a background task is.
//!
//! The payload lists the shells of the whole session (2.1.156 to 2.1.332). A subagent's transcript has the ids of those
//! that it started: as `backgroundTaskId` of the tool's result, or, in 2.1.332, only in the text of the result. Any
//! text may mention an id, so a mention counts as a launch unless another transcript shows the launch itself.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use memchr::memmem;

use super::payload::Payload;
use crate::base::{Deadline, Links, open_regular};

/// More of a transcript than this is not read: it counts as one that cannot be read.
const READ_LIMIT: u64 = 4 << 30;
const CHUNK: usize = 256 * 1024;
/// Ids longer than this are no ids.
const ID_LIMIT: usize = 256;
/// How many transcripts of siblings are asked.
const SIBLINGS_LIMIT: usize = 256;
/// How long a launch that no transcript shows is waited for: clients write them up to 0.09 s late (2.1.156 to 2.1.332).
const LAG: Duration = Duration::from_millis(200);
const LAG_SLICE: Duration = Duration::from_millis(20);

/// What stands before the id where a launch is recorded.
const LAUNCHES: [&[u8]; 5] = [
    b"\"backgroundTaskId\":\"",
    b"\"backgroundTaskId\": \"",
    b"background with ID: ",
    b"background (ID: ",
    b"by user with ID: ",
];
const CONTEXT: usize = 32;

/// What a transcript shows of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    /// Nothing.
    Absent,
    /// It stands there as a whole word.
    Mentioned,
    /// It stands where a launch is recorded.
    Launched,
}

/// The tasks that hold a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Own {
    /// How many shells run that are the session's own.
    pub(super) count: usize,
    /// Their ids, as far as they have any.
    pub(super) ids: Vec<String>,
}

impl Own {
    fn add(&mut self, id: Option<&str>) {
        self.count += 1;
        self.ids.extend(id.map(str::to_owned));
    }
}

/// The running shells of the session whose turn ends. All of them where that cannot be told.
#[must_use]
pub(super) fn own_tasks(payload: &Payload) -> Own {
    let mut own = Own::default();
    let mut ids = Vec::new();
    for shell in payload.running_shells() {
        match shell.id.as_deref() {
            Some(id) if id.len() <= ID_LIMIT => ids.push(id),
            other => own.add(other),
        }
    }
    if ids.is_empty() {
        return own;
    }
    let mine = payload.agent_transcript.as_deref().map(|path| search(path, &ids));
    let Some(Ok(mine)) = mine else {
        for id in ids {
            own.add(Some(id));
        }
        return own;
    };
    let others = Others { payload };
    for id in of_the_session(&ids, &mine, &others) {
        own.add(Some(id));
    }
    own
}

/// Where an id is looked for that our transcript does not clearly show.
trait Elsewhere {
    /// The strongest evidence of each id in the transcripts of the main session and the siblings.
    fn evidence(&self, ids: &[&str]) -> Vec<Evidence>;
    /// Looks once more into our own transcript, when it may have grown; none when the wait is over.
    fn again(&self, ids: &[&str]) -> Vec<Evidence>;
}

fn of_the_session<'a>(ids: &[&'a str], mine: &[Evidence], elsewhere: &dyn Elsewhere) -> Vec<&'a str> {
    let with = |wanted: Evidence| {
        let found = ids.iter().zip(mine).filter(move |(_, evidence)| **evidence == wanted);
        found.map(|(id, _)| *id).collect::<Vec<_>>()
    };
    let mut own = with(Evidence::Launched);
    let open: Vec<&str> = [with(Evidence::Mentioned), with(Evidence::Absent)].concat();
    if open.is_empty() {
        return own;
    }
    let mentioned = with(Evidence::Mentioned).len();
    let mut nowhere = Vec::new();
    for (at, (id, evidence)) in open.iter().zip(elsewhere.evidence(&open)).enumerate() {
        match (at < mentioned, evidence) {
            (true, Evidence::Launched) | (false, Evidence::Mentioned | Evidence::Launched) => {}
            (true, Evidence::Mentioned | Evidence::Absent) => own.push(id),
            (false, Evidence::Absent) => nowhere.push(*id),
        }
    }
    if !nowhere.is_empty() {
        let late = elsewhere.again(&nowhere);
        own.extend(
            nowhere
                .iter()
                .zip(late)
                .filter(|(_, found)| *found > Evidence::Absent)
                .map(|(id, _)| *id),
        );
    }
    own
}

struct Others<'a> {
    payload: &'a Payload,
}

impl Others<'_> {
    fn transcripts(&self) -> impl Iterator<Item = PathBuf> {
        let mine = self.payload.agent_transcript.clone().unwrap_or_default();
        let folder = mine.parent().and_then(|folder| std::fs::read_dir(folder).ok());
        let siblings = folder.into_iter().flatten().flatten().map(|entry| entry.path());
        let siblings =
            siblings.filter(move |path| *path != mine && path.extension().is_some_and(|end| end == "jsonl"));
        self.payload
            .transcript
            .clone()
            .into_iter()
            .chain(siblings.take(SIBLINGS_LIMIT))
    }
}

impl Elsewhere for Others<'_> {
    fn evidence(&self, ids: &[&str]) -> Vec<Evidence> {
        let mut strongest = vec![Evidence::Absent; ids.len()];
        for path in self.transcripts() {
            if strongest.iter().all(|evidence| *evidence == Evidence::Launched) {
                break;
            }
            let Ok(found) = search(&path, ids) else { continue };
            for (strongest, found) in strongest.iter_mut().zip(found) {
                *strongest = (*strongest).max(found);
            }
        }
        strongest
    }

    fn again(&self, ids: &[&str]) -> Vec<Evidence> {
        let path = self.payload.agent_transcript.as_deref().unwrap_or(Path::new(""));
        let deadline = Deadline::after(LAG);
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
        let mut seen = 0;
        loop {
            // What has not grown shows nothing new.
            let now = length(path);
            if now != seen {
                seen = now;
                match search(path, ids) {
                    Ok(found) if found.contains(&Evidence::Absent) && !deadline.is_over() => {}
                    Ok(found) => return found,
                    Err(_) => return vec![Evidence::Launched; ids.len()],
                }
            }
            if deadline.is_over() {
                return search(path, ids).unwrap_or_else(|_| vec![Evidence::Launched; ids.len()]);
            }
            // Nothing tells when the client writes; the standard library has no other wait with a deadline.
            std::thread::park_timeout(deadline.remaining().min(LAG_SLICE));
        }
    }
}

/// What the transcript at `path` shows of each id.
fn search(path: &Path, ids: &[&str]) -> io::Result<Vec<Evidence>> {
    let file = open_regular(path, Links::Follow).map_err(io::Error::other)?;
    let mut limited = file.take(READ_LIMIT);
    let found = search_in(&mut limited, ids, CHUNK)?;
    if limited.limit() == 0 {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(found)
}

/// Reads in pieces of `chunk` bytes; of each the end is kept, so that no id is cut.
fn search_in(reader: &mut impl Read, ids: &[&str], chunk: usize) -> io::Result<Vec<Evidence>> {
    let finders: Vec<memmem::Finder<'_>> = ids.iter().map(|id| memmem::Finder::new(id.as_bytes())).collect();
    let mut found = vec![Evidence::Absent; ids.len()];
    let longest = ids.iter().map(|id| id.len()).max().unwrap_or_default();
    let kept = longest + CONTEXT + 1;
    let mut buffer: Vec<u8> = Vec::with_capacity(kept + chunk);
    let mut part = Window {
        at_start: true,
        at_end: false,
    };
    loop {
        let before = buffer.len();
        let mut piece = reader.by_ref().take(u64::try_from(chunk).unwrap_or(u64::MAX));
        piece.read_to_end(&mut buffer)?;
        part.at_end = buffer.len() == before;
        for (finder, evidence) in finders.iter().zip(found.iter_mut()) {
            *evidence = (*evidence).max(part.evidence(&buffer, finder));
        }
        if part.at_end || found.iter().all(|evidence| *evidence == Evidence::Launched) {
            return Ok(found);
        }
        let drop = buffer.len().saturating_sub(kept);
        part.at_start &= drop == 0;
        buffer.drain(..drop);
    }
}

/// Where a piece of a file stands in it.
#[derive(Clone, Copy)]
struct Window {
    at_start: bool,
    at_end: bool,
}

impl Window {
    /// What the piece shows of an id. A place whose neighbours are not in it is seen in the piece before or after.
    fn evidence(self, piece: &[u8], finder: &memmem::Finder<'_>) -> Evidence {
        let length = finder.needle().len();
        let mut strongest = Evidence::Absent;
        for at in finder.find_iter(piece) {
            let before = piece.get(..at).unwrap_or_default();
            let after = piece.get(at + length..).unwrap_or_default();
            let free_before = before.last().map_or(self.at_start, |byte| !is_id_byte(*byte));
            let free_after = after.first().map_or(self.at_end, |byte| !is_id_byte(*byte));
            if free_before && free_after {
                let launched = LAUNCHES.iter().any(|launch| before.ends_with(launch));
                strongest = strongest.max(if launched {
                    Evidence::Launched
                } else {
                    Evidence::Mentioned
                });
            }
        }
        strongest
    }
}

const fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[cfg(test)]
#[path = "ownership_tests.rs"]
mod tests;
