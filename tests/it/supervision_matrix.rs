//! Every way for a client to behave, times every way for a descendant to detach, times every way for a run to be
//! ended: each has the right ending, and nothing of any is left alive.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use subcell::base::digest::sha256_hex;
use subcell::process::{Ending, StopSignal, Stream};

use crate::supervised::{Outcome, Setup};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    Exits0,
    ExitsN,
    Killed,
    IgnoresTerm,
    NeverReadsStdin,
    FloodsStdout,
    FloodsStderr,
    ClosesStdout,
    InvalidUtf8,
    CutJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Deadline,
    Term,
    Hup,
    Kill,
    None,
}

const CLIENTS: [Client; 10] = [
    Client::Exits0,
    Client::ExitsN,
    Client::Killed,
    Client::IgnoresTerm,
    Client::NeverReadsStdin,
    Client::FloodsStdout,
    Client::FloodsStderr,
    Client::ClosesStdout,
    Client::InvalidUtf8,
    Client::CutJson,
];
const FAMILIES: [&str; 4] = ["none", "group", "session", "daemon"];
const EVENTS: [Event; 5] = [Event::Deadline, Event::Term, Event::Hup, Event::Kill, Event::None];

#[derive(Clone, Copy, Debug)]
struct Case {
    client: Client,
    family: &'static str,
    event: Event,
}

impl Case {
    /// What the client does. It has printed and has its family when it joins the meeting, and ends when told. Where it
    /// is ended from outside it answers TERM in the way that is most like its own ending: an exit with 0 after TERM
    /// must not read as a success.
    fn standin(self) -> String {
        let flood = if self.event == Event::None {
            "nothing"
        } else {
            "flood-stdout bytes=2000000"
        };
        let does = match self.client {
            Client::Exits0 => "prints=result on-term=exit:0 ends=exit:0".to_owned(),
            Client::ExitsN => "prints=nothing on-term=exit:3 ends=exit:3".to_owned(),
            Client::Killed => "prints=nothing on-term=kill ends=signal".to_owned(),
            Client::IgnoresTerm => "prints=result on-term=ignore".to_owned(),
            Client::NeverReadsStdin => "prints=result stdin=unread".to_owned(),
            Client::FloodsStdout => format!("prints={flood} ends=flood-stdout"),
            Client::FloodsStderr => format!("prints={} ends=flood-stderr", flood.replace("stdout", "stderr")),
            Client::ClosesStdout => "prints=closed".to_owned(),
            Client::InvalidUtf8 => "prints=invalid-utf8".to_owned(),
            Client::CutJson => "prints=cut-json".to_owned(),
        };
        format!("{does} family={} wait=meet", self.family)
    }

    fn members(self) -> usize {
        usize::from(self.family != "none")
    }

    fn ending(self) -> Ending {
        match self.event {
            Event::Deadline => Ending::TimedOut,
            Event::Term => Ending::Interrupted {
                signal: StopSignal::Term,
            },
            Event::Hup => Ending::Interrupted {
                signal: StopSignal::Hup,
            },
            Event::Kill => Ending::HookGone,
            Event::None => match self.client {
                Client::ExitsN => Ending::Exited { code: 3 },
                Client::Killed => Ending::Signaled { signal: 9 },
                Client::FloodsStdout => Ending::TooMuchOutput { stream: Stream::Stdout },
                Client::FloodsStderr => Ending::TooMuchOutput { stream: Stream::Stderr },
                Client::Exits0
                | Client::IgnoresTerm
                | Client::NeverReadsStdin
                | Client::ClosesStdout
                | Client::InvalidUtf8
                | Client::CutJson => Ending::Exited { code: 0 },
            },
        }
    }

    fn run(self) {
        let mut setup = Setup::new(&self.standin());
        setup.prompt_bytes = 1_000_000;
        if self.event == Event::None && matches!(self.client, Client::FloodsStdout | Client::FloodsStderr) {
            setup.output_bytes = 1 << 20;
        }
        if self.event == Event::Deadline {
            return self.past_deadline(setup);
        }
        let mut running = setup.start();
        running.meet(1 + self.members());
        match self.event {
            Event::Term => running.signal_hook(Signal::TERM),
            Event::Hup => running.signal_hook(Signal::HUP),
            Event::Kill => return running.kill_hook(),
            Event::None => running.go(),
            Event::Deadline => unreachable!(),
        }
        self.check(&running.outcome());
    }

    /// On a busy machine the deadline may come before the tree stands, which would test less: then it is set later.
    fn past_deadline(self, mut setup: Setup) {
        setup.run = Duration::from_millis(300);
        for _ in 0..6 {
            let mut running = setup.start();
            crate::inspect::wait_for_end(running.keeper().pid);
            let stood = running.met() == 1 + self.members();
            self.check(&running.outcome());
            if stood {
                return;
            }
            setup.run *= 2;
        }
        panic!("{self:?}: the tree never stood before the deadline");
    }

    fn check(self, outcome: &Outcome) {
        let Outcome {
            report,
            stdout_bytes,
            stdout_sha256,
            ..
        } = outcome;
        assert_eq!(report.ending, self.ending(), "{self:?}");
        assert_eq!(report.survivors.count, 0, "{self:?}");
        let by_itself = matches!(report.ending, Ending::Exited { .. } | Ending::Signaled { .. });
        let leaked = if by_itself { self.members() } else { 0 };
        assert_eq!(report.leaked.count, leaked, "{self:?}");
        assert_eq!(report.leaked.names, vec!["subcell-standin"; leaked], "{self:?}");
        if self.event != Event::None {
            return;
        }
        match self.client {
            Client::ExitsN | Client::Killed | Client::ClosesStdout | Client::FloodsStderr => {
                assert_eq!(*stdout_bytes, 0);
            }
            Client::InvalidUtf8 => {
                assert_eq!(
                    *stdout_sha256,
                    sha256_hex(b"{\"type\":\"result\",\"result\":\"\xff\xfe\"}")
                );
            }
            Client::CutJson => assert_eq!(*stdout_sha256, sha256_hex(b"{\"type\":\"result\",\"result\":\"cut h")),
            Client::FloodsStdout => assert!(*stdout_bytes > 1 << 20),
            Client::Exits0 | Client::IgnoresTerm | Client::NeverReadsStdin => assert!(*stdout_bytes > 100),
        }
    }
}

#[test]
fn every_cell_of_the_matrix() {
    let mut cases = Vec::new();
    for client in CLIENTS {
        for family in FAMILIES {
            cases.extend(EVENTS.map(|event| Case { client, family, event }));
        }
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let run = std::panic::catch_unwind(|| case.run());
                    assert!(run.is_ok(), "{case:?}");
                }
            });
        }
    });
    assert!(next.into_inner() >= 200);
}
