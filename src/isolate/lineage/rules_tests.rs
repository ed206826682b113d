use super::*;
use crate::protocol::settings::{Permissions, Settings};
use crate::protocol::version::{V2_1_156, V2_1_332};

fn settings(scope: Scope, deny: &[&str], ask: &[&str]) -> LoadedSettings {
    let own = |list: &[&str]| list.iter().map(|rule| (*rule).to_owned()).collect();
    let document = Settings {
        permissions: Permissions {
            deny: own(deny),
            ask: own(ask),
            ..Permissions::default()
        },
        ..Settings::default()
    };
    LoadedSettings {
        documents: vec![(scope, document)],
        problems: vec![],
    }
}

fn judge(rules: &AgentRules, asked: &str, version: ClientVersion) -> RuleVerdict {
    let input = serde_json::json!({"model": "opus", "run_in_background": false});
    let call = Judged {
        asked,
        resolved: "ex",
        input: input.as_object().unwrap(),
    };
    rules.judge(call, Some(version))
}

fn denies(rule: &str, version: ClientVersion) -> bool {
    let rules = AgentRules::gather(&settings(Scope::User, &[rule], &[]), &ParentFlags::default(), &[]);
    judge(&rules, "ex", version) != RuleVerdict::Allowed
}

#[test]
fn the_deny_rules_measured_on_the_client() {
    for (rule, in_156, in_332) in [
        ("Agent", true, true),
        ("Task", true, true),
        ("Agent(*)", true, true),
        ("Agent(ex)", true, true),
        ("Task(ex)", true, true),
        ("Agent(subagent_type:ex)", false, true),
        ("Agent(subagent_type:e*)", false, true),
        ("Agent(model:opus)", false, true),
        ("Agent(model:haiku)", false, false),
        ("Agent(run_in_background:false)", false, true),
        ("Agent(ex:*)", false, false),
        ("Agent(ex*)", false, false),
        ("Agent()", false, false),
        ("agent(ex)", false, false),
        ("Agent(EX)", false, false),
        ("Agent( ex )", false, false),
        ("Agent(other,ex)", false, false),
        ("Agent(other)", false, false),
        ("Bash(ex)", false, false),
    ] {
        assert_eq!(denies(rule, V2_1_156), in_156, "156 {rule}");
        assert_eq!(denies(rule, V2_1_332), in_332, "332 {rule}");
    }
}

#[test]
fn a_loose_spelling_does_not_pass_a_rule() {
    let rules = AgentRules::gather(
        &settings(Scope::User, &["Agent(ex)"], &[]),
        &ParentFlags::default(),
        &[],
    );
    assert!(matches!(judge(&rules, "EX", V2_1_332), RuleVerdict::Denied { .. }));
}

#[test]
fn every_scope_and_the_command_line_count_and_the_strongest_is_named() {
    for scope in [Scope::User, Scope::Project, Scope::Local, Scope::Flag, Scope::Managed] {
        let rules = AgentRules::gather(&settings(scope, &["Agent(ex)"], &[]), &ParentFlags::default(), &[]);
        let expected = RuleVerdict::Denied {
            rule: "Agent(ex)".into(),
            by: RuleSource::Scope(scope),
        };
        assert_eq!(judge(&rules, "ex", V2_1_332), expected);
    }
    for value in [
        "Agent(ex)",
        "Task(ex)",
        "Agent(other),Agent(ex)",
        "Agent(other) Agent(ex)",
    ] {
        let flags = ParentFlags {
            disallowed_tools: vec![value.into()],
            ..ParentFlags::default()
        };
        let rules = AgentRules::gather(&settings(Scope::User, &["Agent(ex)"], &[]), &flags, &[]);
        let verdict = judge(&rules, "ex", V2_1_332);
        let by = RuleSource::Scope(Scope::CommandLine);
        assert!(
            matches!(&verdict, RuleVerdict::Denied { by: found, .. } if *found == by),
            "{value}"
        );
    }
}

#[test]
fn a_question_comes_after_a_denial() {
    let ask = |deny: &[&str], ask: &[&str]| {
        let rules = AgentRules::gather(&settings(Scope::Local, deny, ask), &ParentFlags::default(), &[]);
        judge(&rules, "ex", V2_1_332)
    };
    assert!(matches!(ask(&[], &["Agent"]), RuleVerdict::Ask { .. }));
    assert!(matches!(ask(&[], &["Task(ex)"]), RuleVerdict::Ask { .. }));
    assert!(matches!(ask(&["Agent(ex)"], &["Agent"]), RuleVerdict::Denied { .. }));
    assert_eq!(ask(&[], &["Agent(other)"]), RuleVerdict::Allowed);
}

#[test]
fn the_tools_of_the_sessions_agent_limit_the_types() {
    for (tools, asked, allowed) in [
        (&["Agent(ex,other)"][..], "ex", true),
        (&["Agent(other)", "Read"], "ex", false),
        (&["Task(other)"], "ex", false),
        (&["Agent(other)", "Agent(ex)"], "ex", true),
        (&["Agent", "Read"], "ex", true),
        (&["Agent(ex)"], "EX", false),
        (&["Read"], "ex", true),
    ] {
        let caller = AgentDefinition {
            name: "lead".into(),
            tools: Some(tools.iter().map(|tool| (*tool).to_owned()).collect()),
            ..AgentDefinition::default()
        };
        let limits: Vec<AgentLimit> = AgentLimit::of(&caller).into_iter().collect();
        let rules = AgentRules::gather(&LoadedSettings::default(), &ParentFlags::default(), &limits);
        let verdict = judge(&rules, asked, V2_1_332);
        assert_eq!(verdict == RuleVerdict::Allowed, allowed, "{tools:?} {asked}");
        if !allowed {
            assert!(matches!(verdict, RuleVerdict::Denied { by: RuleSource::Agent(name), .. } if name == "lead"));
        }
    }
}

#[test]
fn patterns_stand_for_any_text() {
    for (pattern, text, fits) in [
        ("opus", "opus", true),
        ("opus", "opus-5", false),
        ("op*", "opus", true),
        ("*us", "opus", true),
        ("*", "", true),
        ("a*c*e", "abcde", true),
        ("a*c*e", "abde", false),
        ("a*a", "a", false),
    ] {
        assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
    }
}

#[test]
fn of_several_limits_every_one_must_allow() {
    let limit = |agent: &str, types: &[&str]| AgentLimit {
        agent: agent.into(),
        types: types.iter().map(|name| (*name).to_owned()).collect(),
    };
    let limits = [limit("own", &["ex", "other"]), limit("outer", &["other"])];
    let rules = AgentRules::gather(&LoadedSettings::default(), &ParentFlags::default(), &limits);
    let expected = RuleVerdict::Denied {
        rule: "Agent(other)".into(),
        by: RuleSource::Agent("outer".into()),
    };
    assert_eq!(judge(&rules, "ex", V2_1_332), expected);
    assert_eq!(judge(&rules, "other", V2_1_332), RuleVerdict::Allowed);
}
