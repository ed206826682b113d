//! The one place that builds a tokio runtime. The hooks never come here: they are synchronous.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// A runtime on the calling thread alone, with network, time and signals.
///
/// # Errors
/// The system refuses what the runtime needs (an epoll instance, a pipe).
pub(super) fn current_thread() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}
