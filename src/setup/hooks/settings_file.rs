//! One settings file: read, compared, and replaced whole.

use std::fs::{self, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::error::HooksError;
use crate::base::{BoundedReadError, Links, read_bounded};
use crate::protocol::settings::load::SETTINGS_LIMIT;

/// A settings file as it was read.
#[derive(Debug)]
pub(super) struct SettingsFile {
    path: PathBuf,
    /// None where there is no file.
    before: Option<Before>,
}

#[derive(Debug)]
struct Before {
    text: String,
    meta: Metadata,
}

impl SettingsFile {
    /// Reads the file, where it is one that may be replaced.
    pub(super) fn read(path: &Path) -> Result<Self, HooksError> {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self {
                    path: path.to_owned(),
                    before: None,
                });
            }
            Err(error) => return Err(HooksError::io("look at", path)(error)),
        };
        if meta.is_symlink() {
            let to = fs::read_link(path).unwrap_or_default();
            let to = path.parent().map_or_else(|| to.clone(), |folder| folder.join(&to));
            return Err(HooksError::Link {
                path: path.to_owned(),
                to,
            });
        }
        // The mode alone: to root everything is writable, and a file that was made read-only was made so on purpose.
        if meta.is_file() && meta.permissions().readonly() {
            return Err(HooksError::ReadOnly(path.to_owned()));
        }
        let text = String::from_utf8(bytes_of(path)?)
            .map_err(|error| HooksError::io("read as UTF-8", path)(io::Error::other(error)))?;
        Ok(Self {
            path: path.to_owned(),
            before: Some(Before { text, meta }),
        })
    }

    /// Its text; empty where there is no file.
    pub(super) fn text(&self) -> &str {
        self.before.as_ref().map_or("", |before| &before.text)
    }

    /// Whether there is a file.
    pub(super) const fn exists(&self) -> bool {
        self.before.is_some()
    }

    /// Puts `text` in its place, where the file is still as it was read.
    pub(super) fn replace(&self, text: &str) -> Result<(), HooksError> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(HooksError::io("make", folder))?;
        let mut fresh = NamedTempFile::new_in(folder).map_err(HooksError::io("write in", folder))?;
        let written = fresh.write_all(text.as_bytes()).and_then(|()| self.dress(&fresh));
        written
            .and_then(|()| fresh.as_file().sync_all())
            .map_err(HooksError::io("write beside", &self.path))?;
        match &self.before {
            Some(before) => self.exchange(before, fresh),
            None => match fresh.persist_noclobber(&self.path) {
                Ok(_) => Ok(()),
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    Err(HooksError::Changed(self.path.clone()))
                }
                Err(error) => Err(HooksError::io("write", &self.path)(error.error)),
            },
        }
    }

    /// Takes the file away, where it is still as it was read.
    pub(super) fn remove(&self) -> Result<(), HooksError> {
        self.compare()?;
        fs::remove_file(&self.path).map_err(HooksError::io("remove", &self.path))
    }

    /// Owner and mode of the file that is replaced; of a new one what the client gives its own.
    fn dress(&self, fresh: &NamedTempFile) -> io::Result<()> {
        let Some(Before { meta, .. }) = &self.before else {
            return fresh.as_file().set_permissions(Permissions::from_mode(0o644));
        };
        let own = fresh.as_file().metadata()?;
        if (own.uid(), own.gid()) != (meta.uid(), meta.gid()) {
            chown(fresh.path(), Some(meta.uid()), Some(meta.gid()))?;
        }
        fresh.as_file().set_permissions(meta.permissions())
    }

    /// Exchanges the two files, so that what stood there last can be compared: a writer that came between the reading
    /// and this is seen, and gets its file back.
    fn exchange(&self, before: &Before, fresh: NamedTempFile) -> Result<(), HooksError> {
        self.compare()?;
        let swap = || renameat_with(CWD, fresh.path(), CWD, &self.path, RenameFlags::EXCHANGE);
        match swap() {
            Ok(()) if bytes_of(fresh.path()).is_ok_and(|last| last == before.text.as_bytes()) => Ok(()),
            // Whatever it is now, a link too: what lies beside would go with `fresh`.
            Ok(()) => {
                swap().map_err(|error| HooksError::io("give back", &self.path)(error.into()))?;
                Err(HooksError::Changed(self.path.clone()))
            }
            Err(Errno::NOENT) => Err(HooksError::Changed(self.path.clone())),
            // A filesystem that cannot exchange.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => fresh
                .persist(&self.path)
                .map(|_| ())
                .map_err(|error| HooksError::io("write", &self.path)(error.error)),
            Err(error) => Err(HooksError::io("write", &self.path)(error.into())),
        }
    }

    fn compare(&self) -> Result<(), HooksError> {
        match bytes_of(&self.path) {
            Ok(bytes) if bytes == self.text().as_bytes() => Ok(()),
            Ok(_) | Err(_) => Err(HooksError::Changed(self.path.clone())),
        }
    }
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, HooksError> {
    read_bounded(path, SETTINGS_LIMIT, Links::Refuse).map_err(|error| match error {
        BoundedReadError::NotRegular | BoundedReadError::Link => HooksError::NotRegular(path.to_owned()),
        BoundedReadError::TooLarge { limit } => HooksError::TooLarge {
            path: path.to_owned(),
            limit,
        },
        BoundedReadError::Missing => HooksError::io("read", path)(io::ErrorKind::NotFound.into()),
        BoundedReadError::Unreadable(error) => HooksError::io("read", path)(error),
    })
}

#[cfg(test)]
#[path = "settings_file_tests.rs"]
mod tests;
