//! `subcell emit` between records on disk and a collector on loopback: what is sent, and what of each trouble.

use std::path::Path;

use serde_json::{Value, json};

use crate::collector::{Collector, Reply, refused};
use crate::emit_scene::{PARENT, Scene, TRACE, cell_span, code, record, stderr, stdout};
use crate::wire::{self, Any};

#[test]
fn the_bytes_say_what_the_record_says_by_another_decoder() {
    let mut collector = Collector::start(&[]);
    let mut scene = Scene::with_cell(&collector.url());
    scene
        .set(
            "OTEL_EXPORTER_OTLP_HEADERS",
            "x-mlflow-experiment-id=7,authorization=Basic%20eDp5",
        )
        .set("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=ci")
        .set("OTEL_SERVICE_NAME", "runs");
    let output = scene.emit_state(&["--strict"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(
        stdout(&output).starts_with("1 cell sent to http://localhost:"),
        "{}",
        stdout(&output)
    );
    let request = collector.next();
    assert_eq!(request.path, "/v1/traces");
    assert_eq!(request.header("content-type"), Some("application/x-protobuf"));
    assert_eq!(request.header("x-mlflow-experiment-id"), Some("7"));
    assert_eq!(request.header("authorization"), Some("Basic eDp5"));
    let spans = wire::spans(&request.body);
    let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["spawned_agent", "plan", "run"]);
    let cell = cell_span(&spans);
    assert_eq!(
        (cell.trace_id.as_str(), cell.span_id.as_str(), cell.parent.as_str()),
        (TRACE, "0000000000000001", PARENT)
    );
    assert_eq!(
        (cell.start, cell.end),
        (1_700_000_000_000_000_000, 1_700_000_009_000_000_000)
    );
    // SPAN_KIND_INTERNAL, status unset, sampled with a remote parent.
    assert_eq!((cell.kind, &cell.status, cell.flags), (1, &(0, String::new()), 0x301));
    for (name, value) in [
        ("gen_ai.operation.name", Any::Text("invoke_agent".into())),
        ("gen_ai.provider.name", Any::Text("anthropic".into())),
        ("gen_ai.agent.name", Any::Text("judge".into())),
        ("gen_ai.request.model", Any::Text("haiku".into())),
        ("gen_ai.response.model", Any::Text("claude-haiku-4-5".into())),
        ("gen_ai.tool.call.id", Any::Text("toolu_0000".into())),
        ("gen_ai.usage.input_tokens", Any::Integer(4301)),
        ("gen_ai.usage.output_tokens", Any::Integer(20)),
        ("fullsend.cost_usd", Any::Float(0.0125)),
        ("fullsend.num_turns", Any::Integer(2)),
    ] {
        assert_eq!(cell.attributes.get(name), Some(&value), "{name}");
    }
    assert!(!cell.attributes.contains_key("error.type"));
    assert_eq!(spans[1].parent, cell.span_id);
    assert_eq!(cell.resource.get("service.name"), Some(&Any::Text("runs".into())));
    assert_eq!(
        cell.resource.get("deployment.environment"),
        Some(&Any::Text("ci".into()))
    );
    assert_eq!(cell.scope, "subcell");
    assert_eq!(scene.export("state/cells", 0), "sent");
}

#[test]
fn json_and_gzip_carry_the_same_span() {
    let mut collector = Collector::start(&[]);
    let mut scene = Scene::with_cell(&collector.url());
    scene
        .set("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
        .set("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    assert_eq!(code(&scene.emit_state(&["--strict"])), 0);
    let request = collector.next();
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("content-encoding"), Some("gzip"));
    let body: Value = serde_json::from_reader(flate2::read::GzDecoder::new(request.body.as_slice())).unwrap();
    let span = &body["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    // OTLP/JSON: ids in hex, 64-bit integers as text.
    assert_eq!(
        (&span["traceId"], &span["parentSpanId"]),
        (&json!(TRACE), &json!(PARENT))
    );
    assert_eq!(span["endTimeUnixNano"], json!("1700000009000000000"));
    let attributes = span["attributes"].as_array().unwrap();
    assert!(attributes.contains(&json!({"key": "gen_ai.usage.input_tokens", "value": {"intValue": "4301"}})));
}

/// An `ExportTraceServiceResponse` that rejects `rejected` spans, by the wire format.
fn partial(rejected: u8, message: &str) -> Reply {
    let mut inner = vec![0x08, rejected, 0x12, u8::try_from(message.len()).unwrap()];
    inner.extend(message.as_bytes());
    let mut body = vec![0x0a, u8::try_from(inner.len()).unwrap()];
    body.extend(inner);
    Reply::Answer(200, "", "application/x-protobuf", body)
}

/// A collector's replies, whether the record is sent in the end, after how many whole requests, and what stderr says.
type Trouble = (Vec<Reply>, bool, usize, &'static str);

fn troubles() -> Vec<Trouble> {
    let throttled = || Reply::Answer(429, "retry-after: 0\r\n", "text/plain", b"slow down".to_vec());
    let json_partial = br#"{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old"}}"#.to_vec();
    let json_refusal = br#"{"code": 3, "message": "bad experiment"}"#.to_vec();
    vec![
        (vec![Reply::status(200)], true, 1, ""),
        (vec![throttled(), Reply::status(200)], true, 2, ""),
        (
            vec![Reply::status(503), Reply::status(502), Reply::status(200)],
            true,
            3,
            "",
        ),
        (vec![Reply::HangUp, Reply::status(200)], true, 1, ""),
        (vec![Reply::HalfAnswer, Reply::status(200)], true, 2, ""),
        (
            vec![partial(0, "deprecated")],
            true,
            1,
            "the collector warns: deprecated",
        ),
        (vec![Reply::status(400)], false, 1, "HTTP status 400"),
        (
            vec![Reply::Answer(400, "", "application/json", json_refusal)],
            false,
            1,
            "bad experiment",
        ),
        (vec![Reply::status(500)], false, 1, "HTTP status 500"),
        (
            vec![Reply::Answer(429, "retry-after: 3600\r\n", "text/plain", vec![])],
            false,
            1,
            "HTTP status 429",
        ),
        (
            vec![Reply::Answer(
                200,
                "",
                "text/html; charset=utf-8",
                b"<html>log in".to_vec(),
            )],
            false,
            1,
            "with a web page",
        ),
        (vec![partial(3, "too old")], false, 1, "rejected 3 spans: too old"),
        (
            vec![Reply::Answer(200, "", "application/json", json_partial)],
            false,
            1,
            "rejected 3 spans: too old",
        ),
    ]
}

#[test]
fn after_every_kind_of_trouble_a_record_is_sent_or_waits() {
    for (replies, sent, requests, said) in troubles() {
        let mut collector = Collector::start(&replies);
        let scene = Scene::with_cell(&collector.url());
        let output = scene.emit_state(&["--strict"]);
        let told = format!("{replies:?}: {}", stderr(&output));
        assert_eq!(code(&output), i32::from(!sent), "{told}");
        assert_eq!(
            scene.export("state/cells", 0),
            if sent { "sent" } else { "none" },
            "{told}"
        );
        assert_eq!(collector.requests().len(), requests, "{told}");
        assert!(stderr(&output).contains(said), "{told}");
        if !sent {
            // Without --strict the run that called it does not fail; now the collector takes it.
            let output = scene.emit_state(&[]);
            assert_eq!(
                (code(&output), scene.export("state/cells", 0).as_str()),
                (0, "sent"),
                "{told}"
            );
            let bodies: Vec<_> = collector
                .requests()
                .iter()
                .map(|request| wire::spans(&request.body))
                .collect();
            assert_eq!(bodies.first(), bodies.last(), "{told}");
        }
    }
}

#[test]
fn a_collector_that_never_answers_costs_no_more_than_the_budget() {
    let silent = Collector::start(&[Reply::Silent, Reply::Silent]);
    let drip = Collector::start(&[Reply::Drip, Reply::Drip]);
    for url in [silent.url(), drip.url(), refused()] {
        let scene = Scene::with_cell(&url);
        let output = scene.emit_state(&["--budget", "1"]);
        assert_eq!(code(&output), 0);
        assert!(
            stdout(&output).contains("1 not sent, waiting for another try"),
            "{}",
            stdout(&output)
        );
        assert_eq!(scene.export("state/cells", 0), "none");
        assert_eq!(code(&scene.emit_state(&["--budget", "1", "--strict"])), 1);
    }
}

/// A certificate of an own authority for `localhost`: the authority's PEM, and a server's configuration.
fn authority() -> (String, rustls::ServerConfig) {
    let ca_key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let ca = params.self_signed(&ca_key).unwrap();
    let issuer = rcgen::Issuer::new(params, ca_key);
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (ca.pem(), config)
}

#[test]
fn tls_with_an_own_authority_is_trusted_only_where_it_is_named() {
    let (pem, config) = authority();
    let mut collector = Collector::start_tls(&[], config);
    let mut scene = Scene::with_cell(&collector.url());
    let output = scene.emit_state(&["--strict", "--budget", "1"]);
    assert_eq!((code(&output), scene.export("state/cells", 0).as_str()), (1, "none"));
    assert!(stderr(&output).contains("UnknownIssuer"), "{}", stderr(&output));
    assert!(collector.requests().is_empty());

    std::fs::write(scene.path("ca.pem"), pem).unwrap();
    let path = scene.path("ca.pem");
    scene.set("OTEL_EXPORTER_OTLP_CERTIFICATE", path.to_str().unwrap());
    let output = scene.emit_state(&["--strict"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(wire::spans(&collector.next().body).len(), 3);

    std::fs::write(scene.path("ca.pem"), "no certificate").unwrap();
    let output = scene.emit_state(&["--strict"]);
    assert!(stderr(&output).contains("holds no certificate"), "{}", stderr(&output));
}

#[test]
fn bad_settings_are_named_and_fail_only_a_strict_run() {
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4318"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nonexistent/ca.pem"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
    ] {
        let collector = Collector::start(&[]);
        let mut scene = Scene::with_cell(&collector.url());
        scene.set(name, value);
        let output = scene.emit_state(&[]);
        assert_eq!(code(&output), 0);
        let named = if value.starts_with('/') { value } else { name };
        assert!(stderr(&output).contains(named), "{}", stderr(&output));
        assert_eq!(
            (
                code(&scene.emit_state(&["--strict"])),
                scene.export("state/cells", 0).as_str()
            ),
            (1, "none")
        );
    }
}

#[test]
fn a_disabled_sdk_and_a_missing_endpoint_send_nothing() {
    let mut collector = Collector::start(&[]);
    let mut scene = Scene::with_cell(&collector.url());
    scene.set("OTEL_SDK_DISABLED", "true");
    let output = scene.emit_state(&["--strict"]);
    assert_eq!(
        (code(&output), stdout(&output).contains("OTEL_SDK_DISABLED")),
        (0, true)
    );
    assert!(collector.requests().is_empty());
    let mut scene = Scene::with_cell("");
    scene.env.clear();
    let output = scene.emit_state(&["--strict"]);
    assert!(
        code(&output) == 1 && stderr(&output).contains("no endpoint is named"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_users_configuration_names_a_collector_too() {
    let mut collector = Collector::start(&[]);
    let scene = Scene::new();
    scene.put("state/cells", &record(0));
    let config = scene.path("subcell.toml");
    std::fs::write(
        &config,
        format!("[telemetry]\nendpoint = \"{}\"\nheaders.x-a = \"b\"\n", collector.url()),
    )
    .unwrap();
    let output = scene.emit_state(&["--strict", "--config", config.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(collector.next().header("x-a"), Some("b"));
}

/// Whoever is in a folder that is gone does not mean another folder's records.
#[test]
fn a_current_folder_that_is_gone_is_told() {
    let collector = Collector::start(&[]);
    let scene = Scene::with_cell(&collector.url());
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" emit --strict";
    let shell = Path::new("/bin/sh");
    let mut emit = scene.command(shell, &["-c", script, env!("CARGO_BIN_EXE_subcell")]);
    let output = emit.output().unwrap();
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(
        stderr(&output).contains("find the current folder"),
        "{}",
        stderr(&output)
    );
    assert_eq!(scene.export("state/cells", 0), "none");
}
