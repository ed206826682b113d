use proptest::prelude::*;

use super::stream::BLOCK;
use super::*;

/// Pieces that secrets, near-secrets and their borders are made of.
const PIECES: [&str; 24] = [
    "PASSWORD=",
    "\"api_key\": \"",
    "\\\"token\\\":\\\"",
    "sk-ant-api03-abcdefgh",
    "sk-abcdefghij0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
    "https://ann:hunter2@host",
    "Authorization: Bearer ",
    "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG",
    "-----END PRIVATE KEY-----",
    "acme-12",
    "\\",
    "\"",
    "'",
    ".",
    "\n",
    " ",
    "=",
    ": ",
    "hunter2",
    "@",
    "ä\u{2028}",
];

fn in_pieces(redactor: &Redactor, bytes: &[u8], sizes: &[usize]) -> Redacted<Vec<u8>> {
    let mut text = Vec::new();
    let mut stream = redactor.stream();
    let (mut rest, mut sizes) = (bytes, sizes.iter().cycle());
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
        stream.push(piece, &mut text);
        rest = behind;
    }
    let report = stream.finish(&mut text);
    Redacted { text, report }
}

fn soup() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn pieces_make_no_difference(text in soup(), sizes in proptest::collection::vec(1_usize..40, 1..6)) {
        let redactor = Redactor::with_patterns(["acme-[0-9]+"]).unwrap();
        prop_assert_eq!(in_pieces(&redactor, text.as_bytes(), &sizes), redactor.bytes(text.as_bytes()));
    }

    /// Of secrets that touch, one can hide the other's beginning: they stand apart here.
    #[test]
    fn a_second_time_takes_nothing(pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..60)) {
        let redactor = Redactor::builtin();
        let once = redactor.text(&pieces.join(" ")).text;
        let again = redactor.text(&once);
        prop_assert_eq!(&again.text, &once);
    }
}

proptest! {
    // Each case is some 85 KiB long.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn pieces_make_no_difference_around_the_end_of_a_block(
        text in soup(),
        before in 0_usize..600,
        sizes in proptest::collection::vec(1_usize..9000, 1..6),
    ) {
        let redactor = Redactor::with_patterns(["acme-[0-9]+"]).unwrap();
        let long = format!("{}{text}{}", ".".repeat(BLOCK - before), ".".repeat(20_000));
        prop_assert_eq!(in_pieces(&redactor, long.as_bytes(), &sizes), redactor.bytes(long.as_bytes()));
    }
}

#[test]
fn a_secret_is_taken_wherever_it_lies_to_the_end_of_a_block() {
    let secrets = [
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted:github-token]"),
        ("API_KEY=hunter2", "API_KEY=[redacted:assigned-secret]"),
        ("https://ann:hunter2@h", "https://ann:[redacted:url-password]@h"),
    ];
    for (secret, left) in secrets {
        for before in 0..=secret.len() + 1 {
            let filler = " ".repeat(BLOCK - before);
            let text = Redactor::builtin().text(&format!("{filler}{secret} end")).text;
            assert_eq!(text, format!("{filler}{left} end"), "{before}");
        }
    }
}

#[test]
fn a_secret_longer_than_any_buffer_is_taken_whole() {
    let long = "a1".repeat(5 * BLOCK);
    let cases = [
        (format!("x sk-ant-api03-{long} y"), "x [redacted:anthropic-key] y"),
        (
            format!("{{\"token\":\"{long}\\n{long}\"}}"),
            "{\"token\":\"[redacted:assigned-secret]\"}",
        ),
        (format!("PASSWORD={long}\nb"), "PASSWORD=[redacted:assigned-secret]\nb"),
    ];
    for (text, left) in cases {
        let redactor = Redactor::builtin();
        assert_eq!(redactor.text(&text).text, left);
        assert_eq!(
            in_pieces(&redactor, text.as_bytes(), &[1000, 70_001]).text,
            left.as_bytes()
        );
    }
}

#[test]
fn a_key_without_its_end_does_not_take_everything() {
    let line = "MIIEvQIBADANBgkqhkiG\n".repeat(10_000);
    let text = format!("-----BEGIN PRIVATE KEY-----\n{line}");
    let left = Redactor::builtin().text(&text).text;
    assert!(left.len() > text.len() - (65 << 10), "{}", left.len());
}

#[test]
fn copying_is_the_same_as_redacting_whole() {
    let text = "a PASSWORD=hunter2 b\n".repeat(20_000);
    let mut out = Vec::new();
    let report = Redactor::builtin().copy(text.as_bytes(), &mut out).unwrap();
    assert_eq!(report.total(), 20_000);
    assert_eq!(
        out,
        "a PASSWORD=[redacted:assigned-secret] b\n".repeat(20_000).as_bytes()
    );
}

#[test]
fn memory_does_not_grow_with_the_text() {
    let redactor = Redactor::builtin();
    let mut stream = redactor.stream();
    let mut out = Vec::new();
    stream.push(b"{\"token\":\"", &mut out);
    for _ in 0..200 {
        stream.push(&[b'a'; 10_000], &mut out);
        assert!(stream.held() <= 160 << 10, "{}", stream.held());
    }
    stream.push(b"\" ", &mut out);
    for _ in 0..200 {
        stream.push(&[b'.'; 10_000], &mut out);
        assert!(stream.held() <= 160 << 10, "{}", stream.held());
    }
    assert_eq!(stream.finish(&mut out).total(), 1);
    assert_eq!(
        out.len(),
        "{\"token\":\"[redacted:assigned-secret]\" ".len() + 2_000_000
    );
}
