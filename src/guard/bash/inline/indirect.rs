//! Calls whose name is a text of the program.

use super::language::Language;
use super::token::Token;
use super::value::{arguments, bracketed};

/// A call by way of another.
pub(super) enum Indirect<'t> {
    /// `getattr(os, 'system')('…')`: the arguments follow from `ends` on.
    Named {
        /// What is called.
        called: &'t str,
        /// Where its arguments begin.
        ends: usize,
    },
    /// `Kernel.send(:system, '…')`: the arguments stand beside the name.
    Sent {
        /// What is called.
        called: &'t str,
        /// Its arguments.
        arguments: Vec<&'t [Token]>,
    },
}

/// What the call of `name`, whose arguments open at `open`, calls in its turn.
pub(super) fn indirect<'t>(name: &str, tokens: &'t [Token], open: usize, language: Language) -> Option<Indirect<'t>> {
    match name {
        "getattr" => {
            let inner = bracketed(tokens, open);
            let called = arguments(inner).get(1)?.first()?.text()?;
            let ends = open + inner.len() + 2;
            Some(Indirect::Named { called, ends })
        }
        "send" | "public_send" | "__send__" if language == Language::Ruby => {
            let mut arguments = arguments(bracketed(tokens, open));
            let first = arguments.first()?;
            let called = first.iter().find_map(|token| token.name().or_else(|| token.text()))?;
            arguments.remove(0);
            Some(Indirect::Sent { called, arguments })
        }
        _ => None,
    }
}
