//! Programs in other languages that a command carries in quotes: what they start, change and fetch, as far as a table of
//! calls tells. Also decoders, awk, sed, and the tokens of SQL.

mod calls;
mod code_option;
mod decode;
mod indirect;
mod language;
mod program;
mod sql;
mod text_tools;
mod token;
mod value;

pub(crate) use decode::decode;
pub(crate) use language::language;
pub(crate) use sql::destroys;
