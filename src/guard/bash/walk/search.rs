//! What `find` finds.

use super::super::marks::{ITEM, STAR, glob};

/// What `find` looks for.
pub(crate) struct Search {
    roots: Vec<String>,
    names: Vec<String>,
    paths: Vec<String>,
    /// Whether a condition leaves most files out.
    narrow: bool,
    /// Whether the roots themselves are left out.
    below: bool,
}

impl Search {
    pub(crate) fn parse(args: &[String]) -> Self {
        let begins = |arg: &String| arg.starts_with('-') && arg.len() > 2 || matches!(arg.as_str(), "(" | "!" | ",");
        let end = args.iter().position(begins).unwrap_or(args.len());
        let roots: Vec<String> = args
            .iter()
            .take(end)
            .filter(|arg| !matches!(arg.as_str(), "-H" | "-L" | "-P"))
            .cloned()
            .collect();
        let mut search = Self {
            roots,
            names: Vec::new(),
            paths: Vec::new(),
            narrow: false,
            below: false,
        };
        if search.roots.is_empty() {
            search.roots.push(".".to_owned());
        }
        let mut negated = false;
        let mut rest = args.iter().skip(end);
        while let Some(arg) = rest.next() {
            match arg.as_str() {
                "!" | "-not" => {
                    negated = true;
                    continue;
                }
                "-name" | "-iname" => search.name(rest.next(), negated),
                "-path" | "-wholename" | "-ipath" if !negated => search.paths.extend(rest.next().cloned()),
                "-empty" | "-mtime" | "-mmin" | "-atime" | "-ctime" | "-amin" | "-cmin" | "-newer" | "-size"
                | "-regex" | "-iregex" | "-xtype" | "-links" | "-samefile" | "-inum" | "-lname" => {
                    search.narrow = true;
                }
                "-mindepth" => search.below = rest.next().is_some_and(|depth| depth != "0"),
                "-type" => search.below |= rest.next().is_some_and(|kind| !kind.contains('d')),
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    for word in rest.by_ref() {
                        if matches!(word.as_str(), ";" | "+") {
                            break;
                        }
                    }
                }
                _ => {}
            }
            negated = false;
        }
        search
    }

    fn name(&mut self, pattern: Option<&String>, negated: bool) {
        if !negated {
            self.names.extend(pattern.cloned());
        }
    }

    /// The paths that it finds, as values.
    pub(crate) fn items(&self) -> Vec<String> {
        let mut items = Vec::new();
        for root in self.roots.iter().take(32) {
            let root = if root == "/" { "" } else { root.trim_end_matches('/') };
            if !self.names.is_empty() {
                // What is found below the root of everything lies somewhere in the system.
                let root = if root.is_empty() {
                    format!("/{ITEM}")
                } else {
                    root.to_owned()
                };
                items.extend(self.names.iter().take(16).map(|name| format!("{root}/{}", glob(name))));
            } else if !self.paths.is_empty() {
                items.extend(self.paths.iter().take(16).map(|path| glob(path).into_owned()));
            } else if self.narrow {
                items.push(format!("{root}/{ITEM}"));
            } else if self.below {
                items.push(format!("{root}/{STAR}"));
            } else {
                items.push(if root.is_empty() {
                    "/".to_owned()
                } else {
                    root.to_owned()
                });
            }
        }
        items
    }
}
