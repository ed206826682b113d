//! The agent that hands results back, placed where the client finds it.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::HooksError;
use super::receipt::Receipt;
use crate::base::digest::sha256_hex;
use crate::base::{BoundedReadError, Links, read_bounded};
use crate::ledger::files;

/// Its definition.
const TEXT: &str = include_str!("../../../agents/echo-through.md");
/// The name of its file.
const FILE: &str = "echo-through.md";
/// An agent definition is some lines.
const LIMIT: u64 = 1 << 20;

/// The definition in a folder of agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    /// There is none.
    Absent(PathBuf),
    /// It is ours, of this version.
    Ours(PathBuf),
    /// It is ours, of another version: as it was placed.
    Older(PathBuf),
    /// Somebody wrote or changed it.
    Foreign(PathBuf),
}

impl Agent {
    /// Looks.
    pub(super) fn find(folder: &Path, receipts: &[Receipt]) -> Self {
        let path = folder.join(FILE);
        let placed = |digest: &str| {
            let mut agents = receipts.iter().filter_map(|receipt| receipt.agent.as_ref());
            agents.any(|(at, sha256)| at == &path && sha256 == digest)
        };
        match read_bounded(&path, LIMIT, Links::Refuse) {
            Ok(bytes) if bytes == TEXT.as_bytes() => Self::Ours(path),
            Ok(bytes) if placed(&sha256_hex(&bytes)) => Self::Older(path),
            Err(BoundedReadError::Missing) => Self::Absent(path),
            Ok(_) | Err(_) => Self::Foreign(path),
        }
    }

    /// Places it; what the receipt keeps of it.
    pub(super) fn place(&self) -> Result<Option<(PathBuf, String)>, HooksError> {
        let (Self::Absent(path) | Self::Older(path) | Self::Ours(path)) = self else {
            return Ok(None);
        };
        if !matches!(self, Self::Ours(_)) {
            let folder = path.parent().unwrap_or(Path::new("/"));
            fs::create_dir_all(folder).map_err(HooksError::io("make", folder))?;
            let write = |file: &mut fs::File| std::io::Write::write_all(file, TEXT.as_bytes());
            files::replace(path, write).map_err(HooksError::io("write", path))?;
        }
        Ok(Some((path.clone(), sha256_hex(TEXT.as_bytes()))))
    }

    /// Takes it away, where it is as we placed it.
    pub(super) fn remove(&self) -> Result<(), HooksError> {
        match self {
            Self::Ours(path) | Self::Older(path) => fs::remove_file(path).map_err(HooksError::io("remove", path)),
            Self::Absent(_) | Self::Foreign(_) => Ok(()),
        }
    }

    /// A line on what placing it does.
    pub(super) fn placing(&self, would: &str) -> String {
        match self {
            Self::Absent(path) => format!("{would}write {}", path.display()),
            Self::Older(path) => format!("{would}replace {} (of an older version)", path.display()),
            Self::Ours(path) => format!("{} is there", path.display()),
            Self::Foreign(path) => format!(
                "{} is not ours and stays: results go through it; delete it and install again to have ours",
                path.display()
            ),
        }
    }

    /// A line on what removing it does; none where nothing is there.
    pub(super) fn removing(&self, would: &str) -> Option<String> {
        match self {
            Self::Ours(path) | Self::Older(path) => Some(format!("{would}remove {}", path.display())),
            Self::Foreign(path) => Some(format!("{would}keep {} (it was changed)", path.display())),
            Self::Absent(_) => None,
        }
    }
}
