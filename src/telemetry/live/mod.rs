//! Live spans: phases of work at hand, made by tracing and tracing-opentelemetry while they happen.
//!
//! Without a [`Recorder`] on the thread a phase and an event cost next to nothing, and nothing is set up.

#[cfg(feature = "telemetry")]
mod recorder;
#[cfg(not(feature = "telemetry"))]
mod without;

#[cfg(feature = "telemetry")]
pub use recorder::{Phase, Recorder, event, phase};
#[cfg(not(feature = "telemetry"))]
pub use without::{Phase, Recorder, event, phase};
