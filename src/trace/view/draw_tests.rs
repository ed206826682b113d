use super::super::forest::tests::{cell, span};
use super::*;
use crate::base::visible::is_active;

const SECOND: u64 = 1_000_000_000;
/// 2026-12-01T00:00:00Z, by `date -u -d @1796083200`.
const BEGIN: u64 = 1_796_083_200 * SECOND;

fn timed(mut bar: Bar, from: u64, until: u64) -> Bar {
    bar.start = UnixNanos::from_nanos(BEGIN + from * SECOND);
    bar.end = UnixNanos::from_nanos(BEGIN + until * SECOND);
    bar
}

fn bars() -> Vec<Bar> {
    let mut agent = timed(span("agent", ("a", "2"), Some("1"), 0), 10, 90);
    agent.facts.agent = Some("triage".into());
    agent.facts.cost_usd = Some(0.5);
    agent.facts.tokens.input = Some(100);
    let mut good = timed(cell(("a", "3"), Some("2"), "main", "one", 0), 20, 40);
    good.facts.agent = Some("judge".into());
    good.facts.model = Some("claude-haiku-4-5".into());
    good.facts.tokens.input = Some(11);
    good.facts.tokens.output = Some(22);
    good.facts.cost_usd = Some(0.25);
    let mut lost = timed(cell(("a", "4"), Some("2"), "main", "two", 0), 30, 31);
    lost.facts.agent = Some("judge".into());
    lost.outcome = Outcome::Failed("its processes are gone".into());
    let mut plan = timed(span("plan", ("a", "5"), Some("3"), 0), 20, 21);
    plan.origin = Origin::Phase;
    vec![timed(span("run", ("a", "1"), None, 0), 0, 100), agent, good, lost, plan]
}

const LOOK: Look = Look {
    width: 120,
    colours: false,
    phases: false,
};

#[test]
fn a_run_is_drawn_with_cost_and_tokens_a_line_and_in_total() {
    let drawn = draw(&bars(), LOOK);
    let lines: Vec<&str> = drawn.lines().collect();
    assert_eq!(
        lines[0],
        "trace aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa · from 2026-12-01T00:00:00Z · 1 m 40 s"
    );
    // 30 columns of 100 s: agent 10 to 90 s = columns 3 to 26, the first cell 20 to 40 s = columns 6 to 11.
    let chart = |from: usize, until: usize| {
        format!(
            "|{}{}{}|",
            " ".repeat(from),
            "█".repeat(until - from),
            " ".repeat(30 - until)
        )
    };
    let line = |name: &str, chart: String, time: &str, facts: &str| {
        format!("{name:<30} {chart} {time:<9} {facts}").trim_end().to_owned()
    };
    assert_eq!(lines[1], line("run", chart(0, 30), "1 m 40 s", ""));
    assert_eq!(
        lines[2],
        line("└ agent triage", chart(3, 27), "80.0 s", "$0.5000 · 100 in")
    );
    assert_eq!(
        lines[3],
        line(
            "  ├ cell judge",
            chart(6, 12),
            "20.0 s",
            "$0.2500 · 11 in, 22 out · claude-haiku-4-5"
        )
    );
    let failed = "FAILED its processes are gone · cost unknown";
    assert_eq!(lines[4], line("  └ cell judge", chart(9, 10), "1.0 s", failed));
    assert_eq!(
        lines[5],
        "cells 2 (1 failed) · 11 in, 22 out · at least $0.2500 (1 unknown)"
    );
    assert_eq!(
        lines[6],
        "run   100 in · $0.5000, cells not counted (fullsend's figure)"
    );
    assert_eq!(lines[7], "total 111 in, 22 out · at least $0.7500 (1 unknown)");
    assert_eq!(lines.len(), 8);
}

#[test]
fn every_width_is_kept_and_nothing_is_lost() {
    let mut bars = bars();
    bars[2].facts.description = Some("漢字 ".repeat(60));
    for width in [40, 60, 80, 99, 100, 101, 120, 200] {
        let drawn = draw(&bars, Look { width, ..LOOK });
        for line in drawn.lines() {
            assert!(line.width() <= width, "{width}: {line}");
        }
        for text in ["$0.2500", "FAILED", "total"] {
            assert!(drawn.contains(text), "{width}: {drawn}");
        }
    }
    assert_eq!(
        draw(&bars, Look { width: 3, ..LOOK }),
        draw(&bars, Look { width: 40, ..LOOK })
    );
}

#[test]
fn phases_are_shown_where_they_are_wanted() {
    assert!(!draw(&bars(), LOOK).contains("plan"));
    let drawn = draw(&bars(), Look { phases: true, ..LOOK });
    assert!(drawn.contains("│ └ plan"), "{drawn}");
}

#[test]
fn a_text_of_another_is_shown_and_not_obeyed() {
    let evil = "\u{1b}]0;x\u{7}\u{202e}\r\n".to_owned();
    let mut bars = bars();
    for bar in &mut bars {
        bar.name.clone_from(&evil);
        bar.facts.agent = Some(evil.clone());
        bar.facts.model = Some(evil.clone());
        bar.facts.description = Some(evil.clone());
        bar.outcome = Outcome::Failed(evil.clone());
    }
    for width in [50, 150] {
        let drawn = draw(
            &bars,
            Look {
                width,
                phases: true,
                ..LOOK
            },
        );
        assert!(!drawn.chars().any(|c| c != '\n' && is_active(c)), "{drawn}");
    }
}

#[test]
fn colours_change_no_text() {
    let coloured = draw(&bars(), Look { colours: true, ..LOOK });
    assert!(coloured.contains("\u{1b}["));
    let codes = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    assert_eq!(codes.replace_all(&coloured, ""), draw(&bars(), LOOK));
}

#[test]
fn what_still_runs_is_marked_and_traces_are_counted() {
    let mut bars = vec![
        cell(("a", "1"), None, "main", "one", 0),
        cell(("b", "2"), None, "main", "two", 0),
    ];
    bars[0].outcome = Outcome::Running;
    let drawn = draw(&bars, LOOK);
    assert!(drawn.starts_with("2 traces · "), "{drawn}");
    assert!(drawn.contains('▒') && drawn.contains("running"), "{drawn}");
    assert!(drawn.contains("cells 2 (1 running) · cost unknown"), "{drawn}");
    assert_eq!(drawn.lines().last().map(|line| &line[..5]), Some("cells"));
}
