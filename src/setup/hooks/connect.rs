//! Installs hooks into a settings file.

use std::fmt::Write as _;

use super::agent::Agent;
use super::diff::diff;
use super::document::Document;
use super::elsewhere::Ground;
use super::error::HooksError;
use super::plan::{Choice, Plan};
use super::receipt::{Receipt, Receipts};
use super::scope::Target;
use super::settings_file::SettingsFile;
use crate::base::digest::sha256_hex;

/// An installation to be made.
#[derive(Debug)]
pub struct Connect<'a> {
    /// Where from.
    pub ground: &'a Ground<'a>,
    /// Into which files.
    pub target: &'a Target,
    /// What.
    pub choice: &'a Choice,
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
}

/// Installs: the agent first, so that no hook runs without it, then the settings. Returns what was done, a line each.
///
/// # Errors
/// [`HooksError`]. The settings file is as it was then.
pub fn connect(order: &Connect<'_>) -> Result<String, HooksError> {
    let receipts = order.ground.receipts()?;
    // Somebody who only looks leaves no trace, a lock file neither.
    let _lock = if order.dry_run { None } else { Some(receipts.lock()?) };
    let known_receipts = receipts.all();
    let file = SettingsFile::read(&order.target.settings)?;
    let document = Document::parse(file.text()).map_err(HooksError::document(&order.target.settings))?;
    let neighbours = order.ground.neighbours(order.target, &known_receipts);
    let plan = Plan::make(order.choice, &order.ground.known(&document, &neighbours))?;
    for neighbour in &neighbours {
        neighbour.check(&plan.wanted, order.ground.program)?;
    }
    let text = document
        .with(&plan.wanted, &plan.works, order.ground.program)
        .map_err(HooksError::document(&order.target.settings))?;
    let agent = plan
        .echo_agent
        .then(|| Agent::find(&order.target.agents, &known_receipts));
    let change = Change {
        order,
        file: &file,
        document: &document,
        text: &text,
        agent: agent.as_ref(),
    };
    let mut told = if order.dry_run {
        change.preview()
    } else {
        change.make(&receipts)?
    };
    for note in &plan.notes {
        // Writing to a String cannot fail.
        let _ = writeln!(told, "note: {note}");
    }
    Ok(told)
}

struct Change<'a> {
    order: &'a Connect<'a>,
    file: &'a SettingsFile,
    document: &'a Document,
    text: &'a str,
    agent: Option<&'a Agent>,
}

impl Change<'_> {
    fn changes(&self) -> bool {
        self.text != self.file.text()
    }

    fn preview(&self) -> String {
        let mut told = String::new();
        if let Some(agent) = self.agent {
            let _ = writeln!(told, "{}", agent.placing("would "));
        }
        if self.changes() {
            told.push_str(&diff(&self.order.target.settings, self.file.text(), self.text));
        } else {
            let _ = writeln!(told, "{} is as it should be", self.order.target.settings.display());
        }
        told
    }

    fn make(&self, receipts: &Receipts) -> Result<String, HooksError> {
        let settings = &self.order.target.settings;
        let mut told = String::new();
        let mut receipt = self.receipt(receipts);
        if let Some(agent) = self.agent {
            receipt.agent = agent.place()?.or(receipt.agent);
            let _ = writeln!(told, "{}", agent.placing(""));
        }
        if !self.changes() {
            receipts.write(&receipt)?;
            let _ = writeln!(told, "{} is as it should be", settings.display());
            return Ok(told);
        }
        if self.file.exists() {
            let backup = receipts.back_up(settings, self.file.text())?;
            let _ = writeln!(told, "back up {} to {}", settings.display(), backup.display());
            if receipt.after.is_empty() {
                receipt.before = Some(backup);
            }
        }
        self.file.replace(self.text)?;
        receipt.after = sha256_hex(self.text.as_bytes());
        receipts.write(&receipt)?;
        let _ = writeln!(told, "write {}", settings.display());
        Ok(told)
    }

    /// The receipt of an earlier installation, where nobody changed the file since; else a new one, which knows what was
    /// there empty.
    fn receipt(&self, receipts: &Receipts) -> Receipt {
        let settings = &self.order.target.settings;
        let earlier = receipts.read(settings);
        let digest = sha256_hex(self.file.text().as_bytes());
        match earlier {
            Some(receipt) if receipt.after == digest => receipt,
            Some(mut receipt) => {
                receipt.after.clear();
                receipt.before = None;
                receipt
            }
            None => Receipt {
                empty: self.document.empty_places(),
                ..Receipt::new(settings)
            },
        }
    }
}
