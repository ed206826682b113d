//! Guards: hooks that stand alone. Each decides on one event of the client and leaves everything else to it.

pub mod background;
pub mod bash;
pub mod liveness;
mod raw_object;
mod verdict;

pub use verdict::Answer;
