//! The text forms of the OpenTelemetry specification: lists of `name=value`, endpoints.

use percent_encoding::percent_decode_str;

/// Reads `name=value,…`, in which values are percent-encoded; `None` where a member is none.
///
/// The text is a W3C Baggage without properties (specification, "Specifying headers via environment variables", and
/// `OTEL_RESOURCE_ATTRIBUTES`). Empty members are skipped, as collectors' own tools do.
pub(super) fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let members = text.split(',').map(str::trim).filter(|member| !member.is_empty());
    let pair = |member: &str| {
        let (name, value) = member.split_once('=')?;
        let decoded = |part: &str| {
            let part = percent_decode_str(part.trim()).decode_utf8().ok()?;
            Some(part.into_owned())
        };
        Some((decoded(name).filter(|name| !name.is_empty())?, decoded(value)?))
    };
    members.map(pair).collect()
}

/// What is wrong with an endpoint, if anything is.
pub(super) fn endpoint_problem(text: &str) -> Option<&'static str> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Some("has no scheme: it has to begin with http:// or https://");
    };
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Some("has to begin with http:// or https://");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.is_empty() || host.starts_with(':') {
        return Some("names no host");
    }
    // The URL library takes a port that is none for no port, and would send to the scheme's own.
    let after = host.rfind(']').map_or(host, |end| host.get(end..).unwrap_or_default());
    if let Some((_, port)) = after.split_once(':')
        && !(port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0))
    {
        return Some("names no port from 1 to 65535");
    }
    let plain = |c: char| c.is_ascii_graphic();
    (!text.chars().all(plain)).then_some("holds a character that no URL has")
}

/// The endpoint of traces below a base endpoint.
pub(super) fn below_base(base: &str) -> String {
    format!("{}/v1/traces", base.trim_end_matches('/'))
}

/// An endpoint as a message may show it: without user, password and query.
///
/// An `@` behind the authority may belong to a password with a `/`, `?` or `#` that is not percent-encoded: nobody can tell
/// where that ends, so that only the scheme is shown.
pub(super) fn shown(endpoint: &str) -> String {
    let (scheme, rest) = endpoint.split_once("://").unwrap_or(("", endpoint));
    let separator = if scheme.is_empty() { "" } else { "://" };
    let (authority, behind) = rest.find(['/', '?', '#']).map_or((rest, ""), |at| rest.split_at(at));
    if behind.contains('@') {
        return format!("{scheme}{separator}…");
    }
    let path = behind.split(['?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{separator}{host}{path}")
}

/// Whether `name` can be an HTTP header's (RFC 9110, token) and `value` its value.
pub(super) fn is_header(name: &str, value: &str) -> bool {
    let visible = |b: u8| b == b'\t' || (b >= b' ' && b != 0x7f);
    !name.is_empty() && name.chars().all(is_token) && value.bytes().all(visible)
}

/// What a message may show of a header's name: `Authorization: Basic eDp5=` puts a credential before the first `=`.
pub(super) fn token(name: &str) -> &str {
    let end = name.find(|c: char| !is_token(c)).unwrap_or(name.len());
    name.get(..end).unwrap_or_default()
}

/// Whether a header says how the body is written, which the exporter knows; another value makes every request unreadable.
pub(super) fn is_framing(name: &str) -> bool {
    let framing = [
        "content-type",
        "content-length",
        "content-encoding",
        "transfer-encoding",
    ];
    framing.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_and_a_member_without_value_is_none() {
        let found = |text: &str| pairs(text);
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            found("authorization=Basic%20eDp5, x-mlflow-experiment-id=0 ,,a=b=c"),
            Some(vec![
                pair("authorization", "Basic eDp5"),
                pair("x-mlflow-experiment-id", "0"),
                pair("a", "b=c")
            ])
        );
        assert_eq!(found(""), Some(vec![]));
        for bad in ["novalue", "=x", "a=b,c", "a=%ff"] {
            assert_eq!(found(bad), None, "{bad}");
        }
    }

    #[test]
    fn endpoints_are_checked_and_shown_without_credentials() {
        for good in [
            "http://localhost:4318",
            "HTTPS://h/v1/traces",
            "http://[::1]:4318/x?y=z",
            "http://[::1]/x",
            "http://u:p@h/",
        ] {
            assert_eq!(endpoint_problem(good), None, "{good}");
        }
        for bad in [
            "localhost:4318",
            "grpc://h:4317",
            "http://",
            "http://:4318",
            "http://h /x",
            "http:///v1",
            "http://u@/",
            "http://h:/x",
            "http://h:0",
            "http://h:65536",
            "http://h:+80",
            "http://[::1]:x",
            "http://ann:se/cret@h:4318",
            "",
        ] {
            assert!(endpoint_problem(bad).is_some(), "{bad}");
        }
        assert_eq!(shown("https://user:secret@host:1/p/q?token=x"), "https://host:1/p/q");
        for ambiguous in [
            "http://ann:se/cret@h:1",
            "http://ann:se?cret@h",
            "http://ann:1#cret@h/x",
        ] {
            assert_eq!(shown(ambiguous), "http://…", "{ambiguous}");
        }
        assert_eq!(shown("ann:se/cret@h"), "…");
        assert_eq!(below_base("http://h:4318/"), "http://h:4318/v1/traces");
        assert_eq!(below_base("http://h/otlp"), "http://h/otlp/v1/traces");
    }

    #[test]
    fn headers_that_would_end_the_line_are_none() {
        assert!(is_header("x-a", "Bearer a b"));
        for (name, value) in [("", "x"), ("a b", "x"), ("a:", "x"), ("a", "x\r\ny: z"), ("ä", "x")] {
            assert!(!is_header(name, value), "{name}");
        }
    }

    #[test]
    fn a_header_written_with_a_colon_is_shown_without_its_credential() {
        for (name, begin) in [
            ("Authorization: Basic dXNlcjpwYXNz", "Authorization"),
            ("x-key", "x-key"),
            (": x", ""),
            ("ä", ""),
        ] {
            assert_eq!(token(name), begin);
        }
    }

    #[test]
    fn headers_of_the_body_are_told_from_others() {
        assert!(is_framing("Content-Length") && is_framing("transfer-encoding"));
        assert!(!is_framing("authorization") && !is_framing("host"));
    }
}
