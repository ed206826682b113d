//! Reads what the stand-in is to do.

use std::error::Error;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGTERM;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Client,
    Middle,
    Member,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    None,
    Group,
    Session,
    Daemon,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnTerm {
    Die,
    Ignore,
    Exit(u8),
    Kill,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    No,
    Meet,
    Forever,
    Fifo(PathBuf),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    Exit(u8),
    Signal,
    FloodStdout,
    FloodStderr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prints {
    Result,
    Nothing,
    Echo,
    File,
    FloodStdout,
    FloodStderr,
    Closed,
    InvalidUtf8,
    CutJson,
}

#[derive(Clone, Debug)]
pub(crate) struct Orders {
    pub(crate) role: Role,
    pub(crate) reads_stdin: bool,
    pub(crate) prints: Prints,
    pub(crate) bytes: u64,
    pub(crate) from: PathBuf,
    pub(crate) family: Family,
    pub(crate) on_term: OnTerm,
    pub(crate) wait: Wait,
    pub(crate) socket: Option<PathBuf>,
    pub(crate) ends: Ends,
}

impl Orders {
    #[expect(
        clippy::disallowed_methods,
        reason = "a stand-in is no part of the program and its layers"
    )]
    pub(crate) fn from_environment() -> Result<Self, Box<dyn Error>> {
        Self::parse(&std::env::var("STANDIN").unwrap_or_default())
    }

    fn parse(text: &str) -> Result<Self, Box<dyn Error>> {
        let mut orders = Self {
            role: Role::Client,
            reads_stdin: true,
            prints: Prints::Result,
            bytes: 2,
            from: PathBuf::new(),
            family: Family::None,
            on_term: OnTerm::Die,
            wait: Wait::No,
            socket: None,
            ends: Ends::Exit(0),
        };
        for word in text.split_ascii_whitespace() {
            let (key, value) = word.split_once('=').ok_or_else(|| format!("not key=value: {word}"))?;
            orders.set(key, value).map_err(|error| format!("{word}: {error}"))?;
        }
        Ok(orders)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), Box<dyn Error>> {
        match key {
            "role" => self.role = pick(value, &[("middle", Role::Middle), ("member", Role::Member)])?,
            "stdin" => self.reads_stdin = pick(value, &[("read", true), ("unread", false)])?,
            "prints" => self.prints = pick(value, &PRINTS)?,
            "bytes" => self.bytes = value.parse()?,
            "from" => self.from = value.into(),
            "family" => self.family = pick(value, &FAMILIES)?,
            "meet" => self.socket = Some(value.into()),
            "on-term" => {
                self.on_term = match value.strip_prefix("exit:") {
                    Some(code) => OnTerm::Exit(code.parse()?),
                    None => pick(
                        value,
                        &[("die", OnTerm::Die), ("ignore", OnTerm::Ignore), ("kill", OnTerm::Kill)],
                    )?,
                }
            }
            "wait" => {
                let words = [("no", Wait::No), ("meet", Wait::Meet), ("forever", Wait::Forever)];
                self.wait = pick(value, &words).unwrap_or_else(|_| Wait::Fifo(value.into()));
            }
            "ends" => {
                self.ends = match value.strip_prefix("exit:") {
                    Some(code) => Ends::Exit(code.parse()?),
                    None => pick(value, &ENDS)?,
                }
            }
            _ => return Err("no such key".into()),
        }
        Ok(())
    }

    /// Joins the meeting, if there is one: the stream ends when this process does.
    pub(crate) fn meet(&self, role: &str) -> Result<Option<UnixStream>, Box<dyn Error>> {
        let Some(socket) = &self.socket else {
            return Ok(None);
        };
        let mut stream = UnixStream::connect(socket)?;
        writeln!(stream, "{role} {}", std::process::id())?;
        Ok(Some(stream))
    }

    /// The orders of a descendant in `role`, as a value of `STANDIN`.
    pub(crate) fn for_descendant(&self, role: &str) -> String {
        let meet = self
            .socket
            .as_ref()
            .map(|path| format!(" meet={}", path.display()))
            .unwrap_or_default();
        let family = FAMILIES
            .iter()
            .find(|(_, family)| *family == self.family)
            .map_or("none", |(name, _)| name);
        let on_term = if self.on_term == OnTerm::Ignore {
            "ignore"
        } else {
            "die"
        };
        format!("role={role} family={family} on-term={on_term}{meet}")
    }
}

const FAMILIES: [(&str, Family); 4] = [
    ("none", Family::None),
    ("group", Family::Group),
    ("session", Family::Session),
    ("daemon", Family::Daemon),
];

const ENDS: [(&str, Ends); 3] = [
    ("signal", Ends::Signal),
    ("flood-stdout", Ends::FloodStdout),
    ("flood-stderr", Ends::FloodStderr),
];

const PRINTS: [(&str, Prints); 9] = [
    ("result", Prints::Result),
    ("nothing", Prints::Nothing),
    ("echo", Prints::Echo),
    ("file", Prints::File),
    ("flood-stdout", Prints::FloodStdout),
    ("flood-stderr", Prints::FloodStderr),
    ("closed", Prints::Closed),
    ("invalid-utf8", Prints::InvalidUtf8),
    ("cut-json", Prints::CutJson),
];

fn pick<T: Clone>(value: &str, words: &[(&str, T)]) -> Result<T, Box<dyn Error>> {
    let found = words.iter().find(|(word, _)| *word == value);
    found
        .map(|(_, meaning)| meaning.clone())
        .ok_or_else(|| "no such word".into())
}

impl OnTerm {
    pub(crate) fn prepare(self) -> Result<(), Box<dyn Error>> {
        let yes = || Arc::new(AtomicBool::new(true));
        match self {
            Self::Die => {}
            Self::Ignore => {
                signal_hook::flag::register(SIGTERM, yes())?;
            }
            Self::Exit(code) => {
                signal_hook::flag::register_conditional_shutdown(SIGTERM, code.into(), yes())?;
            }
            Self::Kill => {
                let (wakes, wake) = UnixStream::pair()?;
                signal_hook::low_level::pipe::register(SIGTERM, wake)?;
                std::thread::spawn(move || {
                    let _ = crate::wait_for_end(wakes);
                    crate::family::kill_self()
                });
            }
        }
        Ok(())
    }
}
