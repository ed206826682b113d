//! The guards: hooks that refuse what would undo isolation.

pub mod bash;
