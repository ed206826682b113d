//! Tells a subagent that only hands a cell's result back.
//!
//! A refusal there makes the client (2.1.332) put a notice before the result, and there is nothing that the subagent
//! could wait for: the work was done in the cell.

use std::path::Path;

use serde_json::Value;

use super::payload::Payload;
use crate::base::{Links, SessionId, ToolUseId, read_bounded};
use crate::config::Believed;
use crate::ledger::places::usual_folders;
use crate::ledger::record::DeliveryMode;
use crate::ledger::{RecordName, Store};

const META_LIMIT: u64 = 256 * 1024;

/// Whether the record of the call says that this subagent repeats a cell's result.
///
/// The file beside a subagent's transcript names its call (`toolUseId` of `agent-….meta.json`, 2.1.156 to 2.1.332).
pub(super) fn is_echo(payload: &Payload, believed: &Believed) -> bool {
    let found = || {
        let call = call_of(payload.agent_transcript.as_deref()?)?;
        let session: SessionId = payload.session.parse().ok()?;
        let agent = payload.agent_type.as_deref()?;
        let mut stores = usual_folders(believed)
            .into_iter()
            .filter(|dir| dir.is_dir())
            .filter_map(|dir| Store::open(&dir).ok());
        let names = [RecordName::of(&call), RecordName::of_session(&call, &session)];
        stores.find_map(|store| {
            let mut records = names.iter().filter_map(|name| store.read(name).ok());
            records.find(|record| {
                record.parent_session == session
                    && matches!(record.delivery.mode, DeliveryMode::Echo | DeliveryMode::Receipt)
                    && record
                        .delivery
                        .agent
                        .as_deref()
                        .is_some_and(|echo| echo.eq_ignore_ascii_case(agent))
            })
        })
    };
    found().is_some()
}

fn call_of(transcript: &Path) -> Option<ToolUseId> {
    let bytes = read_bounded(&transcript.with_extension("meta.json"), META_LIMIT, Links::Follow).ok()?;
    let meta: Value = serde_json::from_slice(&bytes).ok()?;
    meta.get("toolUseId")?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::guard::liveness::testing::believed;
    use crate::ledger::record::Delivery;
    use crate::ledger::testing::running;

    fn echo(change: impl FnOnce(&mut crate::ledger::Record), meta: &Value, payload: &[(&str, &str)]) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let mut record = running("toolu_1", "s1");
        record.delivery = Delivery {
            mode: DeliveryMode::Echo,
            agent: Some("echo-through".to_owned()),
            ..Delivery::none()
        };
        change(&mut record);
        Store::open(&state.join("subcell/cells"))
            .unwrap()
            .claim(&record)
            .unwrap();
        std::fs::write(dir.path().join("agent-a.meta.json"), meta.to_string()).unwrap();
        let mut fields = json!({"session_id": "s1", "agent_type": "echo-through",
            "agent_transcript_path": dir.path().join("agent-a.jsonl")});
        for (name, value) in payload {
            fields[*name] = json!(value);
        }
        let payload = Payload::read(fields.to_string().as_bytes());
        is_echo(&payload, &believed(&[("XDG_STATE_HOME", state.to_str().unwrap())]))
    }

    #[test]
    fn the_calls_record_decides() {
        let meta = json!({"toolUseId": "toolu_1"});
        assert!(echo(|_| {}, &meta, &[]));
        assert!(echo(|record| record.delivery.mode = DeliveryMode::Receipt, &meta, &[]));
        assert!(!echo(|record| record.delivery = Delivery::none(), &meta, &[]));
        assert!(!echo(|record| record.delivery.mode = DeliveryMode::Deny, &meta, &[]));
        assert!(!echo(|_| {}, &meta, &[("agent_type", "Explore")]));
        assert!(!echo(|_| {}, &meta, &[("session_id", "s2")]));
        assert!(!echo(|_| {}, &meta, &[("session_id", "../s1")]));
        for meta in [
            json!({}),
            json!({"toolUseId": "toolu_2"}),
            json!({"toolUseId": "../toolu_1"}),
            json!([]),
        ] {
            assert!(!echo(|_| {}, &meta, &[]), "{meta}");
        }
    }
}
