//! Where the real clients are.

use std::path::{Path, PathBuf};

/// The binary of a version of the client; fails, naming what to do, where it is not installed.
pub(crate) fn binary(version: &str) -> PathBuf {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients");
    let clients = std::env::var_os("SUBCELL_TEST_CLIENTS").map_or(default, PathBuf::from);
    let packages = clients.join(version).join("node_modules/@anthropic-ai");
    // One platform's package is installed, and the wrapper that has no binary at this place.
    let found = std::fs::read_dir(&packages)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("claude"));
    found.into_iter().find(|path| path.is_file()).unwrap_or_else(|| {
        panic!(
            "no client {version} in {}: run scripts/get-client.sh {version}",
            packages.display()
        )
    })
}
