//! Where export settings stand as text: the `OTEL_*` variables of the specification, and `[telemetry]` of the user's
//! configuration, which the hook needs because the client takes every `OTEL_*` away from what it starts (2.1.156 to
//! 2.1.332).

use std::path::Path;

use super::settings_text::pairs;
use crate::config::tree::{Item, Table};
use crate::config::{Environment, Problem, Room, Source, Sourced, TableReader};

/// A list of names and values.
pub type Pairs = Vec<(String, String)>;

/// Settings as they stand somewhere, not judged yet.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Raw {
    /// `OTEL_SDK_DISABLED`.
    pub disabled: Option<Sourced<String>>,
    /// `OTEL_TRACES_EXPORTER`.
    pub exporter: Option<Sourced<String>>,
    /// Where traces go, as it is.
    pub traces_endpoint: Option<Sourced<String>>,
    /// Where all signals go; traces below it.
    pub endpoint: Option<Sourced<String>>,
    /// `http/protobuf` or `http/json`.
    pub protocol: Option<Sourced<String>>,
    /// HTTP headers.
    pub headers: Option<Sourced<Pairs>>,
    /// Milliseconds for one request.
    pub timeout: Option<Sourced<String>>,
    /// A file of certificates that the collector's is checked against.
    pub certificate: Option<Sourced<String>>,
    /// `gzip` or `none`.
    pub compression: Option<Sourced<String>>,
    /// Attributes of the resource.
    pub resource: Option<Sourced<Pairs>>,
    /// `service.name` of the resource.
    pub service_name: Option<Sourced<String>>,
    /// The most characters of a text attribute.
    pub value_limit: Option<Sourced<String>>,
    /// What is wrong with them already, in the way of the text.
    pub problems: Vec<Problem>,
    /// What is wrong and does no harm.
    pub warnings: Vec<Problem>,
}

impl std::fmt::Debug for Raw {
    /// Headers carry credentials: nothing of them is shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raw")
            .field("problems", &self.problems)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

impl Raw {
    /// These settings, and what `below` has where they say nothing.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        // An endpoint of one place is never completed by one of the other.
        let (traces_endpoint, endpoint) = if self.traces_endpoint.is_some() || self.endpoint.is_some() {
            (self.traces_endpoint, self.endpoint)
        } else {
            (below.traces_endpoint, below.endpoint)
        };
        Self {
            disabled: self.disabled.or(below.disabled),
            exporter: self.exporter.or(below.exporter),
            traces_endpoint,
            endpoint,
            protocol: self.protocol.or(below.protocol),
            headers: self.headers.or(below.headers),
            timeout: self.timeout.or(below.timeout),
            certificate: self.certificate.or(below.certificate),
            compression: self.compression.or(below.compression),
            resource: self.resource.or(below.resource),
            service_name: self.service_name.or(below.service_name),
            value_limit: self.value_limit.or(below.value_limit),
            problems: self.problems.into_iter().chain(below.problems).collect(),
            warnings: self.warnings.into_iter().chain(below.warnings).collect(),
        }
    }
}

/// Variables of the specification that would change how spans are sent, and that this program cannot follow.
const UNSUPPORTED: [&str; 4] = [
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
];

