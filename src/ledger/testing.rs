//! A record for tests.

use std::collections::BTreeMap;

use super::record::{Asked, Delivery, ExportState, FORMAT, Record, State, TraceIds};
use crate::base::{AgentType, CellId, SessionId, SpanId, TraceId, UnixNanos};

/// A running cell of a call.
pub(crate) fn running(tool_use: &str, session: &str) -> Record {
    Record {
        format: FORMAT,
        cell: CellId::new(),
        parent_session: session.parse().unwrap(),
        tool_use_id: tool_use.parse().unwrap(),
        caller_agent: None,
        agent_type: AgentType::default(),
        description: "judge".into(),
        depth: 1,
        child_session: Some(SessionId::random()),
        asked: Asked {
            model: Some("haiku".into()),
            model_source: "call".into(),
            effort: None,
            isolation: None,
            cost_limit: None,
            prompt_bytes: 10,
            prompt_sha256: "0".repeat(64),
        },
        started_unix_nano: UnixNanos::from_nanos(1),
        state: State::Running,
        delivery: Delivery::none(),
        trace: Some(TraceIds {
            trace_id: TraceId::random(),
            span_id: SpanId::random(),
            parent_span_id: None,
            sampled: true,
        }),
        export: ExportState::None,
        phases: BTreeMap::new(),
        parent_transcript: None,
        client_version: None,
        provider: None,
        client_binary: None,
        ignored_environment: Vec::new(),
        notes: Vec::new(),
        hook_process: None,
        keeper_process: None,
    }
}
