//! The folder of the slot files, and what is refused there: a place that others can write to must not lead us to
//! lock, write or create a file of their choice.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::signals::StopSignal;

const QUEUE: &str = "queue";

/// No slot.
#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    /// All slots were taken, or memory was short, for as long as waiting was allowed.
    #[error("no slot for a cell within {} ms (waited {} ms)", limit.as_millis(), waited.as_millis())]
    NotInTime {
        /// How long it was waited for.
        waited: Duration,
        /// How long it may be waited for.
        limit: Duration,
    },
    /// This process was told to stop while it waited.
    #[error("told to stop while waiting for a slot")]
    Interrupted {
        /// By which signal.
        signal: StopSignal,
    },
    /// Somebody else's file or a link stands where the slots should be.
    #[error("slot file {} is refused: it is {why}", path.display())]
    Refused {
        /// What is refused.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Reading or writing failed.
    #[error("use the slot file {}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// The folder, open.
#[derive(Debug)]
pub(super) struct SlotFolder {
    path: PathBuf,
    file: File,
}

/// One slot's file, open.
#[derive(Debug)]
pub(super) struct SlotFile {
    pub(super) number: usize,
    pub(super) file: File,
}

impl SlotFile {
    /// Whether the lock was free (or is ours already).
    pub(super) fn try_lock(&self, folder: &SlotFolder) -> Result<bool, SlotError> {
        folder.try_lock(&self.file)
    }

    /// Writes this process's pid, for whoever looks, and with it the time from which the cell's age counts.
    ///
    /// Over the one before, padded to the width of the longest, and never truncated: a file that was emptied and written
    /// again is sent to the disk when it is closed (ext4, `auto_da_alloc`), for which a hook would wait.
    pub(super) fn touch(self, folder: &SlotFolder) -> Result<Self, SlotError> {
        let line = format!("{:<10}\n", std::process::id());
        let written = self.file.write_all_at(line.as_bytes(), 0);
        written.map_err(|source| folder.io(&slot_name(self.number), source))?;
        Ok(self)
    }
}

fn slot_name(number: usize) -> String {
    format!("slot-{number:03}")
}

impl SlotFolder {
    /// Opens the folder, which is made for its owner alone where it is missing.
    pub(super) fn open_or_make(path: &Path) -> Result<Self, SlotError> {
        let io = |source| SlotError::Io {
            path: path.to_owned(),
            source,
        };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(SlotError::Refused {
                    path: path.to_owned(),
                    why: "a link",
                });
            }
            Err(error) => return Err(io(error.into())),
        };
        let folder = Self {
            path: path.to_owned(),
            file,
        };
        let mode = folder.check_owner("", &folder.file)?;
        if mode & 0o077 != 0 {
            rustix::fs::fchmod(&folder.file, Mode::RWXU).map_err(|error| io(error.into()))?;
        }
        Ok(folder)
    }

    /// The file behind which hooks wait.
    pub(super) fn queue(&self) -> Result<File, SlotError> {
        self.open(QUEUE, OFlags::CREATE)
    }

    /// The slots that there are, by number.
    pub(super) fn slots(&self) -> Result<Vec<SlotFile>, SlotError> {
        let mut slots = Vec::new();
        for number in self.numbers()? {
            match self.open(&slot_name(number), OFlags::empty()) {
                Ok(file) => slots.push(SlotFile { number, file }),
                Err(SlotError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(slots)
    }

    /// Makes the file of a new slot.
    pub(super) fn make_slot(&self, number: usize) -> Result<SlotFile, SlotError> {
        let file = self.open(&slot_name(number), OFlags::CREATE)?;
        Ok(SlotFile { number, file })
    }

    /// Whether the lock was free (or is ours already).
    pub(super) fn try_lock(&self, file: &File) -> Result<bool, SlotError> {
        match file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(source)) => Err(self.io("", source)),
        }
    }

    /// The numbers of the slot files, in order.
    fn numbers(&self) -> Result<Vec<usize>, SlotError> {
        let entries = self.path.read_dir().map_err(|source| self.io("", source))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut numbers: Vec<usize> = names
            .filter_map(|name| {
                name.strip_prefix("slot-")?
                    .parse()
                    .ok()
                    .filter(|n| slot_name(*n) == name)
            })
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn open(&self, name: &str, how: OFlags) -> Result<File, SlotError> {
        let flags = how | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match rustix::fs::openat(&self.file, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => File::from(fd),
            Err(Errno::LOOP) => return Err(self.refused(name, "a link")),
            Err(error) => return Err(self.io(name, error.into())),
        };
        let mode = self.check_owner(name, &file)?;
        if FileType::from_raw_mode(mode).is_file() {
            Ok(file)
        } else {
            Err(self.refused(name, "no regular file"))
        }
    }

    /// The mode of what is ours.
    fn check_owner(&self, name: &str, file: &File) -> Result<u32, SlotError> {
        let stat = file.metadata().map_err(|source| self.io(name, source))?;
        if stat.uid() == rustix::process::geteuid().as_raw() {
            Ok(stat.mode())
        } else {
            Err(self.refused(name, "another user's"))
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() {
            self.path.clone()
        } else {
            self.path.join(name)
        }
    }

    fn refused(&self, name: &str, why: &'static str) -> SlotError {
        SlotError::Refused {
            path: self.path(name),
            why,
        }
    }

    fn io(&self, name: &str, source: io::Error) -> SlotError {
        SlotError::Io {
            path: self.path(name),
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::super::{Signals, Slot, Slots};
    use super::*;

    fn acquire(at: &Path) -> Result<Slot, SlotError> {
        Slots::new(at.to_owned(), 1).acquire(Duration::ZERO, &Signals::install().unwrap())
    }

    #[test]
    fn links_and_what_is_no_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        let link = folder.path().join("link");
        assert!(acquire(&real).is_ok());
        symlink(&real, &link).unwrap();
        assert!(matches!(acquire(&link), Err(SlotError::Refused { .. })));
        fs::remove_file(real.join("slot-000")).unwrap();
        symlink("/etc/passwd", real.join("slot-000")).unwrap();
        assert!(matches!(acquire(&real), Err(SlotError::Refused { .. })));
        fs::remove_file(real.join("slot-000")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            real.join("slot-000"),
            rustix::fs::FileType::Fifo,
            Mode::RWXU,
            0,
        )
        .unwrap();
        assert!(matches!(acquire(&real), Err(SlotError::Refused { .. })));
        fs::remove_file(real.join("slot-000")).unwrap();
        symlink("/etc/passwd", real.join("moved")).unwrap();
        fs::rename(real.join("moved"), real.join("queue")).unwrap();
        assert!(matches!(acquire(&real), Err(SlotError::Refused { .. })));
    }

    #[test]
    fn a_slot_names_its_holder_and_nobody_before() {
        let folder = tempfile::tempdir().unwrap();
        let slot = folder.path().join("slot-000");
        // The longest pid that Linux has.
        fs::write(&slot, "4194304   \n").unwrap();
        fs::set_permissions(&slot, fs::Permissions::from_mode(0o600)).unwrap();
        let _held = acquire(folder.path()).unwrap();
        assert_eq!(
            fs::read_to_string(&slot).unwrap().trim_end(),
            std::process::id().to_string()
        );
    }

    #[test]
    fn another_users_folder_is_refused() {
        // Only root can make one.
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(folder.path(), Some(65534), None).unwrap();
        let refused = acquire(folder.path());
        assert!(
            matches!(
                refused,
                Err(SlotError::Refused {
                    why: "another user's",
                    ..
                })
            ),
            "{refused:?}"
        );
    }

    #[test]
    fn folder_and_files_are_the_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let fresh = folder.path().join("a/b");
        let _slot = acquire(&fresh).unwrap();
        assert_eq!(
            (mode(&fresh), mode(&fresh.join("slot-000")), mode(&fresh.join("queue"))),
            (0o700, 0o600, 0o600)
        );
        let open = folder.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        let _slot = acquire(&open).unwrap();
        assert_eq!(mode(&open), 0o700);
    }
}
