//! Sending spans through opentelemetry-otlp, with the export's own result as the only word on success.

#[cfg(feature = "telemetry")]
mod client;
#[cfg(feature = "telemetry")]
mod convert;
#[cfg(feature = "telemetry")]
mod exporter;
#[cfg(not(feature = "telemetry"))]
mod without;

use std::time::Duration;

#[cfg(feature = "telemetry")]
pub use exporter::Exporter;
#[cfg(not(feature = "telemetry"))]
pub use without::Exporter;

/// An exporter that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The file of certificates cannot be read.
    #[error("read the certificates {path}", path = path.display())]
    Certificate {
        /// The file.
        path: std::path::PathBuf,
        /// Why not.
        #[source]
        source: crate::base::BoundedReadError,
    },
    /// The file holds no certificate.
    #[error("{path} holds no certificate in PEM form", path = path.display())]
    NoCertificate {
        /// The file.
        path: std::path::PathBuf,
    },
    /// The exporter refuses its settings.
    #[error("set up the exporter: {0}")]
    Refused(String),
    /// This program was built without the feature `telemetry`.
    #[error("this program was built without the feature telemetry, and cannot send spans")]
    NotBuiltIn,
}

/// Whether requests may go through a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// As `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` say.
    AsEnvironmentSays,
    /// Never: a repository's settings can set those variables for a hook.
    Never,
}

/// What was sent, and the export reported as a success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// What the collector wants to be known besides.
    pub warning: Option<String>,
}

/// An export that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It may succeed later: the collector was not reached, or asked for another try.
    Passing {
        /// What happened.
        what: String,
        /// How long the collector asked to be left alone.
        retry_after: Option<Duration>,
    },
    /// Sending the same again would fail again.
    Lasting {
        /// What happened.
        what: String,
    },
}

impl Failure {
    /// What happened.
    #[must_use]
    pub fn what(&self) -> &str {
        match self {
            Self::Passing { what, .. } | Self::Lasting { what } => what,
        }
    }
}
