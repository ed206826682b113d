use super::Decision::{Free, Pardoned, Refuse};
use super::*;

const HELD: [(Verdict, Hold); 2] = [(Verdict::Red, Hold::Live), (Verdict::Corrupt, Hold::Corrupt)];

fn unstarted() -> Verdict {
    Verdict::Unstarted("text file busy".to_owned())
}

fn decided(verdict: &Verdict, own_tasks: usize, stop_hook_active: bool) -> Decision {
    decide(&Facts {
        turn: Turn::Subagent,
        verdict,
        own_tasks,
        stop_hook_active,
        wait: Wait::Refuse,
    })
}

/// The verdict, whether a task of its own runs, `stop_hook_active`, and the decision.
#[test]
fn every_row_of_the_table() {
    let table = [
        (Verdict::Green, 0, false, Free),
        (Verdict::Green, 0, true, Free),
        (Verdict::Green, 1, false, Refuse(Hold::Task)),
        (Verdict::Green, 1, true, Refuse(Hold::Task)),
        (Verdict::Red, 0, false, Refuse(Hold::Live)),
        (Verdict::Red, 0, true, Refuse(Hold::Live)),
        (Verdict::Red, 1, false, Refuse(Hold::Live)),
        (Verdict::Red, 1, true, Refuse(Hold::Live)),
        (Verdict::Corrupt, 0, false, Refuse(Hold::Corrupt)),
        (Verdict::Corrupt, 0, true, Refuse(Hold::Corrupt)),
        (Verdict::Corrupt, 1, false, Refuse(Hold::Corrupt)),
        (Verdict::Corrupt, 1, true, Refuse(Hold::Corrupt)),
        (Verdict::Unresolved, 0, false, Refuse(Hold::Unresolved)),
        (Verdict::Unresolved, 0, true, Pardoned(Pardon::Once)),
        (Verdict::Unresolved, 1, false, Refuse(Hold::Unresolved)),
        (Verdict::Unresolved, 1, true, Refuse(Hold::Task)),
        (Verdict::Unavailable, 0, false, Free),
        (Verdict::Unavailable, 0, true, Free),
        (Verdict::Unavailable, 1, false, Refuse(Hold::Task)),
        (Verdict::Unavailable, 1, true, Refuse(Hold::Task)),
        (unstarted(), 0, false, Free),
        (unstarted(), 0, true, Free),
        (unstarted(), 2, false, Refuse(Hold::Task)),
        (unstarted(), 2, true, Refuse(Hold::Task)),
        (Verdict::Error, 0, false, Free),
        (Verdict::Error, 0, true, Free),
        (Verdict::Error, 1, false, Refuse(Hold::Task)),
        (Verdict::Error, 1, true, Refuse(Hold::Task)),
    ];
    for (verdict, tasks, active, expected) in table {
        assert_eq!(
            decided(&verdict, tasks, active),
            expected,
            "{verdict:?} {tasks} {active}"
        );
    }
}

#[test]
fn a_helper_and_a_main_session_are_never_refused() {
    for (turn, pardon) in [(Turn::Helper, Pardon::Helper), (Turn::Main, Pardon::Main)] {
        for (verdict, own_tasks) in [
            (Verdict::Red, 0),
            (Verdict::Corrupt, 1),
            (Verdict::Unresolved, 0),
            (Verdict::Green, 1),
        ] {
            let facts = Facts {
                turn,
                verdict: &verdict,
                own_tasks,
                stop_hook_active: false,
                wait: Wait::Refuse,
            };
            assert_eq!(decide(&facts), Pardoned(pardon), "{turn:?} {verdict:?}");
        }
        let free = Facts {
            turn,
            verdict: &Verdict::Green,
            own_tasks: 0,
            stop_hook_active: false,
            wait: Wait::Refuse,
        };
        assert_eq!(decide(&free), Free);
    }
}

#[test]
fn a_cells_main_session_is_held_as_a_subagent_is() {
    for (verdict, hold) in HELD {
        let facts = Facts {
            turn: Turn::CellMain,
            verdict: &verdict,
            own_tasks: 0,
            stop_hook_active: true,
            wait: Wait::Refuse,
        };
        assert_eq!(decide(&facts), Refuse(hold));
    }
    let task = Facts {
        turn: Turn::CellMain,
        verdict: &Verdict::Green,
        own_tasks: 1,
        stop_hook_active: true,
        wait: Wait::Refuse,
    };
    assert_eq!(decide(&task), Refuse(Hold::Task));
}

#[test]
fn with_resume_wait_tasks_do_not_hold_and_records_do() {
    let waiting = |verdict: &Verdict, own_tasks| {
        decide(&Facts {
            turn: Turn::Subagent,
            verdict,
            own_tasks,
            stop_hook_active: false,
            wait: Wait::ResumeWait,
        })
    };
    assert_eq!(waiting(&Verdict::Green, 1), Pardoned(Pardon::Resume));
    assert_eq!(waiting(&Verdict::Green, 0), Free);
    for (verdict, hold) in HELD {
        assert_eq!(waiting(&verdict, 1), Refuse(hold));
    }
    assert_eq!(waiting(&Verdict::Unresolved, 1), Refuse(Hold::Unresolved));
}
