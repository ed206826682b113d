//! What programs print, as far as it can be known without running them.

use super::super::facts::Run;
use super::super::inline;
use super::super::marks::{ANY, DECODED, END, ITEM, NETWORK, PROCESS, STAR, has_unknown, unglob};
use super::option::{Options, Valued};
use super::processes::{lists_processes, narrowed_processes};
use super::simple::quote;
use super::state::{Input, Walk, append};

/// Programs whose output comes over the network.
const NETWORK_PROGRAMS: [&str; 19] = [
    "curl", "wget", "http", "https", "xh", "fetch", "nc", "ncat", "netcat", "socat", "lynx", "w3m", "ftp", "tftp",
    "aria2c", "curlie", "dig", "drill", "telnet",
];

/// Programs that change a text in ways that hide what it is.
const DECODERS: [&str; 18] = [
    "base64", "base32", "basenc", "xxd", "uudecode", "openssl", "gpg", "gunzip", "zcat", "gzip", "bunzip2", "bzcat",
    "xz", "xzcat", "unxz", "zstd", "rev", "tr",
];

/// Where the system's programs are.
const PROGRAM_PLACES: [&str; 5] = ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/"];

impl Walk<'_> {
    /// What a program prints.
    pub(crate) fn output(&mut self, run: &Run, input: &Input) -> String {
        let args = &run.args;
        let unknown = || ANY.to_string();
        match run.verb.as_str() {
            "echo" => echo(args),
            "printf" => self.printf(run),
            "true" | ":" | "false" | "sleep" | "test" | "[" | "mkdir" | "touch" | "rm" | "cp" | "mv" | "ln"
            | "chmod" => {
                self.copied(run, input);
                String::new()
            }
            "cat" | "head" | "tail" | "tee" | "sort" | "uniq" | "less" | "more" | "tac" | "nl" | "pv" | "sponge"
            | "bat" => self.concatenated(run, input),
            "pwd" => self.dirs.now.clone(),
            "mktemp" => made_temporary(args),
            "basename" => args.first().map_or_else(unknown, |path| last_part(path).to_owned()),
            "dirname" => args.first().map_or_else(unknown, |path| parent(path)),
            "realpath" | "readlink" => args
                .iter()
                .rfind(|arg| !arg.starts_with('-'))
                .map_or_else(unknown, |path| self.absolute(path)),
            "whoami" | "hostname" | "date" | "id" | "uname" | "nproc" => ITEM.to_string(),
            "jobs" => Self::every_job(),
            "pgrep" | "pidof" => {
                let names: Vec<&str> = args
                    .iter()
                    .filter(|a| !a.starts_with('-'))
                    .map(String::as_str)
                    .collect();
                format!("{PROCESS}{}{END}", unglob(&names.join(" ")))
            }
            "ps" => format!("{PROCESS}{END}"),
            "grep" | "egrep" | "rg" | "awk" | "gawk" | "cut" | "tr" | "sed" | "xargs"
                if input.as_deref().is_some_and(lists_processes) =>
            {
                narrowed_processes(run, input.as_deref().unwrap_or(""))
            }
            "git" if args.iter().any(|arg| arg == "--show-toplevel") => self.ground.project.clone(),
            "ls" => listed(args),
            "seq" => "1".to_owned(),
            "which" | "whence" | "type" => found_program(args),
            verb if DECODERS.contains(&verb) => self.decoded(run, input),
            verb if NETWORK_PROGRAMS.contains(&verb) => self.fetched(run),
            _ => Self::passed_on(run, input),
        }
    }

    /// `cat`, `tee` and programs that print (part of) what they read.
    fn concatenated(&mut self, run: &Run, input: &Input) -> String {
        let valued = Valued {
            short: if run.verb == "cat" { "" } else { "ncktSLs" },
            long: &["--lines", "--bytes"],
        };
        let options = Options::parse(&run.args, valued, false);
        let read = input.as_deref().map_or_else(|| ANY.to_string(), str::to_owned);
        if run.verb == "tee" {
            for file in &options.words {
                if file.starts_with("/dev/fd/") {
                    continue;
                }
                self.store(file, &read, options.has(&["-a", "--append"]));
            }
            return read;
        }
        if options.words.is_empty() {
            return read;
        }
        let mut text = String::new();
        for file in &options.words {
            let content = if matches!(*file, "-" | "/dev/stdin") {
                read.clone()
            } else {
                self.content(file)
            };
            append(&mut text, &content);
        }
        text
    }

    /// `cp a b` and `mv a b` carry a known content along.
    fn copied(&mut self, run: &Run, input: &Input) {
        if matches!(run.verb.as_str(), "cp" | "mv" | "ln") {
            let words: Vec<&String> = run.args.iter().filter(|arg| !arg.starts_with('-')).collect();
            if let [from, to] = words.as_slice()
                && let Some(content) = self.copied_content(from, input)
            {
                self.store(to, &content, false);
            }
        }
    }

    fn copied_content(&self, from: &str, input: &Input) -> Option<std::rc::Rc<str>> {
        if from == "/dev/stdin" {
            return input.clone();
        }
        // A copy of a system's program, or a link to it, is that program under another name.
        let program = PROGRAM_PLACES.iter().find_map(|place| from.strip_prefix(place));
        let program = program.filter(|name| !name.is_empty() && !name.contains('/') && !has_unknown(name));
        match program {
            Some(_) => Some(format!("exec {} \"$@\"\n", quote(from)).into()),
            None => self.known_content(from),
        }
    }

    fn decoded(&mut self, run: &Run, input: &Input) -> String {
        let file = run.args.iter().find(|arg| !arg.starts_with('-') && arg.len() > 1);
        let text = match (run.verb.as_str(), file) {
            ("base64" | "base32" | "rev" | "zcat" | "xxd" | "gunzip", Some(file)) => self.content(file),
            _ => input.as_deref().map_or_else(|| ANY.to_string(), str::to_owned),
        };
        if text.contains(NETWORK) {
            return NETWORK.to_string();
        }
        let known = (!has_unknown(&text)).then(|| inline::decode(run, &text)).flatten();
        known.unwrap_or_else(|| DECODED.to_string())
    }

    /// What comes over the network goes to the output, or to the file that an option names.
    fn fetched(&mut self, run: &Run) -> String {
        let file = match run.verb.as_str() {
            "curl" | "curlie" => {
                let options = Options::parse(
                    &run.args,
                    Valued {
                        short: "oXdHFuAebcKmTxyzEQw",
                        long: &["--output", "--data", "--header", "--request"],
                    },
                    false,
                );
                let named = options.value(&["-o", "--output"]).map(str::to_owned);
                let remote = options
                    .has(&["-O", "--remote-name"])
                    .then(|| options.words.last().map(|url| last_part(url).to_owned()));
                named.or_else(|| remote.flatten())
            }
            "wget" => {
                let options = Options::parse(
                    &run.args,
                    Valued {
                        short: "OoPUtTaiQe",
                        long: &["--output-document", "--directory-prefix", "--header"],
                    },
                    false,
                );
                let named = options.value(&["-O", "--output-document"]).map(str::to_owned);
                named.or_else(|| options.words.last().map(|url| last_part(url).to_owned()))
            }
            "aria2c" | "fetch" | "http" | "https" | "xh" => {
                let options = Options::parse(
                    &run.args,
                    Valued {
                        short: "odx",
                        long: &["--out", "--output", "--dir"],
                    },
                    false,
                );
                options.value(&["-o", "--out", "--output"]).map(str::to_owned)
            }
            // A connection carries what the other side says.
            _ => {
                self.connected_program(run);
                None
            }
        };
        match file.as_deref() {
            None | Some("-" | "/dev/stdout") => NETWORK.to_string(),
            Some(file) => {
                self.store(file, &NETWORK.to_string(), false);
                String::new()
            }
        }
    }

    /// Any other program: its output is unknown, but foreign if its input is.
    fn passed_on(run: &Run, input: &Input) -> String {
        let text = input.as_deref().unwrap_or("");
        let filters = [
            "sed", "awk", "gawk", "grep", "egrep", "cut", "jq", "envsubst", "iconv", "dos2unix", "perl", "fold",
            "column",
        ];
        let remote =
            run.verb == "aws" && run.args.iter().any(|arg| arg == "cp") && run.args.iter().any(|arg| arg == "-");
        let unpacks = matches!(run.verb.as_str(), "tar" | "bsdtar" | "unzip" | "7z" | "cpio");
        let filters = |verb: &str| unpacks || filters.contains(&verb);
        if remote || filters(&run.verb) && text.contains(NETWORK) {
            return NETWORK.to_string();
        }
        if filters(&run.verb) && text.contains(DECODED) {
            return DECODED.to_string();
        }
        ANY.to_string()
    }

    fn printf(&mut self, run: &Run) -> String {
        let mut args = run.args.as_slice();
        let variable = match args {
            [flag, name, rest @ ..] if flag == "-v" => {
                args = rest;
                Some(name.clone())
            }
            _ => None,
        };
        let args = args.strip_prefix(&["--".to_owned()]).unwrap_or(args);
        let text = match args.split_first() {
            Some((format, values)) => formatted(format, values),
            None => String::new(),
        };
        match variable {
            Some(name) => {
                self.vars.set_text(&name, &text);
                String::new()
            }
            None => text,
        }
    }
}

