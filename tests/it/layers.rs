//! Imports point down only (`src/lib.rs` shows the layers), and siblings never import each other.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers from the bottom up; modules of one layer are siblings.
const LAYERS: &[&[&str]] = &[
    &["base", "exit"],
    &["protocol"],
    &["config"],
    &["process", "ledger", "telemetry"],
    &["trace"],
    &["isolate", "guard", "replay", "setup"],
    &["cli"],
];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The first module named by every `crate::` path of a source text, comments left out.
fn imports(text: &str) -> Vec<String> {
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut modules = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = code[at + "crate::".len()..].trim_start();
        if let Some(group) = rest.strip_prefix('{') {
            let group = group.split('}').next().unwrap_or_default();
            modules.extend(
                group
                    .split(',')
                    .map(|item| item.trim().split("::").next().unwrap_or_default().to_owned()),
            );
        } else {
            modules.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    modules.retain(|module| !module.is_empty());
    modules
}

#[test]
fn imports_point_down() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 20, "only {} sources found", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&src).unwrap();
        let own = relative
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_str()
            .unwrap()
            .trim_end_matches(".rs");
        if matches!(own, "main" | "lib" | "bin") {
            continue;
        }
        let at = layer(own).unwrap_or_else(|| panic!("{own} stands in no layer"));
        for module in imports(&fs::read_to_string(&file).unwrap()) {
            let Some(to) = layer(&module) else { continue };
            if to > at || (to == at && module != own) {
                wrong.push(format!("{}: crate::{module}", relative.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "imports that do not point down:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_reader_sees_every_form_of_import() {
    let text =
        "use crate::base::X;\n// crate::cli::no\nfn f() { crate::ledger::g() }\nuse crate::{isolate::a, guard};";
    assert_eq!(imports(text), ["base", "ledger", "isolate", "guard"]);
}
