//! In place of the exporter, where the program is built without the feature `telemetry`.

use std::time::Duration;

use super::{Failure, Proxy, Sent, SetUpError};
use crate::telemetry::{Settings, Span};

/// There is none.
#[derive(Debug)]
pub enum Exporter {}

impl Exporter {
    /// Nothing can be set up.
    ///
    /// # Errors
    /// [`SetUpError::NotBuiltIn`], always.
    pub fn new(_: &Settings, _: Proxy) -> Result<Self, SetUpError> {
        Err(SetUpError::NotBuiltIn)
    }

    /// Never called: there is no exporter to call it on.
    ///
    /// # Errors
    /// None.
    pub fn send(&self, _: &[Span], _: Duration) -> Result<Sent, Failure> {
        match *self {}
    }
}