fn echo(args: &[String]) -> String {
    let is_flag =
        |arg: &&String| arg.len() > 1 && arg.starts_with('-') && arg.chars().skip(1).all(|c| "neE".contains(c));
    let flags: Vec<&String> = args.iter().take_while(is_flag).collect();
    let escapes = flags.iter().any(|flag| flag.contains('e'));
    let text = args.get(flags.len()..).unwrap_or(&[]).join(" ");
    let mut text = if escapes { unescape(&text) } else { text };
    if !flags.iter().any(|flag| flag.contains('n')) {
        text.push('\n');
    }
    text
}

/// `printf`, with `%s`, `%b`, `%d` and their like; the format is used again while arguments are left.
fn formatted(format: &str, values: &[String]) -> String {
    let format = unescape(format);
    let mut values = values.iter();
    let mut text = String::new();
    for _ in 0..64 {
        let left = values.len();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                text.push(c);
                continue;
            }
            let kind = chars
                .by_ref()
                .find(|c| c.is_ascii_alphabetic() || *c == '%')
                .unwrap_or('%');
            match kind {
                '%' => text.push('%'),
                'b' => text.push_str(&unescape(values.next().map_or("", String::as_str))),
                'x' | 'o' | 'c' => text.push(ANY),
                _ => text.push_str(values.next().map_or("", String::as_str)),
            }
        }
        if values.len() == 0 || values.len() == left {
            break;
        }
    }
    text
}

