//! fullsend as far as a harness meets it, rewritten from its source (v0.36 and the two months of main after it): what it
//! accepts, what it copies where, what it sets, what it rewrites, and what it runs when. fullsend itself takes more than
//! this: keys that it does not know it passes over in silence, which here is an error.

pub(crate) mod check;
pub(crate) mod redact;
pub(crate) mod sandbox;
