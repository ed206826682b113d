//! Whatever bytes come as a command or as a payload: the guard decides, and does not die.
#![no_main]

use libfuzzer_sys::fuzz_target;
use subcell::guard::bash::{Caller, Ground, LiveRecords, Policy, Question, decide, read_call};

fuzz_target!(|bytes: &[u8]| {
    let _ = read_call(bytes);
    let command = String::from_utf8_lossy(bytes);
    let ground = Ground { cwd: "/w".to_owned(), project: "/w".to_owned(), home: Some("/h".to_owned()), protected: Vec::new() };
    let caller = Caller { confined: true, answerable: false };
    let question =
        Question { command: &command, in_background: false, caller, ground: &ground, records: &LiveRecords, today: None };
    let _ = decide(&question, &Policy::default());
});
