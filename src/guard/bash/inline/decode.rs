//! Decoders whose input is known.

use super::super::facts::Run;
use super::super::marks::ITEM;

/// What a decoder makes of `text`; `None` where this is not known.
pub(crate) fn decode(run: &Run, text: &str) -> Option<String> {
    let has = |flags: &[&str]| run.args.iter().any(|arg| flags.contains(&arg.as_str()));
    match run.verb.as_str() {
        "base64" if has(&["-d", "-D", "--decode", "-di", "-id", "--d", "--dec"]) => base64(text),
        "base32" if has(&["-d", "-D", "--decode"]) => None,
        "openssl" if has(&["base64", "-base64", "-a"]) && has(&["-d"]) => base64(text),
        "openssl" if has(&["-d"]) => None,
        "xxd"
            if run
                .args
                .iter()
                .any(|arg| arg.starts_with("-r") || arg == "-p" && has(&["-r"])) =>
        {
            hex(text)
        }
        "rev" => Some(
            text.lines()
                .map(|line| line.chars().rev().collect::<String>() + "\n")
                .collect(),
        ),
        "tr" => translated(&run.args, text),
        // Encoders print something that no shell takes for a command of ours.
        "base64" | "base32" | "basenc" | "openssl" | "xxd" | "gzip" | "xz" | "zstd" | "gpg" => Some(ITEM.to_string()),
        _ => None,
    }
}

fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0_u32);
    for c in text.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=') {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn hex(text: &str) -> Option<String> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks_exact(2)
        .filter_map(|pair| Some(pair.first()? * 16 + pair.get(1)?))
        .collect();
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// `tr SET SET` with ranges, and `tr -d SET`.
fn translated(args: &[String], text: &str) -> Option<String> {
    match args {
        [flag, set] if flag == "-d" => {
            let set = members(set)?;
            Some(text.chars().filter(|c| !set.contains(c)).collect())
        }
        [from, to] if !from.starts_with('-') => {
            let (from, to) = (members(from)?, members(to)?);
            let last = *to.last()?;
            let change = |c: char| {
                from.iter()
                    .position(|x| *x == c)
                    .map_or(c, |at| to.get(at).copied().unwrap_or(last))
            };
            Some(text.chars().map(change).collect())
        }
        _ => None,
    }
}

fn members(set: &str) -> Option<Vec<char>> {
    let set = super::super::marks::unglob(set);
    if set.contains("[:") {
        return None;
    }
    let chars: Vec<char> = set.replace("\\n", "\n").replace("\\t", "\t").chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(end)) if c <= end && u32::from(*end) - u32::from(*c) < 256 => {
                out.extend(*c..=*end);
                at += 3;
            }
            _ => {
                out.push(*c);
                at += 1;
            }
        }
    }
    Some(out)
}
