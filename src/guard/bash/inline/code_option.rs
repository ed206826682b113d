//! Shell code in options of programs that are no shells.

use super::super::facts::Run;
use super::super::walk::{Options, Walk, quote};

impl Walk<'_> {
    /// Shell code that options of other programs carry.
    pub(crate) fn code_options(&mut self, run: &Run) {
        let codes = option_codes(run);
        for code in codes {
            self.nested_code(&code, &run.verb, run.span);
        }
    }
}

/// Options of programs whose value is shell code.
const CODE_OPTIONS: &[(&str, &str, &[&str])] = &[
    ("script", "cITOEBm", &["-c", "--command"]),
    ("su", "csg", &["-c", "--command"]),
    ("runuser", "cugs", &["-c", "--command"]),
    ("flock", "cwE", &["-c", "--command"]),
    ("npm", "cpw", &["-c", "--call"]),
    ("npx", "cp", &["-c", "--call"]),
    ("nix-shell", "pA", &["--run", "--command"]),
    ("nix", "c", &["-c", "--command"]),
    ("vagrant", "c", &["-c", "--command"]),
    ("gcloud", "", &["--command"]),
    ("fly", "Ca", &["-C", "--command"]),
    ("flyctl", "Ca", &["-C", "--command"]),
    (
        "tar",
        "fCXTbI",
        &[
            "-I",
            "--use-compress-program",
            "--to-command",
            "--rsh-command",
            "--checkpoint-action",
            "--info-script",
        ],
    ),
    ("bsdtar", "fC", &["--use-compress-program"]),
    ("rsync", "e", &["-e", "--rsh", "--rsync-path"]),
    ("compgen", "", &["-C"]),
    ("sort", "ktSTo", &["--compress-program"]),
    ("zip", "", &["-TT", "--unzip-command"]),
    ("man", "PCLMS", &["-P", "--pager"]),
    ("make", "fCjIWo", &["--eval"]),
    ("gmake", "fCjIWo", &["--eval"]),
    ("nodemon", "xewi", &["-x", "--exec"]),
    (
        "hyperfine",
        "pcS",
        &["-p", "--prepare", "-c", "--cleanup", "--setup", "-s", "--conclude"],
    ),
    ("vim", "cuS", &["-c", "--cmd"]),
    ("vi", "c", &["-c", "--cmd"]),
    ("nvim", "cuS", &["-c", "--cmd"]),
    ("ex", "c", &["-c"]),
    ("gdb", "x", &["-ex", "--ex"]),
    ("sqlite3", "", &["-cmd"]),
    ("ansible", "amiul", &["-a", "--args"]),
    ("pm2", "", &["--interpreter"]),
    (
        "git",
        "Ccx",
        &[
            "-x",
            "--exec",
            "--extcmd",
            "--upload-pack",
            "--receive-pack",
            "--open-files-in-pager",
        ],
    ),
];

fn option_codes(run: &Run) -> Vec<String> {
    let Some((_, short, names)) = CODE_OPTIONS.iter().find(|(verb, ..)| *verb == run.verb) else {
        return git_codes(run);
    };
    let long: Vec<&&str> = names.iter().filter(|name| name.len() > 2).collect();
    let mut codes = Vec::new();
    let mut args = run.args.iter();
    while let Some(arg) = args.next() {
        let value = if long.iter().any(|name| **name == arg) {
            args.next().cloned()
        } else if let Some((name, value)) = arg.split_once('=').filter(|(name, _)| names.contains(name)) {
            let _ = name;
            Some(value.to_owned())
        } else if arg.starts_with('-') && !arg.starts_with("--") {
            let next = args.clone().next();
            short_code(arg, next, short, names)
        } else {
            arg.strip_prefix('+')
                .filter(|_| run.verb.ends_with("vim"))
                .map(str::to_owned)
        };
        codes.extend(value.and_then(|code| as_shell(run, &code)));
    }
    codes.extend(git_codes(run));
    codes
}

