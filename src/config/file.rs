//! Bounded reading of configuration files, which may lie in a repository that is not trusted.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// A configuration file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("cannot be read: {0}")]
    Io(io::Error),
    /// It is a folder, a pipe or a device.
    #[error("not a regular file")]
    NotRegular,
    /// It is a symbolic link where none is followed, or a ring of them.
    #[error("a symbolic link that is not followed")]
    Link,
    /// It is larger than any configuration is.
    #[error("larger than {} KiB", LIMIT >> 10)]
    TooLarge,
    /// It is not text.
    #[error("not UTF-8")]
    NotText,
}

/// Whether a symbolic link in the last place of the path is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// It is: the user's own files.
    Follow,
    /// It is not: files of a repository, which could point anywhere.
    Refuse,
}

const LIMIT: u64 = 1 << 20;

/// The text of the file at `path`; none where there is no such file. Never waits: a pipe is refused, not opened for
/// reading until somebody writes.
///
/// # Errors
/// [`FileError`] where something is there that is not a readable regular text file of at most 1 MiB.
pub fn read(path: &Path, links: Links) -> Result<Option<String>, FileError> {
    let Some(file) = open(path, links)? else {
        return Ok(None);
    };
    if !file.metadata().map_err(FileError::Io)?.is_file() {
        return Err(FileError::NotRegular);
    }
    let mut bytes = Vec::new();
    file.take(LIMIT + 1).read_to_end(&mut bytes).map_err(FileError::Io)?;
    if bytes.len() as u64 > LIMIT {
        return Err(FileError::TooLarge);
    }
    String::from_utf8(bytes).map(Some).map_err(|_| FileError::NotText)
}

fn open(path: &Path, links: Links) -> Result<Option<File>, FileError> {
    let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(fd) => Ok(Some(File::from(fd))),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(Errno::LOOP) => Err(FileError::Link),
        // A socket, or a device that is not there.
        Err(Errno::NXIO) => Err(FileError::NotRegular),
        Err(error) => Err(FileError::Io(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_text_files_of_a_sane_size_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("good"), "a = 1\n").unwrap();
        std::fs::write(at("latin"), b"\xe4").unwrap();
        std::fs::write(at("large"), vec![b'#'; (1 << 20) + 1]).unwrap();
        std::fs::write(at("just"), vec![b'#'; 1 << 20]).unwrap();
        std::os::unix::fs::symlink(at("good"), at("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();

        let follow = |name: &str| read(&at(name), Links::Follow);
        assert_eq!(follow("good").unwrap().as_deref(), Some("a = 1\n"));
        assert_eq!(follow("link").unwrap().as_deref(), Some("a = 1\n"));
        assert_eq!(follow("just").unwrap().map(|text| text.len()), Some(1 << 20));
        assert!(follow("missing").unwrap().is_none());
        assert!(follow("good/below").unwrap().is_none());
        assert!(matches!(follow("latin"), Err(FileError::NotText)));
        assert!(matches!(follow("large"), Err(FileError::TooLarge)));
        assert!(matches!(follow("pipe"), Err(FileError::NotRegular)));
        assert!(matches!(follow("socket"), Err(FileError::NotRegular)));
        assert!(matches!(follow("."), Err(FileError::NotRegular)));
        assert!(matches!(follow("/dev/null"), Err(FileError::NotRegular)));
        assert!(matches!(read(&at("link"), Links::Refuse), Err(FileError::Link)));
    }
}
