//! Options of programs, as `getopt_long` reads them.

/// Arguments split into options and words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options<'r> {
    /// Each option with its value; a cluster such as `-rf` is taken apart.
    pub flags: Vec<(String, Option<&'r str>)>,
    /// Arguments that are no options.
    pub words: Vec<&'r str>,
    /// Index of the first word.
    pub first_word: usize,
}

/// Which options of a program take a value.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Valued {
    /// Letters of short options.
    pub short: &'static str,
    /// Long options, with their dashes.
    pub long: &'static [&'static str],
}

impl<'r> Options<'r> {
    /// Splits `args`; with `leading`, everything from the first word on is a word.
    pub(crate) fn parse(args: &'r [String], valued: Valued, leading: bool) -> Self {
        let mut options = Self {
            first_word: args.len(),
            ..Self::default()
        };
        let mut index = 0;
        while let Some(arg) = args.get(index) {
            index += 1;
            let next = args.get(index).map(String::as_str);
            if arg == "--" {
                options.take_words(args, index);
                break;
            }
            let used_next = if let Some(long) = arg.strip_prefix("--").filter(|long| !long.is_empty()) {
                options.long(arg, long, next, valued)
            } else if arg.len() > 1 && arg.starts_with('-') {
                options.cluster(arg.get(1..).unwrap_or(""), next, valued)
            } else if leading {
                options.take_words(args, index - 1);
                break;
            } else {
                options.first_word = options.first_word.min(index - 1);
                options.words.push(arg);
                false
            };
            index += usize::from(used_next);
        }
        options
    }

    fn take_words(&mut self, args: &'r [String], from: usize) {
        self.first_word = self.first_word.min(from);
        self.words
            .extend(args.get(from..).unwrap_or(&[]).iter().map(String::as_str));
    }

    fn long(&mut self, arg: &'r str, long: &'r str, next: Option<&'r str>, valued: Valued) -> bool {
        if let Some((name, value)) = long.split_once('=') {
            self.flags.push((format!("--{name}"), Some(value)));
            return false;
        }
        let takes = valued.long.contains(&arg);
        self.flags.push((arg.to_owned(), next.filter(|_| takes)));
        takes
    }

    fn cluster(&mut self, letters: &'r str, next: Option<&'r str>, valued: Valued) -> bool {
        for (at, letter) in letters.char_indices() {
            let after = letters.get(at + letter.len_utf8()..).unwrap_or("");
            if valued.short.contains(letter) {
                let value = if after.is_empty() { next } else { Some(after) };
                self.flags.push((format!("-{letter}"), value));
                return after.is_empty();
            }
            self.flags.push((format!("-{letter}"), None));
        }
        false
    }

    /// Whether any of the options is there; long ones may be shortened, as `getopt_long` takes them.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.flags
            .iter()
            .any(|(flag, _)| names.iter().any(|name| flag == name || shortened(flag, name)))
    }

    /// The value of the first of the options that has one.
    pub(crate) fn value(&self, names: &[&str]) -> Option<&'r str> {
        self.flags
            .iter()
            .find(|(flag, _)| names.contains(&flag.as_str()))
            .and_then(|(_, value)| *value)
    }

    /// Every value of the options.
    pub(crate) fn values<'s>(&'s self, names: &'s [&str]) -> impl Iterator<Item = &'r str> + 's {
        self.flags
            .iter()
            .filter(|(flag, _)| names.contains(&flag.as_str()))
            .filter_map(|(_, value)| *value)
    }
}

/// Whether `flag` is a shortened form of the long option `name`.
fn shortened(flag: &str, name: &str) -> bool {
    flag.len() >= 5 && name.starts_with("--") && name.starts_with(flag)
}

/// Whether a short option is among the arguments, alone or in a cluster, before `--`.
pub(crate) fn has_short(args: &[String], letter: char) -> bool {
    args.iter()
        .take_while(|arg| *arg != "--")
        .filter_map(|arg| arg.strip_prefix('-'))
        .any(|letters| !letters.starts_with('-') && letters.contains(letter))
}

/// Whether a long option is among the arguments, whole, shortened, or with a value, before `--`.
pub(crate) fn has_long(args: &[String], name: &str) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| {
        let flag = arg.split('=').next().unwrap_or(arg);
        flag == name || shortened(flag, name)
    })
}

/// Options of git itself, before its subcommand, that take a value.
pub(crate) fn valued_of_git() -> Valued {
    Valued {
        short: "Cc",
        long: &[
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--exec-path",
            "--super-prefix",
            "--config-env",
        ],
    }
}