/// What the `OTEL_*` variables of `environment` say. An empty value is as none (specification).
#[must_use]
pub fn from_environment(environment: &Environment) -> Raw {
    let mut raw = Raw::default();
    let mut take = |names: &[&str]| first(environment, names, &mut raw.problems);
    let disabled = take(&["OTEL_SDK_DISABLED"]);
    let exporter = take(&["OTEL_TRACES_EXPORTER"]);
    let traces_endpoint = take(&["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]);
    let endpoint = take(&["OTEL_EXPORTER_OTLP_ENDPOINT"]);
    let protocol = take(&["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"]);
    let headers = take(&["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"]);
    let timeout = take(&["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"]);
    let certificate = take(&[
        "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
        "OTEL_EXPORTER_OTLP_CERTIFICATE",
    ]);
    let compression = take(&[
        "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
        "OTEL_EXPORTER_OTLP_COMPRESSION",
    ]);
    let resource = take(&["OTEL_RESOURCE_ATTRIBUTES"]);
    let service_name = take(&["OTEL_SERVICE_NAME"]);
    let value_limit = take(&[
        "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
        "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    ]);
    let unsupported = take(&UNSUPPORTED);
    let what = "is not supported: no client certificate is presented";
    raw.warnings
        .extend(unsupported.map(|named| problem(named.source, what)));
    let headers = listed(headers, &mut raw.problems);
    // By the specification a list of attributes that cannot be read is dropped whole, and reported.
    let resource = listed(resource, &mut raw.warnings);
    Raw {
        disabled,
        exporter,
        traces_endpoint,
        endpoint,
        protocol,
        headers,
        timeout,
        certificate,
        compression,
        resource,
        service_name,
        value_limit,
        ..raw
    }
}

fn first(environment: &Environment, names: &[&str], problems: &mut Vec<Problem>) -> Option<Sourced<String>> {
    let is_set = |name: &&&str| environment.get(name).is_some_and(|value| !value.is_empty());
    let name = names.iter().find(is_set)?;
    let source = Source::Environment((*name).to_owned());
    let Some(text) = environment.get(name)?.to_str() else {
        problems.push(problem(source, "is not UTF-8"));
        return None;
    };
    let value = text.trim().to_owned();
    (!value.is_empty()).then_some(Sourced { value, source })
}

fn listed(text: Option<Sourced<String>>, problems: &mut Vec<Problem>) -> Option<Sourced<Pairs>> {
    let Sourced { value, source } = text?;
    if let Some(value) = pairs(&value) {
        return Some(Sourced { value, source });
    }
    // The value is not shown: headers carry credentials.
    problems.push(problem(source, "has to be name=value,…, with values percent-encoded"));
    None
}

fn problem(source: Source, what: &str) -> Problem {
    Problem {
        source,
        what: what.to_owned(),
    }
}

/// What `[telemetry]` of the user's file says. A project's is never read: it could send what a session does elsewhere.
#[must_use]
pub fn from_room(room: &Room) -> Raw {
    if room.is_project() {
        return Raw::default();
    }
    let mut problems = Vec::new();
    let mut reader = TableReader::new("telemetry", &room.table, &room.origin, &mut problems);
    let folder = room.origin.path.parent().unwrap_or(Path::new("/"));
    let beside = |named: Sourced<String>| named.map(|path| folder.join(path).to_string_lossy().into_owned());
    let mut raw = Raw {
        traces_endpoint: reader.text("traces_endpoint"),
        endpoint: reader.text("endpoint"),
        protocol: reader.text("protocol"),
        timeout: reader
            .integer("timeout_ms", &(1..=600_000))
            .map(|number| number.map(|number| number.to_string())),
        certificate: reader.text("certificate").map(beside),
        compression: reader.text("compression"),
        service_name: reader.text("service_name"),
        ..Raw::default()
    };
    let headers = reader.table("headers");
    let resource = reader.table("resource_attributes");
    reader.finish();
    raw.headers = headers.and_then(|table| texts(room, ("headers", table), &mut problems));
    raw.resource = resource.and_then(|table| texts(room, ("resource_attributes", table), &mut problems));
    raw.problems = problems;
    raw
}

fn texts(room: &Room, (name, table): (&str, &Table), problems: &mut Vec<Problem>) -> Option<Sourced<Pairs>> {
    let mut value = Pairs::new();
    for entry in &table.entries {
        match &entry.node.item {
            Item::Text(text) => value.push((entry.key.clone(), text.clone())),
            Item::Integer(number) => value.push((entry.key.clone(), number.to_string())),
            Item::Boolean(flag) => value.push((entry.key.clone(), flag.to_string())),
            Item::Float(_) | Item::Datetime(_) | Item::Array(_) | Item::Table(_) => {
                let what = format!(
                    "telemetry.{name}.{} has to be a string, not {}",
                    entry.key,
                    entry.node.item.kind()
                );
                problems.push(room.origin.problem(entry.line, what));
            }
        }
    }
    let line = table.entries.first().map_or(0, |entry| entry.line);
    (!value.is_empty()).then(|| Sourced {
        value,
        source: room.origin.at(line),
    })
}
