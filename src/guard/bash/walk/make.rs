//! Makefiles that the command itself wrote.

use super::super::facts::Run;
use super::option::{Options, Valued};
use super::state::{Input, Walk};

/// Names under which make looks for its file.
const NAMES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

impl Walk<'_> {
    /// Follows the recipes of a makefile whose text is known.
    pub(crate) fn recipes(&mut self, run: &Run, input: &Input) {
        if !matches!(run.verb.as_str(), "make" | "gmake") {
            return;
        }
        let valued = Valued {
            short: "fCIjloW",
            long: &["--file", "--makefile", "--directory"],
        };
        let options = Options::parse(&run.args, valued, false);
        if options.has(&["-n", "--just-print", "--dry-run", "-q", "--question"]) {
            return;
        }
        let text = match options.value(&["-f", "--file", "--makefile"]) {
            Some("-" | "/dev/stdin") => input.clone(),
            Some(file) => self.known_content(file),
            None => NAMES.iter().find_map(|name| self.known_content(name)),
        };
        let Some(text) = text else { return };
        for line in text.lines() {
            if !self.afford(line.len()) {
                return;
            }
            // A recipe stands after a tab, or after `;` on the line of its target.
            let recipe = line.strip_prefix('\t').or_else(|| {
                let (_, rest) = line.split_once(':')?;
                rest.split_once(';').map(|(_, recipe)| recipe)
            });
            if let Some(code) = recipe {
                let code = code.trim_start().trim_start_matches(['@', '-', '+']).replace("$$", "$");
                self.nested_code(&code, &run.verb, run.span);
            }
        }
    }
}
