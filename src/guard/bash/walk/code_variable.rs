//! Variables whose value programs run as shell code.

use super::super::syntax::Span;
use super::state::Walk;

/// How a variable's value becomes code.
enum Runs {
    /// As a command.
    Command,
    /// As the name of a file with commands.
    File,
    /// As text that the shell expands.
    Expanded,
}

/// How the shell, git and others run the value of a variable of this name.
fn runs(name: &str) -> Option<Runs> {
    Some(match name {
        "PROMPT_COMMAND"
        | "PAGER"
        | "MANPAGER"
        | "GIT_PAGER"
        | "EDITOR"
        | "VISUAL"
        | "GIT_EDITOR"
        | "GIT_SEQUENCE_EDITOR"
        | "GIT_SSH_COMMAND"
        | "GIT_EXTERNAL_DIFF"
        | "GIT_ASKPASS"
        | "SSH_ASKPASS"
        | "SUDO_ASKPASS"
        | "SUDO_EDITOR"
        | "BROWSER" => Runs::Command,
        "BASH_ENV" | "ENV" => Runs::File,
        "PS0" | "PS1" | "PS2" | "PS4" => Runs::Expanded,
        _ => return None,
    })
}

impl Walk<'_> {
    /// Follows the value of a variable that the shell or a program runs as code.
    pub(crate) fn code_variable(&mut self, name: &str, value: &str, span: Span) {
        let Some(how) = runs(name) else { return };
        let code = match how {
            Runs::Command => value.to_owned(),
            Runs::File => self.content(value),
            Runs::Expanded => format!(": <<END_OF_PROMPT\n{value}\nEND_OF_PROMPT"),
        };
        self.nested_code(&code, name, span);
    }
}
