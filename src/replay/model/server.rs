//! The server: takes connections, bounds them, and ends when it is told to.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::address::LoopbackAddr;
use super::error::ModelError;
use super::http::{State, respond};
use super::log::RequestLog;
use super::numbering::Numbering;
use super::script::Script;

/// How many connections may be open at once; a further one waits.
const MOST_CONNECTIONS: usize = 512;

/// How long a client may take to send its request's head.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// How long a client may take to read its answer.
const READ_TIME: Duration = Duration::from_mins(2);

/// The longest life of a connection, and so the longest delay and hang.
const LONGEST_CONNECTION: Duration = Duration::from_hours(1);

/// How long answers that are under way have when the server is told to end.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// A scripted model that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    state: Arc<State>,
}

impl Server {
    /// Starts to listen; connections are taken once [`Server::run_until`] runs.
    ///
    /// # Errors
    /// [`ModelError::Listen`] where the address is taken or not allowed.
    pub async fn bind(address: LoopbackAddr, script: Script, log: RequestLog) -> Result<Self, ModelError> {
        let wanted = address.as_socket_addr();
        let failed = |source| ModelError::Listen(wanted, source);
        let listener = TcpListener::bind(wanted).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let state = State {
            script,
            numbering: Mutex::new(Numbering::default()),
            log: Mutex::new(log),
        };
        Ok(Self {
            listener,
            address,
            state: Arc::new(state),
        })
    }

    /// Where it listens, with the port that the system chose.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` ends; answers that are under way then have a second.
    ///
    /// # Errors
    /// [`ModelError::Accept`] where no connection can be taken any more.
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), ModelError> {
        let Self { listener, state, .. } = self;
        let mut open = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                taken = listener.accept(), if open.len() < MOST_CONNECTIONS => match taken {
                    Ok((stream, _)) => {
                        open.spawn(connection(stream, Arc::clone(&state)));
                    }
                    // The client went away between its connecting and our taking it.
                    Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => {}
                    Err(error) => return Err(ModelError::Accept(error)),
                },
                Some(_) = open.join_next() => {}
            }
        }
        drop(listener);
        // What has not ended by then is dropped with the set.
        let _ = timeout(LAST_ANSWERS, async { while open.join_next().await.is_some() {} }).await;
        Ok(())
    }
}

