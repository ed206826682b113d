//! Parameters and what is done to their values.

use super::super::marks::{ANY, END, HOME, ITEM, PROCESS, glob, glob_matches, has_unknown};
use super::super::syntax::{Param, ParamOp, Word};
use super::state::Walk;
use super::variable::Value;

/// What a parameter expands to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Expanded {
    One(String),
    /// Several fields (`"$@"`, `"${list[@]}"`).
    Many(Vec<String>),
}

/// Longest value that is searched for a pattern character by character.
const MAX_TRIM: usize = 256;

impl Walk<'_> {
    pub(crate) fn param(&mut self, param: &Param) -> Expanded {
        if !self.afford(8) {
            return Expanded::One(ANY.to_string());
        }
        let index = param.index.as_ref().map(|index| self.text(index));
        let value = self.value(&param.name, index.as_deref());
        match &param.op {
            ParamOp::Plain | ParamOp::Transform => {
                value.unwrap_or_else(|| Expanded::One(self.environment(&param.name)))
            }
            ParamOp::Length => Expanded::One("1".to_owned()),
            ParamOp::Indirect => {
                let name = one(value.unwrap_or_else(|| Expanded::One(ANY.to_string())));
                self.value(&name, None)
                    .unwrap_or_else(|| Expanded::One(self.environment(&name)))
            }
            ParamOp::Default(word) | ParamOp::Assign(word) => match value {
                Some(Expanded::One(text)) if text.is_empty() => Expanded::One(self.fallback(param, word)),
                Some(known) => known,
                None => {
                    let known = self.environment(&param.name);
                    if known.starts_with(ANY) {
                        Expanded::One(self.fallback(param, word))
                    } else {
                        Expanded::One(known)
                    }
                }
            },
            ParamOp::Alternate(word) => {
                let text = self.text(word);
                match value {
                    Some(Expanded::One(known)) if known.is_empty() => Expanded::One(String::new()),
                    _ => Expanded::One(text),
                }
            }
            ParamOp::Demand(word) => {
                self.text(word);
                let known = value.unwrap_or_else(|| Expanded::One(self.environment(&param.name)));
                match &known {
                    Expanded::One(text) if text.chars().all(|c| c == ANY) => Expanded::One(ITEM.to_string()),
                    Expanded::One(_) | Expanded::Many(_) => known,
                }
            }
            ParamOp::Trim { .. } | ParamOp::Replace { .. } | ParamOp::Slice { .. } | ParamOp::Case { .. } => {
                let text = value.unwrap_or_else(|| Expanded::One(self.environment(&param.name)));
                self.edited(param, text)
            }
        }
    }

    fn fallback(&mut self, param: &Param, word: &Word) -> String {
        let text = self.text(word);
        if matches!(param.op, ParamOp::Assign(_)) {
            self.vars.set_text(&param.name, &text);
        }
        text
    }

    fn edited(&mut self, param: &Param, value: Expanded) -> Expanded {
        match value {
            Expanded::One(text) => Expanded::One(self.edit(param, &text)),
            Expanded::Many(texts) => Expanded::Many(texts.iter().map(|text| self.edit(param, text)).collect()),
        }
    }

    fn edit(&mut self, param: &Param, text: &str) -> String {
        match &param.op {
            ParamOp::Trim {
                suffix,
                longest,
                pattern,
            } => {
                let pattern = self.text(pattern);
                trim(text, &glob(&pattern), *suffix, *longest)
            }
            ParamOp::Replace { all, pattern, with } => {
                let pattern = self.text(pattern);
                let with = self.text(with);
                if pattern.contains(['*', '?', '[']) || has_unknown(&pattern) {
                    if has_unknown(text) || text.len() > MAX_TRIM {
                        ANY.to_string()
                    } else {
                        format!("{text}{ANY}")
                    }
                } else if *all {
                    text.replace(&pattern, &with)
                } else {
                    text.replacen(&pattern, &with, 1)
                }
            }
            ParamOp::Slice { offset, length } => {
                let offset = self.text(offset);
                let length = length.as_ref().map(|length| self.text(length));
                slice(text, &offset, length.as_deref())
            }
            ParamOp::Case { upper, all } => recase(text, *upper, *all),
            ParamOp::Plain
            | ParamOp::Length
            | ParamOp::Indirect
            | ParamOp::Default(_)
            | ParamOp::Assign(_)
            | ParamOp::Alternate(_)
            | ParamOp::Demand(_)
            | ParamOp::Transform => text.to_owned(),
        }
    }

    /// The value that the command itself gave a parameter.
    fn value(&mut self, name: &str, index: Option<&str>) -> Option<Expanded> {
        match name {
            "@" | "*" => return Some(self.positionals(name == "@")),
            // Some process of one's own: any number but that of init.
            "$" | "BASHPID" => return Some(Expanded::One("4242".to_owned())),
            "#" | "?" | "SECONDS" | "RANDOM" | "EPOCHSECONDS" | "UID" | "EUID" | "LINENO" => {
                return Some(Expanded::One("1".to_owned()));
            }
            _ => {}
        }
        if let Ok(number @ 1..) = name.parse::<usize>() {
            let values = self.positional.as_ref()?;
            return Some(Expanded::One(values.get(number - 1).cloned().unwrap_or_default()));
        }
        let value = self.vars.get(name)?.clone();
        Some(match (value, index) {
            (Value::Unset, _) => Expanded::One(String::new()),
            (Value::Text(texts), _) => Expanded::One(self.pick(&texts)),
            (Value::List(elements), Some("@" | "*")) => {
                Expanded::Many(elements.into_iter().map(|(_, text)| text).collect())
            }
            (Value::List(elements), Some(index)) => {
                let found = elements
                    .iter()
                    .find(|(key, _)| key == index)
                    .map(|(_, text)| text.clone());
                let texts: Vec<String> = elements.into_iter().map(|(_, text)| text).collect();
                Expanded::One(found.unwrap_or_else(|| self.pick(&texts)))
            }
            (Value::List(elements), None) => {
                Expanded::One(elements.into_iter().next().map(|(_, t)| t).unwrap_or_default())
            }
        })
    }

    /// One of several values: each is met in one of the passes over the command.
    fn pick(&mut self, texts: &[String]) -> String {
        self.choices = self.choices.max(texts.len());
        let at = self.choice.checked_rem(texts.len()).unwrap_or(0);
        texts.get(at).cloned().unwrap_or_else(|| ANY.to_string())
    }

    fn positionals(&self, separate: bool) -> Expanded {
        match &self.positional {
            Some(values) if separate => Expanded::Many(values.clone()),
            Some(values) => Expanded::One(values.join(" ")),
            None => Expanded::One(ANY.to_string()),
        }
    }

    /// What the environment holds under a name, as far as every shell agrees.
    fn environment(&self, name: &str) -> String {
        match name {
            "HOME" => HOME.to_string(),
            "PWD" => self.dirs.now.clone(),
            "OLDPWD" => self.dirs.before.clone().unwrap_or_else(|| ANY.to_string()),
            "CLAUDE_PROJECT_DIR" => self.ground.project.clone(),
            "CLAUDE_CONFIG_DIR" => format!("{HOME}/.claude"),
            "XDG_CONFIG_HOME" => format!("{HOME}/.config"),
            "XDG_CACHE_HOME" => format!("{HOME}/.cache"),
            "XDG_STATE_HOME" => format!("{HOME}/.local/state"),
            "XDG_DATA_HOME" => format!("{HOME}/.local/share"),
            "CARGO_HOME" => format!("{HOME}/.cargo"),
            "TMPDIR" | "TMP" | "TEMP" => "/tmp".to_owned(),
            "IFS" => " \t\n".to_owned(),
            "USER" | "LOGNAME" | "HOSTNAME" => ITEM.to_string(),
            "SHELL" | "BASH" | "0" => "bash".to_owned(),
            "PPID" | "CLAUDE_PID" => format!("{PROCESS}claude{END}"),
            _ => ANY.to_string(),
        }
    }
}

