//! A run's trace for people without a backend: cells and fullsend's own spans on one axis of time, as text.

mod bar;
mod draw;
mod forest;
mod groups;
mod line;
mod run_file;
mod shown;
mod totals;

pub use bar::{Bar, Facts, Origin, Outcome};
pub use draw::{Look, draw};
pub use forest::{Row, arrange};
pub use groups::groups;
pub use run_file::{RUN_FILE, RunFile, RunFileError};
pub use shown::{Chosen, Query, Shown, choose};
pub use totals::Totals;
