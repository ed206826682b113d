//! Simple commands: assignments, words, redirections; and which commands are compound.

use super::super::syntax::{Assign, AssignValue, Command, Part, Redirect, RedirectKind, Simple, Target, Word};
use super::cursor::{Read, Reader, Unread, in_name, is_meta, starts_name};
use std::rc::Rc;

/// Builtins whose arguments may be assignments with lists.
const DECLARING: [&str; 5] = ["declare", "typeset", "local", "readonly", "export"];

/// Redirection operators, longer ones first; the flag says whether tabs are stripped from a here-document.
const OPERATORS: [(&str, RedirectKind, bool); 12] = [
    ("&>>", RedirectKind::BothAppend, false),
    ("&>", RedirectKind::Both, false),
    ("<<<", RedirectKind::HereString, false),
    ("<<-", RedirectKind::HereDocument, true),
    ("<<", RedirectKind::HereDocument, false),
    ("<&", RedirectKind::Duplicate, false),
    ("<>", RedirectKind::InOut, false),
    ("<", RedirectKind::In, false),
    (">>", RedirectKind::Append, false),
    (">|", RedirectKind::Out, false),
    (">&", RedirectKind::Duplicate, true),
    (">", RedirectKind::Out, false),
];

impl Reader<'_, '_> {
    /// Reads one command; `None` where nothing begins here.
    pub(super) fn command(&mut self) -> Read<Option<Command>> {
        self.charge(60)?;
        self.skip_blanks()?;
        let start = self.pos;
        if self.at_end() {
            return Ok(None);
        }
        if let Some(body) = self.compound()? {
            let redirects = self.redirects()?;
            let span = self.span(start);
            return Ok(Some(Command::Compound {
                body: Box::new(body),
                redirects,
                span,
            }));
        }
        match self.bare_word() {
            "function" => self.function_keyword().map(Some),
            "coproc" => self.coproc(start).map(Some),
            _ => self.simple_or_function(start),
        }
    }

    fn function_keyword(&mut self) -> Read<Command> {
        self.pos += "function".len();
        self.skip_blanks()?;
        let start = self.pos;
        while !self.at_end() && !is_meta(self.peek()) {
            self.pos += 1;
        }
        let name = self.since(start).to_owned();
        self.skip_blanks()?;
        if self.eat("(") {
            self.skip_blanks()?;
            if !self.eat(")") {
                return self.unexpected();
            }
        }
        self.function_body(name)
    }

    fn function_body(&mut self, name: String) -> Read<Command> {
        self.skip_lines()?;
        let body = self.deeper(Self::command)?;
        match body {
            Some(body) => Ok(Command::Function {
                name,
                body: Rc::new(body),
            }),
            None => Err(Unread::Unclosed("a function")),
        }
    }

    fn coproc(&mut self, start: usize) -> Read<Command> {
        self.pos += "coproc".len();
        self.skip_blanks()?;
        let word = self.bare_word();
        let length = word.len();
        let named = !word.is_empty() && word.bytes().all(in_name) && {
            let rest = self.rest().get(length..).unwrap_or("").trim_start_matches([' ', '\t']);
            rest.starts_with(['{', '('])
                || ["while ", "until ", "for ", "if ", "case ", "select "]
                    .iter()
                    .any(|word| rest.starts_with(word))
        };
        let mut name = "COPROC".to_owned();
        if named && !["if", "while", "until", "for", "case", "select"].contains(&word) {
            word.clone_into(&mut name);
            self.pos += length;
        }
        let body = self.deeper(Self::command)?;
        match body {
            Some(body) => Ok(Command::Coproc {
                name,
                body: Box::new(body),
                span: self.span(start),
            }),
            None => Err(Unread::Unclosed("a coprocess")),
        }
    }

