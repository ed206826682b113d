//! Secrets of further services, in command lines, cookies and addresses: what is taken, and what only looks like it.

use super::kinds_tests::check;
use super::*;

#[test]
fn tokens_of_further_services_are_taken_whole() {
    check(&[
        (
            "dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "[redacted:digitalocean-token]",
        ),
        (
            "SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",
            "[redacted:sendgrid-key]",
        ),
        (
            "https://api.telegram.org/bot123456789:AAabcdefghijklmnopqrstuvwxyz0123456/getMe",
            "https://api.telegram.org/bot[redacted:telegram-token]/getMe",
        ),
        ("hvs.abcdefghijklmnopqrstuvwxyz", "[redacted:vault-token]"),
        ("AGE-SECRET-KEY-1QQPZRY9X8GF2TVDW0S3JN54", "[redacted:private-key]"),
    ]);
}

#[test]
fn passwords_are_taken_out_of_commands_cookies_and_encoded_addresses() {
    check(&[
        (
            "Cookie: sid=hunter2; theme=dark\nHost: x",
            "Cookie: sid=[redacted:cookie]\nHost: x",
        ),
        (
            "curl -H 'Set-Cookie: sid=hunter2; HttpOnly' x",
            "curl -H 'Set-Cookie: sid=[redacted:cookie]' x",
        ),
        (
            "curl -s -u ann:hunter2 https://x",
            "curl -s -u ann:[redacted:command-password] https://x",
        ),
        (
            "curl --user 'ann:hunter2' https://x",
            "curl --user 'ann:[redacted:command-password]' https://x",
        ),
        (
            "sshpass -p hunter2 ssh x",
            "sshpass -p [redacted:command-password] ssh x",
        ),
        (
            "mysqldump -h db -uroot -phunter2 shop",
            "mysqldump -h db -uroot -p[redacted:command-password] shop",
        ),
        (
            "machine x login ann password hunter2",
            "machine x login ann password [redacted:assigned-secret]",
        ),
        (
            "https%3A%2F%2Fann%3Ahunter2%40host%2Fx",
            "https%3A%2F%2Fann%3A[redacted:url-password]%40host%2Fx",
        ),
        (
            "https://a.example/c?sv=1&sig=abcDEF%2B12%3D&x=1",
            "https://a.example/c?sv=1&sig=[redacted:url-signature]&x=1",
        ),
        (
            "https://s3/x?X-Amz-Signature=0123abcd",
            "https://s3/x?X-Amz-Signature=[redacted:url-signature]",
        ),
        (
            "export GITHUB_PAT=hunter2",
            "export GITHUB_PAT=[redacted:assigned-secret]",
        ),
    ]);
}

#[test]
fn commands_and_addresses_without_a_secret_stay() {
    for text in [
        "docker run -u 1000:1000 -p 3306:3306 mysql",
        "curl -s https://x -o file:name",
        "curl -u $USER:$PASSWORD https://x",
        "mysql -h db -p shop",
        "the login page password prompt",
        "Cookie: none; a cookie: bad=no",
        "https%3A%2F%2Fhost%3A443%2Fa%40b",
        "config=big&sig=",
        "let url_pat = \"*.txt\"; path_pat: a1",
        "hvs. SG. do_v1_",
    ] {
        let result = Redactor::builtin().text(text);
        assert_eq!(result.text, text);
        assert_eq!(result.report.total(), 0);
    }
}
