//! Bounded reading of configuration files, which may lie in a repository that is not trusted.

use std::path::Path;

pub use crate::base::Links;
use crate::base::{BoundedReadError, read_bounded};

/// A configuration file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error(transparent)]
    Read(BoundedReadError),
    /// It is not text.
    #[error("not UTF-8")]
    NotText,
}

const LIMIT: u64 = 1 << 20;

/// The text of the file at `path`; none where there is no such file. Never waits: a pipe is refused, not opened for
/// reading until somebody writes.
///
/// # Errors
/// [`FileError`] where something is there that is not a readable regular text file of at most 1 MiB.
pub fn read(path: &Path, links: Links) -> Result<Option<String>, FileError> {
    match read_bounded(path, LIMIT, links) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| FileError::NotText),
        Err(BoundedReadError::Missing) => Ok(None),
        Err(error) => Err(FileError::Read(error)),
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
        assert!(matches!(
            follow("large"),
            Err(FileError::Read(BoundedReadError::TooLarge { .. }))
        ));
        assert!(matches!(
            follow("pipe"),
            Err(FileError::Read(BoundedReadError::NotRegular))
        ));
        assert!(matches!(
            follow("socket"),
            Err(FileError::Read(BoundedReadError::NotRegular))
        ));
        assert!(matches!(
            follow("."),
            Err(FileError::Read(BoundedReadError::NotRegular))
        ));
        assert!(matches!(
            follow("/dev/null"),
            Err(FileError::Read(BoundedReadError::NotRegular))
        ));
        assert!(matches!(
            read(&at("link"), Links::Refuse),
            Err(FileError::Read(BoundedReadError::Link))
        ));
    }
}