/// Backslash escapes of `echo -e` and `printf`.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = unglob(text).chars().collect::<Vec<_>>().into_iter().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(kind @ ('x' | '0'..='7')) => {
                let radix = if kind == 'x' { 16 } else { 8 };
                let mut value = if kind == 'x' { 0 } else { kind.to_digit(8).unwrap_or(0) };
                let most = if kind == 'x' { 2 } else { 3 };
                for _ in 0..most {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else {
                        break;
                    };
                    value = value * radix + digit;
                    chars.next();
                }
                out.extend(char::from_u32(value).filter(|c| *c != '\0'));
            }
            Some('\\') | None => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
        }
    }
    out
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

fn parent(path: &str) -> String {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((parent, _)) => parent.to_owned(),
        None if has_unknown(path) => ANY.to_string(),
        None => ".".to_owned(),
    }
}

/// What `which` prints: the path of a program.
pub(crate) fn found_program(args: &[String]) -> String {
    let name = args.iter().find(|arg| !arg.starts_with('-'));
    name.map_or_else(|| ANY.to_string(), |name| format!("/usr/bin/{name}"))
}

/// A name that `mktemp` makes: a new one below the directory for temporary files.
fn made_temporary(args: &[String]) -> String {
    let options = Options::parse(
        args,
        Valued {
            short: "p",
            long: &["--tmpdir", "--suffix"],
        },
        false,
    );
    let name = options.words.first().map_or("tmp.XXXXXXXXXX", |template| *template);
    let in_temp = options.words.is_empty() || options.has(&["-t", "--tmpdir", "-p"]);
    let base = options.value(&["-p", "--tmpdir"]).unwrap_or("/tmp");
    if in_temp && !name.starts_with('/') {
        format!("{base}/{name}")
    } else {
        name.to_owned()
    }
}

/// What `ls` names: everything in the directories, or the files given.
fn listed(args: &[String]) -> String {
    let words: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let itself = args
        .iter()
        .any(|arg| arg.starts_with('-') && !arg.starts_with("--") && arg.contains('d'));
    if words.is_empty() {
        return STAR.to_string();
    }
    let named: Vec<String> = words
        .iter()
        .map(|word| {
            if itself || word.contains(STAR) {
                (*word).clone()
            } else {
                format!("{}/{STAR}", word.trim_end_matches('/'))
            }
        })
        .collect();
    named.join("\n")
}
