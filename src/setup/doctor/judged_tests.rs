//! What depends on the machine, which no test can arrange: judged from facts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::facts::{ClientFacts, ConfigFacts, Echo, Facts, FileSystem, Options, StateFacts};
use super::report::check;
use crate::protocol::version::V2_1_332;

fn facts() -> Facts {
    Facts {
        folder: "/work".into(),
        documents: Vec::new(),
        options: Options::default(),
        env: BTreeMap::from([("ANTHROPIC_API_KEY".to_owned(), "k".to_owned())]),
        client: ClientFacts {
            path: Some(PathBuf::from("/bin/claude")),
            version: Some(V2_1_332),
            missing_child: None,
        },
        hooks: Vec::new(),
        echo: Echo::Available,
        credentials_file: false,
        is_root: false,
        config: ConfigFacts::default(),
        state: StateFacts {
            folder: Some("/state/cells".into()),
            refused: None,
            file_system: Some(FileSystem::Other),
            free_bytes: Some(1 << 40),
            lost_cells: 0,
            unreadable_records: 0,
        },
        telemetry: None,
    }
}

/// What is found beside the hook, which these facts do not have.
fn found(change: impl FnOnce(&mut Facts)) -> Vec<&'static str> {
    let mut facts = facts();
    change(&mut facts);
    let ids = check(&facts).into_iter().map(|finding| finding.id);
    ids.filter(|id| *id != "hook-missing").collect()
}

#[test]
fn the_state_folder_is_judged() {
    assert_eq!(found(|_| {}), [""; 0]);
    let on = |kind| found(move |facts| facts.state.file_system = Some(kind));
    assert_eq!(on(FileSystem::Tmpfs), ["state-volatile"]);
    assert_eq!(on(FileSystem::Overlay), ["state-volatile"]);
    assert_eq!(on(FileSystem::Network), ["state-on-network"]);
    let free = |bytes| found(move |facts| facts.state.free_bytes = Some(bytes));
    assert_eq!(free(1 << 30), [""; 0]);
    assert_eq!(free((1 << 30) - 1), ["disk-low"]);
    assert_eq!(free((64 << 20) - 1), ["disk-full"]);
    let refused = |facts: &mut Facts| facts.state.refused = Some("Read-only file system (os error 30)".to_owned());
    assert_eq!(found(refused), ["state-unwritable"]);
    assert_eq!(found(|facts| facts.state.folder = None), ["state-missing"]);
    assert_eq!(found(|facts| facts.state.lost_cells = 2), ["leftover-cells"]);
}

#[test]
fn root_needs_the_marker_to_skip_permissions() {
    let as_root = |marker: bool, change: fn(&mut Facts)| {
        found(move |facts| {
            facts.is_root = true;
            if marker {
                facts.env.insert("IS_SANDBOX".to_owned(), "1".to_owned());
            }
            change(facts);
        })
    };
    let bypass = |facts: &mut Facts| facts.options.bypass = true;
    let known = |facts: &mut Facts| facts.options.are_known = true;
    assert_eq!(as_root(false, |_| {}), ["root-without-marker"]);
    assert_eq!(as_root(false, bypass), ["root-bypass"]);
    assert_eq!(as_root(false, known), [""; 0]);
    assert_eq!(as_root(true, bypass), [""; 0]);
    assert_eq!(found(bypass), [""; 0]);
}
