//! Builtins that change the shell itself.

use super::super::budget::MAX_CHOICES;
use super::super::facts::{Assigned, Fact, Run};
use super::super::marks::ANY;
use super::option::has_long;
use super::state::{Input, Walk};
use super::variable::Value;

impl Walk<'_> {
    pub(crate) fn cd(&mut self, run: &Run) -> String {
        let target = run.args.iter().find(|arg| !(arg.starts_with('-') && arg.len() > 1));
        let path = match target.map(String::as_str) {
            None => "~".to_owned(),
            Some("-") => self.dirs.before.clone().unwrap_or_else(|| ANY.to_string()),
            Some(path) => path.to_owned(),
        };
        let path = if path == "~" {
            super::super::marks::HOME.to_string()
        } else {
            path
        };
        let next = self.absolute(&path);
        let now = std::mem::replace(&mut self.dirs.now, next);
        // `cd x; rm -rf *` deletes in the old place where there is no x. After `&&` the list itself clears this.
        let certain =
            self.strict || matches!(path.as_str(), "/" | "." | "..") || path.starts_with(super::super::marks::HOME);
        if !certain && !self.dirs.otherwise.contains(&now) && self.dirs.otherwise.len() < 4 {
            self.dirs.otherwise.push(now.clone());
        }
        self.dirs.before = Some(now);
        String::new()
    }

    /// `set`: the positional parameters, and whether the shell is strict.
    pub(crate) fn set(&mut self, run: &Run) -> String {
        for (index, arg) in run.args.iter().enumerate() {
            if arg == "--" || !arg.starts_with(['-', '+']) {
                let from = index + usize::from(arg == "--");
                self.positional = Some(run.args.get(from..).unwrap_or(&[]).to_vec());
                break;
            }
            if arg.starts_with('-') && arg.contains('e') {
                self.strict = true;
            }
        }
        String::new()
    }

    pub(crate) fn shift(&mut self, run: &Run) -> String {
        let count = run.args.first().and_then(|arg| arg.parse::<usize>().ok()).unwrap_or(1);
        if let Some(values) = &mut self.positional {
            values.drain(..count.min(values.len()));
        }
        String::new()
    }

    /// `export`, `declare` and their like: words of the form `name=value`.
    pub(crate) fn declare(&mut self, run: &Run) -> String {
        for arg in &run.args {
            if let Some((name, value)) = arg.split_once('=').filter(|(name, _)| !name.starts_with('-')) {
                self.vars.set_text(name, value);
                self.note_assigned(run, name, Some(value));
            }
        }
        String::new()
    }

    pub(crate) fn unset(&mut self, run: &Run) -> String {
        for name in run.args.iter().filter(|arg| !arg.starts_with('-')) {
            self.vars.set(name, Value::Unset);
            self.note_assigned(run, name, None);
        }
        String::new()
    }

    pub(crate) fn note_assigned(&mut self, run: &Run, name: &str, value: Option<&str>) {
        self.note(Fact::Assigned(Assigned {
            name: name.to_owned(),
            value: value.map(str::to_owned),
            span: run.span,
        }));
        if let Some(value) = value {
            self.code_variable(name, value, run.span);
        }
    }

    pub(crate) fn alias(&mut self, run: &Run) -> String {
        for arg in &run.args {
            if let Some((name, text)) = arg.split_once('=') {
                self.aliases.insert(name.to_owned(), text.to_owned());
            }
        }
        String::new()
    }

    /// `hash -p PATH NAME`: the name means that program from now on.
    pub(crate) fn hash(&mut self, run: &Run) -> String {
        if let [flag, path, names @ ..] = run.args.as_slice()
            && flag == "-p"
        {
            for name in names {
                self.aliases.insert(name.clone(), super::simple::quote(path));
            }
        }
        String::new()
    }

    /// `trap`: its code runs when the shell ends, if not before.
    pub(crate) fn trap(&mut self, run: &Run) -> String {
        let words: Vec<&String> = run.args.iter().filter(|arg| arg.as_str() != "--").collect();
        if let [code, _, ..] = words.as_slice()
            && !code.starts_with('-')
            && let Some(frame) = self.frames.last_mut()
        {
            frame.traps.push(((*code).clone(), run.span));
        }
        String::new()
    }

    /// `read`: each line of a known input is a value the variable may have.
    pub(crate) fn read_into(&mut self, run: &Run, input: &Input) -> String {
        let names: Vec<&String> = run.args.iter().filter(|arg| !arg.starts_with('-')).collect();
        let lines: Vec<String> = input
            .iter()
            .flat_map(|text| text.lines())
            .take(MAX_CHOICES)
            .map(str::to_owned)
            .collect();
        match names.as_slice() {
            [only] if !lines.is_empty() => self.vars.set(only, Value::Text(lines)),
            several => {
                for name in several {
                    self.vars.set_text(name, &ANY.to_string());
                }
            }
        }
        String::new()
    }

    /// `mapfile` and `readarray`.
    pub(crate) fn map_file(&mut self, run: &Run, input: &Input) -> String {
        let name = run
            .args
            .iter()
            .rev()
            .find(|arg| !arg.starts_with('-'))
            .map_or("MAPFILE", String::as_str);
        let text = input.as_deref().unwrap_or("");
        let lines = text.lines().take(MAX_CHOICES).enumerate();
        let mut list: Vec<(String, String)> = lines.map(|(at, line)| (at.to_string(), line.to_owned())).collect();
        if list.is_empty() {
            list.push(("0".to_owned(), ANY.to_string()));
        }
        self.vars.set(name, Value::List(list));
        String::new()
    }

    /// `kill`: ends the jobs whose ids it gets, unless its signal ends nothing.
    pub(crate) fn kill(&mut self, run: &Run) -> String {
        let harmless = |arg: &String| {
            matches!(
                arg.trim_start_matches('-').trim_start_matches("SIG"),
                "0" | "STOP" | "CONT" | "USR1" | "USR2" | "l" | "L"
            ) && arg.starts_with('-')
        };
        let listed = run.args.first().is_some_and(|arg| arg == "-s") && run.args.get(1).is_some_and(|s| s == "0");
        if !run.args.iter().any(harmless) && !listed && !has_long(&run.args, "--list") {
            for arg in &run.args {
                self.settle_ids(arg);
                if let Some(spec) = arg.strip_prefix('%') {
                    self.wait(&[format!("%{spec}")]);
                }
            }
        }
        String::new()
    }
}
