//! The built-in kinds of secrets. Formats are those that the issuers document.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::judge::{Secret, Shape, judge};
use super::tail::Class;

/// What has to be in a text for a rule to be tried (and its expression compiled) at all.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trigger {
    /// This text.
    Text(&'static [u8]),
    /// One of these bytes.
    AnyOf(u8, u8),
    /// Nothing in particular.
    Always,
}

/// One kind of secrets.
#[derive(Debug)]
pub(super) struct Rule {
    /// What a report and the mark in the text call it.
    pub(super) kind: &'static str,
    trigger: Trigger,
    pattern: Cow<'static, str>,
    shape: Shape,
    /// None inside: the expression does not compile, which a test rules out for the built-in ones.
    regex: OnceLock<Option<Regex>>,
}

/// The longest text that a beginning of a built-in rule matches.
pub(super) const LONGEST_HEAD: usize = 512;

impl Rule {
    const fn builtin(kind: &'static str, trigger: Trigger, pattern: &'static str, shape: Shape) -> Self {
        Self {
            kind,
            trigger,
            pattern: Cow::Borrowed(pattern),
            shape,
            regex: OnceLock::new(),
        }
    }

    /// A rule of a pattern that a user wrote.
    pub(super) fn custom(pattern: &str) -> Result<Self, regex::Error> {
        let regex = RegexBuilder::new(pattern)
            .unicode(false)
            .multi_line(true)
            .size_limit(1 << 20)
            .dfa_size_limit(1 << 20)
            .build()?;
        Ok(Self {
            kind: "custom",
            trigger: Trigger::Always,
            pattern: Cow::Owned(pattern.to_owned()),
            shape: Shape::Custom,
            regex: OnceLock::from(Some(regex)),
        })
    }

    /// Whether it is worth looking for in `text`.
    pub(super) fn may_be_in(&self, text: &[u8]) -> bool {
        match self.trigger {
            Trigger::Text(needle) => memchr::memmem::find(text, needle).is_some(),
            Trigger::AnyOf(one, other) => memchr::memchr2(one, other, text).is_some(),
            Trigger::Always => true,
        }
    }

    /// The first secret whose beginning lies at or behind `from` and that itself starts at or behind `start`; with it
    /// the place to go on from.
    pub(super) fn find(&self, text: &[u8], mut from: usize, start: usize) -> Option<(Secret, usize)> {
        let regex = self.regex()?;
        loop {
            let found = self.beginning(regex, text, from)?;
            from = found.end.max(found.start + 1);
            match judge(self.shape, text, &found) {
                Some(secret) if secret.start >= start => return Some((secret, from)),
                Some(_) => {}
                // What was no secret may hide the beginning of one.
                None => from = found.start + 1,
            }
        }
    }

    fn regex(&self) -> Option<&Regex> {
        self.regex
            .get_or_init(|| RegexBuilder::new(&self.pattern).unicode(false).build().ok())
            .as_ref()
    }

    fn beginning(&self, regex: &Regex, text: &[u8], from: usize) -> Option<Range<usize>> {
        if self.shape == Shape::Custom {
            let captures = regex.captures_at(text, from)?;
            return captures.get(1).or(captures.get(0)).map(|group| group.range());
        }
        regex.find_at(text, from).map(|found| found.range())
    }

    #[cfg(test)]
    pub(super) fn compiles(&self) -> bool {
        self.regex().is_some()
    }
}

