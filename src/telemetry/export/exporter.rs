//! The exporter: one for all requests, blocking, without retries of its own.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use opentelemetry::InstrumentationScope;
use opentelemetry_otlp::{RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::trace::SpanExporter as _;
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::client::{Answer, Client, Exchange, Shared};
use super::convert;
use super::{Failure, Proxy, Sent, SetUpError};
use crate::base::redact::Redactor;
use crate::base::{Links, read_bounded, visible};
use crate::telemetry::{Compression, Protocol, Settings, Span};

/// A file of certificates is some kilobytes; the system's whole bundle is about 200.
const CERTIFICATES_LIMIT: u64 = 4 * 1024 * 1024;
/// Characters of a collector's words that a message carries.
const SAID_LIMIT: usize = 200;

/// Sends spans to one collector, over connections that it keeps.
pub struct Exporter {
    inner: SpanExporter,
    shared: Arc<Shared>,
    scope: InstrumentationScope,
    value_limit: Option<usize>,
    shown: String,
}

impl std::fmt::Debug for Exporter {
    /// Its parts hold headers and credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exporter")
            .field("endpoint", &self.shown)
            .finish_non_exhaustive()
    }
}

impl Exporter {
    /// Sets one up; nothing is connected yet.
    ///
    /// # Errors
    /// [`SetUpError`] where the certificates cannot be used or the endpoint is no URL.
    pub fn new(settings: &Settings, proxy: Proxy) -> Result<Self, SetUpError> {
        let shared = Arc::new(Shared::default());
        let client = Client {
            agent: agent(settings, proxy)?,
            content_type: http::HeaderValue::from_static(match settings.protocol {
                Protocol::HttpProtobuf => "application/x-protobuf",
                Protocol::HttpJson => "application/json",
            }),
            headers: headers(settings),
            shared: Arc::clone(&shared),
        };
        let builder = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            // Retries belong to whoever knows the budget; and by default each try could take the whole of it.
            .with_retry_policy(RetryPolicy::disabled())
            .with_endpoint(settings.endpoint.as_str())
            .with_timeout(settings.timeout)
            .with_protocol(match settings.protocol {
                Protocol::HttpProtobuf => opentelemetry_otlp::Protocol::HttpBinary,
                Protocol::HttpJson => opentelemetry_otlp::Protocol::HttpJson,
            });
        let builder = match settings.compression {
            Compression::None => builder,
            Compression::Gzip => builder.with_compression(opentelemetry_otlp::Compression::Gzip),
        };
        let mut inner = builder.build().map_err(|error| refusal(settings, &error.to_string()))?;
        inner.set_resource(&convert::resource(settings));
        Ok(Self {
            inner,
            shared,
            scope: convert::scope(),
            value_limit: settings.value_limit,
            shown: settings.shown_endpoint(),
        })
    }

    /// Sends `spans` in one request that takes no longer than `within`, and says what the export itself reported.
    ///
    /// # Errors
    /// [`Failure`] where it did not report a success, or the collector took only some of them.
    pub fn send(&self, spans: &[Span], within: Duration) -> Result<Sent, Failure> {
        let batch = spans
            .iter()
            .map(|span| convert::span_data(span, &self.scope, self.value_limit));
        self.shared.prepare(within);
        let exported = ready(self.inner.export(batch.collect()));
        match (exported, self.shared.take()) {
            (Some(Ok(())), Some(Exchange::Answered(answer))) => self.accepted(&answer),
            (_, Some(Exchange::Answered(answer))) => Err(self.refused(&answer)),
            (_, Some(Exchange::Unanswered(why))) => Err(Failure::Passing {
                what: format!("{}: {}", self.shown, said(&why)),
                retry_after: None,
            }),
            (Some(Err(error)), None) => Err(Failure::Lasting {
                what: format!("{}: {error}", self.shown),
            }),
            (Some(Ok(())) | None, None) => Err(Failure::Lasting {
                what: format!("{}: the exporter made no request", self.shown),
            }),
        }
    }

