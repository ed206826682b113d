//! Looks at the folder of the records, and at the collector: nothing is changed or left there.

use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use super::facts::{FileSystem, StateFacts};
use crate::base::ProcessIdentity;
use crate::config::Room;
use crate::ledger::Store;

const CONNECT_WAIT: Duration = Duration::from_secs(2);

/// Kinds of file systems by the number that Linux gives them (statfs(2), linux/magic.h).
const TMPFS: [u64; 2] = [0x0102_1994, 0x8584_58f6];
const OVERLAY: u64 = 0x794c_7630;
/// NFS, CIFS, SMB2, 9P, Ceph, AFS, Lustre.
const NETWORK: [u64; 7] = [
    0x6969,
    0xff53_4d42,
    0xfe53_4d42,
    0x0102_1997,
    0x00c3_6400,
    0x5346_414f,
    0x0bd0_0bd0,
];

/// The kind of a file system by its number.
fn kind(number: u64) -> FileSystem {
    match number {
        number if TMPFS.contains(&number) => FileSystem::Tmpfs,
        OVERLAY => FileSystem::Overlay,
        number if NETWORK.contains(&number) => FileSystem::Network,
        _ => FileSystem::Other,
    }
}

/// What is known of the folder of the records.
pub(super) fn look(folder: Option<&Path>) -> StateFacts {
    let mut facts = StateFacts {
        folder: folder.map(Path::to_owned),
        refused: None,
        file_system: None,
        free_bytes: None,
        lost_cells: 0,
        unreadable_records: 0,
    };
    let Some(folder) = folder else { return facts };
    // It is made by the first cell: until then the folder that it will lie in tells.
    let there = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    facts.refused = match tempfile::tempfile_in(there) {
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    };
    if let Ok(stat) = rustix::fs::statfs(there) {
        facts.file_system = u64::try_from(stat.f_type).ok().map(kind);
        let block = u64::try_from(stat.f_bsize).unwrap_or_default();
        facts.free_bytes = Some(stat.f_bavail.saturating_mul(block));
    }
    if let Ok(listing) = listing(folder) {
        let lost = |record: &crate::ledger::Record| record.is_lost(ProcessIdentity::is_alive);
        facts.lost_cells = listing.records.iter().filter(|(_, record)| lost(record)).count();
        facts.unreadable_records = listing.unreadable.len();
    }
    facts
}

/// Opening a store makes its folder, so one that is not there is not opened.
fn listing(folder: &Path) -> Result<crate::ledger::store::Listing, crate::ledger::LedgerError> {
    if !folder.is_dir() {
        return Ok(crate::ledger::store::Listing {
            records: Vec::new(),
            unreadable: Vec::new(),
        });
    }
    Store::open(folder)?.list()
}

/// The collector of `[telemetry]`, `host:port`, and why it cannot be reached.
pub(super) fn collector(rooms: &[Room]) -> Option<(String, Option<String>)> {
    let entries = rooms
        .iter()
        .filter(|room| !room.is_project())
        .flat_map(|room| &room.table.entries);
    let endpoint = entries
        .filter(|entry| entry.key == "endpoint")
        .find_map(|entry| entry.node.item.as_text())?;
    let Some(authority) = authority(endpoint) else {
        return Some((
            "its endpoint".to_owned(),
            Some("it is no http or https address".to_owned()),
        ));
    };
    let refused = connect(&authority).err();
    Some((authority, refused))
}

/// `host:port` of an address; user and password are not part of it.
fn authority(endpoint: &str) -> Option<String> {
    let (scheme, rest) = endpoint.split_once("://")?;
    let port = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let host = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
    let named = host
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    match (host, named) {
        ("", _) => None,
        (host, true) => Some(host.to_owned()),
        (host, false) => Some(format!("{host}:{port}")),
    }
}

/// Connects and hangs up. Looking a name up has no deadline of its own, so a thread does it that is not waited for longer.
fn connect(authority: &str) -> Result<(), String> {
    let (tell, told) = mpsc::channel();
    let named = authority.to_owned();
    std::thread::spawn(move || {
        let tried = named
            .to_socket_addrs()
            .map_err(|error| error.to_string())
            .and_then(|addresses| {
                let mut last = "the name has no address".to_owned();
                for address in addresses.take(4) {
                    match TcpStream::connect_timeout(&address, CONNECT_WAIT) {
                        Ok(_) => return Ok(()),
                        Err(error) => last = error.to_string(),
                    }
                }
                Err(last)
            });
        // Nobody listens any more where the wait was over first.
        let _ = tell.send(tried);
    });
    told.recv_timeout(CONNECT_WAIT)
        .unwrap_or_else(|_| Err("it does not answer within 2 s".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_and_port_of_an_address() {
        for (endpoint, expected) in [
            ("http://127.0.0.1:4318/v1/traces", Some("127.0.0.1:4318")),
            ("https://user:secret@collector.example", Some("collector.example:443")),
            ("http://[::1]:4318", Some("[::1]:4318")),
            ("http://host?x=1", Some("host:80")),
            ("grpc://host:1", None),
            ("host:1", None),
            ("http://", None),
        ] {
            assert_eq!(authority(endpoint).as_deref(), expected, "{endpoint}");
        }
    }

    #[test]
    fn a_listener_is_reached_and_a_closed_port_is_not() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        assert_eq!(connect(&address), Ok(()));
        drop(listener);
        assert!(connect(&address).is_err());
    }

    #[test]
    fn file_systems_are_told_by_their_numbers() {
        // linux/magic.h: TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC, NFS_SUPER_MAGIC, EXT4_SUPER_MAGIC.
        assert_eq!(
            [0x0102_1994, 0x794c_7630, 0x6969, 0xef53].map(kind),
            [
                FileSystem::Tmpfs,
                FileSystem::Overlay,
                FileSystem::Network,
                FileSystem::Other
            ]
        );
    }

    #[test]
    fn looking_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        let facts = look(Some(&root.path().join("a/cells")));
        assert_eq!((facts.refused, facts.lost_cells), (None, 0));
        assert!(facts.free_bytes.is_some());
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
        let file = root.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(look(Some(&file)).refused.is_some());
    }
}
