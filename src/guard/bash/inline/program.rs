//! Inline programs: their calls, found in the table, as facts.

use super::super::facts::{Action, Call, CallKind, Fact, Query};
use super::super::marks::{ANY, DECODED, HOME, NETWORK, has_unknown, is_unknown};
use super::super::syntax::Span;
use super::super::walk::Walk;
use super::calls::{Does, bare_calls, does};
use super::decode::decode;
use super::indirect::{Indirect, indirect};
use super::language::Language;
use super::token::{Token, tokens};
use super::value::{Names, arguments, bracketed, loop_names, receiver, value};

/// A program while it is looked through.
struct Program<'p> {
    text: &'p str,
    tokens: Vec<Token>,
    names: Names,
    language: Language,
    span: Span,
}

/// One call: where its name stands, and its arguments.
struct Site<'p> {
    name: &'p str,
    at: usize,
    arguments: Vec<&'p [Token]>,
}

impl Walk<'_> {
    /// Follows the calls of a program.
    pub(crate) fn calls_in(&mut self, text: &str, language: Language, span: Span) {
        let tokens = tokens(text, language);
        if !self.afford(tokens.len() * 8) {
            return;
        }
        let mut program = Program {
            text,
            tokens,
            names: Names::default(),
            language,
            span,
        };
        loop_names(&program.tokens, &mut program.names);
        for at in 0..program.tokens.len() {
            self.program_token(&mut program, at);
        }
    }

    fn program_token(&mut self, program: &mut Program<'_>, at: usize) {
        match program.tokens.get(at) {
            Some(Token::Shell(code)) => {
                let code = code.clone();
                self.nested_code(&code, program.language.name(), program.span);
            }
            Some(Token::Name(_)) => {
                let next = |ahead: usize| program.tokens.get(at + ahead);
                if next(1).and_then(Token::name) == Some("as")
                    && let (Some(from), Some(to)) = (next(0).and_then(Token::name), next(2).and_then(Token::name))
                {
                    program.names.aliases.insert(to.to_owned(), from.to_owned());
                }
                let assigns = next(1).is_some_and(|token| token.is('='))
                    && !next(2).is_some_and(|token| token.is('=') || token.is('~') || token.is('>'));
                if assigns {
                    self.learn(&program.tokens, at, &mut program.names);
                }
                if program.hands_over(at) && program.fetches() {
                    self.foreign(&NETWORK.to_string(), program.language.name(), program.span);
                }
                if let Some((site, does)) = program.call(at) {
                    self.program_call(program, &site, does);
                }
            }
            _ => {}
        }
    }

    fn program_call(&mut self, program: &Program<'_>, site: &Site<'_>, does: Does) {
        let by = program.language.name();
        let span = program.span;
        let first = program.argument(site, 0);
        match does {
            Does::Starts => self.started(program, site),
            Does::DeletesTree => self.touch(Action::DeleteTree, &program.path(site), span, by),
            Does::Deletes => {
                let names = site
                    .arguments
                    .iter()
                    .flat_map(|tokens| tokens.iter())
                    .filter_map(Token::name);
                let tree = names.into_iter().any(|name| name == "recursive");
                let unknown = program.path(site);
                // Deleting one file that is not known by name is what clean-ups do.
                if tree || !unknown.starts_with(is_unknown) {
                    self.touch(
                        if tree { Action::DeleteTree } else { Action::Delete },
                        &unknown,
                        span,
                        by,
                    );
                }
            }
            Does::Writes => self.touch(Action::Write, &first, span, by),
            Does::WritesSelf => self.touch(Action::Write, &program.called_on(site), span, by),
            Does::Opens => self.opened(program, site),
            Does::Moves => {
                self.touch(Action::Move, &first, span, by);
                self.touch(Action::Write, &program.argument(site, 1), span, by);
            }
            Does::Copies => self.touch(Action::Write, &program.argument(site, 1), span, by),
            Does::Permits => self.touch(Action::Permit, &first, span, by),
            Does::Evaluates => self.evaluated(program, site),
            Does::Detaches => self.note_call(program, site, CallKind::Detaches),
            Does::Kills => {
                let ours = ["getppid", "ppid", "CLAUDE_PID", "PPID"]
                    .iter()
                    .any(|name| program.text.contains(name));
                if ours
                    || first.is_empty()
                        && site
                            .arguments
                            .first()
                            .is_some_and(|tokens| tokens.first().is_some_and(|t| t.is('-')))
                {
                    self.note_call(program, site, CallKind::Kills);
                }
            }
            Does::Queries => {
                if !program.text.contains(":memory:") {
                    self.note(Fact::Query(Query {
                        client: by.to_owned(),
                        text: first,
                        span,
                    }));
                }
            }
        }
    }

    fn note_call(&mut self, program: &Program<'_>, site: &Site<'_>, kind: CallKind) {
        let awaited = ["wait", "communicate"].iter().any(|word| program.text.contains(word));
        if kind == CallKind::Detaches && awaited {
            return;
        }
        let (language, name, span) = (program.language.name(), site.name.to_owned(), program.span);
        self.note(Fact::Call(Call {
            language,
            kind,
            name,
            span,
        }));
    }

    /// A call that starts a program: a shell text, or a list of words.
    fn started(&mut self, program: &Program<'_>, site: &Site<'_>) {
        let by = program.language.name();
        let names: Vec<&str> = site
            .arguments
            .iter()
            .flat_map(|tokens| tokens.iter())
            .filter_map(Token::name)
            .collect();
        if names.iter().any(|name| {
            matches!(
                *name,
                "start_new_session" | "detached" | "setsid" | "DETACHED_PROCESS" | "process_group"
            )
        }) {
            self.note_call(program, site, CallKind::Detaches);
        }
        let kept = [
            "wait",
            "communicate",
            "poll",
            "with ",
            "kill",
            "terminate",
            ".read",
            "stdout",
        ];
        if site.name == "Popen" && !kept.iter().any(|word| program.text.contains(word)) {
            self.note_call(program, site, CallKind::Detaches);
        }
        let listed = site.arguments.iter().any(|tokens| is_list(tokens));
        let positional = site.arguments.iter().filter(|tokens| !is_named(tokens));
        let mut fields: Vec<String> = positional.flat_map(|tokens| program.words(tokens)).collect();
        let twice = site.name.starts_with("execl")
            || site.name.starts_with("execv")
            || site.name.starts_with("spawnl")
            || site.name.starts_with("spawnv");
        if twice && fields.len() > 1 {
            // These name the program twice.
            fields.remove(0);
        }
        let lists = site.name.contains("File") || listed || fields.len() > 1;
        match fields.as_slice() {
            [] => {}
            [code] if !lists => {
                self.nested_code(&code.clone(), by, program.span);
            }
            _ => {
                // A single text with blanks may still go to a shell (`shell=True`), and a list may hold one.
                self.nested(fields, by, &None, program.span);
            }
        }
    }

    fn opened(&mut self, program: &Program<'_>, site: &Site<'_>) {
        let first = program.argument(site, 0);
        let mode = program.argument(site, 1);
        let span = program.span;
        let by = program.language.name();
        if program.language == Language::Perl {
            let path = program.argument(site, 2);
            if mode.starts_with('|') || mode.ends_with('|') || mode == "-|" || mode == "|-" {
                let code = if path.is_empty() {
                    mode.trim_matches(['|', ' ', '-']).to_owned()
                } else {
                    path
                };
                self.nested_code(&code, by, span);
            } else if mode.contains('>') {
                let target = if path.is_empty() {
                    mode.trim_start_matches(['>', '+', ' ']).to_owned()
                } else {
                    path
                };
                self.touch(Action::Write, &target, span, by);
            }
            return;
        }
        let named = site
            .arguments
            .iter()
            .any(|tokens| tokens.first().and_then(Token::name) == Some("mode"));
        let writes = mode.len() <= 4 && mode.contains(['w', 'a', 'x', '+']) && !has_unknown(&mode);
        if let Some(code) = first.strip_prefix('|').filter(|_| program.language == Language::Ruby) {
            self.nested_code(code, by, span);
        } else if writes || named {
            let path = if site.arguments.first().is_some_and(|tokens| is_named(tokens)) {
                program.called_on(site)
            } else {
                first
            };
            self.touch(Action::Write, &path, span, by);
        } else if first.len() <= 3 && matches!(first.as_str(), "w" | "a" | "w+" | "wb" | "ab") {
            self.touch(Action::Write, &program.called_on(site), span, by);
        }
    }

    fn evaluated(&mut self, program: &Program<'_>, site: &Site<'_>) {
        let mut text = program.argument(site, 0);
        if text.contains(ANY) && program.fetches() {
            text.push(NETWORK);
        }
        if text.contains(DECODED) && !text.contains([ANY, NETWORK]) {
            let literal = text.replace(DECODED, "");
            let run = super::super::facts::Run {
                verb: "base64".to_owned(),
                args: vec!["-d".to_owned()],
                ..Default::default()
            };
            if let Some(known) = decode(&run, &literal).filter(|known| !known.is_empty()) {
                text = known;
            }
        }
        self.program_text(&text, program.language, program.span);
    }
}

