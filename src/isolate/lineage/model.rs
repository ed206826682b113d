//! Which model a cell is told to run: a child never silently runs the account's default.

use crate::protocol::version::ClientVersion;

/// Where a cell's model comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelSource {
    /// The call's `model`.
    Call,
    /// `CLAUDE_CODE_SUBAGENT_MODEL`.
    SubagentVariable,
    /// The agent's definition names one; the client applies it, so none is passed.
    Definition,
    /// The parent's `--model`.
    ParentFlag,
    /// The definition of the agent that the parent session, or the calling subagent, runs as.
    ParentAgent,
    /// `ANTHROPIC_MODEL`.
    Variable,
    /// `model` of the parent's settings.
    Settings,
    /// The message that makes the call names it (first-party API only).
    Transcript,
    /// Nothing was found: the cell would run the account's default.
    Unknown,
}

impl ModelSource {
    /// The word for it in records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::SubagentVariable => "subagent_variable",
            Self::Definition => "definition",
            Self::ParentFlag => "parent_flag",
            Self::ParentAgent => "parent_agent",
            Self::Variable => "variable",
            Self::Settings => "settings",
            Self::Transcript => "transcript",
            Self::Unknown => "unknown",
        }
    }
}

/// The decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    /// What `--model` gets, if it is passed at all.
    pub pass: Option<String>,
    /// Where it comes from.
    pub source: ModelSource,
}

/// What the decision rests on. Empty values and `inherit` count as absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelInputs<'a> {
    /// The client's version.
    pub version: Option<ClientVersion>,
    /// The call's `model`.
    pub call: Option<&'a str>,
    /// The model that the definition of the call's type names.
    pub definition: Option<&'a str>,
    /// `CLAUDE_CODE_SUBAGENT_MODEL`.
    pub subagent_variable: Option<&'a str>,
    /// Whether a subagent makes the call: its model, not the session's, is the parent's.
    pub called_by_subagent: bool,
    /// The parent's `--model`.
    pub flag: Option<&'a str>,
    /// The model that the definition of the caller's own agent names.
    pub parent_agent: Option<&'a str>,
    /// `ANTHROPIC_MODEL`.
    pub variable: Option<&'a str>,
    /// `model` of the settings.
    pub settings: Option<&'a str>,
    /// The model in the transcript; to be left out on other providers, whose answers may name what `--model` does not
    /// take.
    pub transcript: Option<&'a str>,
}

/// Decides which model the cell is told to run.
///
/// In-process the order was measured as: 2.1.156 and 2.1.226 `CLAUDE_CODE_SUBAGENT_MODEL`, the call's, the definition's,
/// the parent's, where the value `inherit` of the variable means the parent's even for a definition that names one;
/// 2.1.295 and 2.1.332 the call's, the definition's, the variable, the parent's. A `-p` child does not look at the variable.
#[must_use]
pub fn choose(inputs: &ModelInputs<'_>) -> ModelChoice {
    let variable = usable(inputs.subagent_variable);
    let variable_first = inputs
        .version
        .is_some_and(ClientVersion::subagent_model_variable_comes_first);
    let forced_to_inherit = variable_first && inputs.subagent_variable.is_some_and(is_inherit);
    let from = |value: Option<&str>, source| {
        usable(value).map(|model| ModelChoice {
            pass: Some(model.to_owned()),
            source,
        })
    };
    from(variable.filter(|_| variable_first), ModelSource::SubagentVariable)
        .or_else(|| from(inputs.call, ModelSource::Call))
        .or_else(|| {
            usable(inputs.definition)
                .filter(|_| !forced_to_inherit)
                .map(|_| ModelChoice {
                    pass: None,
                    source: ModelSource::Definition,
                })
        })
        .or_else(|| from(variable, ModelSource::SubagentVariable))
        .or_else(|| parents(inputs))
        .unwrap_or(ModelChoice {
            pass: None,
            source: ModelSource::Unknown,
        })
}

/// The parent's own model. A client's order is `--model`, its agent's definition, `ANTHROPIC_MODEL`, settings (all four
/// versions); a subagent's model stands in its own transcript only.
fn parents(inputs: &ModelInputs<'_>) -> Option<ModelChoice> {
    let (flag, agent) = (
        (inputs.flag, ModelSource::ParentFlag),
        (inputs.parent_agent, ModelSource::ParentAgent),
    );
    let transcript = (inputs.transcript, ModelSource::Transcript);
    let (variable, settings) = (
        (inputs.variable, ModelSource::Variable),
        (inputs.settings, ModelSource::Settings),
    );
    let order = if inputs.called_by_subagent {
        [transcript, agent, flag, variable, settings]
    } else {
        [flag, agent, variable, settings, transcript]
    };
    order.into_iter().find_map(|(value, source)| {
        usable(value).map(|model| ModelChoice {
            pass: Some(model.to_owned()),
            source,
        })
    })
}

fn is_inherit(value: &str) -> bool {
    value.trim().eq_ignore_ascii_case("inherit")
}

