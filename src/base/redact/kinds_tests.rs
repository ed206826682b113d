//! Both ways: what is taken, and what stays. The values are made up in the issuers' documented formats.

use super::*;

fn redacted(text: &str) -> String {
    Redactor::builtin().text(text).text
}

/// A text, and what is left of it.
pub(super) type Pair = (&'static str, &'static str);

pub(super) fn check(pairs: &[Pair]) {
    for (text, left) in pairs {
        let result = Redactor::builtin().text(text);
        assert_eq!(&result.text, left, "of {text:?}");
        assert!(result.report.total() > 0, "{text:?}");
        assert_eq!(redacted(&result.text), result.text, "a second time: {text:?}");
    }
}

#[test]
fn tokens_are_taken_whole() {
    check(&[
        (
            "key sk-ant-api03-AbCdEfGh_ij-KLmnop0123456789-AAAA end",
            "key [redacted:anthropic-key] end",
        ),
        ("sk-ant-oat01-AbCdEfGh_ij-KLmnop", "[redacted:anthropic-key]"),
        ("x=\"sk-ant-abcdefghijkl\"", "x=\"[redacted:anthropic-key]\""),
        ("sk-proj-abcdefghij0123456789_-XYZ", "[redacted:api-key]"),
        ("(sk-abcdefghijklmnopqrstuvwxyz123456)", "([redacted:api-key])"),
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "[redacted:stripe-key]"),
        ("id AKIAIOSFODNN7EXAMPLE.", "id [redacted:aws-access-key-id]."),
        ("ASIAIOSFODNN7EXAMPLE", "[redacted:aws-access-key-id]"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789.", "[redacted:github-token]."),
        ("gho_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted:github-token]"),
        ("ghs_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted:github-token]"),
        (
            "ghs_123456_eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiIxIn0.c2ln-XY",
            "[redacted:github-token]",
        ),
        (
            "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
            "[redacted:github-token]",
        ),
        ("glpat-abcdefghij0123456789", "[redacted:gitlab-token]"),
        ("xoxb-123456789012-abcdefABCDEF", "[redacted:slack-token]"),
        ("xapp-1-A0123456789-0123456789-abcdef", "[redacted:slack-token]"),
        (
            "https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnopqrstuvwx",
            "https://[redacted:slack-webhook]",
        ),
        ("AIzaSyA0123456789abcdefghijklmnopqrstuv", "[redacted:google-key]"),
        ("ya29.a0AfH6SMBabcdefghijklmnop", "[redacted:google-oauth]"),
        ("GOCSPX-abcdefghijklmnopqrstuvwxyz12", "[redacted:google-oauth]"),
        ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted:npm-token]"),
        ("hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "[redacted:hugging-face-token]"),
        (
            "pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMA",
            "[redacted:pypi-token]",
        ),
        (
            "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U.",
            "jwt [redacted:jwt].",
        ),
        // RFC 7516, a direct key: the second part is empty.
        (
            "eyJhbGciOiJkaXIifQ..48V1_ALb6US04U3b.5eym8TW_c8SuK0lt.XFBoMYUZodetZdvT",
            "[redacted:jwt]",
        ),
    ]);
}

#[test]
fn tokens_are_seen_behind_escapes_and_colours() {
    check(&[
        (
            r#"{"text":"a\nghp_abcdefghijklmnopqrstuvwxyz0123456789\nb"}"#,
            r#"{"text":"a\n[redacted:github-token]\nb"}"#,
        ),
        (r"line\nsk-abcdefghij0123456789XY\n", r"line\n[redacted:api-key]\n"),
        (r"\tAKIAIOSFODNN7EXAMPLE\r", r"\t[redacted:aws-access-key-id]\r"),
        (r"\u000ask-abcdefghij0123456789XY", r"\u000a[redacted:api-key]"),
        ("%0Ask-abcdefghij0123456789XY", "%0A[redacted:api-key]"),
        (
            "\x1b[01;32msk-abcdefghij0123456789XY\x1b[0m",
            "\x1b[01;32m[redacted:api-key]\x1b[0m",
        ),
        (
            r"\u001b[32msk-abcdefghij0123456789XY\u001b[0m",
            r"\u001b[32m[redacted:api-key]\u001b[0m",
        ),
    ]);
}

#[test]
fn private_keys_are_taken_from_begin_to_end() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\nVJTUt9Us8cKj\n";
    for name in [
        "RSA PRIVATE KEY",
        "PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        let text = format!("a\n-----BEGIN {name}-----\n{body}-----END {name}-----\nb");
        assert_eq!(redacted(&text), "a\n[redacted:private-key]\nb", "{name}");
        let json = format!("{{\"key\":{}}}", serde_json::to_string(&text).unwrap());
        assert_eq!(redacted(&json), r#"{"key":"a\n[redacted:private-key]\nb"}"#, "{name}");
    }
    let encrypted = format!(
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{body}-----END RSA PRIVATE KEY-----"
    );
    assert_eq!(redacted(&encrypted), "[redacted:private-key]");
    let cut = format!(
        "{{\"a\":\"-----BEGIN PRIVATE KEY-----\\n{}\"}}",
        body.replace('\n', "\\n")
    );
    assert_eq!(redacted(&cut), "{\"a\":\"[redacted:private-key]\"}");
}

