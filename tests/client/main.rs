//! Flows with the real client against the scripted model, in a network namespace that has loopback alone.
//!
//! `cargo test --features client-tests --test client`, with the clients that `scripts/get-client.sh` installs, or those
//! in the folder that `SUBCELL_TEST_CLIENTS` names. A client that is missing fails the tests; nothing is skipped.
//!
//! A flow is a function of the version, listed in its module's `on_both_versions!`. It builds a `Scene` (rules of the
//! model, settings, files, environment, flags of the parent), runs it, and looks at the `Run`: result, hook payloads,
//! model requests, tool results that the parent was given, records, transcripts, and what was left running.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends where something is not as it should be"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "`json!` makes values, and a builder that takes them reads better"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "a test starts the real client, and its place is told by the environment"
)]

mod budget;
mod cells;
mod clients;
mod delivery;
mod doctor;
mod frame;
#[path = "../common/fullsend/mod.rs"]
mod fullsend;
mod fullsend_ended;
mod fullsend_run;
mod fullsend_stage;
mod guard_bash;
mod guards;
mod installed;
mod isolated;
mod isolated_endings;
mod isolated_settings;
mod namespace;
#[path = "../common/nasty.rs"]
mod nasty;
mod plain;
mod run;
mod scene;
mod settings;
mod shell;
mod telemetry;

/// The newest client that the flows run on.
pub(crate) const NEWEST: &str = "2.1.332";
/// The oldest client that the flows run on.
pub(crate) const OLDEST: &str = "2.1.156";

/// The versions between them that delivery is tried on as well: its wire form changed more than once.
pub(crate) const BETWEEN: [&str; 2] = ["2.1.226", "2.1.295"];

/// Makes a test of each flow for each version: a flow is a function of the version.
macro_rules! on_both_versions {
    ($($flow:ident),+ $(,)?) => {
        mod newest {
            $(#[test] fn $flow() { super::$flow(crate::NEWEST); })+
        }
        mod oldest {
            $(#[test] fn $flow() { super::$flow(crate::OLDEST); })+
        }
    };
}
pub(crate) use on_both_versions;

/// The same for all four versions that delivery is tried on.
macro_rules! on_all_versions {
    ($($flow:ident),+ $(,)?) => {
        crate::on_both_versions!($($flow),+);
        mod v2_1_226 {
            $(#[test] fn $flow() { super::$flow(crate::BETWEEN[0]); })+
        }
        mod v2_1_295 {
            $(#[test] fn $flow() { super::$flow(crate::BETWEEN[1]); })+
        }
    };
}
pub(crate) use on_all_versions;
