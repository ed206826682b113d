//! The one redactor of the product: takes secrets out of text, streaming, and says what kinds it took and how many.
//!
//! Later work adds patterns, never another redactor. Ids that a reader needs (UUIDs, session and tool-use ids, commit
//! hashes, digests) stay.

mod judge;
mod mask;
mod redactor;
mod rules;
mod stream;
mod tail;
mod value;

pub use mask::{is_secret_name, mask_arguments, mask_value};
pub use redactor::{PatternError, Redacted, Redactor, Report};
pub use stream::RedactStream;

#[cfg(test)]
mod commands_tests;
#[cfg(test)]
mod kinds_tests;
#[cfg(test)]
mod stream_tests;
