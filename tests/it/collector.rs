//! A stand-in collector on loopback: answers as it is told, request by request, and keeps what it was sent.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::inspect::PATIENCE;

/// What it does with one request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Answers with a status, further header lines, a content type and a body.
    Answer(u16, &'static str, &'static str, Vec<u8>),
    /// Reads the request and never answers.
    Silent,
    /// Answers a byte at a time, and never comes to an end.
    Drip,
    /// Ends the connection in the middle of its answer.
    HalfAnswer,
    /// Ends the connection before the request has been read.
    HangUp,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self::Answer(status, "", "application/x-protobuf", Vec::new())
    }
}

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// Lower-case `name: value` lines.
    pub(crate) headers: Vec<String>,
    /// As it was sent, packed or not.
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }
}

trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

/// The collector; it ends with its value.
pub(crate) struct Collector {
    address: SocketAddr,
    scheme: &'static str,
    requests: Receiver<Request>,
    seen: Vec<Request>,
    /// Dropped, it ends every connection that is held open.
    _stop: Sender<()>,
}

impl Collector {
    /// Starts one that answers the first requests by `replies`, and all others with a success.
    pub(crate) fn start(replies: &[Reply]) -> Self {
        Self::serve(replies, None)
    }

    /// The same over TLS.
    pub(crate) fn start_tls(replies: &[Reply], tls: rustls::ServerConfig) -> Self {
        Self::serve(replies, Some(Arc::new(tls)))
    }

    fn serve(replies: &[Reply], tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let (tell, requests) = channel();
        let (stop, stopped) = channel::<()>();
        let stopped = Arc::new(Mutex::new(stopped));
        let replies = Arc::new(Mutex::new(VecDeque::from(replies.to_vec())));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let (tell, stopped, replies, tls) = (tell.clone(), stopped.clone(), replies.clone(), tls.clone());
                std::thread::spawn(move || {
                    let next = move || {
                        replies
                            .lock()
                            .unwrap()
                            .pop_front()
                            .unwrap_or_else(|| Reply::status(200))
                    };
                    let _ = connection(open(stream, tls), &next, &tell, &stopped);
                });
            }
        });
        Self {
            address,
            scheme,
            requests,
            seen: Vec::new(),
            _stop: stop,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}://localhost:{}", self.scheme, self.address.port())
    }

    /// The requests so far.
    pub(crate) fn requests(&mut self) -> &[Request] {
        self.seen.extend(self.requests.try_iter());
        &self.seen
    }

    /// The next request, waited for.
    pub(crate) fn next(&mut self) -> Request {
        self.requests.recv_timeout(PATIENCE).unwrap()
    }
}

/// An address on which nothing listens.
pub(crate) fn refused() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port())
}

fn open(stream: TcpStream, tls: Option<Arc<rustls::ServerConfig>>) -> Box<dyn Stream> {
    match tls {
        None => Box::new(stream),
        Some(config) => {
            let connection = rustls::ServerConnection::new(config).unwrap();
            Box::new(rustls::StreamOwned::new(connection, stream))
        }
    }
}

fn connection(
    stream: Box<dyn Stream>,
    next: &dyn Fn() -> Reply,
    tell: &Sender<Request>,
    stopped: &Mutex<Receiver<()>>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let Some((path, headers)) = head(&mut stream)? else {
            return Ok(());
        };
        let reply = next();
        if matches!(reply, Reply::HangUp) {
            return Ok(());
        }
        let length = headers.iter().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body)?;
        let _ = tell.send(Request { path, headers, body });
        match reply {
            Reply::Answer(status, more, kind, body) => {
                let length = body.len();
                write!(
                    stream.get_mut(),
                    "HTTP/1.1 {status} X\r\n{more}content-type: {kind}\r\ncontent-length: {length}\r\n\r\n"
                )?;
                stream.get_mut().write_all(&body)?;
                stream.get_mut().flush()?;
            }
            Reply::HalfAnswer => {
                write!(stream.get_mut(), "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")?;
                return stream.get_mut().flush();
            }
            Reply::Silent => {
                // Until the test is over.
                let _ = stopped.lock().unwrap().recv();
                return Ok(());
            }
            Reply::Drip => {
                write!(stream.get_mut(), "HTTP/1.1 200 OK\r\nx-drip: ")?;
                while stopped.lock().unwrap().recv_timeout(Duration::from_millis(10))
                    == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
                {
                    stream.get_mut().write_all(b"x")?;
                    stream.get_mut().flush()?;
                }
                return Ok(());
            }
            Reply::HangUp => {}
        }
    }
}

fn head(stream: &mut BufReader<Box<dyn Stream>>) -> std::io::Result<Option<(String, Vec<String>)>> {
    let mut first = String::new();
    if stream.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let line = line.trim_end();
        if line.is_empty() {
            return Ok(Some((path, headers)));
        }
        let (name, value) = line.split_once(':').unwrap();
        headers.push(format!("{}: {}", name.to_lowercase(), value.trim()));
    }
}