/// Every built-in kind. Where two find the same secret, the first names it.
pub(super) static BUILTIN: [Rule; 38] = [
    Rule::builtin(
        "private-key",
        Trigger::Text(b"-----BEGIN "),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\{1,8}[nr]){0,16}(?:[A-Za-z0-9+/=]{16}|[A-Z][A-Za-z-]{2,20}: )",
        Shape::Pem,
    ),
    Rule::builtin(
        "anthropic-key",
        Trigger::Text(b"sk-ant-"),
        r"sk-ant-[a-z]{2,12}[0-9]{2}-[A-Za-z0-9_-]{8}",
        Shape::Token(Class::Token),
    ),
    Rule::builtin(
        "anthropic-key",
        Trigger::Text(b"sk-ant-"),
        r"sk-ant-[A-Za-z0-9_-]{10}",
        Shape::WordToken(Class::Token),
    ),
    Rule::builtin(
        "api-key",
        Trigger::Text(b"sk-"),
        r"sk-[A-Za-z0-9_-]{20}",
        Shape::DigitToken,
    ),
    Rule::builtin(
        "stripe-key",
        Trigger::Text(b"k_"),
        r"[rs]k_(?:live|test)_[A-Za-z0-9]{16}",
        Shape::WordToken(Class::Token),
    ),
    Rule::builtin(
        "aws-access-key-id",
        Trigger::AnyOf(b'A', b'A'),
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b",
        Shape::WordToken(Class::Token),
    ),
    Rule::builtin(
        "github-token",
        Trigger::Text(b"gh"),
        r"gh[oprsu]_[A-Za-z0-9]{30}",
        Shape::Token(Class::Dotted),
    ),
    // A token for one installation: its own number, then a JSON web token.
    Rule::builtin(
        "github-token",
        Trigger::Text(b"ghs_"),
        r"ghs_[0-9]{1,20}_eyJ[A-Za-z0-9_-]{8}",
        Shape::Token(Class::Dotted),
    ),
    Rule::builtin(
        "github-token",
        Trigger::Text(b"github_pat_"),
        r"github_pat_[A-Za-z0-9_]{22}",
        Shape::Token(Class::Token),
    ),
    Rule::builtin(
        "gitlab-token",
        Trigger::Text(b"gl"),
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[A-Za-z0-9_-]{20}",
        Shape::WordToken(Class::Dotted),
    ),
    Rule::builtin(
        "slack-token",
        Trigger::Text(b"xox"),
        r"xox[abceoprs]-[A-Za-z0-9.-]{10}",
        Shape::WordToken(Class::Dotted),
    ),
    Rule::builtin(
        "slack-token",
        Trigger::Text(b"xapp-"),
        r"xapp-[0-9]-[A-Za-z0-9-]{10}",
        Shape::WordToken(Class::Token),
    ),
    Rule::builtin(
        "slack-webhook",
        Trigger::Text(b"hooks.slack.com/"),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9]{6,20}/[A-Za-z0-9]{6,24}/[A-Za-z0-9]{12}",
        Shape::Token(Class::Token),
    ),
    Rule::builtin(
        "google-key",
        Trigger::Text(b"AIza"),
        r"AIza[A-Za-z0-9_-]{35}",
        Shape::WordToken(Class::Token),
    ),
    Rule::builtin(
        "google-oauth",
        Trigger::Text(b"ya29."),
        r"ya29\.[A-Za-z0-9_-]{20}",
        Shape::WordToken(Class::Dotted),
    ),
    Rule::builtin(
        "google-oauth",
        Trigger::Text(b"GOCSPX-"),
        r"GOCSPX-[A-Za-z0-9_-]{20}",
        Shape::WordToken(Class::Token),
    ),
    Rule::builtin(
        "npm-token",
        Trigger::Text(b"npm_"),
        r"npm_[A-Za-z0-9]{36}",
        Shape::WordToken(Class::Token),
    ),
    Rule::builtin(
        "hugging-face-token",
        Trigger::Text(b"hf_"),
        r"hf_[A-Za-z0-9]{30}",
        Shape::WordToken(Class::Token),
    ),
    Rule::builtin(
        "pypi-token",
        Trigger::Text(b"pypi-AgE"),
        r"pypi-AgE[A-Za-z0-9_-]{30}",
        Shape::WordToken(Class::Token),
    ),
    Rule::builtin(
        "digitalocean-token",
        Trigger::Text(b"_v1_"),
        r"do[opr]_v1_[a-f0-9]{40}",
        Shape::WordToken(Class::Token),
    ),
    Rule::builtin(
        "sendgrid-key",
        Trigger::Text(b"SG."),
        r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{20}",
        Shape::WordToken(Class::Token),
    ),
    Rule::builtin(
        "telegram-token",
        Trigger::Text(b":AA"),
        r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
        Shape::Token(Class::Token),
    ),
    Rule::builtin(
        "vault-token",
        Trigger::Text(b"hv"),
        r"hv[bsr]\.[A-Za-z0-9_-]{24}",
        Shape::WordToken(Class::Token),
    ),
    Rule::builtin(
        "private-key",
        Trigger::Text(b"AGE-SECRET-KEY-1"),
        r"AGE-SECRET-KEY-1[A-Z0-9]{20}",
        Shape::Token(Class::Token),
    ),
    Rule::builtin("jwt", Trigger::Text(b"eyJ"), r"eyJ[A-Za-z0-9_-]{8}", Shape::Jwt),
    Rule::builtin(
        "url-password",
        Trigger::Text(b":"),
        r#"[A-Za-z][A-Za-z0-9+.-]{0,30}:(?://|\\/\\/)[^\s/?#@:"'`<>\\]{0,256}:"#,
        Shape::UrlPassword,
    ),
    Rule::builtin(
        "authorization",
        Trigger::AnyOf(b':', b'='),
        r#"(?i)authorization(?:\\{0,7}["'])?[ \t]{0,8}[:=][ \t]{0,8}(?:\\{0,7}["'])?(?:(?:bearer|basic|token|digest|apikey|negotiate|bot)[ \t]{1,8})?"#,
        Shape::Authorization,
    ),
    Rule::builtin(
        "authorization",
        Trigger::AnyOf(b'B', b'b'),
        r"(?i)bearer[ \t]{1,8}",
        Shape::Bearer,
    ),
    Rule::builtin(
        "url-password",
        Trigger::Text(b"%40"),
        r"(?i)%3a%2f%2f[A-Z0-9._~-]{0,128}%3a",
        Shape::EncodedUrlPassword,
    ),
    // What lets anyone who has the address in: a shared access signature, or a presigned address.
    Rule::builtin(
        "url-signature",
        Trigger::Text(b"ig="),
        r"[?&](?:amp;)?sig=",
        Shape::MadeUp,
    ),
    Rule::builtin(
        "url-signature",
        Trigger::Text(b"ignature="),
        r"(?i)[?&](?:amp;)?(?:x-amz-|x-goog-)?signature=",
        Shape::MadeUp,
    ),
    Rule::builtin(
        "cookie",
        Trigger::Text(b"ookie"),
        r#"(?i)cookie(?:\\{0,7}["'])?[ \t]{0,8}:[ \t]{0,8}(?:\\{0,7}["'])?[A-Z0-9_.-]{1,64}="#,
        Shape::Cookie,
    ),
    Rule::builtin(
        "command-password",
        Trigger::Text(b"curl"),
        r#"curl\b[^\n|;&]{0,200}?[ \t](?:-u|-U|--user|--proxy-user)[ \t=]{0,8}["']?[^\s:"'$]{1,64}:"#,
        Shape::Word,
    ),
    Rule::builtin(
        "command-password",
        Trigger::Text(b"sshpass"),
        r#"sshpass[ \t]{1,4}-p[ \t]{0,4}["']?"#,
        Shape::Word,
    ),
    Rule::builtin(
        "command-password",
        Trigger::Text(b"mysql"),
        r#"mysql[a-z]{0,8}[^\n|;&]{0,200}?[ \t]-p["']?"#,
        Shape::Word,
    ),
    // A .netrc file.
    Rule::builtin(
        "assigned-secret",
        Trigger::Text(b"password"),
        r"login[ \t\r\n]{1,8}[^\s]{1,64}[ \t\r\n]{1,8}password[ \t]{1,8}",
        Shape::MadeUp,
    ),
    Rule::builtin(
        "assigned-secret",
        Trigger::AnyOf(b':', b'='),
        concat!(
            r"(?i)(?:passw(?:or)?d|pass_?phrase|[_-]pwd|[_-]pass|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key",
            r"|private[_-]?key|signing[_-]?key|encryption[_-]?key|account[_-]?key|auth[_-]?key|key[_-]?base|credentials?",
            r#"|["_]auth|(?-i:_PAT))(?:[_-]?[0-9]{1,3})?(?:\\{0,7}["']\]?)?[ \t]{0,8}(?:=>|:=|[:=])[ \t]{0,8}(?:\\{0,7}["'])?"#,
        ),
        Shape::Assignment,
    ),
    Rule::builtin(
        "assigned-secret",
        Trigger::Text(b"-"),
        concat!(
            r"(?i)--?[a-z0-9-]{0,40}(?:password|passwd|passphrase|secret|token|api-?key|access-?key|secret-?key)",
            r#"[ \t]{1,8}["']?"#,
        ),
        Shape::Flag,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_expression_compiles_and_keeps_its_bound() {
        for rule in &BUILTIN {
            assert!(rule.compiles(), "{}", rule.pattern);
            let syntax = regex_syntax::ParserBuilder::new()
                .unicode(false)
                .utf8(false)
                .build()
                .parse(&rule.pattern)
                .unwrap();
            let longest = syntax.properties().maximum_len().unwrap();
            assert!(longest <= LONGEST_HEAD, "{longest}: {}", rule.pattern);
        }
    }

    #[test]
    fn a_pattern_that_is_no_expression_or_would_cost_too_much_is_refused() {
        assert!(Rule::custom("(").is_err());
        assert!(Rule::custom("(?:a{1000}){1000}").is_err());
        assert!(Rule::custom("acme-[0-9]+").is_ok());
    }
}