/// One connection with one request. An error in it is the client's: it has gone, or it never spoke HTTP.
async fn connection(stream: TcpStream, state: Arc<State>) {
    let answered = Notify::new();
    let service = service_fn(|request| {
        let (state, answered) = (&state, &answered);
        async move {
            let response = respond(state, request).await;
            answered.notify_one();
            Ok::<_, Infallible>(response)
        }
    });
    // One request a connection: no idle connection has to be told from a slow one.
    let served = http1::Builder::new()
        .keep_alive(false)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), service);
    let read_too_slowly = async {
        answered.notified().await;
        sleep(READ_TIME).await;
    };
    tokio::select! {
        _ = timeout(LONGEST_CONNECTION, served) => {}
        () = read_too_slowly => {}
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream as Client;
    use std::path::Path;
    use std::thread::JoinHandle;

    use serde_json::{Value, json};
    use tokio::runtime::Builder;
    use tokio::sync::oneshot;

    use super::*;

    /// A server on a thread of its own.
    struct Running {
        address: SocketAddr,
        stop: Option<oneshot::Sender<()>>,
        thread: JoinHandle<()>,
    }

    impl Running {
        fn start(script: &Value, log: Option<&Path>) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("script.json");
            std::fs::write(&path, script.to_string()).unwrap();
            let script = Script::load(&path).unwrap();
            let log = log.map_or(RequestLog::off(), |path| RequestLog::append(path).unwrap());
            let (tell, told) = std::sync::mpsc::channel();
            let (stop, stopped) = oneshot::channel();
            let thread = std::thread::spawn(move || {
                let runtime = Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    let server = Server::bind("127.0.0.1:0".parse().unwrap(), script, log).await.unwrap();
                    tell.send(server.address()).unwrap();
                    server.run_until(async { drop(stopped.await) }).await.unwrap();
                });
            });
            Self {
                address: told.recv().unwrap(),
                stop: Some(stop),
                thread,
            }
        }

        fn connect(&self) -> Client {
            let client = Client::connect(self.address).unwrap();
            client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            client
        }

        /// Sends one request and reads until the server closes: (head, body).
        fn ask(&self, head: &str, body: &str) -> (String, String) {
            let mut client = self.connect();
            write!(client, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).unwrap();
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            (head.to_ascii_lowercase(), body.to_owned())
        }

        fn post(&self, body: &Value) -> (String, String) {
            self.ask(
                "POST /v1/messages?beta=true HTTP/1.1\r\nhost: x\r\nx-api-key: k",
                &body.to_string(),
            )
        }

        fn end(mut self) {
            self.stop.take().unwrap().send(()).unwrap();
            self.thread.join().unwrap();
        }
    }

    fn asking(prompt: &str, stream: bool) -> Value {
        json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": prompt}]})
    }

    #[test]
    fn messages_are_answered_with_and_without_stream() {
        let server = Running::start(&json!({"default": {"blocks": [{"text": "you said {{prompt}}"}]}}), None);
        let (head, body) = server.post(&asking("hi", true));
        assert!(
            head.starts_with("http/1.1 200") && head.contains("content-type: text/event-stream"),
            "{head}"
        );
        assert!(
            body.starts_with("event: message_start\n") && body.ends_with("\n\n"),
            "{body}"
        );
        assert!(body.contains(r#"{"type":"text_delta","text":"you said hi"}"#), "{body}");

        let (head, body) = server.post(&asking("hi", false));
        assert!(head.contains("content-type: application/json"), "{head}");
        let message: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(message["content"][0]["text"], "you said hi");
        server.end();
    }

    #[test]
    fn other_requests_get_the_answers_of_the_api() {
        let server = Running::start(&json!({}), None);
        for (head, body, status, want) in [
            ("HEAD / HTTP/1.1\r\nhost: x", "", "200", ""),
            ("GET /v1/models HTTP/1.1\r\nhost: x", "", "404", "not_found_error"),
            ("POST /v1/other HTTP/1.1\r\nhost: x", "{}", "404", "not_found_error"),
            (
                "POST /v1/messages HTTP/1.1\r\nhost: x",
                "{",
                "400",
                "the body is not JSON",
            ),
            (
                "POST /v1/messages/count_tokens HTTP/1.1\r\nhost: x",
                "12345678",
                "200",
                "{\"input_tokens\":2}",
            ),
        ] {
            let (got, text) = server.ask(head, body);
            assert!(got.starts_with(&format!("http/1.1 {status}")), "{head}: {got}");
            assert!(text.contains(want), "{head}: {text}");
        }
        server.end();
    }

    #[test]
    fn a_body_over_the_limit_is_refused_before_it_is_sent() {
        let server = Running::start(&json!({}), None);
        let mut client = server.connect();
        let length = (64 << 20) + 1;
        write!(
            client,
            "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
        server.end();
    }

    #[test]
    fn an_error_and_its_retry_word_are_passed_on_and_the_next_request_is_told_apart() {
        let error = json!({"error": {"status": 529, "type": "overloaded_error", "message": "busy", "retry": false}});
        let script =
            json!({"rules": [{"when": {"nth": 1}, "answer": error}], "default": {"blocks": [{"text": "ok"}]}});
        let server = Running::start(&script, None);
        let (head, body) = server.post(&asking("hi", true));
        assert!(
            head.starts_with("http/1.1 529") && head.contains("x-should-retry: false"),
            "{head}"
        );
        assert_eq!(
            body,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#
        );
        assert!(server.post(&asking("hi", true)).0.starts_with("http/1.1 200"));
        server.end();
    }

    #[test]
    fn requests_are_logged_without_credentials() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log.jsonl");
        let server = Running::start(&json!({}), Some(&log));
        let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: SECRET\r\nauthorization: Bearer SECRET\r\n\
                    x-claude-code-session-id: s1\r\nx-claude-code-agent-id: a1\r\nuser-agent: claude-cli/2.1.332";
        server.ask(head, &asking("hi", true).to_string());
        server.end();
        let text = std::fs::read_to_string(&log).unwrap();
        assert!(!text.contains("SECRET"), "{text}");
        let line: Value = serde_json::from_str(text.strip_suffix('\n').unwrap()).unwrap();
        assert_eq!(
            (
                &line["n"],
                &line["role"],
                &line["session"],
                &line["agent"],
                &line["answered_by"]
            ),
            (
                &json!(1),
                &json!("subagent"),
                &json!("s1"),
                &json!("a1"),
                &json!("default")
            )
        );
        assert_eq!(line["headers"]["user-agent"], "claude-cli/2.1.332");
        assert_eq!(line["request"], asking("hi", true));
    }

    #[test]
    fn a_hanging_answer_keeps_nobody_else_waiting_nor_the_end() {
        let script = json!({"rules": [{"when": {"prompt_contains": "WAIT"}, "answer": "hang"}]});
        let server = Running::start(&script, None);
        let mut hanging = server.connect();
        let body = asking("WAIT", true).to_string();
        write!(
            hanging,
            "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        assert!(server.post(&asking("hi", false)).0.starts_with("http/1.1 200"));
        server.end();
        let mut nothing = Vec::new();
        // Closed without an answer, whether by an end or by a reset.
        let _ = hanging.read_to_end(&mut nothing);
        assert!(nothing.is_empty());
    }
}
