//! Cuts a text at a length in bytes without splitting a character.

/// The longest beginning of `text` with at most `limit` bytes and whole characters, and the rest.
pub(super) fn split_within(text: &str, limit: usize) -> (&str, &str) {
    let longest = limit.min(text.len());
    // A character has at most four bytes, so one of four neighbouring places lies between two.
    let at = (longest.saturating_sub(3)..=longest).rev();
    at.into_iter()
        .find_map(|at| text.split_at_checked(at))
        .unwrap_or(("", text))
}

#[cfg(test)]
mod tests {
    use super::split_within;

    #[test]
    fn characters_stay_whole() {
        for (text, limit, want) in [
            ("", 3, ("", "")),
            ("abc", 0, ("", "abc")),
            ("abc", 2, ("ab", "c")),
            ("abc", 9, ("abc", "")),
            ("aä", 2, ("a", "ä")),
            ("𝄞𝄞", 7, ("𝄞", "𝄞")),
            ("𝄞", 3, ("", "𝄞")),
        ] {
            assert_eq!(split_within(text, limit), want, "{text} {limit}");
        }
    }
}
