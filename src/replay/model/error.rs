//! What can keep the model from starting, or end it.

use std::io;
use std::net::SocketAddr;

/// A failure of the server as a whole; what concerns one request is answered to its client instead.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The address cannot be listened on.
    #[error("listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
    /// No further connection can be taken.
    #[error("take a connection")]
    Accept(#[source] io::Error),
}
