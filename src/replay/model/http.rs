//! One request over HTTP: reads it, lets the script answer, logs it.

use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::answer::{ApiError, Reply, tokens};
use super::facts::{Caller, Facts};
use super::log::{Line, RequestLog};
use super::numbering::Numbering;
use super::script::{Rule, Script};
use super::wire;
use crate::base::chain::Chain;

/// The largest request body, in bytes.
const LARGEST_BODY: u64 = 64 << 20;

/// How long a client may take to send its body.
const BODY_TIME: Duration = Duration::from_mins(1);

/// What all requests of one server share.
#[derive(Debug)]
pub(super) struct State {
    pub(super) script: Script,
    pub(super) numbering: Mutex<Numbering>,
    pub(super) log: Mutex<RequestLog>,
}

/// An answer's body, known whole before it is sent.
type Answered = Response<Full<Bytes>>;

/// Answers one request; what is wrong with it is answered as the API does.
pub(super) async fn respond(state: &State, request: Request<Incoming>) -> Answered {
    let route = (request.method().clone(), request.uri().path().to_owned());
    let answered = match (&route.0, route.1.as_str()) {
        // The client looks whether anybody is there before it asks (2.1.156 to 2.1.332).
        (&Method::HEAD, _) => Ok(Response::new(Full::default())),
        (&Method::POST, "/v1/messages") => messages(state, request).await,
        (&Method::POST, "/v1/messages/count_tokens") => count_tokens(request).await,
        (method, path) => Err(refusal(
            404,
            "not_found_error",
            &format!("{method} {path} is not scripted"),
        )),
    };
    answered.unwrap_or_else(|error| failure(&error))
}

async fn messages(state: &State, request: Request<Incoming>) -> Result<Answered, ApiError> {
    let headers = request.headers().clone();
    let body = read_body(request.into_body(), LARGEST_BODY).await?;
    let value: Value = serde_json::from_slice(&body)
        .map_err(|error| refusal(400, "invalid_request_error", &format!("the body is not JSON: {error}")))?;
    let facts = Facts::read(caller(&headers), &value, byte_count(&body));
    drop(body);
    let (rule, reply) = decide(state, &headers, &facts, &value)?;
    drop(value);
    tokio::time::sleep(rule.delay).await;
    match reply {
        Reply::Message(message) if facts.stream => Ok(answer("text/event-stream", wire::events(&message))),
        Reply::Message(message) => Ok(answer_json(&wire::whole(&message))),
        Reply::Error(error) => Err(error),
        // Ends with the connection, whose life is limited.
        Reply::Hang => std::future::pending().await,
    }
}

/// Numbers and logs a request, and takes the reply from the script.
fn decide<'a>(
    state: &'a State,
    headers: &HeaderMap,
    facts: &Facts,
    value: &Value,
) -> Result<(&'a Rule, Reply), ApiError> {
    let numbers = state
        .numbering
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .next(facts);
    let rule = state.script.rule(facts, numbers);
    let named = headers
        .iter()
        .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    let line = Line::now((facts, numbers), named, value, &rule.label);
    let written = state.log.lock().unwrap_or_else(PoisonError::into_inner).write(&line);
    // A log with gaps would let a test pass that should not.
    written.map_err(|error| refusal(500, "api_error", &format!("write the request log: {}", Chain(&error))))?;
    Ok((rule, rule.answer.reply(facts, numbers)))
}

async fn count_tokens(request: Request<Incoming>) -> Result<Answered, ApiError> {
    let body = read_body(request.into_body(), LARGEST_BODY).await?;
    Ok(answer_json(&json!({"input_tokens": tokens(byte_count(&body))})))
}

async fn read_body<B>(body: B, limit: u64) -> Result<Bytes, ApiError>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let too_large = || {
        refusal(
            413,
            "request_too_large",
            &format!("a request has at most {limit} bytes"),
        )
    };
    // A length that is announced is judged before the body is read.
    if body.size_hint().lower() > limit {
        return Err(too_large());
    }
    let limited = Limited::new(body, usize::try_from(limit).unwrap_or(usize::MAX));
    match tokio::time::timeout(BODY_TIME, limited.collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(error)) => Err(refusal(
            400,
            "invalid_request_error",
            &format!("the body is broken: {error}"),
        )),
        Err(_) => Err(refusal(408, "timeout_error", "the body took too long")),
    }
}

fn caller(headers: &HeaderMap) -> Caller {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
    Caller {
        session: text("x-claude-code-session-id").unwrap_or_default(),
        agent: text("x-claude-code-agent-id"),
    }
}

fn byte_count(body: &Bytes) -> u64 {
    u64::try_from(body.len()).unwrap_or(u64::MAX)
}

fn refusal(status: u16, kind: &str, message: &str) -> ApiError {
    ApiError {
        status,
        r#type: kind.to_owned(),
        message: message.to_owned(),
        retry: Some(false),
    }
}

fn answer(content_type: &'static str, body: Vec<u8>) -> Answered {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

fn answer_json(body: &Value) -> Answered {
    answer("application/json", body.to_string().into_bytes())
}

fn failure(error: &ApiError) -> Answered {
    let mut response = answer_json(&wire::error(error));
    *response.status_mut() = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Some(retry) = error.retry {
        let value = HeaderValue::from_static(if retry { "true" } else { "false" });
        response
            .headers_mut()
            .insert(HeaderName::from_static("x-should-retry"), value);
    }
    response
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use hyper::body::Frame;

    use super::*;

    /// A body in pieces, whose length nobody announced.
    struct Pieces(Vec<&'static str>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = std::io::Error;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<std::io::Result<Frame<Bytes>>>> {
            Poll::Ready(match self.0.pop() {
                Some("broken") => Some(Err(std::io::Error::other("reset"))),
                piece => piece.map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes())))),
            })
        }
    }

    #[test]
    fn a_body_is_read_whole_or_refused() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        for (pieces, want) in [
            (vec![], Ok("")),
            (vec!["def", "abc"], Ok("abcdef")),
            (vec!["g", "def", "abc"], Err(413)),
            (vec!["broken", "abc"], Err(400)),
        ] {
            let read = runtime.block_on(read_body(Pieces(pieces), 6));
            assert_eq!(read.map_err(|error| error.status), want.map(Bytes::from));
        }
    }
}