fn short_code(arg: &str, next: Option<&String>, valued: &str, names: &[&str]) -> Option<String> {
    let letters = arg.get(1..).unwrap_or("");
    for (at, letter) in letters.char_indices() {
        let after = letters.get(at + letter.len_utf8()..).unwrap_or("");
        if names.iter().any(|name| name.len() == 2 && name.ends_with(letter)) {
            return if after.is_empty() {
                next.cloned()
            } else {
                Some(after.to_owned())
            };
        }
        if valued.contains(letter) {
            return None;
        }
    }
    None
}

/// The shell code in an option's value, where only a part of it is one.
fn as_shell(run: &Run, code: &str) -> Option<String> {
    match run.verb.as_str() {
        "tar" if code.starts_with("exec=") => Some(code.trim_start_matches("exec=").to_owned()),
        "tar" if code.contains('=') && !code.contains(' ') => None,
        "vim" | "vi" | "nvim" | "ex" => {
            let code = code.trim_start_matches([':', ' ', '%', '.']);
            code.split_once('!').map(|(_, shell)| shell.to_owned()).or_else(|| {
                code.split_once("system(")
                    .map(|(_, rest)| rest.trim_matches(['"', '\'', ')']).to_owned())
            })
        }
        "gdb" => code
            .trim()
            .strip_prefix("shell ")
            .or_else(|| code.trim().strip_prefix('!'))
            .map(str::to_owned),
        "sqlite3" => code
            .trim()
            .strip_prefix(".shell ")
            .or_else(|| code.trim().strip_prefix(".system "))
            .map(str::to_owned),
        "make" | "gmake" => code
            .split_once("$(shell ")
            .map(|(_, rest)| rest.trim_end_matches(')').to_owned()),
        _ => Some(code.to_owned()),
    }
}

/// Shell code in settings and subcommands of git.
fn git_codes(run: &Run) -> Vec<String> {
    if run.verb != "git" {
        return Vec::new();
    }
    let valued = super::super::walk::valued_of_git();
    let options = Options::parse(&run.args, valued, true);
    let mut codes = Vec::new();
    for setting in options.values(&["-c"]) {
        let Some((key, value)) = setting.split_once('=') else {
            continue;
        };
        let shell = value.strip_prefix('!').map(str::to_owned);
        codes.extend(shell.or_else(|| setting_code(&key.to_ascii_lowercase(), value)));
    }
    match options.words.as_slice() {
        ["bisect", "run", rest @ ..] => codes.push(quoted(rest)),
        ["submodule", rest @ ..] => {
            if let Some(at) = rest.iter().position(|word| *word == "foreach") {
                let words = rest.get(at + 1..).unwrap_or(&[]);
                let from = words.iter().take_while(|word| word.starts_with("--")).count();
                // One word is given to a shell, several are a program with its arguments.
                codes.push(match words.get(from..).unwrap_or(&[]) {
                    [code] => (*code).to_owned(),
                    several => quoted(several),
                });
            }
        }
        ["config", rest @ ..] => {
            let shells = rest.iter().filter(|word| word.starts_with('!'));
            codes.extend(shells.map(|word| word.trim_start_matches('!').to_owned()));
            if let [.., key, value] = rest
                && let Some(code) = setting_code(&key.to_ascii_lowercase(), value)
            {
                codes.push(code);
            }
        }
        _ => {}
    }
    codes
}

/// The shell code in the value of a setting of git, whose name is in lower case.
fn setting_code(key: &str, value: &str) -> Option<String> {
    let shell = [
        "core.pager",
        "core.editor",
        "core.sshcommand",
        "sequence.editor",
        "diff.external",
        "core.fsmonitor",
        "credential.helper",
    ];
    if value.starts_with('!') {
        None
    } else if shell.contains(&key) || key.starts_with("pager.") {
        Some(value.to_owned())
    } else if key.starts_with("alias.") {
        Some(format!("git {value}"))
    } else {
        None
    }
}

/// Words as shell code that has the same words again.
fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}