    fn simple_or_function(&mut self, start: usize) -> Read<Option<Command>> {
        let mut simple = Simple::default();
        loop {
            self.skip_blanks()?;
            if self.at_end() {
                break;
            }
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                continue;
            }
            let declaring = simple.words.first().is_some_and(is_declaring);
            if (simple.words.is_empty() || declaring)
                && let Some(assign) = self.assignment()?
            {
                simple.assigns.push(assign);
                continue;
            }
            if self.word_ends() {
                break;
            }
            let before = self.pos;
            let word = self.word()?;
            if simple.words.is_empty() && simple.assigns.is_empty() && self.opens_function() {
                let name = self.since(before).to_owned();
                return self.function_after_name(name).map(Some);
            }
            simple.words.push(word);
        }
        if simple.words.is_empty() && simple.assigns.is_empty() && simple.redirects.is_empty() {
            return Ok(None);
        }
        if self.peek() == b'(' {
            return self.unexpected();
        }
        simple.span = self.span(start);
        if self.pin.is_none() {
            trim_span(&mut simple, self.source);
        }
        Ok(Some(Command::Simple(simple)))
    }

    fn opens_function(&self) -> bool {
        let rest = self.rest().trim_start_matches([' ', '\t']);
        rest.strip_prefix('(')
            .is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with(')'))
    }

    fn function_after_name(&mut self, name: String) -> Read<Command> {
        self.skip_blanks()?;
        self.pos += 1;
        self.skip_blanks()?;
        self.pos += 1;
        self.function_body(name)
    }

    /// Reads an assignment if one is next.
    fn assignment(&mut self) -> Read<Option<Assign>> {
        let start = self.pos;
        if !starts_name(self.peek()) {
            return Ok(None);
        }
        while in_name(self.peek()) {
            self.pos += 1;
        }
        let name = self.since(start).to_owned();
        let index = self.assigned_index()?;
        let append = self.peek() == b'+' && self.peek_at(1) == b'=';
        if append {
            self.pos += 1;
        }
        if !self.eat("=") {
            self.pos = start;
            return Ok(None);
        }
        let value = if self.peek() == b'(' && index.is_none() {
            self.pos += 1;
            AssignValue::List(self.deeper(Self::elements)?)
        } else {
            AssignValue::Text(self.word()?)
        };
        Ok(Some(Assign {
            name,
            index,
            append,
            value,
        }))
    }

    /// `[index]` before an assignment's sign; moves only if such a sign follows.
    fn assigned_index(&mut self) -> Read<Option<Word>> {
        if self.peek() != b'[' {
            return Ok(None);
        }
        let rest = self.rest();
        let closing = rest
            .bytes()
            .take(4096)
            .take_while(|b| *b != b'\n')
            .position(|b| b == b']');
        let Some(close) = closing else { return Ok(None) };
        let after = rest.get(close + 1..).unwrap_or("");
        if !after.starts_with('=') && !after.starts_with("+=") {
            return Ok(None);
        }
        let end = self.pos + close;
        self.pos += 1;
        let mut parts = Vec::new();
        while self.pos < end && !self.at_end() {
            self.piece(&mut parts)?;
        }
        let _ = self.eat("]");
        Ok(Some(Word {
            parts,
            span: self.span(end),
        }))
    }

    /// The elements of a list, up to its closing bracket.
    fn elements(&mut self) -> Read<Vec<(Option<Word>, Word)>> {
        let mut elements = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat(")") {
                return Ok(elements);
            }
            if self.at_end() {
                return Err(Unread::Unclosed("a list"));
            }
            if self.word_ends() {
                return self.unexpected();
            }
            let start = self.pos;
            let key = self.assigned_index()?;
            if key.is_some() && !self.eat("=") {
                self.pos = start;
            }
            let value = self.word()?;
            elements.push((key, value));
        }
    }

    pub(super) fn redirects(&mut self) -> Read<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks()?;
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    /// Reads a redirection if one is next.
    fn redirect(&mut self) -> Read<Option<Redirect>> {
        let start = self.pos;
        let fd = self.descriptor();
        let found = self.redirect_operator();
        let Some((kind, strip_tabs)) = found else {
            self.pos = start;
            return Ok(None);
        };
        self.charge(16)?;
        let target = if kind == RedirectKind::HereDocument {
            self.document_start(strip_tabs)?
        } else {
            self.skip_blanks()?;
            if self.word_ends() {
                return if self.at_end() {
                    Err(Unread::Unclosed("a redirection"))
                } else {
                    self.unexpected()
                };
            }
            Target::Word(self.word()?)
        };
        let kind = if kind == RedirectKind::Duplicate {
            duplicated(kind, &target, self.since(start))
        } else {
            kind
        };
        Ok(Some(Redirect {
            fd,
            kind,
            target,
            span: self.span(start),
        }))
    }

    /// A number or `{name}` right before an operator.
    fn descriptor(&mut self) -> Option<String> {
        let start = self.pos;
        if self.peek() == b'{' {
            self.pos += 1;
            while in_name(self.peek()) {
                self.pos += 1;
            }
            if !self.eat("}") {
                self.pos = start;
                return None;
            }
        } else {
            while self.peek().is_ascii_digit() {
                self.pos += 1;
            }
        }
        let text = self.since(start);
        if !text.is_empty() && matches!(self.peek(), b'<' | b'>') {
            return Some(text.to_owned());
        }
        self.pos = start;
        None
    }

    fn redirect_operator(&mut self) -> Option<(RedirectKind, bool)> {
        if matches!(self.peek(), b'<' | b'>') && self.peek_at(1) == b'(' {
            return None;
        }
        OPERATORS
            .iter()
            .find(|(text, ..)| self.eat(text))
            .map(|(_, kind, strip)| (*kind, *strip))
    }
}

/// `>&file` writes both streams to a file; `>&1` and `>&-` duplicate or close.
fn duplicated(kind: RedirectKind, target: &Target, raw: &str) -> RedirectKind {
    let Target::Word(word) = target else { return kind };
    let plain = match word.parts.as_slice() {
        [Part::Bare(text)] => text
            .strip_suffix('-')
            .unwrap_or(text)
            .bytes()
            .all(|b| b.is_ascii_digit()),
        _ => word
            .parts
            .iter()
            .any(|part| matches!(part, Part::Param(_) | Part::Arith(_))),
    };
    if raw.contains('>') && !plain {
        RedirectKind::Both
    } else {
        kind
    }
}

fn is_declaring(word: &Word) -> bool {
    matches!(word.parts.as_slice(), [Part::Bare(text)] if DECLARING.contains(&text.as_str()))
}

/// Leaves the blanks behind a command out of its place.
fn trim_span(simple: &mut Simple, source: &str) {
    let text = simple.span.of(source);
    simple.span.end -= text.len() - text.trim_end_matches([' ', '\t', '\n', '\\']).len();
}
