//! The records of a scratch directory, for people.

use std::fs;
use std::path::{Path, PathBuf};

use crate::guard::liveness::scratch::{self, NoScratch, Standing};
use crate::guard::liveness::token::token;

/// A record, and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its file.
    pub path: PathBuf,
    /// What it stands for.
    pub standing: Standing,
}

impl Entry {
    /// A line about it.
    #[must_use]
    pub fn line(&self) -> String {
        let path = token(&self.path.to_string_lossy());
        match self.standing {
            Standing::Live { pid } => format!("live     {path}  pid={pid}"),
            Standing::Dead => format!("dead     {path}"),
            Standing::Corrupt => format!("corrupt  {path}  does not parse as: pid=<n> run=<key>"),
            Standing::Unknown => format!("unknown  {path}"),
            Standing::Nothing => format!("ignored  {path}  is no regular file"),
        }
    }
}

/// Lists the records, by key; none where the directory does not exist.
///
/// # Errors
/// A sentence where the directory cannot be listed.
pub fn list(scratch: &Path) -> Result<Vec<Entry>, String> {
    let keys = match scratch::keys(scratch) {
        Ok(keys) => keys,
        Err(NoScratch::Missing) => Vec::new(),
        Err(NoScratch::Unreadable) => return Err(format!("cannot list the scratch directory {}", scratch.display())),
    };
    let records = scratch::read(scratch, &keys).into_iter();
    let entries = records.map(|record| Entry {
        path: scratch.join(scratch::file_name(&record.key)),
        standing: record.standing,
    });
    Ok(entries.collect())
}

/// Takes the records of processes that have ended away, and gives them back.
///
/// # Errors
/// A sentence where the directory cannot be listed or a record not be taken away.
pub fn prune(scratch: &Path) -> Result<Vec<Entry>, String> {
    let mut gone = Vec::new();
    for entry in list(scratch)? {
        // Asked again: since the list was made another process may have put its record there.
        if entry.standing == Standing::Dead && scratch::standing(&entry.path) == Standing::Dead {
            fs::remove_file(&entry.path).map_err(|error| format!("remove {}: {error}", entry.path.display()))?;
            gone.push(entry);
        }
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_records_go_and_all_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        put("a.run", "pid=1 run=a\n");
        put("b.run", "pid=2147483646 run=b\n");
        put("c.run", "x");
        put("d.out", "pid=2147483646 run=d\n");
        let words = |entries: &[Entry]| {
            entries
                .iter()
                .map(|entry| entry.line().split(' ').next().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(words(&list(dir.path()).unwrap()), ["live", "dead", "corrupt"]);
        assert_eq!(words(&prune(dir.path()).unwrap()), ["dead"]);
        assert_eq!(words(&list(dir.path()).unwrap()), ["live", "corrupt"]);
        assert!(dir.path().join("d.out").exists());
        assert_eq!(list(&dir.path().join("none")), Ok(Vec::new()));
    }
}
