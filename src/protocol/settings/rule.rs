//! Permission rules as text: `Agent`, `Agent(reviewer)`, `Bash(git log:*)`.

/// A rule, split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The tool's name as written.
    pub tool: String,
    /// What stands between the parentheses, exactly: the client does not trim it (`Agent( x )` matches nothing; 2.1.156,
    /// 2.1.332). Nothing for a rule on the whole tool, which `Agent(*)` is too.
    pub content: Option<String>,
}

impl Rule {
    /// Splits a rule. A text whose parentheses do not close at its end is a rule on a tool of that odd name.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let split = text
            .strip_suffix(')')
            .and_then(|open| open.split_once('('))
            .filter(|(tool, _)| !tool.is_empty());
        match split {
            Some((tool, "*")) => Self {
                tool: tool.to_owned(),
                content: None,
            },
            Some((tool, content)) => Self {
                tool: tool.to_owned(),
                content: Some(content.to_owned()),
            },
            None => Self {
                tool: text.to_owned(),
                content: None,
            },
        }
    }

    /// Whether the rule is about the tool that starts subagents: `Agent`, or `Task`, its older name (2.1.156, 2.1.332
    /// take both; other case is another tool).
    #[must_use]
    pub fn is_agent(&self) -> bool {
        self.tool == "Agent" || self.tool == "Task"
    }

    /// Whether the rule is about that tool as a whole, and not about single types of it.
    #[must_use]
    pub fn is_whole_agent(&self) -> bool {
        self.is_agent() && self.content.is_none()
    }

    /// The types of `Agent(a, b)` in an agent definition's `tools`; nothing where the rule names none.
    #[must_use]
    pub fn agent_types(&self) -> Option<Vec<String>> {
        let content = self.content.as_ref().filter(|_| self.is_agent())?;
        let types = content.split(',').map(str::trim).filter(|name| !name.is_empty());
        Some(types.map(str::to_owned).collect())
    }
}

/// Splits a list of tools or rules written as one text: at commas and white space, but not within parentheses
/// (`--allowedTools`, `--disallowedTools` and `tools:` of an agent definition; 2.1.156, 2.1.332).
#[must_use]
pub fn split_list(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut depth = 0_u32;
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (letter == ',' || letter.is_whitespace()) {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(letter);
        }
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_split_at_their_outer_parentheses() {
        for (text, tool, content) in [
            ("Agent", "Agent", None),
            ("Agent(*)", "Agent", None),
            ("Agent(ex)", "Agent", Some("ex")),
            ("Agent( ex )", "Agent", Some(" ex ")),
            ("Agent()", "Agent", Some("")),
            ("Bash(echo (a) b)", "Bash", Some("echo (a) b")),
            ("Agent(ex", "Agent(ex", None),
            ("(x)", "(x)", None),
        ] {
            let rule = Rule::parse(text);
            assert_eq!((rule.tool.as_str(), rule.content.as_deref()), (tool, content), "{text}");
        }
    }

    #[test]
    fn lists_are_split_as_the_client_splits_them() {
        for (text, parts) in [
            ("A,B C", &["A", "B", "C"][..]),
            ("Agent(ex),Agent(other)", &["Agent(ex)", "Agent(other)"]),
            ("Agent(ex) Agent(other)", &["Agent(ex)", "Agent(other)"]),
            ("Agent(ex, other), Read", &["Agent(ex, other)", "Read"]),
            ("Bash(git log:*, x)", &["Bash(git log:*, x)"]),
            ("", &[]),
            (" , ", &[]),
        ] {
            assert_eq!(split_list(text), parts, "{text}");
        }
    }

    #[test]
    fn the_types_of_an_agent_limit() {
        assert_eq!(
            Rule::parse("Task(a, b ,)").agent_types(),
            Some(vec!["a".into(), "b".into()])
        );
        assert_eq!(Rule::parse("Agent").agent_types(), None);
        assert_eq!(Rule::parse("Bash(a)").agent_types(), None);
    }
}
