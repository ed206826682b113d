//! `subcell completions` and `subcell man`: texts that are made from the command line's shape.

use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::args::Args;
use super::hook_io::complain;
use crate::exit::Exit;

/// Prints a completion script for a shell
///
/// Example: `subcell completions bash > ~/.local/share/bash-completion/completions/subcell`
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Writes the manual pages, one for each subcommand
///
/// Example: `subcell man ~/.local/share/man/man1`
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The folder; it is made where it is not there
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Prints the script.
pub(crate) fn completions(args: &CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "subcell", &mut script);
    super::hook_io::print(&script)
}

/// Writes the pages.
pub(crate) fn man(args: &ManArgs) -> Exit {
    let written =
        std::fs::create_dir_all(&args.dir).and_then(|()| clap_mangen::generate_to(Args::command(), &args.dir));
    match written {
        Ok(()) => Exit::Done,
        Err(error) => {
            complain("man", &format!("write manual pages to {}: {error}", args.dir.display()));
            Exit::Io
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every subcommand that people see, by its words.
    fn shown(command: &clap::Command, words: &str, found: &mut Vec<(String, clap::Command)>) {
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            let words = format!("{words} {}", below.get_name());
            if !below.has_subcommands() {
                found.push((words.clone(), below.clone()));
            }
            shown(below, &words, found);
        }
    }

    #[test]
    fn the_help_of_every_subcommand_has_an_example_that_is_understood() {
        let mut found = Vec::new();
        shown(&Args::command(), "subcell", &mut found);
        assert!(found.len() >= 15, "{found:?}");
        let mut wrong = Vec::new();
        for (words, mut command) in found {
            let help = command.render_long_help().to_string();
            let examples: Vec<&str> = help
                .split('`')
                .skip(1)
                .step_by(2)
                .filter(|quoted| quoted.starts_with(&words))
                .collect();
            if !help.contains("Example") || examples.is_empty() {
                wrong.push(words.clone());
            }
            for example in examples {
                // What a shell takes for itself is no argument.
                let own = example.split([';', '|', '<', '>']).next().unwrap();
                if let Err(error) = Args::command().try_get_matches_from(own.split_whitespace()) {
                    wrong.push(format!("{example}: {error}"));
                }
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    }

    #[test]
    fn a_page_is_written_for_every_subcommand() {
        let dir = tempfile::tempdir().unwrap();
        let pages = dir.path().join("man1");
        assert_eq!(man(&ManArgs { dir: pages.clone() }), Exit::Done);
        let mut found = Vec::new();
        shown(&Args::command(), "subcell", &mut found);
        for (words, _) in found {
            let page = std::fs::read_to_string(pages.join(format!("{}.1", words.replace(' ', "-"))));
            assert!(page.unwrap_or_default().contains(".SH NAME"), "{words}");
        }
    }

    #[test]
    fn a_completion_script_knows_the_subcommands() {
        let mut script = Vec::new();
        clap_complete::generate(Shell::Bash, &mut Args::command(), "subcell", &mut script);
        let script = String::from_utf8(script).unwrap();
        assert!(script.contains("intercept") && script.contains("--beside-intercept"));
    }
}
