//! Masks what is shown of environments and command lines.

use std::ffi::{OsStr, OsString};

use super::redactor::Redactor;

/// What stands for a value that its name gives away.
const MASK: &str = "[redacted]";

/// Parts of a name, in capitals, that tell of a secret.
const TELLING: [&str; 12] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "AUTH",
    "COOKIE",
    "PRIVATE",
    "SIGNATURE",
    "_PWD",
];

/// Whether a variable or flag of this name holds a secret, by the words in it.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase().replace('-', "_");
    name != "OLD_PWD" && TELLING.iter().any(|word| name.contains(word))
}

/// `value` as it may be shown: masked whole where `name` tells of a secret, else without the secrets in it. Empty
/// values and plain numbers (`MAX_OUTPUT_TOKENS=32000`) are shown.
#[must_use]
pub fn mask_value(name: &OsStr, value: &OsStr) -> String {
    let value = value.to_string_lossy();
    let number = value.len() < 8 && value.bytes().all(|byte| byte.is_ascii_digit());
    if is_secret_name(&name.to_string_lossy()) && !number {
        return MASK.to_owned();
    }
    Redactor::builtin().text(&value).text
}

/// A command line as it may be shown: the values of flags whose names tell of a secret are masked, in the forms
/// `--name=value` and `--name value`, and every other argument stands without the secrets in it.
#[must_use]
pub fn mask_arguments(arguments: &[OsString]) -> Vec<String> {
    let redactor = Redactor::builtin();
    let mut shown = Vec::with_capacity(arguments.len());
    let mut secret_next = false;
    for argument in arguments {
        let text = argument.to_string_lossy();
        let flag = text.starts_with('-') && text.len() > 1;
        match text.split_once('=') {
            _ if secret_next && !flag => shown.push(MASK.to_owned()),
            Some((name, _)) if flag && is_secret_name(name) => shown.push(format!("{name}={MASK}")),
            Some(_) | None => shown.push(redactor.text(&text).text),
        }
        secret_next = flag && !text.contains('=') && is_secret_name(&text);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_masked_by_their_names() {
        for name in [
            "ANTHROPIC_API_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_MESSAGING_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "db_password",
            "MYSQL_PWD",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "npm_config__auth",
            "SESSION_COOKIE",
        ] {
            assert_eq!(mask_value(name.as_ref(), "hunter2".as_ref()), MASK, "{name}");
        }
        for (name, value) in [
            ("HOME", "/home/ann"),
            ("PWD", "/repo"),
            ("OLDPWD", "/"),
            ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "32000"),
            ("ANTHROPIC_MODEL", "claude-sonnet-4-5"),
            ("API_KEY", ""),
        ] {
            assert_eq!(mask_value(name.as_ref(), value.as_ref()), value, "{name}");
        }
    }

    #[test]
    fn a_secret_under_a_harmless_name_is_taken_out() {
        let shown = mask_value("DATABASE_URL".as_ref(), "postgres://ann:hunter2@db/x".as_ref());
        assert_eq!(shown, "postgres://ann:[redacted:url-password]@db/x");
    }

    #[test]
    fn arguments_are_masked_in_both_forms() {
        let arguments = [
            "claude",
            "--api-key=abc",
            "--auth-token",
            "abc",
            "--model",
            "haiku",
            "--settings",
            r#"{"env":{"API_KEY":"abc"}}"#,
            "--token",
            "--verbose",
            "-p",
        ];
        let expected = [
            "claude",
            "--api-key=[redacted]",
            "--auth-token",
            "[redacted]",
            "--model",
            "haiku",
            "--settings",
            r#"{"env":{"API_KEY":"[redacted:assigned-secret]"}}"#,
            "--token",
            "--verbose",
            "-p",
        ];
        assert_eq!(mask_arguments(&arguments.map(OsString::from)), expected);
    }
}