#[test]
fn credentials_of_headers_and_addresses_are_taken_and_the_rest_stays() {
    check(&[
        (
            "Authorization: Bearer abc",
            "Authorization: Bearer [redacted:authorization]",
        ),
        (
            "authorization: basic dXNlcjpwYXNz=",
            "authorization: basic [redacted:authorization]",
        ),
        (
            r#"{"Authorization": "Bearer a.b-c"}"#,
            r#"{"Authorization": "Bearer [redacted:authorization]"}"#,
        ),
        (
            r#"{\"authorization\":\"token abc1\"}"#,
            r#"{\"authorization\":\"token [redacted:authorization]\"}"#,
        ),
        (
            "curl -H 'Authorization: 0123456789abcdef'",
            "curl -H 'Authorization: [redacted:authorization]'",
        ),
        (
            "Proxy-Authorization: Basic abcd",
            "Proxy-Authorization: Basic [redacted:authorization]",
        ),
        (
            "used bearer abcdefghij012345678",
            "used bearer [redacted:authorization]",
        ),
        (
            "https://ann:hunter2@host/x",
            "https://ann:[redacted:url-password]@host/x",
        ),
        (
            "redis://:p%40ss@host:6379",
            "redis://:[redacted:url-password]@host:6379",
        ),
        ("postgres://u:p@ss@db/x", "postgres://u:[redacted:url-password]@db/x"),
        (
            r"https:\/\/ann:hunter2@host\/x",
            r"https:\/\/ann:[redacted:url-password]@host\/x",
        ),
        (
            "https://x-access-token:ghs_abcdefghijklmnopqrstuvwxyz0123456789@github.com/a/b",
            "https://x-access-token:[redacted:github-token]@github.com/a/b",
        ),
    ]);
}

#[test]
fn values_of_telling_names_are_taken_in_every_form() {
    check(&[
        ("PASSWORD=x", "PASSWORD=[redacted:assigned-secret]"),
        (
            "export DB_PASSWORD=hunter2 USER=ann",
            "export DB_PASSWORD=[redacted:assigned-secret] USER=ann",
        ),
        ("TOKEN='a b'", "TOKEN='[redacted:assigned-secret]'"),
        ("MY_API_KEY=\"a\\\"b\" c", "MY_API_KEY=\"[redacted:assigned-secret]\" c"),
        (
            "CLIENT_SECRET=abc\nX=1",
            "CLIENT_SECRET=[redacted:assigned-secret]\nX=1",
        ),
        ("MYSQL_PWD=root", "MYSQL_PWD=[redacted:assigned-secret]"),
        ("API_KEY_2=abc", "API_KEY_2=[redacted:assigned-secret]"),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "aws_secret_access_key = [redacted:assigned-secret]",
        ),
        (
            r#"{"SecretAccessKey": "wJalr", "a": 1}"#,
            r#"{"SecretAccessKey": "[redacted:assigned-secret]", "a": 1}"#,
        ),
        (
            r#"{"api_key":"abc","b":"c"}"#,
            r#"{"api_key":"[redacted:assigned-secret]","b":"c"}"#,
        ),
        (
            r#"{\"password\": \"abc\"}"#,
            r#"{\"password\": \"[redacted:assigned-secret]\"}"#,
        ),
        (
            r#"\\\"token\\\":\\\"abc\\\""#,
            r#"\\\"token\\\":\\\"[redacted:assigned-secret]\\\""#,
        ),
        (r#"{"password":1234}"#, r#"{"password":[redacted:assigned-secret]}"#),
        (
            r#""auth": "dXNlcjpwYXNzd29yZA==""#,
            r#""auth": "[redacted:assigned-secret]""#,
        ),
    ]);
}

