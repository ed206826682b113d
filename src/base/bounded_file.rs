//! Reads a small file that somebody else may have put there: never more than a limit, never waiting on a pipe or device.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Whether a symbolic link in the last place of a path is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// It is: the user's own files.
    Follow,
    /// It is not: files of a repository, or of a folder that others may write to, which could point anywhere.
    Refuse,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum BoundedReadError {
    /// There is no such file.
    #[error("there is no such file")]
    Missing,
    /// It is a folder, a pipe, a socket or a device.
    #[error("it is not a regular file")]
    NotRegular,
    /// It is a symbolic link where none is followed, or a ring of them.
    #[error("it is a symbolic link that is not followed")]
    Link,
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

impl From<Errno> for BoundedReadError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT | Errno::NOTDIR => Self::Missing,
            Errno::LOOP => Self::Link,
            // A socket, or a device that is not there.
            Errno::NXIO => Self::NotRegular,
            error => Self::Unreadable(error.into()),
        }
    }
}

/// Opens `path` for reading if it is a regular file. Never waits: a pipe is refused, not opened until somebody writes.
///
/// # Errors
/// [`BoundedReadError`] where it is missing, of another kind, or not readable.
pub fn open_regular(path: &Path, links: Links) -> Result<File, BoundedReadError> {
    let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata().map_err(BoundedReadError::Unreadable)?.is_file() {
        Ok(file)
    } else {
        Err(BoundedReadError::NotRegular)
    }
}

/// The bytes of the regular file `path`, at most `limit` of them.
///
/// # Errors
/// [`BoundedReadError`] where it is missing, of another kind, larger than `limit`, or not readable.
pub fn read_bounded(path: &Path, limit: u64, links: Links) -> Result<Vec<u8>, BoundedReadError> {
    let mut bytes = Vec::new();
    // The size may change while we read, so the read itself is bounded, not the size asked for beforehand.
    open_regular(path, links)?
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(BoundedReadError::Unreadable)?;
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
        assert_eq!(read_bounded(&path, 5, Links::Follow).unwrap(), b"12345");
        assert!(matches!(
            read_bounded(&path, 4, Links::Follow),
            Err(BoundedReadError::TooLarge { limit: 4 })
        ));
    }

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(
            read_bounded(&folder.path().join("none"), 9, Links::Follow),
            Err(BoundedReadError::Missing)
        ));
        assert!(matches!(
            read_bounded(folder.path(), 9, Links::Follow),
            Err(BoundedReadError::NotRegular)
        ));
        // A device that never ends stands for a pipe that never starts: both are told by the opened file's kind.
        assert!(matches!(
            read_bounded(Path::new("/dev/zero"), 9, Links::Follow),
            Err(BoundedReadError::NotRegular)
        ));
        let socket = folder.path().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(read_bounded(&socket, 9, Links::Follow).is_err());
    }
}