/// Whether an argument is a list.
fn is_list(tokens: &[Token]) -> bool {
    tokens.iter().take(3).any(|token| token.is('['))
}

/// Whether an argument is given by name (`missing_ok=True`).
fn is_named(tokens: &[Token]) -> bool {
    matches!(tokens, [Token::Name(_), Token::Sign('='), ..]) || matches!(tokens.first(), Some(Token::Sign('{')))
}

/// Words of programs that fetch something over the network.
const FETCHING: [&str; 10] = [
    "LWP",
    "urllib",
    "requests",
    "httpx",
    "fetch(",
    "http.get",
    "https.get",
    "open-uri",
    "Net::HTTP",
    "urlopen",
];

impl Program<'_> {
    fn fetches(&self) -> bool {
        FETCHING.iter().any(|word| self.text.contains(word))
    }

    /// Whether the evaluator at `at` is handed to something that calls it: `.then(eval)`.
    fn hands_over(&self, at: usize) -> bool {
        let name = self.tokens.get(at).and_then(Token::name);
        let before = at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let alone =
            before.is_some_and(|token| token.is('(')) && self.tokens.get(at + 1).is_some_and(|token| token.is(')'));
        alone && matches!(name, Some("eval" | "exec" | "Function"))
    }

    /// The call whose name stands at `at`.
    fn call(&self, at: usize) -> Option<(Site<'_>, Does)> {
        let mut name = self.tokens.get(at)?.name()?;
        let mut open = at + 1;
        match indirect(name, &self.tokens, open, self.language) {
            Some(Indirect::Named { called, ends }) => {
                name = called;
                open = ends;
            }
            Some(Indirect::Sent { called, arguments }) => {
                let does = does(called, self.language, self.text)?;
                let name = called;
                return Some((Site { name, at, arguments }, does));
            }
            None => {}
        }
        let name = self.names.aliases.get(name).map_or(name, String::as_str);
        let does = does(name, self.language, self.text)?;
        let arguments = if self.tokens.get(open)?.is('(') {
            arguments(bracketed(&self.tokens, open))
        } else if bare_calls(self.language) {
            let rest = self.tokens.get(open..)?;
            let end = rest
                .iter()
                .position(|token| matches!(token, Token::Sign(';' | '\n' | '}' | ')')))
                .unwrap_or(rest.len());
            arguments(rest.get(..end)?)
        } else {
            return None;
        };
        Some((Site { name, at, arguments }, does))
    }

    fn argument(&self, site: &Site<'_>, index: usize) -> String {
        site.arguments
            .get(index)
            .map(|tokens| value(tokens, &self.names))
            .unwrap_or_default()
    }

    /// The words that an argument stands for: a list is several.
    fn words(&self, tokens: &[Token]) -> Vec<String> {
        if is_list(tokens) {
            let open = tokens.iter().position(|token| token.is('[')).unwrap_or(0);
            return arguments(bracketed(tokens, open))
                .iter()
                .map(|tokens| value(tokens, &self.names))
                .collect();
        }
        vec![value(tokens, &self.names)]
    }

    /// The value that a method is called on.
    fn called_on(&self, site: &Site<'_>) -> String {
        let dot = site.at.saturating_sub(1);
        value(receiver(&self.tokens, dot), &self.names)
    }

    /// The path that a call is about: its first argument, or what it is called on.
    fn path(&self, site: &Site<'_>) -> String {
        match site.arguments.first() {
            Some(tokens) if !is_named(tokens) => {
                let path = value(tokens, &self.names);
                let whole = path.strip_prefix("*").is_some() || tokens.first().and_then(Token::name) == Some("glob");
                if whole {
                    super::super::marks::glob(&path).into_owned()
                } else {
                    path
                }
            }
            _ => {
                let path = self.called_on(site);
                if path.is_empty() {
                    HOME.to_string().replace(HOME, &ANY.to_string())
                } else {
                    path
                }
            }
        }
    }
}
