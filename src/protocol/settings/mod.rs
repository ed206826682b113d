//! The client's settings files: which are loaded, and what of them concerns a cell.

pub mod audit;
pub mod file;
pub mod hooks;
pub mod load;
pub mod rule;

pub use audit::{DEFAULT_TIMEOUT_S, HookTerms};
pub use file::{Permissions, Settings, SettingsError};
pub use hooks::{HookEntry, Takes};
pub use load::{LoadedSettings, Places, Scope, SettingsProblem, Sources, load};
pub use rule::{Rule, split_list};
