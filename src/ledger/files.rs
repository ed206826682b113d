//! Owner-only files and folders: created, checked, replaced whole, read with a bound.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::base::Deadline;

/// Makes a folder and its parents owner-only; an existing one must be a folder of this user, not a link.
pub(crate) fn make_private_dir(dir: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(dir) {
        Ok(meta) => check_own_dir(&meta),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match DirBuilder::new().recursive(true).mode(0o700).create(dir) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                Ok(()) | Err(_) => check_own_dir(&std::fs::symlink_metadata(dir)?),
            }
        }
        Err(error) => Err(error),
    }
}

fn check_own_dir(meta: &Metadata) -> io::Result<()> {
    if !meta.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::NotADirectory,
            "it is a link or a file, not a folder",
        ));
    }
    if meta.uid() != own_uid()? {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it belongs to another user",
        ));
    }
    Ok(())
}

/// This process's user: the owner of its own entry in /proc.
fn own_uid() -> io::Result<u32> {
    Ok(std::fs::metadata("/proc/self")?.uid())
}

/// Writes a file whole under a name of its own and renames it into place, so that no reader sees a half.
pub(crate) fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unique = format!(
        ".{name}.{}-{}.new",
        std::process::id(),
        COUNTER.fetch_add(1, Ordering::Relaxed)
    );
    let fresh = path.with_file_name(unique);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh)
        .and_then(|mut file| write(&mut file).and_then(|()| file.flush()))
        .and_then(|()| std::fs::rename(&fresh, path));
    if written.is_err() {
        // What is left of a failed write is of no use to anyone; the write's own error is the one to report.
        let _ = std::fs::remove_file(&fresh);
    }
    written
}

/// Takes the lock file of a folder, waiting no longer than `wait`.
pub(crate) fn lock(path: &Path, wait: Duration) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)?;
    let deadline = Deadline::after(wait);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(std::fs::TryLockError::WouldBlock) if !deadline.is_over() => {
                // Holders keep it for a read and a rename. The standard library has no lock with a deadline.
                std::thread::park_timeout(Duration::from_millis(1));
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    format!("another process held it for {wait:?}"),
                ));
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
    }
}
