use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::config::tree::Table;
use crate::config::{Environment, FileOrigin, Layer, Room};
use crate::telemetry::{from_environment, from_room};

fn read(vars: &[(&str, &str)]) -> Result<(Target, Vec<Problem>), Vec<Problem>> {
    let environment: Environment = vars.iter().copied().collect();
    resolve(from_environment(&environment))
}

fn settings(vars: &[(&str, &str)]) -> Settings {
    let all: Vec<_> = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318")]
        .into_iter()
        .chain(vars.iter().copied())
        .collect();
    match read(&all).unwrap() {
        (Target::To(settings), _) => *settings,
        (other, _) => panic!("{other:?}"),
    }
}

fn room(text: &str, layer: Layer) -> Room {
    Room {
        origin: FileOrigin {
            path: Arc::from(Path::new("/home/ann/.config/subcell/subcell.toml")),
            layer,
        },
        table: Table::parse(text).unwrap(),
    }
}

#[test]
fn the_traces_endpoint_is_taken_as_it_is_and_the_base_is_completed() {
    for (vars, endpoint) in [
        (&[][..], "http://h:4318/v1/traces"),
        (
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318/")],
            "http://h:4318/v1/traces",
        ),
        (
            &[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://t/in")],
            "https://t/in",
        ),
        (&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")], "http://h:4318/v1/traces"),
    ] {
        // The last of a name wins here; in an environment a name stands once.
        let base = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318")];
        let named: Vec<_> = vars.iter().chain(&base).copied().collect();
        let (Target::To(found), _) = read(&named).unwrap() else {
            panic!()
        };
        assert_eq!(found.endpoint, endpoint, "{vars:?}");
    }
}

#[test]
fn without_an_endpoint_nothing_is_assumed() {
    assert_eq!(read(&[]).unwrap().0, Target::Nowhere);
}

#[test]
fn switches_turn_it_off() {
    for (name, value, off) in [
        ("OTEL_SDK_DISABLED", "true", true),
        ("OTEL_SDK_DISABLED", "TRUE", true),
        ("OTEL_SDK_DISABLED", "false", false),
        ("OTEL_SDK_DISABLED", "1", false),
        ("OTEL_TRACES_EXPORTER", "none", true),
        ("OTEL_TRACES_EXPORTER", "otlp", false),
    ] {
        let (target, warnings) = read(&[(name, value), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h")]).unwrap();
        assert_eq!(matches!(target, Target::Off { .. }), off, "{name}={value}");
        assert_eq!(!warnings.is_empty(), value == "1", "{name}={value}");
    }
}

#[test]
fn every_variable_of_the_specification_is_followed() {
    let defaults = settings(&[]);
    assert_eq!(
        (defaults.protocol, defaults.compression, defaults.timeout),
        (Protocol::HttpProtobuf, Compression::None, Duration::from_secs(10))
    );
    let all = settings(&[
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "HTTP/JSON"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "2500"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=a,deployment.environment=ci"),
        ("OTEL_SERVICE_NAME", "b"),
        ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "100"),
    ]);
    assert_eq!((all.protocol, all.compression), (Protocol::HttpJson, Compression::Gzip));
    assert_eq!(all.headers, [("authorization".to_owned(), "Bearer x".to_owned())]);
    assert_eq!((all.timeout, all.value_limit), (Duration::from_millis(2500), Some(100)));
    assert_eq!(all.certificate.as_deref(), Some(Path::new("/ca.pem")));
    let value = |name: &str| {
        all.resource
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    };
    assert_eq!(
        (value("service.name"), value("deployment.environment")),
        (Some("b"), Some("ci"))
    );
    assert!(!format!("{all:?}").contains("Bearer"));
}

#[test]
fn what_is_for_traces_wins_over_what_is_for_all() {
    let found = settings(&[
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=1"),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=2"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1"),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "2"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "none"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/a"),
        ("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "/b"),
    ]);
    assert_eq!(
        (found.protocol, found.compression),
        (Protocol::HttpJson, Compression::None)
    );
    assert_eq!(found.headers, [("a".to_owned(), "2".to_owned())]);
    assert_eq!(found.timeout, Duration::from_millis(2));
    assert_eq!(found.certificate.as_deref(), Some(Path::new("/b")));
}

#[test]
fn a_bad_or_unsupported_value_is_named_with_its_variable() {
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "h:4318"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "grpc://h"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "smoke"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=x%0d%0ab: y"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
        ("OTEL_TRACES_EXPORTER", "zipkin"),
        ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "-1"),
    ] {
        let vars: Vec<_> = [(name, value), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h")].into();
        let problems = read(&vars).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].to_string().contains(name), "{problems:?}");
    }
}

