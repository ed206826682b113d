use super::*;
use crate::guard::bash::policy::{Allow, ExtraRule};
use crate::guard::bash::{LiveRecords, read_labelled};

const COMMANDS: &str = include_str!("../../../tests/fixtures/bash/commands.tsv");
const PARAMETERS: &str = include_str!("../../../tests/fixtures/bash/parameters.tsv");

fn ground(cwd: &str) -> Ground {
    Ground {
        cwd: cwd.to_owned(),
        project: cwd.to_owned(),
        home: Some("/home/dev".to_owned()),
        protected: Vec::new(),
    }
}

fn judged(command: &str, caller: Caller, policy: &Policy) -> Decision {
    let ground = ground("/work/project");
    let today = Day::parse("2026-12-01");
    let question = Question {
        command,
        in_background: false,
        caller,
        ground: &ground,
        records: &LiveRecords,
        today,
    };
    decide(&question, policy)
}

const AGENT: Caller = Caller {
    confined: true,
    answerable: false,
};
const PERSON: Caller = Caller {
    confined: false,
    answerable: true,
};

#[test]
fn labelled_commands_are_judged_right_in_a_temporary_and_in_a_project_directory() {
    for cwd in ["/tmp/x", "/home/dev/project", "/work/project"] {
        let ground = ground(cwd);
        for row in [COMMANDS, PARAMETERS]
            .iter()
            .flat_map(|text| read_labelled(text).unwrap())
        {
            let question = Question {
                command: &row.command,
                in_background: row.in_background,
                caller: AGENT,
                ground: &ground,
                records: &LiveRecords,
                today: None,
            };
            let decision = decide(&question, &Policy::default());
            assert_eq!(
                decision.verdict != Verdict::Pass,
                row.refuse,
                "{cwd} {} {:?}",
                row.id,
                row.command
            );
        }
    }
}

/// Every command in a place where bash runs it keeps its verdict; in a place where it is text it passes.
#[test]
fn contexts_keep_the_verdict_and_texts_pass() {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    for row in read_labelled(COMMANDS).unwrap() {
        let c = &row.command;
        let q = quoted(c);
        let runs = [
            format!("bash -c {q}"),
            format!("(\n{c}\n)"),
            format!("if true; then\n{c}\nfi"),
            format!("eval {q}"),
            format!("f_() {{\n{c}\n}}; f_"),
            format!("true && {{\n{c}\n}}"),
            format!("x_=$(\n{c}\n)"),
            format!("bash <<'XEOF'\n{c}\nXEOF"),
            format!("trap {q} EXIT"),
            format!("for i_ in 1; do\n{c}\ndone"),
            format!("while read -r l_; do\n{c}\ndone < f"),
            format!("{{\n{c}\n}} | cat"),
            format!("env X=1 timeout 60 nice -n 5 bash -c {q}"),
            format!("c_={q}; eval \"$c_\""),
            format!("echo {q} | bash"),
            format!("bash <<< {q}"),
            format!("cat > s_.sh <<'XEOF'\n{c}\nXEOF\nbash s_.sh"),
            format!("case x in *)\n{c}\n;; esac"),
        ];
        for text in runs {
            let refused = judged(&text, AGENT, &Policy::default()).verdict != Verdict::Pass;
            assert_eq!(refused, row.refuse, "{} {text:?}", row.id);
        }
        let texts = [
            format!("echo {q}"),
            format!("git commit -m {}", quoted(&format!("docs: {c}"))),
            format!("grep -rn {q} ."),
            format!("cat > docs/x.md <<'XEOF'\n{c}\nXEOF"),
            format!("gh issue create --title x --body {q}"),
            format!("v_={q}; echo \"$v_\""),
            format!("git commit -F - <<'XEOF'\n{c}\nXEOF"),
            format!("git commit -m \"$(cat <<'XEOF'\n{c}\nXEOF\n)\""),
            format!("for c_ in {q}; do echo \"$c_\" | cat; done"),
        ];
        for text in texts {
            let decision = judged(&text, AGENT, &Policy::default());
            assert_eq!(
                decision.verdict,
                Verdict::Pass,
                "{} {text:?} {:?}",
                row.id,
                decision.findings
            );
        }
    }
}

#[test]
fn background_and_agents_are_for_subagents_and_cells_unless_the_policy_says_otherwise() {
    let policy = Policy::default();
    for command in ["sleep 300 &", "claude -p hi"] {
        assert_eq!(judged(command, AGENT, &policy).verdict, Verdict::Deny, "{command}");
        assert_eq!(judged(command, PERSON, &policy).verdict, Verdict::Pass, "{command}");
    }
    let mut all = Policy::default();
    all.families.insert(Family::Background, Reach::All);
    assert_eq!(judged("sleep 300 &", PERSON, &all).verdict, Verdict::Deny);
    let mut off = Policy::default();
    off.families.insert(Family::Destroy, Reach::Off);
    assert_eq!(judged("rm -rf /", AGENT, &off).verdict, Verdict::Pass);
}

