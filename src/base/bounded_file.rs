//! Reads a small file that somebody else may have put there: never more than a limit, never waiting on a pipe or device.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// `O_NONBLOCK` of Linux (the value of every architecture that the client ships for): opening a pipe that nobody writes
/// to must fail or return, not wait.
const O_NONBLOCK: i32 = 0o4000;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum BoundedReadError {
    /// There is no such file.
    #[error("there is no such file")]
    Missing,
    /// It is a folder, a pipe, a socket or a device.
    #[error("it is not a regular file")]
    NotRegular,
    /// It is larger than the caller takes.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// The caller's limit, in bytes.
        limit: u64,
    },
    /// The system refused to open or read it.
    #[error("it cannot be read")]
    Unreadable(#[source] io::Error),
}

impl From<io::Error> for BoundedReadError {
    fn from(error: io::Error) -> Self {
        if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
            Self::Missing
        } else {
            Self::Unreadable(error)
        }
    }
}

/// Opens `path` for reading if it is a regular file; symbolic links are followed.
///
/// # Errors
/// [`BoundedReadError`] where it is missing, of another kind, or not readable.
pub fn open_regular(path: &Path) -> Result<File, BoundedReadError> {
    let file = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(BoundedReadError::NotRegular)
    }
}

/// The bytes of the regular file `path`, at most `limit` of them.
///
/// # Errors
/// [`BoundedReadError`] where it is missing, of another kind, larger than `limit`, or not readable.
pub fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, BoundedReadError> {
    let mut bytes = Vec::new();
    // The size may change while we read, so the read itself is bounded, not the size asked for beforehand.
    open_regular(path)?
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|read| read > limit) {
        return Err(BoundedReadError::TooLarge { limit });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_up_to_the_limit_and_not_past_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"12345").unwrap();
        assert_eq!(read_bounded(&path, 5).unwrap(), b"12345");
        assert!(matches!(
            read_bounded(&path, 4),
            Err(BoundedReadError::TooLarge { limit: 4 })
        ));
    }

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(
            read_bounded(&folder.path().join("none"), 9),
            Err(BoundedReadError::Missing)
        ));
        assert!(matches!(
            read_bounded(folder.path(), 9),
            Err(BoundedReadError::NotRegular)
        ));
        // A device that never ends stands for a pipe that never starts: both are told by the opened file's kind.
        assert!(matches!(
            read_bounded(Path::new("/dev/zero"), 9),
            Err(BoundedReadError::NotRegular)
        ));
        let socket = folder.path().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(read_bounded(&socket, 9).is_err());
    }
}
