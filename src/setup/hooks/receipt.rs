//! What an installation of hooks remembers of itself, so that its removal can give back what was there.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::HooksError;
use crate::base::digest::sha256_hex;
use crate::base::{Links, UnixNanos, read_bounded};
use crate::ledger::files;
use crate::protocol::settings::load::SETTINGS_LIMIT;

const FORMAT: u32 = 1;
const LIMIT: u64 = 64 * 1024;
/// Holders keep the lock for some reads and renames; twenty of them come one after another.
const LOCK_WAIT: Duration = Duration::from_secs(20);

/// One settings file that has hooks of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Receipt {
    /// The format of this file.
    pub(super) format: u32,
    /// The settings file.
    pub(super) settings: PathBuf,
    /// The agent definition that was placed, and its SHA-256.
    pub(super) agent: Option<(PathBuf, String)>,
    /// The places that held nothing before: they stay when they hold nothing again.
    pub(super) empty: BTreeSet<String>,
    /// The text before the first installation; none where there was no file.
    pub(super) before: Option<PathBuf>,
    /// The SHA-256 of the text after the last installation.
    pub(super) after: String,
}

impl Receipt {
    pub(super) fn new(settings: &Path) -> Self {
        Self {
            format: FORMAT,
            settings: settings.to_owned(),
            agent: None,
            empty: BTreeSet::new(),
            before: None,
            after: String::new(),
        }
    }
}

/// The folder of receipts and backups, owner-only.
#[derive(Clone, Debug)]
pub(super) struct Receipts {
    folder: PathBuf,
}

impl Receipts {
    pub(super) const fn of(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Keeps every other installation out until the file is dropped.
    pub(super) fn lock(&self) -> Result<fs::File, HooksError> {
        files::make_private_dir(&self.folder).map_err(HooksError::io("use", &self.folder))?;
        let path = self.folder.join(".lock");
        files::lock(&path, LOCK_WAIT).map_err(|error| {
            if error.kind() == io::ErrorKind::TimedOut {
                HooksError::Busy(self.folder.clone())
            } else {
                HooksError::io("lock", &path)(error)
            }
        })
    }

    /// The receipt of a settings file; none where there is none that this version reads.
    pub(super) fn read(&self, settings: &Path) -> Option<Receipt> {
        read_receipt(&self.path(settings)).filter(|receipt| receipt.settings == settings)
    }

    /// Every receipt that this version reads.
    pub(super) fn all(&self) -> Vec<Receipt> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let receipts = paths.filter(|path| path.extension().is_some_and(|ending| ending == "receipt"));
        receipts.filter_map(|path| read_receipt(&path)).collect()
    }

    pub(super) fn write(&self, receipt: &Receipt) -> Result<(), HooksError> {
        let path = self.path(&receipt.settings);
        let write = |file: &mut fs::File| serde_json::to_writer_pretty(file, receipt).map_err(io::Error::from);
        files::replace(&path, write).map_err(HooksError::io("write", &path))
    }

    pub(super) fn remove(&self, settings: &Path) -> Result<(), HooksError> {
        let path = self.path(settings);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(HooksError::io("remove", &path)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Keeps a copy of a settings text, owner-only: settings may hold keys.
    pub(super) fn back_up(&self, settings: &Path, text: &str) -> Result<PathBuf, HooksError> {
        let name = format!("{}.{}.backup", short(settings), UnixNanos::now());
        let path = self.folder.join(name);
        let write = |file: &mut fs::File| file.write_all(text.as_bytes());
        files::replace(&path, write).map_err(HooksError::io("write", &path))?;
        Ok(path)
    }

    /// The text of a backup.
    pub(super) fn backed_up(path: &Path) -> Option<String> {
        String::from_utf8(read_bounded(path, SETTINGS_LIMIT, Links::Refuse).ok()?).ok()
    }

    fn path(&self, settings: &Path) -> PathBuf {
        self.folder.join(format!("{}.receipt", short(settings)))
    }
}

/// A name for a path, without what the path says.
fn short(path: &Path) -> String {
    sha256_hex(path.as_os_str().as_encoded_bytes())
        .chars()
        .take(16)
        .collect()
}

fn read_receipt(path: &Path) -> Option<Receipt> {
    let bytes = read_bounded(path, LIMIT, Links::Refuse).ok()?;
    serde_json::from_slice(&bytes)
        .ok()
        .filter(|receipt: &Receipt| receipt.format == FORMAT)
}