#[test]
fn what_is_only_a_pity_is_a_warning() {
    for (name, value) in [
        ("OTEL_RESOURCE_ATTRIBUTES", "nonsense"),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/k"),
    ] {
        let (target, warnings) = read(&[(name, value), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h")]).unwrap();
        assert!(matches!(target, Target::To(_)));
        assert!(warnings[0].to_string().contains(name), "{warnings:?}");
    }
}

#[test]
fn a_message_never_shows_a_header_or_a_password() {
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_HEADERS", "hunter2"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=hunter2%0a"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://u:hunter2@h/?k=hunter2"),
    ] {
        let vars: Vec<_> = [(name, value), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h")].into();
        assert!(!format!("{:?}", read(&vars).unwrap_err()).contains("hunter2"));
    }
}

#[test]
fn the_users_file_lies_below_the_environment_and_the_projects_is_not_read() {
    let text = "endpoint = \"http://file:4318\"\nprotocol = \"http/json\"\ncertificate = \"ca.pem\"\n\
                timeout_ms = 70\nservice_name = \"mine\"\ncompression = \"gzip\"\n\
                [headers]\nauthorization = \"Bearer x,y\"\n[resource_attributes]\nteam = \"a\"\n";
    let (Target::To(found), _) = resolve(from_room(&room(text, Layer::User))).unwrap() else {
        panic!()
    };
    assert_eq!(found.endpoint, "http://file:4318/v1/traces");
    assert_eq!(
        (found.protocol, found.compression),
        (Protocol::HttpJson, Compression::Gzip)
    );
    assert_eq!(
        found.certificate.as_deref(),
        Some(Path::new("/home/ann/.config/subcell/ca.pem"))
    );
    assert_eq!(found.headers, [("authorization".to_owned(), "Bearer x,y".to_owned())]);
    assert!(found.resource.contains(&("team".to_owned(), "a".to_owned())));
    assert!(found.resource.contains(&("service.name".to_owned(), "mine".to_owned())));

    let environment: Environment = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://env/x")]
        .into_iter()
        .collect();
    let both = from_environment(&environment).over(from_room(&room(text, Layer::User)));
    let (Target::To(found), _) = resolve(both).unwrap() else {
        panic!()
    };
    assert_eq!(
        (found.endpoint.as_str(), found.protocol),
        ("http://env/x", Protocol::HttpJson)
    );

    assert_eq!(
        resolve(from_room(&room(text, Layer::Project))).unwrap().0,
        Target::Nowhere
    );
}

#[test]
fn a_mistake_in_the_file_is_named_with_its_line() {
    let text = "endpoint = \"http://h\"\nprotocol = \"grpc\"\nendpiont = \"x\"\n[headers]\na = 1.5\n";
    let problems = resolve(from_room(&room(text, Layer::User))).unwrap_err();
    let shown: Vec<String> = problems.iter().map(Problem::to_string).collect();
    for (at, what) in [(":2:", "grpc"), (":3:", "endpiont"), (":5:", "telemetry.headers.a")] {
        assert!(
            shown.iter().any(|text| text.contains(at) && text.contains(what)),
            "{shown:?}"
        );
    }
}