    fn accepted(&self, answer: &Answer) -> Result<Sent, Failure> {
        if answer.is_page {
            return Err(Failure::Lasting {
                what: format!(
                    "{}: HTTP status {} with a web page, which no collector answers: check the endpoint",
                    self.shown, answer.status
                ),
            });
        }
        let message = said(&answer.message);
        if answer.rejected > 0 {
            // Which ones is not told, and the specification forbids to repeat the request.
            return Err(Failure::Lasting {
                what: format!(
                    "{}: the collector rejected {} spans: {message}",
                    self.shown, answer.rejected
                ),
            });
        }
        let warning = (!message.is_empty()).then(|| format!("{}: the collector warns: {message}", self.shown));
        Ok(Sent { warning })
    }

    fn refused(&self, answer: &Answer) -> Failure {
        let message = said(&answer.message);
        let separator = if message.is_empty() { "" } else { ": " };
        let what = format!("{}: HTTP status {}{separator}{message}", self.shown, answer.status);
        // The specification's own list; nothing else may be repeated.
        if [429, 502, 503, 504].contains(&answer.status) {
            Failure::Passing {
                what,
                retry_after: answer.retry_after,
            }
        } else {
            Failure::Lasting { what }
        }
    }
}

/// The outcome of a future that never waits: the client blocks, and retries, which would, are off.
fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

/// The exporter's own words name the endpoint with what is secret in it.
fn refusal(settings: &Settings, why: &str) -> SetUpError {
    SetUpError::Refused(why.replace(&settings.endpoint, &settings.shown_endpoint()))
}

/// A collector's words, made harmless.
fn said(text: &str) -> String {
    let begin: String = text.chars().take(SAID_LIMIT * 2).collect();
    let masked = Redactor::builtin().text(&begin).text;
    visible(&masked).replace('\n', " ").chars().take(SAID_LIMIT).collect()
}

fn headers(settings: &Settings) -> http::HeaderMap {
    let pair = |(name, value): &(String, String)| {
        let name: http::HeaderName = name.parse().ok()?;
        let mut value = http::HeaderValue::from_str(value).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    };
    settings.headers.iter().filter_map(pair).collect()
}

fn agent(settings: &Settings, proxy: Proxy) -> Result<Agent, SetUpError> {
    let mut config = Agent::config_builder()
        // What to make of a status is decided by the exporter.
        .http_status_as_error(false)
        // A collector that has moved is named anew: credentials and spans do not follow an answer elsewhere.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("subcell/", env!("CARGO_PKG_VERSION")));
    if proxy == Proxy::Never {
        config = config.proxy(None);
    }
    if let Some(roots) = roots(settings)? {
        config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
    }
    Ok(config.build().new_agent())
}

fn roots(settings: &Settings) -> Result<Option<RootCerts>, SetUpError> {
    let Some(path) = &settings.certificate else {
        return Ok(None);
    };
    let pem = read_bounded(path, CERTIFICATES_LIMIT, Links::Follow).map_err(|source| SetUpError::Certificate {
        path: path.clone(),
        source,
    })?;
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        Ok(_) | Err(_) => None,
    };
    let certificates: Vec<Certificate<'static>> = parse_pem(&pem).filter_map(certificate).collect();
    if certificates.is_empty() {
        return Err(SetUpError::NoCertificate { path: path.clone() });
    }
    Ok(Some(RootCerts::new_with_certs(&certificates)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::from_environment;
    use crate::telemetry::settings::{Target, resolve};

    #[test]
    fn an_endpoint_that_is_no_url_is_refused_without_its_password() {
        let vars = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://ann:hunter2@[host/x")];
        let environment = vars.into_iter().collect();
        let (Target::To(settings), _) = resolve(from_environment(&environment)).unwrap() else {
            panic!()
        };
        let error = Exporter::new(&settings, Proxy::Never).unwrap_err().to_string();
        assert!(
            error.contains("http://[host/x") && !error.contains("hunter2"),
            "{error}"
        );
    }
}