#[test]
fn values_of_telling_names_are_taken_in_files_addresses_and_flags() {
    check(&[
        (
            "//registry.npmjs.org/:_authToken=abc",
            "//registry.npmjs.org/:_authToken=[redacted:assigned-secret]",
        ),
        ("_auth=dXNlcjpwYXNz", "_auth=[redacted:assigned-secret]"),
        ("password: hunter2", "password: [redacted:assigned-secret]"),
        (
            "  api_key: 'abc' # mine",
            "  api_key: '[redacted:assigned-secret]' # mine",
        ),
        ("- token: swordfish\n- b", "- token: [redacted:assigned-secret]\n- b"),
        ("x-api-key: abcd1234", "x-api-key: [redacted:assigned-secret]"),
        (
            "https://host/?access_token=abc&x=1",
            "https://host/?access_token=[redacted:assigned-secret]&x=1",
        ),
        (
            "os.environ[\"API_KEY\"] = \"abc\"",
            "os.environ[\"API_KEY\"] = \"[redacted:assigned-secret]\"",
        ),
        ("'secret' => 'abc'", "'secret' => '[redacted:assigned-secret]'"),
        (
            "tool --password hunter2 -v",
            "tool --password [redacted:assigned-secret] -v",
        ),
        ("tool --api-key=abc -v", "tool --api-key=[redacted:assigned-secret] -v"),
        (
            "ANTHROPIC_API_KEY=sk-ant-abcdefghijkl",
            "ANTHROPIC_API_KEY=[redacted:anthropic-key]",
        ),
    ]);
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "0190f3a0-1234-7000-8000-0123456789ab",
        "cell-0190f3a0-1234-7000-8000-0123456789ab",
        "toolu_01AbCdEfGhIjKlMnOpQrStUv",
        "msg_01AbCdEfGhIjKlMnOpQrStUv req_011CAbCdEfGhIjKlMn",
        r#"{"session_id":"5f0c6a1e-8d1b-4c3e-9a55-0d2f6c7b8a90","tool_use_id":"toolu_01A2b3"}"#,
        "4bf92f3577b34da6a3ce929d0e0e473600f067aa",
        "commit e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "VGhpcyBpcyBvcmRpbmFyeSB0ZXh0LCBlbmNvZGVkIGZvciB0cmFuc3BvcnQu",
        "eyJhIjoib3JkaW5hcnkgdGV4dCBlbmNvZGVkIn0=",
        "eyJhbGciOi... is how one begins",
        "sha512-Q2hlY2tzdW1PZkFQYWNrYWdlSW5BTG9ja0ZpbGU9PQ==",
        "task-0123456789abcdefghijklmn",
        "class=\"sk-fading-circle-bounce-animation\"",
        "task-ant-colony-optimization-v2",
        "AKIAIOSFODNN7EXAMPLES",
        "hf_hub_download_with_some_very_long_name",
        "npm_config_registry npm_lifecycle_event",
        "\"input_tokens\": 1200, \"max_tokens\": 4096, \"cacheReadInputTokens\":7",
        "\"token_type\": \"bearer\"",
        "\"gen_ai.usage.input_tokens\":12",
        "API_KEY=$ANTHROPIC_API_KEY",
        "API_KEY=${{ secrets.KEY }}",
        "\"password\": \"<your password>\"",
        "TOKEN=*** SECRET=\"\" PASSWORD=",
        "token: str, password: String, secret: boolean;",
        "let token = tokens.next();",
        "password = getpass.getpass()",
        "api_key=os.environ[\"X\"]",
        "client(api_key=config.api_key)",
        "if token == other {",
        "crate::token::Kind",
        "the token: it is used once",
        "Authorization: Bearer $TOKEN",
        "Authorization: required",
        "a bearer of good news",
        "http://localhost:8080/@scope/x",
        "https://host:443/a?b=c@d",
        "git@github.com:a/b.git ssh://git@host:22/x",
        "https://ann:$PASSWORD@host/",
        "OLDPWD=/home/ann PWD=/repo",
        "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PUBLIC KEY-----",
        "a file starts with -----BEGIN RSA PRIVATE KEY----- and so on",
        "primary_key: id\ncache_key: abc123",
        "author: Ann\nauthority: x1",
        "--max-tokens 100 --token-limit 5",
        "[redacted:api-key] password: [redacted:assigned-secret]",
    ] {
        let result = Redactor::builtin().text(text);
        assert_eq!(result.text, text);
        assert_eq!(result.report.total(), 0);
    }
}

#[test]
fn a_report_counts_each_kind() {
    let text = "PASSWORD=a TOKEN=b AKIAIOSFODNN7EXAMPLE";
    let report = Redactor::builtin().text(text).report;
    let kinds: Vec<_> = report.kinds().collect();
    assert_eq!(kinds, [("assigned-secret", 2), ("aws-access-key-id", 1)]);
    assert_eq!(report.total(), 3);
    let mut sum = report.clone();
    sum.add(&report);
    assert_eq!(sum.total(), 6);
    assert_eq!(
        serde_json::to_string(&report).unwrap(),
        r#"{"assigned-secret":2,"aws-access-key-id":1}"#
    );
}

#[test]
fn patterns_of_the_configuration_are_added() {
    let redactor = Redactor::with_patterns(["acme-[0-9]+", r"badge=(\w+)", "x*"]).unwrap();
    let result = redactor.text("acme-12 badge=ann, PASSWORD=b");
    assert_eq!(
        result.text,
        "[redacted:custom] badge=[redacted:custom], PASSWORD=[redacted:assigned-secret]"
    );
    let error = Redactor::with_patterns(["fine", "("]).unwrap_err();
    assert_eq!(error.pattern, "(");
    assert!(crate::base::chain::Chain(&error).to_string().contains("unclosed group"));
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let result = Redactor::builtin().bytes(b"\xff\xfePASSWORD=a\x00\xff");
    assert_eq!(result.text, b"\xff\xfePASSWORD=[redacted:assigned-secret]\x00\xff");
}
