//! The exporter's HTTP: a blocking client with one deadline, which keeps what the collector answered.
//!
//! opentelemetry-otlp reports neither the collector's `Retry-After` nor a partial success (it logs that); both are read
//! here, where the answer passes.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use serde_json::Value;
use ureq::Agent;

/// The most of an answer that is read (specification: at least 4 MiB).
const ANSWER_LIMIT: u64 = 4 * 1024 * 1024;

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// No whole answer came.
    Unanswered(String),
    /// An answer came.
    Answered(Answer),
}

/// A collector's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// `Retry-After` in seconds, where that is what it holds.
    pub retry_after: Option<Duration>,
    /// Whether it is a web page, which no collector answers: something else listens there.
    pub is_page: bool,
    /// How many spans of the request were not taken.
    pub rejected: u64,
    /// What the collector says.
    pub message: String,
}

/// The state that client and exporter share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    within: Mutex<Duration>,
    last: Mutex<Option<Exchange>>,
}

impl Shared {
    /// Gives the next request its time, and forgets the last one's answer.
    pub(super) fn prepare(&self, within: Duration) {
        *self.within.lock().unwrap_or_else(PoisonError::into_inner) = within;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// What became of the last request.
    pub(super) fn take(&self) -> Option<Exchange> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, exchange: Exchange) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(exchange);
    }
}

/// The client.
#[derive(Debug)]
pub(super) struct Client {
    /// Makes the connections.
    pub agent: Agent,
    /// How bodies are written.
    pub content_type: http::HeaderValue,
    /// Headers of every request.
    pub headers: http::HeaderMap,
    /// What it shares with the exporter.
    pub shared: Arc<Shared>,
}

impl HttpClient for Client {
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(std::future::ready(self.exchange(request)))
    }
}

impl Client {
    fn exchange(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let exchanged = self.post(request);
        let kept = match &exchanged {
            Ok(response) => Exchange::Answered(answer(response)),
            Err(error) => Exchange::Unanswered(error.to_string()),
        };
        self.shared.keep(kept);
        Ok(exchanged?)
    }

    fn post(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ureq::Error> {
        let within = *self.shared.within.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut parts, body) = request.into_parts();
        // The exporter reads OTEL_EXPORTER_OTLP_HEADERS itself, also of a hook whose environment a repository sets; what
        // counts is what was judged. How the body is packed only the exporter knows.
        let packed = parts.headers.remove(CONTENT_ENCODING);
        parts.headers.clear();
        parts.headers.insert(CONTENT_TYPE, self.content_type.clone());
        parts
            .headers
            .extend(packed.map(|value| (Some(CONTENT_ENCODING), value)));
        for (name, value) in &self.headers {
            parts.headers.entry(name).or_insert_with(|| value.clone());
        }
        let request = http::Request::from_parts(parts, body.as_ref());
        let request = self
            .agent
            .configure_request(request)
            .timeout_global(Some(within))
            .build();
        let (parts, mut body) = self.agent.run(request)?.into_parts();
        let body = body.with_config().limit(ANSWER_LIMIT).read_to_vec()?;
        Ok(Response::from_parts(parts, body.into()))
    }
}

fn answer(response: &Response<Bytes>) -> Answer {
    let header = |name: http::HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
    let seconds = header(http::header::RETRY_AFTER).and_then(|text| text.trim().parse().ok());
    let kind = header(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
    let is_json = kind.contains("json");
    let body = response.body();
    let (rejected, message) = match (response.status().is_success(), is_json) {
        (true, true) => json_partial(body),
        (true, false) => protobuf_partial(body),
        (false, true) => (0, json_message(body)),
        // A failure's body is a google.rpc.Status, or any page of a proxy: only JSON is worth a message.
        (false, false) => (0, String::new()),
    };
    Answer {
        status: response.status().as_u16(),
        retry_after: seconds.map(Duration::from_secs),
        is_page: kind.contains("html"),
        rejected,
        message,
    }
}

fn protobuf_partial(body: &[u8]) -> (u64, String) {
    let partial = ExportTraceServiceResponse::decode(body)
        .ok()
        .and_then(|response| response.partial_success);
    partial.map_or((0, String::new()), |partial| {
        (
            u64::try_from(partial.rejected_spans).unwrap_or(0),
            partial.error_message,
        )
    })
}

/// OTLP/JSON writes 64-bit integers as strings, and allows numbers.
fn json_partial(body: &[u8]) -> (u64, String) {
    let response: Value = serde_json::from_slice(body).unwrap_or_default();
    let partial = response.get("partialSuccess");
    let rejected = partial.and_then(|partial| partial.get("rejectedSpans"));
    let rejected = rejected.and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok()));
    let message = partial
        .and_then(|partial| partial.get("errorMessage"))
        .and_then(Value::as_str);
    (rejected.unwrap_or(0), message.unwrap_or_default().to_owned())
}

fn json_message(body: &[u8]) -> String {
    let response: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = ["message", "error", "detail"]
        .iter()
        .find_map(|name| response.get(name)?.as_str());
    message.unwrap_or_default().to_owned()
}
