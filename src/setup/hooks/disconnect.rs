//! Takes our hooks out of a settings file.

use std::fmt::Write as _;

use super::agent::Agent;
use super::diff::diff;
use super::document::Document;
use super::elsewhere::Ground;
use super::error::HooksError;
use super::receipt::{Receipt, Receipts};
use super::scope::Target;
use super::settings_file::SettingsFile;
use crate::base::digest::sha256_hex;

/// What becomes of the settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Becomes {
    /// It has nothing of ours.
    AsItIs,
    /// This text.
    Text(String),
    /// It was made by the installation, and goes.
    Gone,
}

/// Takes out what an installation put in: the settings first, so that no hook runs without its agent. Returns what was
/// done, a line each; none where nothing is installed there.
///
/// # Errors
/// [`HooksError`]. The settings file is as it was then.
pub fn disconnect(ground: &Ground<'_>, target: &Target, dry_run: bool) -> Result<Option<String>, HooksError> {
    let receipts = ground.receipts()?;
    let _lock = if dry_run { None } else { Some(receipts.lock()?) };
    let receipt = receipts.read(&target.settings);
    let file = SettingsFile::read(&target.settings)?;
    let becomes = decide(target, &file, receipt.as_ref())?;
    if becomes == Becomes::AsItIs && receipt.is_none() {
        return Ok(None);
    }
    let mut told = String::new();
    if dry_run {
        told.push_str(&becomes.preview(target, &file));
    } else {
        told.push_str(&becomes.make(target, &file, &receipts)?);
    }
    let would = if dry_run { "would " } else { "" };
    if let Some(agent) = lone_agent(&receipts, target, receipt.as_ref()) {
        if !dry_run {
            agent.remove()?;
        }
        if let Some(line) = agent.removing(would) {
            let _ = writeln!(told, "{line}");
        }
    }
    if !dry_run {
        receipts.remove(&target.settings)?;
    }
    Ok(Some(told))
}

/// Where nobody changed the file since, it becomes what it was; else our entries go, and the rest stays.
fn decide(target: &Target, file: &SettingsFile, receipt: Option<&Receipt>) -> Result<Becomes, HooksError> {
    if !file.exists() {
        return Ok(Becomes::AsItIs);
    }
    let untouched = receipt.filter(|receipt| receipt.after == sha256_hex(file.text().as_bytes()));
    if let Some(receipt) = untouched {
        match &receipt.before {
            None => return Ok(Becomes::Gone),
            Some(backup) => {
                let text = Receipts::backed_up(backup).filter(|text| has_nothing_of_ours(text));
                if let Some(text) = text {
                    return Ok(Becomes::Text(text));
                }
            }
        }
    }
    let document = Document::parse(file.text()).map_err(HooksError::document(&target.settings))?;
    let keep = receipt.map(|receipt| receipt.empty.clone()).unwrap_or_default();
    let text = document
        .without(&keep)
        .map_err(HooksError::document(&target.settings))?;
    Ok(if text == file.text() {
        Becomes::AsItIs
    } else {
        Becomes::Text(text)
    })
}

fn has_nothing_of_ours(text: &str) -> bool {
    Document::parse(text).is_ok_and(|document| document.ours().is_empty())
}

impl Becomes {
    fn preview(&self, target: &Target, file: &SettingsFile) -> String {
        let path = target.settings.display();
        match self {
            Self::AsItIs => format!("{path} has nothing of ours\n"),
            Self::Text(text) => diff(&target.settings, file.text(), text),
            Self::Gone => format!("would remove {path} (it was made by the installation)\n"),
        }
    }

    fn make(&self, target: &Target, file: &SettingsFile, receipts: &Receipts) -> Result<String, HooksError> {
        let path = target.settings.display();
        match self {
            Self::AsItIs => Ok(format!("{path} has nothing of ours\n")),
            Self::Text(text) => {
                let backup = receipts.back_up(&target.settings, file.text())?;
                file.replace(text)?;
                Ok(format!("back up {path} to {}\nwrite {path}\n", backup.display()))
            }
            Self::Gone => {
                file.remove()?;
                Ok(format!("remove {path} (it was made by the installation)\n"))
            }
        }
    }
}

/// The agent that was placed for this file, where no other installation uses it.
fn lone_agent(receipts: &Receipts, target: &Target, receipt: Option<&Receipt>) -> Option<Agent> {
    let (path, _) = receipt?.agent.as_ref()?;
    let all = receipts.all();
    let mut others = all.iter().filter(|other| other.settings != target.settings);
    let shared = others.any(|other| other.agent.as_ref().is_some_and(|(agent, _)| agent == path));
    (!shared).then(|| Agent::find(path.parent().unwrap_or(&target.agents), &all))
}
