//! Redirections: where input comes from, and which files output goes to.

use super::super::budget::MAX_VALUE;
use super::super::facts::Action;
use super::super::marks::{ANY, NETWORK, push_mark};
use super::super::paths::resolve;
use super::super::syntax::{Redirect, RedirectKind, Target};
use super::state::{Input, Walk, append};

/// Where the standard streams of a command lead.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    pub input: Input,
    /// File that gets the output, and whether it is added to.
    output: Option<(String, bool)>,
    /// Whether the output leaves by another descriptor.
    elsewhere: bool,
    /// Whether the output is a connection, from which a descriptor copied for the input reads too.
    connected: bool,
}

impl Walk<'_> {
    /// Follows redirections; `by` names the program for the facts.
    pub(crate) fn redirects(&mut self, redirects: &[Redirect], input: &Input, by: &str) -> Flow {
        let mut flow = Flow {
            input: input.clone(),
            ..Flow::default()
        };
        for redirect in redirects {
            if !self.afford(16) {
                break;
            }
            self.redirect(redirect, &mut flow, by);
        }
        flow
    }

    fn redirect(&mut self, redirect: &Redirect, flow: &mut Flow, by: &str) {
        let text = match &redirect.target {
            Target::Word(word) => self.text(word),
            Target::Document(body) => body.get().map(|body| self.text(body)).unwrap_or_default(),
        };
        let fd = redirect.fd.as_deref();
        let (reads, writes) = (matches!(fd, None | Some("0")), matches!(fd, None | Some("1")));
        let span = self.place_of(redirect.span);
        match redirect.kind {
            RedirectKind::HereDocument if reads => flow.input = Some(text.into()),
            RedirectKind::HereString if reads => flow.input = Some(format!("{text}\n").into()),
            RedirectKind::In if reads => flow.input = Some(self.content(&text).into()),
            RedirectKind::HereDocument | RedirectKind::HereString | RedirectKind::In => {}
            RedirectKind::Duplicate => {
                if let Some(input) = self.duplicated(redirect, &text, flow) {
                    flow.input = Some(input.into());
                }
                let leaves = writes && !text.is_empty() && text != "1" && text != "-";
                flow.elsewhere |= leaves && redirect_is_output(redirect, self.source);
            }
            RedirectKind::InOut => {
                if is_connection(&text) {
                    self.store(&format!("/dev/fd/{}", fd.unwrap_or("0")), &NETWORK.to_string(), false);
                    flow.input = Some(NETWORK.to_string().into());
                }
                self.touch(Action::Append, &text, span, by);
            }
            RedirectKind::Out | RedirectKind::Both | RedirectKind::Append | RedirectKind::BothAppend
                if is_connection(&text) =>
            {
                flow.connected |= writes;
            }
            RedirectKind::Out | RedirectKind::Both => {
                self.touch(Action::Write, &text, span, by);
                if writes {
                    flow.output = Some((text, false));
                }
            }
            RedirectKind::Append | RedirectKind::BothAppend => {
                self.touch(Action::Append, &text, span, by);
                if writes {
                    flow.output = Some((text, true));
                }
            }
        }
    }

    /// What a copied descriptor gives to the input: `0>&1` where the output is a connection, `<&5` where 5 is one.
    fn duplicated(&self, redirect: &Redirect, from: &str, flow: &Flow) -> Option<String> {
        let reads = redirect.fd.as_deref() == Some("0")
            || redirect.fd.is_none() && !redirect_is_output(redirect, self.source);
        if !reads {
            return None;
        }
        let connected = flow.connected && from == "1";
        connected.then(|| NETWORK.to_string()).or_else(|| {
            self.known_content(&format!("/dev/fd/{from}"))
                .map(|content| content.to_string())
        })
    }

    /// Sends what a command prints where its redirections lead, and returns what is left for its caller.
    pub(crate) fn finish_output(&mut self, flow: &Flow, output: String) -> String {
        match &flow.output {
            Some((path, adds)) => {
                self.store(path, &output, *adds);
                String::new()
            }
            None if flow.elsewhere => String::new(),
            None => output,
        }
    }

    /// Remembers a file's content.
    pub(crate) fn store(&mut self, path: &str, content: &str, adds: bool) {
        let path = self.absolute(path);
        let mut text = match self.files.get(&path) {
            Some(earlier) if adds => earlier.to_string(),
            None if adds => {
                let mut text = String::new();
                push_mark(&mut text, ANY);
                text.push('\n');
                text
            }
            _ => String::new(),
        };
        append(&mut text, content);
        if text.len() <= MAX_VALUE && self.files.len() < 4_096 {
            self.files.insert(path, text.into());
        }
    }

    /// What is in a file, as far as the command itself wrote it.
    pub(crate) fn content(&self, path: &str) -> String {
        if is_connection(path) {
            return NETWORK.to_string();
        }
        if path == "/dev/null" {
            return String::new();
        }
        self.known_content(path)
            .map_or_else(|| ANY.to_string(), |content| content.to_string())
    }

    /// What the command itself wrote to a file.
    pub(crate) fn known_content(&self, path: &str) -> Option<std::rc::Rc<str>> {
        self.files
            .get(&self.absolute(path))
            .or_else(|| self.files.get(path))
            .cloned()
    }

    pub(crate) fn absolute(&self, path: &str) -> String {
        resolve(path, &self.dirs.now, self.ground)
    }
}

/// Whether a duplication is one of an output (`>&2`), not of an input (`<&3`).
fn redirect_is_output(redirect: &Redirect, source: &str) -> bool {
    let text = redirect.span.of(source);
    text.contains('>') || !text.contains('<')
}

/// Whether bash opens a connection for this name.
fn is_connection(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}
