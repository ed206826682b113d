//! What can go wrong in the ledger.

use std::io;
use std::path::{Path, PathBuf};

use super::record::FORMAT;
use crate::base::BoundedReadError;

/// A failure of the ledger. It never changes a cell's result: the caller reports it beside that.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// A folder or file could not be used.
    #[error("{what} {path}", path = path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A record could not be read.
    #[error("read the record {path}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: BoundedReadError,
    },
    /// A file is no record of a format that this version reads.
    #[error("{path} is no record that this version reads", path = path.display())]
    NotARecord {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },
    /// A record was written by a newer version.
    #[error("{path} has format {format}, newer than {FORMAT}; use the version that wrote it", path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
    },
}

/// The error of `what`, tried on `path`.
pub(super) fn io_error<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> LedgerError + 'a {
    move |source| LedgerError::Io {
        what,
        path: path.to_owned(),
        source,
    }
}
