//! The tables of programs that start another program given in their arguments.

mod lookup;
mod row;
mod system;
mod tools;

pub(crate) use lookup::wrapper_of;
