//! Brace expansion: `{a,b}` and `{1..3}`.

use super::super::budget::MAX_CHOICES;
use super::super::syntax::{Part, Word};

/// Longest word (in characters and parts) whose braces are expanded.
const MAX_TOKENS: usize = 2_048;
/// Deepest nesting of braces that is expanded.
const MAX_NESTING: usize = 16;

#[derive(Clone, Copy)]
enum Token<'w> {
    Char(char),
    Part(&'w Part),
}

/// The words that the braces of `word` make; `None` where there are none, an error where there are too many.
pub(crate) fn expand(word: &Word) -> Option<Result<Vec<Word>, ()>> {
    let braced = word
        .parts
        .iter()
        .any(|part| matches!(part, Part::Bare(text) if text.contains('{')));
    if !braced {
        return None;
    }
    let mut tokens = Vec::new();
    for part in &word.parts {
        match part {
            Part::Bare(text) => tokens.extend(text.chars().map(Token::Char)),
            Part::Quoted(_) | Part::Param(_) | Part::Command { .. } | Part::Process { .. } | Part::Arith(_) => {
                tokens.push(Token::Part(part));
            }
        }
    }
    if tokens.len() > MAX_TOKENS {
        return Some(Err(()));
    }
    let words = alternatives(&tokens, 0)?;
    Some(words.map(|words| words.into_iter().map(|tokens| rebuild(&tokens, word)).collect()))
}

fn rebuild(tokens: &[Token<'_>], word: &Word) -> Word {
    let mut parts: Vec<Part> = Vec::new();
    for token in tokens {
        match (token, parts.last_mut()) {
            (Token::Char(c), Some(Part::Bare(text))) => text.push(*c),
            (Token::Char(c), _) => parts.push(Part::Bare(c.to_string())),
            (Token::Part(part), _) => parts.push((*part).clone()),
        }
    }
    Word { parts, span: word.span }
}

type Expanded<'w> = Result<Vec<Vec<Token<'w>>>, ()>;

/// Expands the first group of braces that is one, and what follows it.
fn alternatives<'w>(tokens: &[Token<'w>], nesting: usize) -> Option<Expanded<'w>> {
    if nesting > MAX_NESTING {
        return Some(Err(()));
    }
    let opens = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| is(token, '{'))
        .map(|(at, _)| at);
    for open in opens.take(MAX_NESTING) {
        let Some((close, commas)) = closing(tokens, open) else {
            continue;
        };
        let inner = tokens.get(open + 1..close).unwrap_or(&[]);
        let choices = if commas.is_empty() {
            sequence(inner)
        } else {
            Some(pieces(inner, &commas, open))
        };
        let Some(choices) = choices else { continue };
        return Some(combine(tokens, (open, close), choices, nesting));
    }
    None
}

fn is(token: &Token<'_>, wanted: char) -> bool {
    matches!(token, Token::Char(c) if *c == wanted)
}

/// The brace that closes the one at `open`, and the commas between them.
fn closing(tokens: &[Token<'_>], open: usize) -> Option<(usize, Vec<usize>)> {
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    for (at, token) in tokens.iter().enumerate().skip(open + 1) {
        match token {
            Token::Char('{') => depth += 1,
            Token::Char('}') if depth == 0 => return Some((at, commas)),
            Token::Char('}') => depth -= 1,
            Token::Char(',') if depth == 0 => commas.push(at),
            Token::Char(_) | Token::Part(_) => {}
        }
    }
    None
}

fn pieces<'w>(inner: &[Token<'w>], commas: &[usize], open: usize) -> Vec<Vec<Token<'w>>> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for comma in commas.iter().map(|at| at - open - 1).chain([inner.len()]) {
        pieces.push(inner.get(from..comma).unwrap_or(&[]).to_vec());
        from = comma + 1;
    }
    pieces
}

/// `1..5`, `a..e`, with an optional step.
fn sequence<'w>(inner: &[Token<'w>]) -> Option<Vec<Vec<Token<'w>>>> {
    let text: Option<String> = inner
        .iter()
        .map(|token| match token {
            Token::Char(c) => Some(*c),
            Token::Part(_) => None,
        })
        .collect();
    let text = text?;
    let mut ends = text.split("..");
    let (first, last) = (ends.next()?, ends.next()?);
    let step = ends
        .next()
        .map_or(Some(1), |step| step.parse::<i64>().ok())?
        .unsigned_abs()
        .max(1);
    let numbers = (first.parse::<i64>(), last.parse::<i64>());
    let letter = |text: &str| {
        (text.len() == 1)
            .then(|| text.chars().next().map(|c| i64::from(u32::from(c))))
            .flatten()
    };
    let (from, to, letters) = match numbers {
        (Ok(from), Ok(to)) => (from, to, false),
        _ => (letter(first)?, letter(last)?, true),
    };
    let count = (from.abs_diff(to) / step + 1).min(MAX_CHOICES as u64);
    let mut values = Vec::new();
    for index in 0..count {
        let offset = i64::try_from(index.saturating_mul(step)).ok()?;
        let value = if from <= to {
            from.checked_add(offset)?
        } else {
            from.checked_sub(offset)?
        };
        let shown = if letters {
            u32::try_from(value).ok().and_then(char::from_u32)?.to_string()
        } else {
            value.to_string()
        };
        values.push(shown.chars().map(Token::Char).collect());
    }
    Some(values)
}

fn combine<'w>(
    tokens: &[Token<'w>],
    (open, close): (usize, usize),
    choices: Vec<Vec<Token<'w>>>,
    nesting: usize,
) -> Expanded<'w> {
    let before = tokens.get(..open).unwrap_or(&[]);
    let after = tokens.get(close + 1..).unwrap_or(&[]);
    let tails = alternatives(after, nesting + 1).unwrap_or_else(|| Ok(vec![after.to_vec()]))?;
    let mut words = Vec::new();
    for choice in choices {
        let heads = alternatives(&choice, nesting + 1).unwrap_or_else(|| Ok(vec![choice.clone()]))?;
        for head in &heads {
            for tail in &tails {
                if words.len() >= 4 * MAX_CHOICES {
                    return Err(());
                }
                words.push([before, head, tail].concat());
            }
        }
    }
    Ok(words)
}
