//! Export settings as they are meant: every value checked, and what is wrong named with the place that it stands in.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::layers::{Pairs, Raw};
use super::settings_text::{below_base, endpoint_problem, is_framing, is_header, shown, token};
use crate::config::{Problem, Sourced};

/// How long one request may take where nobody says (specification: 10 s).
const TIMEOUT: Duration = Duration::from_secs(10);

/// How spans are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Protobuf over HTTP.
    HttpProtobuf,
    /// JSON over HTTP.
    HttpJson,
}

/// How a request's body is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// With gzip.
    Gzip,
}

/// How spans are sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// The URL that spans are posted to.
    pub endpoint: String,
    /// How they are written.
    pub protocol: Protocol,
    /// How a body is packed.
    pub compression: Compression,
    /// Headers of every request; their values may be credentials.
    pub headers: Pairs,
    /// How long one request may take.
    pub timeout: Duration,
    /// The certificates that the collector's is checked against, in place of the built-in roots (Mozilla's).
    pub certificate: Option<PathBuf>,
    /// Attributes of the resource, `service.name` included.
    pub resource: Pairs,
    /// The most characters of a text attribute; `None` cuts nothing.
    pub value_limit: Option<usize>,
}

impl Settings {
    /// The endpoint as a message may show it: without user, password and query.
    #[must_use]
    pub fn shown_endpoint(&self) -> String {
        shown(&self.endpoint)
    }
}

impl fmt::Debug for Settings {
    /// Without the values of headers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Settings")
            .field("endpoint", &self.shown_endpoint())
            .field("protocol", &self.protocol)
            .field("compression", &self.compression)
            .field("headers", &names)
            .field("timeout", &self.timeout)
            .field("certificate", &self.certificate)
            .field("resource", &self.resource)
            .field("value_limit", &self.value_limit)
            .finish()
    }
}

/// What the settings come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Sending is switched off.
    Off {
        /// By what.
        by: String,
    },
    /// No endpoint is named anywhere. The specification's default, a collector on this machine, is not assumed: every run
    /// without one would wait for it.
    Nowhere,
    /// Spans are sent.
    To(Box<Settings>),
}

/// Judges `raw`, and gives besides what is worth a warning.
///
/// # Errors
/// Every value that is wrong or not supported, each with its place; never an empty list.
pub fn resolve(raw: Raw) -> Result<(Target, Vec<Problem>), Vec<Problem>> {
    let mut judge = Judge {
        problems: raw.problems,
        warnings: raw.warnings,
    };
    if let Some(by) = judge.off(raw.disabled, raw.exporter) {
        return Ok((Target::Off { by }, judge.warnings));
    }
    let endpoint = judge.endpoint(raw.traces_endpoint, raw.endpoint);
    let settings = Settings {
        endpoint: endpoint.clone().unwrap_or_default(),
        protocol: judge.protocol(raw.protocol),
        compression: judge.compression(raw.compression),
        headers: judge.headers(raw.headers),
        timeout: judge.timeout(raw.timeout),
        certificate: raw.certificate.map(|named| PathBuf::from(named.value)),
        resource: resource(raw.resource, raw.service_name),
        value_limit: judge.value_limit(raw.value_limit),
    };
    if !judge.problems.is_empty() {
        return Err(judge.problems);
    }
    let target = endpoint.map_or(Target::Nowhere, |_| Target::To(Box::new(settings)));
    Ok((target, judge.warnings))
}