/// A value that may be passed: `--model ""` and `--model inherit` are sent to the API as they are (2.1.156 to 2.1.332).
fn usable(value: Option<&str>) -> Option<&str> {
    value
        .map(str::trim)
        .filter(|model| !model.is_empty() && !is_inherit(model) && !model.starts_with('-'))
}

/// The switches that send a client to another provider than the first party.
const PROVIDER_SWITCHES: [&str; 7] = [
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_MANTLE",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS",
    "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
    "CLAUDE_CODE_USE_GATEWAY",
];

/// Whether no switch of the client's environment names another provider; `env` gives a variable's value.
#[must_use]
pub fn is_first_party(env: impl Fn(&str) -> Option<String>) -> bool {
    let off = |value: String| ["", "0", "false", "no", "off"].contains(&value.trim().to_lowercase().as_str());
    PROVIDER_SWITCHES.iter().all(|name| env(name).is_none_or(off))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::version::{V2_1_156, V2_1_226, V2_1_295, V2_1_332};

    fn all(version: ClientVersion) -> ModelInputs<'static> {
        ModelInputs {
            version: Some(version),
            call: Some("call"),
            definition: Some("definition"),
            subagent_variable: Some("variable"),
            called_by_subagent: false,
            flag: Some("flag"),
            parent_agent: Some("agent"),
            variable: Some("env"),
            settings: Some("settings"),
            transcript: Some("transcript"),
        }
    }

    fn chosen(inputs: &ModelInputs<'_>) -> (Option<String>, ModelSource) {
        let choice = choose(inputs);
        (choice.pass, choice.source)
    }

    fn some(model: &str, source: ModelSource) -> (Option<String>, ModelSource) {
        (Some(model.to_owned()), source)
    }

    #[test]
    fn the_order_of_the_newer_versions() {
        for version in [V2_1_295, V2_1_332] {
            let mut inputs = all(version);
            let mut next = |change: fn(&mut ModelInputs<'static>)| {
                let choice = chosen(&inputs);
                change(&mut inputs);
                choice
            };
            assert_eq!(next(|i| i.call = None), some("call", ModelSource::Call));
            assert_eq!(
                next(|i| i.definition = Some("inherit")),
                (None, ModelSource::Definition)
            );
            assert_eq!(
                next(|i| i.subagent_variable = Some("")),
                some("variable", ModelSource::SubagentVariable)
            );
            assert_eq!(next(|i| i.flag = None), some("flag", ModelSource::ParentFlag));
            assert_eq!(next(|i| i.parent_agent = None), some("agent", ModelSource::ParentAgent));
            assert_eq!(next(|i| i.variable = None), some("env", ModelSource::Variable));
            assert_eq!(next(|i| i.settings = None), some("settings", ModelSource::Settings));
            assert_eq!(
                next(|i| i.transcript = None),
                some("transcript", ModelSource::Transcript)
            );
            assert_eq!(next(|_| {}), (None, ModelSource::Unknown));
        }
    }

    #[test]
    fn in_the_older_versions_the_variable_comes_first() {
        for version in [V2_1_156, V2_1_226] {
            let inputs = all(version);
            assert_eq!(chosen(&inputs), some("variable", ModelSource::SubagentVariable));
            let inherit = ModelInputs {
                subagent_variable: Some("inherit"),
                call: None,
                ..inputs
            };
            assert_eq!(chosen(&inherit), some("flag", ModelSource::ParentFlag));
        }
    }

    #[test]
    fn a_calling_subagents_own_model_comes_before_the_sessions() {
        let inputs = ModelInputs {
            call: None,
            definition: None,
            subagent_variable: None,
            called_by_subagent: true,
            ..all(V2_1_332)
        };
        assert_eq!(chosen(&inputs), some("transcript", ModelSource::Transcript));
        let unread = ModelInputs {
            transcript: None,
            ..inputs
        };
        assert_eq!(chosen(&unread), some("agent", ModelSource::ParentAgent));
    }

    #[test]
    fn what_must_not_be_passed_is_not() {
        for bad in ["", " ", "inherit", "INHERIT", "--bare"] {
            let inputs = ModelInputs {
                call: Some(bad),
                flag: Some(bad),
                ..ModelInputs::default()
            };
            assert_eq!(chosen(&inputs), (None, ModelSource::Unknown), "{bad}");
        }
    }

    #[test]
    fn a_provider_switch_that_is_on_is_not_first_party() {
        let with = |name: &'static str, value: &'static str| {
            is_first_party(move |asked: &str| (asked == name).then(|| value.to_owned()))
        };
        assert!(with("OTHER", "1"));
        assert!(with("CLAUDE_CODE_USE_BEDROCK", "0"));
        assert!(!with("CLAUDE_CODE_USE_BEDROCK", "1"));
        assert!(!with("CLAUDE_CODE_USE_VERTEX", "true"));
        assert!(!with("CLAUDE_CODE_USE_FOUNDRY", "yes"));
    }
}
