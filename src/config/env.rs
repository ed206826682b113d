//! An environment as plain data, and the one place where this process's own is read.

use std::collections::BTreeMap;
use std::collections::btree_map::Iter;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

/// The variables of one process, as bytes: neither names nor values need to be UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The environment of this process.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the environment"
    )]
    pub fn of_this_process() -> Self {
        Self::first_wins(std::env::vars_os())
    }

    /// The environment that a block of `NAME=value` entries, each ended by a NUL, describes (`/proc/PID/environ`).
    ///
    /// Entries without a name or without `=` are skipped, as the C library skips them.
    #[must_use]
    pub fn from_block(block: &[u8]) -> Self {
        Self::first_wins(block.split(|byte| *byte == 0).filter_map(split_entry))
    }

    /// Of a name that stands twice `getenv` sees the first, and so does a client that was started with both.
    fn first_wins(entries: impl Iterator<Item = (OsString, OsString)>) -> Self {
        let mut vars = BTreeMap::new();
        for (name, value) in entries {
            vars.entry(name).or_insert(value);
        }
        Self(vars)
    }

    /// The value of `name`, an empty one included.
    #[must_use]
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// Every variable, in the order of the names' bytes.
    pub fn iter(&self) -> Iter<'_, OsString, OsString> {
        self.0.iter()
    }
}

fn split_entry(entry: &[u8]) -> Option<(OsString, OsString)> {
    let equals = entry.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
    let (name, value) = entry.split_at_checked(equals)?;
    let value = value.get(1..)?;
    Some((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())))
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(entries: I) -> Self {
        Self::first_wins(entries.into_iter().map(|(name, value)| (name.into(), value.into())))
    }
}

impl<'a> IntoIterator for &'a Environment {
    type Item = (&'a OsString, &'a OsString);
    type IntoIter = Iter<'a, OsString, OsString>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_block_is_read_as_the_c_library_reads_it() {
        let block = b"A=1\0B=x=y\0EMPTY=\0A=2\0noequals\0=x\0\xff=\xfe\0";
        let env = Environment::from_block(block);
        assert_eq!(env.get("A"), Some(OsStr::new("1")));
        assert_eq!(env.get("B"), Some(OsStr::new("x=y")));
        assert_eq!(env.get("EMPTY"), Some(OsStr::new("")));
        assert_eq!(env.get(OsStr::from_bytes(b"\xff")), Some(OsStr::from_bytes(b"\xfe")));
        assert_eq!(env.iter().count(), 4);
    }

    #[test]
    fn a_block_without_a_last_nul_keeps_its_last_entry() {
        assert_eq!(Environment::from_block(b"A=1").get("A"), Some(OsStr::new("1")));
        assert_eq!(Environment::from_block(b""), Environment::default());
    }
}