struct Judge {
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Judge {
    fn wrong(&mut self, named: &Sourced<String>, what: &str) {
        // A value is somebody's mistake and may be anything: its beginning tells enough.
        let begin: String = named.value.chars().take(40).collect();
        self.problems.push(Problem {
            source: named.source.clone(),
            what: format!("{begin:?} {what}"),
        });
    }

    fn off(&mut self, disabled: Option<Sourced<String>>, exporter: Option<Sourced<String>>) -> Option<String> {
        if let Some(named) = disabled {
            match named.value.to_ascii_lowercase().as_str() {
                "true" => return Some(named.source.to_string()),
                "false" => {}
                // By the specification anything but "true" is false.
                _ => self.warnings.push(Problem {
                    source: named.source,
                    what: "is neither true nor false, and taken for false".to_owned(),
                }),
            }
        }
        let named = exporter?;
        match named.value.to_ascii_lowercase().as_str() {
            "none" => return Some(named.source.to_string()),
            "otlp" => {}
            _ => self.wrong(&named, "is not supported: use otlp or none"),
        }
        None
    }

    fn endpoint(&mut self, traces: Option<Sourced<String>>, base: Option<Sourced<String>>) -> Option<String> {
        let (named, whole) = match (traces, base) {
            (Some(traces), _) => (traces, true),
            (None, Some(base)) => (base, false),
            (None, None) => return None,
        };
        if let Some(what) = endpoint_problem(&named.value) {
            self.wrong(&named.map(|value| shown(&value)), what);
            return None;
        }
        Some(if whole { named.value } else { below_base(&named.value) })
    }

    fn protocol(&mut self, named: Option<Sourced<String>>) -> Protocol {
        let Some(named) = named else {
            return Protocol::HttpProtobuf;
        };
        match named.value.to_ascii_lowercase().as_str() {
            "http/json" => return Protocol::HttpJson,
            "http/protobuf" => {}
            _ => self.wrong(&named, "is not supported: use http/protobuf or http/json"),
        }
        Protocol::HttpProtobuf
    }

    fn compression(&mut self, named: Option<Sourced<String>>) -> Compression {
        let Some(named) = named else { return Compression::None };
        match named.value.to_ascii_lowercase().as_str() {
            "gzip" => return Compression::Gzip,
            "none" => {}
            _ => self.wrong(&named, "is not supported: use gzip or none"),
        }
        Compression::None
    }

    fn headers(&mut self, named: Option<Sourced<Pairs>>) -> Pairs {
        let Some(Sourced { value, source }) = named else {
            return Pairs::new();
        };
        let (good, bad): (Pairs, Pairs) = value.into_iter().partition(|(name, value)| is_header(name, value));
        self.problems.extend(bad.into_iter().map(|(name, _)| Problem {
            source: source.clone(),
            what: format!("{:?} and its value cannot be an HTTP header", token(&name)),
        }));
        let (framing, good): (Pairs, Pairs) = good.into_iter().partition(|(name, _)| is_framing(name));
        self.problems.extend(framing.into_iter().map(|(name, _)| Problem {
            source: source.clone(),
            what: format!("{name:?} follows from the body, and cannot be set"),
        }));
        good
    }

    fn timeout(&mut self, named: Option<Sourced<String>>) -> Duration {
        let Some(named) = named else { return TIMEOUT };
        match named.value.parse::<u64>() {
            Ok(millis) if millis > 0 => Duration::from_millis(millis),
            Ok(_) | Err(_) => {
                self.wrong(&named, "is no number of milliseconds above 0");
                TIMEOUT
            }
        }
    }

    fn value_limit(&mut self, named: Option<Sourced<String>>) -> Option<usize> {
        let named = named?;
        let limit = named.value.parse().ok();
        if limit.is_none() {
            self.wrong(&named, "is no number of characters");
        }
        limit
    }
}

/// `OTEL_SERVICE_NAME` wins over `service.name` among the attributes (specification).
fn resource(named: Option<Sourced<Pairs>>, service_name: Option<Sourced<String>>) -> Pairs {
    let mut resource = named.map(|named| named.value).unwrap_or_default();
    let mut default = |name: &str, value: &str| {
        if !resource.iter().any(|(known, _)| known == name) {
            resource.push((name.to_owned(), value.to_owned()));
        }
    };
    default("service.name", env!("CARGO_PKG_NAME"));
    default("service.version", env!("CARGO_PKG_VERSION"));
    default("telemetry.sdk.name", "opentelemetry");
    default("telemetry.sdk.language", "rust");
    if let Some(named) = service_name
        && let Some((_, value)) = resource.iter_mut().find(|(name, _)| name == "service.name")
    {
        *value = named.value;
    }
    resource
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