#[test]
fn what_cannot_be_read_is_asked_where_somebody_answers_and_refused_elsewhere() {
    let policy = Policy::default();
    let decision = judged("echo $(", PERSON, &policy);
    assert_eq!(decision.verdict, Verdict::Ask);
    assert!(decision.findings.first().unwrap().reason.contains("is not closed"));
    assert_eq!(judged("echo $(", AGENT, &policy).verdict, Verdict::Deny);
    assert_eq!(judged("rm -rf ~\necho $(", PERSON, &policy).verdict, Verdict::Deny);
}

#[test]
fn rules_are_switched_by_their_id() {
    let mut policy = Policy::default();
    assert_eq!(judged("docker run -d nginx", AGENT, &policy).verdict, Verdict::Pass);
    policy.rules.insert("background.container".to_owned(), true);
    assert_eq!(judged("docker run -d nginx", AGENT, &policy).verdict, Verdict::Deny);
    policy.rules.insert("destroy.git-work".to_owned(), false);
    assert_eq!(judged("git reset --hard", AGENT, &policy).verdict, Verdict::Pass);
}

#[test]
fn an_exception_holds_within_its_scope_and_until_its_day() {
    let allow = Allow {
        rule: "destroy.tree".to_owned(),
        program: Some("rm".to_owned()),
        words: Vec::new(),
        below: Some("/data/scratch".to_owned()),
        project: None,
        until: Day::parse("2026-12-31"),
    };
    let policy = Policy {
        allow: vec![allow.clone()],
        ..Policy::default()
    };
    let decision = judged("rm -rf /data/scratch/a", AGENT, &policy);
    assert_eq!((decision.verdict, decision.excused.len()), (Verdict::Pass, 1));
    assert_eq!(judged("rm -rf /data/other", AGENT, &policy).verdict, Verdict::Deny);
    assert_eq!(
        judged("rm -rf /data/scratch/../other", AGENT, &policy).verdict,
        Verdict::Deny
    );
    assert_eq!(
        judged("find /data/scratch/a -delete", AGENT, &policy).verdict,
        Verdict::Deny
    );
    let past = Allow {
        until: Day::parse("2026-11-30"),
        ..allow
    };
    let policy = Policy {
        allow: vec![past],
        ..Policy::default()
    };
    assert_eq!(judged("rm -rf /data/scratch/a", AGENT, &policy).verdict, Verdict::Deny);
}

#[test]
fn an_added_rule_is_over_words_and_not_over_text() {
    let rule = ExtraRule {
        id: "destroy.deploy".to_owned(),
        family: Family::Destroy,
        severity: Severity::Medium,
        program: "make*".to_owned(),
        words: vec!["deploy".to_owned()],
        reason: "r".to_owned(),
        instead: "i".to_owned(),
    };
    let policy = Policy {
        extra: vec![rule],
        ..Policy::default()
    };
    assert_eq!(judged("sudo m\\ake -j2 deploy", AGENT, &policy).verdict, Verdict::Deny);
    assert_eq!(judged("make deploy", PERSON, &policy).verdict, Verdict::Ask);
    assert_eq!(judged("echo make deploy", AGENT, &policy).verdict, Verdict::Pass);
}

#[test]
fn every_rule_has_an_id_of_its_family_a_reason_and_a_way_out() {
    let mut ids = std::collections::BTreeSet::new();
    for rule in rules() {
        assert!(rule.id.starts_with(&format!("{}.", rule.family.name())), "{}", rule.id);
        assert!(ids.insert(rule.id), "{} twice", rule.id);
        assert!(!rule.reason.is_empty() && !rule.instead.is_empty(), "{}", rule.id);
        assert!(
            !rule.reason.contains('\n') && !rule.instead.contains('\n'),
            "{}",
            rule.id
        );
    }
}

#[test]
fn days_are_counted_from_1970() {
    assert_eq!(Day::parse("1970-01-01"), Some(Day(0)));
    assert_eq!(Day::parse("2000-03-01"), Some(Day(11_017)));
    assert_eq!(Day::parse("2026-11-30"), Some(Day(20_787)));
    for bad in [
        "2026-13-01",
        "2026-02-29",
        "26-01-01",
        "2026-1-1",
        "tomorrow",
        "2026-01-01-01",
    ] {
        assert_eq!(Day::parse(bad), None, "{bad}");
    }
}
