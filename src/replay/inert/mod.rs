//! Text from a transcript made harmless: a model may have written anything into it, for a terminal or for a browser.

mod json;

pub(super) use crate::base::visible;
pub(crate) use json::{Escape, write_json};
