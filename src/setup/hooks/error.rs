//! Why hooks were not installed or removed. Nothing was changed then, unless the message says so.

use std::io;
use std::path::{Path, PathBuf};

use super::document::DocumentError;

/// An installation of hooks, or its removal, that was not done.
#[derive(Debug, thiserror::Error)]
pub enum HooksError {
    /// A folder that is needed is not known.
    #[error("{0}")]
    NoPlace(&'static str),
    /// The settings file is a link: replacing it would cut the link, writing through it would change another file.
    #[error("{} is a link to {}: name that file with --settings", path.display(), to.display())]
    Link {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        to: PathBuf,
    },
    /// The settings file is not to be written.
    #[error("{} is read-only: allow writing to it (chmod u+w), or name another file with --settings", .0.display())]
    ReadOnly(PathBuf),
    /// The settings file is no regular file.
    #[error("{} is no regular file", .0.display())]
    NotRegular(PathBuf),
    /// The settings file is larger than the client's are.
    #[error("{} is larger than {} bytes", path.display(), limit)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The settings file cannot be changed.
    #[error("{} was not changed", path.display())]
    Document {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: DocumentError,
    },
    /// Somebody else wrote the settings file meanwhile.
    #[error("{} was changed by another program meanwhile: nothing of it is lost and nothing was written; try again", .0.display())]
    Changed(PathBuf),
    /// Another process holds the lock.
    #[error("another installation works on {} and does not end: try again", .0.display())]
    Busy(PathBuf),
    /// Things that contradict one another.
    #[error("{0}")]
    Conflict(String),
    /// The system refused.
    #[error("{doing} {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl HooksError {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    pub(super) fn document(path: &Path) -> impl FnOnce(DocumentError) -> Self {
        let path = path.to_owned();
        move |source| Self::Document { path, source }
    }
}