/// A parameter's value as one text.
pub(crate) fn one(value: Expanded) -> String {
    match value {
        Expanded::One(text) => text,
        Expanded::Many(texts) => texts.join(" "),
    }
}

/// `${x#p}` and its like.
fn trim(text: &str, pattern: &str, suffix: bool, longest: bool) -> String {
    if text.len() > MAX_TRIM {
        return ANY.to_string();
    }
    let mut cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    if suffix != longest {
        cuts.reverse();
    }
    for cut in cuts {
        let (head, tail) = text.split_at_checked(cut).unwrap_or((text, ""));
        let (candidate, kept) = if suffix { (tail, head) } else { (head, tail) };
        if glob_matches(pattern, candidate) {
            return kept.to_owned();
        }
    }
    text.to_owned()
}

/// `${x:offset:length}`.
fn slice(text: &str, offset: &str, length: Option<&str>) -> String {
    let count = text.chars().count();
    let Ok(offset) = offset.trim().parse::<i64>() else {
        return ANY.to_string();
    };
    let from_end = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
    let start = if offset < 0 {
        count.saturating_sub(from_end)
    } else {
        from_end
    };
    let length = match length.map(|length| length.trim().parse::<i64>()) {
        None => count,
        Some(Ok(length)) if length >= 0 => usize::try_from(length).unwrap_or(count),
        Some(Ok(length)) => count
            .saturating_sub(start)
            .saturating_sub(usize::try_from(length.unsigned_abs()).unwrap_or(count)),
        Some(Err(_)) => return ANY.to_string(),
    };
    text.chars().skip(start).take(length).collect()
}

/// `${x^}`, `${x^^}`, `${x,}`, `${x,,}`.
fn recase(text: &str, upper: bool, all: bool) -> String {
    let change = |part: &str| {
        if upper {
            part.to_uppercase()
        } else {
            part.to_lowercase()
        }
    };
    if all {
        return change(text);
    }
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| change(&first.to_string()) + chars.as_str())
        .unwrap_or_default()
}
